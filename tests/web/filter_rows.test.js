// What a filter reads of the questions of a page, by hand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseFilter } from "../../graphkit/report/templates/filter_expression.js";
import { filterNames, filterValues } from "../../graphkit/report/templates/filter_rows.js";

const outcome = (given) => ({ block: 0, flags: [], found: 0, required: 0, answer: "undecided", path: "undecided", stage: "undecided", cause: "", ...given });
const data = {
  measures: [{ name: "EdgeRecall", definition: "edges", lower: false, range: [0, 1] }],
  questions: [
    { id: "q0", text: "Who calls send?", category: "data flow", difficulty: "hard", split: "dev", session: "s1" },
    { id: "q1", text: "Who imports auth?", category: "", difficulty: "", split: "test", session: "" },
  ],
  stages: ["right", "undecided"], causes: ["failed", "not walked"], edges: { rows: [], needs: [[], []] },
  runs: [
    { name: "a", values: [[0.5, null]], means: [0.5], questions: [outcome({ answer: "right", path: "wrong", found: 1, required: 2, stage: "right", cause: "not walked", flags: ["turn"] }), outcome({ flags: ["failed"] })], missed: [[], []] },
    { name: "b", values: [[1, 1]], means: [1], questions: [outcome({ found: 2, required: 2, path: "right", flags: ["complete", "incoherent"] }), outcome({ flags: [] })], missed: [[], []] },
  ],
  best: 0, baseline: null, gold_hash: null,
};
const held = (text) => {
  const filter = parseFilter(text, filterNames(data));
  assert.equal("error" in filter ? filter.error : "", "", text);
  return [0, 1].filter((n) => filter.test(filterValues(data, 0, n), [0, 1].map((run) => filterValues(data, run, n)))).map((n) => `q${n}`);
};

test("measures, fields and flags of the page are read", () => {
  for (const [text, expected] of [
    ["EdgeRecall < 0.6 and category == \"data flow\"", ["q0"]],
    ["luck", ["q0"]], // a right answer by a wrong path
    ["turn and missed == 1", ["q0"]], // 1 of 2
    ["failed", ["q1"]],
    ["missed == none and category == none", ["q1"]], // a failed question misses nothing that was counted
    ["any(incoherent)", ["q0"]], // in run b
    ["any(run == \"b\" and EdgeRecall == 1)", ["q0", "q1"]],
    ["cause == \"not walked\"", ["q0"]],
    ["cause == none", ["q1"]], // an empty field
    ["text contains \"IMPORTS\"", ["q1"]],
    ["split == \"dev\" and session == \"s1\"", ["q0"]],
    ["session == none", ["q1"]],
    ["question == \"q0\" and difficulty == \"hard\" and stage == \"right\" and answer == \"right\"", ["q0"]],
  ]) assert.deepEqual(held(text), expected, text);
});

test("a completion knows the values of the page", () => {
  const names = filterNames(data);
  assert.deepEqual(names.get("category").values, ["data flow"]);
  assert.deepEqual(names.get("run").values, ["a", "b"]);
  assert.equal(names.get("incoherent").about, "conflicting commits");
});

test("what the page doesn't know or hold is refused with what was meant", () => {
  const wrong = (text) => parseFilter(text, filterNames(data)).error;
  assert.equal(wrong("failures"), "failures is known to --keep only");
  assert.equal(wrong("split == \"tset\""), "split is never \"tset\"; did you mean \"test\"?");
  assert.equal(wrong("group == \"g\""), "group is known to --keep only");
  assert.equal(wrong("category == \"data flwo\""), "category is never \"data flwo\"; did you mean \"data flow\"?");
  assert.equal(wrong("category == \"imports\""), "category is never \"imports\": it is \"data flow\"");
  assert.equal(wrong("path == \"worng\""), "path is never \"worng\"; did you mean \"wrong\"?");
  assert.equal(wrong("cause == \"not waked\""), "cause is never \"not waked\"; did you mean \"not walked\"?");
  assert.equal(wrong("difficulty in (\"easy\", \"hart\")"), "difficulty is never \"hart\"; did you mean \"hard\"?");
  assert.equal(wrong("run == \"c\""), undefined); // an address may name a run that this page lacks
});
