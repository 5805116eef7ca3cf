// What the page says of an answer that the reader grades, by hand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answerWith, regrading } from "../../graphkit/report/templates/told.js";

const outcome = (answer, flags = []) => ({ block: 0, flags, found: 0, required: 0, answer, path: "undecided", stage: "undecided" });

test("a person's grade comes before the text, and stands beside a judge's: both must say right", () => {
  // The rule of graphkit.measures.outcome.decided: grades decide before the text, and the answer is right if each says so.
  const cases = [["wrong", [], 1, "right"], ["right", [], 0, "wrong"], ["undecided", [], 1, "right"], ["wrong", ["judged"], 1, "wrong"], ["right", ["judged"], 1, "right"], ["right", ["judged"], 0, "wrong"]];
  for (const [answer, flags, value, expected] of cases) assert.equal(answerWith(outcome(answer, flags), value), expected, `${answer} ${flags} ${value}`);
});

test("a grade decides until it is taken back; one of an earlier answer or another page decides nothing", async () => {
  const [own, other, early] = [outcome("wrong"), outcome("wrong"), outcome("wrong")];
  const data = { runs: [{ name: "r", questions: [own, other, early] }], questions: [{ id: "q" }, { id: "p" }, { id: "o" }], gold_hashes: [null, null, null] };
  const regraded = regrading(data, async () => ({ answer_hash: "now" }));
  const grade = (question, given = {}) => ({ run: "r", question, value: 1, answer_hash: "now", ...given });
  assert.ok(await regraded([grade("q"), grade("p", { value: null }), grade("o", { answer_hash: "before" }), grade("gone"), grade("q", { run: "s" })]));
  assert.deepEqual([own.answer, other.answer, early.answer], ["right", "wrong", "wrong"]);
  assert.ok(await regraded([]));
  assert.equal(own.answer, "wrong");
});
