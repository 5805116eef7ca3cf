// The language of filters: the shared cases, and what may stand at a caret.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseFilter, suggestions, writtenName, writtenText } from "../../graphkit/report/templates/filter_expression.js";

const shared = JSON.parse(readFileSync(new URL("../filter_cases.json", import.meta.url), "utf8"));
const names = new Map(Object.entries(shared.names).map(([name, kind]) => [name, { kind, values: shared.closed[name], closed: name in shared.closed }]));
names.set("category", { kind: "text", values: ["data flow", 'say "hi"'] });
const getter = (values) => (name) => values[name] ?? (shared.names[name] === "flag" ? false : null);

test("the shared cases hold of the questions that they name", () => {
  for (const { text, holds } of shared.cases) {
    const filter = parseFilter(text, names);
    assert.equal("error" in filter ? filter.error : "", "", text);
    const held = Object.entries(shared.questions).filter(([, runs]) => filter.test(getter(runs[0]), runs.map(getter))).map(([name]) => name);
    assert.deepEqual(held, holds, text);
  }
});

test("the shared errors say what is wrong, and where", () => {
  for (const { text, error, at } of shared.errors) assert.deepEqual(parseFilter(text, names), { error, at }, text);
});

test("nesting and length are bounded", () => {
  assert.match(parseFilter("(".repeat(60), names).error, /more than 50 deep/);
  assert.match(parseFilter("not ".repeat(60), names).error, /more than 50 deep/);
  assert.match(parseFilter(`"${"\\".repeat(3000)}`, names).error, /at most 2000/);
  assert.match(parseFilter(`category == "${'\\"'.repeat(900)}`, names).error, /isn't closed/); // and in no time
});

const texts = (text, caret = text.length) => suggestions(text, caret, names).options.map((one) => one.text);

test("names come first, and those that begin with what is typed before those that hold it", () => {
  assert.deepEqual(texts("Rec"), ["EdgeRecall", "EdgeRecall(relation=False)"]);
  assert.deepEqual(texts("an"), ["`answer relevance`", "answer", "any("]);
  assert.equal(texts("").length, 15); // thirteen names of the page and --keep, not, any(
  assert.deepEqual(texts("turn"), []); // what the other reader alone knows isn't offered
  assert.deepEqual(texts("failed and lu"), ["luck"]);
  assert.deepEqual(suggestions("failed and lu", 13, names).from, 11);
});

test("signs follow a name by its kind, then values, then words", () => {
  assert.deepEqual(texts("category "), ["==", "!=", "in", "not in", "contains"]);
  assert.deepEqual(texts("EdgeRecall ")[0], "<");
  assert.deepEqual(texts("category == "), ['"data flow"', '"say \\"hi\\""', "none"]);
  assert.deepEqual(texts('category == "da'), ['"data flow"']);
  assert.deepEqual(texts("category in "), ["("]);
  assert.deepEqual(texts("category not in ("), ['"data flow"', '"say \\"hi\\""']);
  assert.deepEqual(texts('category in ("data flow" '), [",", ")"]);
  assert.deepEqual(texts('category in ("data flow", "s'), ['"say \\"hi\\""']);
  assert.deepEqual(texts("EdgeRecall < 0.5 "), ["and", "or"]);
  assert.deepEqual(texts("any(failed "), ["and", "or", ")"]);
  assert.deepEqual(texts("EdgeRecall == "), ["none"]);
  assert.deepEqual(texts("Nothing "), []);
});

test("an option takes the place of what is typed before the caret alone", () => {
  const { from, to, options } = suggestions("fai and luck", 3, names);
  assert.deepEqual([from, to, options.map((one) => one.text)], [0, 3, ["failed"]]);
});

test("names and texts are written so that they read back", () => {
  assert.deepEqual(["EdgeRecall", "nDCG@10", "answer relevance", "any", "in", "7up"].map(writtenName), ["EdgeRecall", "nDCG@10", "`answer relevance`", "`any`", "`in`", "`7up`"]);
  for (const value of ['say "hi"', "back\\slash", "end\\", "it's"]) {
    const filter = parseFilter(`category == ${writtenText(value)}`, names);
    assert.ok(filter.test(() => value), value);
  }
});
