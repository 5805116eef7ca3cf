// Addresses of the page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { KEYS, joinedNames, named, parsed, placeOf, query, splitNames } from "../../graphkit/report/templates/address.js";

test("an address has a place and a state", () => {
  const { place, state } = parsed("#questions?run=a+b&missed=1&nonsense=2");
  assert.equal(place, "#questions");
  assert.deepEqual([...state], [["run", "a b"], ["missed", "1"]]);
});

test("a question mark in a name begins no state", () => {
  const { place, state } = parsed("#run/why?not=1");
  assert.equal(place, "#run/why?not=1");
  assert.equal(state.size, 0);
});

test("any state and any names come back as they were", () => {
  const hostile = ["</script>", "a/b", "50 %", "x?run=y", "é\u202e", "a&b=c", "#"];
  for (const [place, run] of hostile.entries()) {
    const id = hostile[(place + 1) % hostile.length];
    const state = new Map(KEYS.map((key, number) => [key, hostile[(place + number) % hostile.length]]));
    const found = parsed(placeOf(run, id) + query(state));
    assert.deepEqual(named(found.place), [run, id]);
    assert.deepEqual(found.state, state);
  }
});

test("several names are one value, also none of them", () => {
  for (const names of [[], ["a"], ["a,b", "50 %", "%2C"], ["value:P(rel=2)@5", "é"]]) assert.deepEqual(splitNames(joinedNames(names)), names);
  assert.equal(splitNames(undefined), null);
});

test("a place that can't be decoded is taken as it is", () => assert.deepEqual(named("#nobody/%"), ["nobody", "%"]));

test("a part of the page is no question", () => assert.deepEqual([named("#questions"), named("")], [["questions", undefined], ["", undefined]]));
