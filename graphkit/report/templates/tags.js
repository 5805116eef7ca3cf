// What happened to a question, as tags.
import { tag } from "./dom.js";
import { FLAGS, execution, has, lucky } from "./model.js";

/** Return the tag of the status of executed code. @param {string} status @param {string} words */
export const codeTag = (status, words) => tag(status === "success" ? "good" : "bad", words);

/** Return the tags of a question in a run. @param {import("./model.js").Summary} data @param {import("./model.js").Run} run @param {number} n */
export const tagsOf = (data, run, n) => {
  const one = run.questions[n];
  const found = Object.keys(FLAGS).filter((flag) => has(one, flag)).map((flag) => tag(...FLAGS[flag]));
  if (one.answer === "right") found.push(tag("good", "right answer"));
  if (one.answer === "wrong") found.push(tag("bad", "wrong answer"));
  if (lucky(one)) found.push(tag("turn", "luck"));
  const code = execution(run, n);
  if (code) found.push(codeTag(code.status, (data.statuses || {})[code.status]));
  return found;
};
