// The code in an answer: found between fences, and shown once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answerPieces, isShownIn } from "../../graphkit/report/templates/answer.js";

/** @param {string} text */
const brief = (text) => answerPieces(text).map(({ code, text: piece }) => (code ? `<${piece}>` : piece));

test("text and fenced code are told apart", () => {
  assert.deepEqual(brief("Do this:\n```python\na = 1\n\nb = 2\n```\nand that."), ["Do this:", "<a = 1\n\nb = 2>", "and that."]);
  assert.deepEqual(brief("~~~\nx\n```\n~~~"), ["<x\n```>"]); // another fence ends nothing
  assert.deepEqual(brief("````\n```\n````"), ["<```>"]); // nor does a shorter one
});

test("a fence that isn't closed goes on to the end, and `code` in a line is text", () => {
  assert.deepEqual(brief("see\n```js\nf()"), ["see", "<f()>"]);
  assert.deepEqual(brief("call `f` or ```g``` there"), ["call `f` or ```g``` there"]);
  assert.deepEqual(brief("```a``` is\ntext"), ["```a``` is\ntext"]);
});

test("code is shown elsewhere if all of its lines stand there in a row", () => {
  const shown = [{ lines: ["import os", "a = 1", "b = 2"] }];
  assert.deepEqual(["a = 1\nb = 2\n", "a = 1\nc = 2", "b = 2\na = 1", "", "import os\na = 1\nb = 2"].map((code) => isShownIn(code, shown)), [true, false, false, false, true]);
  assert.equal(isShownIn("x".repeat(300), [{ lines: [`${"x".repeat(199)}…`] }]), true); // as long lines are cut there
});
