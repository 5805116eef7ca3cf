// The commits of a question's details: their words, and the numbers of the conflicting pairs.
import { middle } from "./dom.js";

/** Return a commit in words: the start of its hash, and its tag or branch. @param {any} detail @param {number} number */
export const commitText = (detail, number) => {
  const { sha, name } = detail.commits[number];
  return sha.slice(0, 8) + (name ? ` ${middle(name, 12)}` : "");
};

/** Return the numbers (from 1) of the conflicting pairs of each commit. @param {any} detail @returns {Map<number, number[]>} */
export const clashesOf = (detail) => {
  /** @type {Map<number, number[]>} */
  const found = new Map();
  detail.pairs.forEach((/** @type {{commits: number[]}} */ { commits }, /** @type {number} */ number) => {
    for (const commit of commits) found.set(commit, [...(found.get(commit) || []), number + 1]);
  });
  return found;
};
