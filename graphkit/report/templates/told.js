// What the page says of answers once the reader grades them: marks, filters and sentences follow the grade.
import { el } from "./dom.js";
import { isOf } from "./grades.js";
import { has, lucky } from "./model.js";
import { joinNames } from "./panel.js";

/** @typedef {{answers: Record<string, string>, signs: Record<string, string>}} Said The words on an answer, and the sign of how a run did. */

/**
 * Return whether an answer is right with a person's grade, by the rule of the library: where a judge or a test has graded
 * it, both must say so; else the grade decides, not the text. @param {import("./model.js").Outcome} one @param {number} value
 */
export const answerWith = (one, value) => (value && !(has(one, "judged") && one.answer === "wrong") ? "right" : "wrong");

/** Return what is said of an answer. @param {import("./model.js").Outcome} one */
const saidOf = (one) => (lucky(one) ? "luck" : one.answer === "undecided" ? "open" : one.answer);

/**
 * Say of the runs of each sentence whether their answers are right. @param {ParentNode} place @param {import("./model.js").Summary} data @param {number} n
 */
export const tellAnswers = (place, data, n) => {
  const said = data.runs.map((run) => saidOf(run.questions[n]));
  const silent = said.every((one) => one === "open");
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll("ul.told:not(.todo) > li"))) {
    const runs = (one.dataset.runs || "").split(" ").map(Number);
    const words = silent ? [] : [...new Set(runs.map((run) => said[run]))];
    for (const old of one.querySelectorAll(".answer")) old.remove();
    const names = [...one.querySelectorAll(".who > [data-run]")];
    const who = (/** @type {string} */ word) => el("span", { class: "who" }, names.filter((name) => said[Number(/** @type {HTMLElement} */ (name).dataset.run)] === word).map((name) => name.cloneNode(true)));
    one.lastElementChild?.append(...words.map((word) => el("span", { class: `answer ${word}` }, " ", data.said.answers[word], words.length > 1 ? [" of ", who(word)] : null, ".")));
    const walk = (one.dataset.walk ??= one.className);
    one.className = walk === "good" && runs.some((run) => said[run] === "wrong") ? "bad" : walk;
    const sign = one.querySelector(".sign");
    if (sign) sign.textContent = data.said.signs[one.className];
  }
  joinNames(place);
};

/**
 * Return a function that lets the reader's grades decide; a grade of an earlier answer decides nothing.
 * @param {import("./model.js").Summary} data @param {(run: number, n: number) => Promise<any>} detailOf Reads the details of a question in a run.
 * @returns {(grades: Iterable<import("./grades.js").Grade>) => Promise<boolean>} False if grades changed again meanwhile.
 */
export const regrading = (data, detailOf) => {
  const numbers = new Map(data.questions.map(({ id }, n) => [id, n]));
  /** The answers as the page was written. @type {Map<import("./model.js").Outcome, string>} */
  const written = new Map();
  let last = {};
  return async (grades) => {
    const mine = last = {};
    /** @type {[import("./model.js").Outcome, number][]} */
    const found = [];
    for (const grade of grades) {
      const run = data.runs.findIndex(({ name }) => name === grade.run);
      const n = numbers.get(grade.question);
      if (run < 0 || n === undefined || grade.value === null) continue;
      const gold_hash = data.gold_hashes[n] || undefined;
      if (isOf(grade, { answer_hash: (await detailOf(run, n))?.answer_hash, gold_hash })) found.push([data.runs[run].questions[n], grade.value]);
    }
    if (last !== mine) return false;
    for (const [one, answer] of written) one.answer = answer;
    written.clear();
    for (const [one, value] of found) {
      written.set(one, one.answer);
      one.answer = answerWith(one, value);
    }
    return true;
  };
};
