// The difference of two answers, by hand, and beside an independent peer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { diffArrays } from "diff";
import { wordDiff } from "../../graphkit/report/templates/diff.js";

const kinds = (before, after) => wordDiff(before, after).map(({ kind, text }) => [kind, text]);

test("words that differ are removed and added", () => {
  assert.deepEqual(kinds("the api asks auth", "the web asks auth twice"), [
    ["same", "the "], ["removed", "api "], ["added", "web "], ["same", "asks auth"], ["added", "twice"]].map(([kind, text]) => [kind, text === "asks auth" ? "asks auth " : text]));
});

test("spaces and line ends don't count", () => assert.deepEqual(kinds("one  two", "one\ntwo"), [["same", "one\ntwo"]]));

test("an empty text has no words", () => {
  assert.deepEqual(kinds("", ""), []);
  assert.deepEqual(kinds("", "new"), [["added", "new"]]);
  assert.deepEqual(kinds("old", ""), [["removed", "old"]]);
});

/** A seeded source of numbers below a bound. */
const drawn = (seed) => (bound) => { seed = (seed * 48271) % 2147483647; return seed % bound; };
const words = (text) => text.split(/\s+/).filter(Boolean);

test("both texts can be read from the difference, and no shorter one exists", () => {
  const draw = drawn(7);
  const text = () => Array.from({ length: draw(30) }, () => "abcde"[draw(5)]).join(" ");
  for (let turn = 0; turn < 500; turn += 1) {
    const [before, after] = [text(), text()];
    const pieces = wordDiff(before, after);
    const side = (kind) => words(pieces.filter((one) => one.kind === kind || one.kind === "same").map((one) => one.text).join(" "));
    assert.deepEqual(side("removed"), words(before));
    assert.deepEqual(side("added"), words(after));
    const kept = words(pieces.filter((one) => one.kind === "same").map((one) => one.text).join(" ")).length;
    const peer = diffArrays(words(before), words(after)).filter((one) => !one.added && !one.removed).reduce((sum, one) => sum + one.value.length, 0);
    assert.equal(kept, peer);
  }
});

test("texts too long for the table are compared at their ends", () => {
  const long = (word) => Array.from({ length: 3000 }, (_, n) => `${word}${n}`).join(" ");
  const pieces = wordDiff(`start ${long("a")} end`, `start ${long("b")} end`);
  assert.deepEqual(pieces.map((one) => one.kind), ["same", "removed", "added", "same"]);
});
