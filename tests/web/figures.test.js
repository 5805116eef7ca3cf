// Figures in the page are rounded as graphkit.records.words.two rounds them: the values are those of its doctest.
import assert from "node:assert/strict";
import { test } from "node:test";
import { shown } from "../../graphkit/report/templates/dom.js";

test("a half is rounded up, though the number that stands for it is smaller; a missing value is a dash", () => {
  assert.deepEqual([0.4819, 0.825, -0.175, 0, 1, null, undefined].map(shown), ["0.48", "0.83", "-0.18", "0.00", "1.00", "–", "–"]);
});
