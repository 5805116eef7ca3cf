// The questions of the page: marks, presets, filters, order and export, by hand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { filterValues } from "../../graphkit/report/templates/filter_rows.js";
import { ANYWHERE, asCsv, asJsonLines, chosen, edgesOf, events, exported, lacking, markOf, moved, PRESETS, share, worse } from "../../graphkit/report/templates/model.js";

const outcome = (given = {}) => ({ block: 0, flags: [], found: 0, required: 0, answer: "undecided", path: "undecided", stage: "undecided", ...given });
const right = outcome({ answer: "right", path: "right", found: 2, required: 2, flags: ["complete"] });
const luck = outcome({ answer: "right", path: "wrong", found: 1, required: 2 });
const wrong = outcome({ answer: "wrong", path: "wrong", found: 1, required: 2 });
const half = outcome({ found: 1, required: 2 });
const none = outcome({ found: 0, required: 2 });
const failed = outcome({ flags: ["failed"] });
const absent = outcome({ flags: ["absent"] });
const invalid = outcome({ flags: ["invalid"] });
const unlogged = outcome({ flags: ["unlogged"] });
const free = outcome();
const mixed = outcome({ flags: ["incoherent"], found: 1, required: 2 });

const data = (runs, questions) => ({
  measures: [{ name: "EdgeRecall", definition: "", lower: false, range: [0, 1] }],
  questions: questions || runs[0].map((_, n) => ({ id: `q${n}`, text: `text ${n}`, category: n % 2 ? "odd" : "even", difficulty: ["hard", "easy", ""][n % 3] })),
  stages: ["undecided"], edges: { rows: [["boundary", "a → b"], ["relation", "CALLS"]], needs: runs[0].map((_, n) => (n ? [1] : [0, 1])) },
  runs: runs.map((questionsOf, place) => ({ name: `run${place}`, values: [questionsOf.map(share)], means: [null], questions: questionsOf, missed: questionsOf.map((_, n) => (n ? [] : [0])) })),
  beginning: "run", best: 0, baseline: 1, gold_hash: null,
});
const choice = (given) => ({ run: 0, baseline: 1, preset: "", what: "", text: "", category: "", difficulty: "", measure: 0, bound: "", edge: -1, missed: false, sort: "", ...given });

test("a mark says what the run did", () => {
  const texts = [right, luck, wrong, half, none, failed, absent, invalid, unlogged, free].map((one) => markOf(one).text);
  assert.deepEqual(texts, ["2/2 answer ✓", "1/2 luck", "1/2 answer ✗", "1/2", "0/2", "failed", "none", "stale", "?", "–"]);
  assert.deepEqual([right, luck, wrong, half, failed, invalid].map((one) => markOf(one).kind), ["good", "turn", "bad", "short", "bad", "dim"]);
  assert.equal(markOf(luck).words, "1 of 2 required edges walked, right answer: luck");
});

test("answers decide who did better, else the walked share; what nobody knows isn't compared", () => {
  assert.equal(moved(right, wrong), 1);
  assert.equal(moved(wrong, luck), -1);
  assert.equal(moved(right, luck), 1); // both right: 2/2 against 1/2
  assert.equal(moved(half, none), 1);
  assert.equal(moved(half, wrong), 0); // undecided against wrong: both walked a half
  assert.equal(moved(failed, half), -1); // a failed question walked nothing
  assert.equal(moved(failed, right), -1);
  assert.equal(moved(failed, absent), 0);
  assert.equal(moved(failed, none), 0);
  for (const one of [invalid, unlogged, free]) assert.equal(moved(one, half), null);
});

test("whoever did better, the other did worse", () => {
  const all = [right, luck, wrong, half, none, failed, absent, invalid, unlogged, free];
  for (const one of all) for (const other of all) {
    const there = moved(one, other);
    assert.equal(moved(other, one), there === null ? null : 0 - there);
    if (one === other && share(one) !== null) assert.equal(there, 0);
  }
});

test("presets compare the run with the baseline", () => {
  const found = data([[right, wrong, half, failed, luck, mixed, absent], [wrong, right, half, half, luck, half, absent]]);
  const left = Object.fromEntries(PRESETS.map(([name]) => [name, chosen(found, choice({ preset: name }), null)]));
  // q2 and q5: both walked a half, undecided; q3: the run failed, the baseline walked a half; q6: neither has a record.
  assert.deepEqual(left, { regressed: [1, 3], improved: [0], "both-wrong": [2, 3, 5, 6], luck: [4], incoherent: [5], failed: [3], absent: [6] });
});

test("what happened in any run counts the runs that are shown", () => {
  const found = data([[right, right, right], [luck, wrong, mixed], [failed, right, right]]);
  const left = (what, more) => chosen(found, choice({ what, anywhere: true, ...more }), null);
  assert.deepEqual(ANYWHERE.map((name) => left(name)), [[0], [2], [0], [], [1]]);
  assert.deepEqual(left("failed", { shown: [0, 1] }), []);
  assert.deepEqual(chosen(found, choice({ what: "luck" }), null), []);
  assert.deepEqual(events(found).filter(([name]) => ANYWHERE.includes(name)).length, ANYWHERE.length);
  found.runs[2].missed = [[], [1], []]; // run 0 misses edge 0 in q0, run 1 too
  assert.deepEqual(chosen(found, choice({ edge: 1, missed: true, anywhere: true }), null), [1]);
  assert.deepEqual(chosen(found, choice({ edge: 1, missed: true }), null), []);
});

test("failed and no record are two things, in a run, in any run and in a filter", () => {
  // Run 0 failed on q0 and has no record of q1; run 1 has no record of q0 and answered the others.
  const found = data([[failed, absent, right], [absent, right, right]]);
  const byFilter = (flag, runs) => chosen(found, choice({ filter: (n) => runs.some((run) => filterValues(found, run, n)(flag)) }), null);
  for (const [name, own, any] of [["failed", [0], [0]], ["absent", [1], [0, 1]]]) {
    for (const one of [{ preset: name }, { what: name }]) assert.deepEqual(chosen(found, choice(one), null), own, name);
    assert.deepEqual(byFilter(name, [0]), own);
    assert.deepEqual(chosen(found, choice({ what: name, anywhere: true }), null), any);
    assert.deepEqual(byFilter(name, [0, 1]), any);
  }
  const words = (list) => list.filter(([name]) => ["failed", "absent"].includes(name)).map((one) => one[1]);
  assert.deepEqual(words(PRESETS), words(events(found)));
});

test("saved rows name questions by their ids, which the page shows with escapes", () => {
  const found = { ...data([[right, right]]), ids: { 1: "\tx" } };
  const rows = exported(found, [0, 1], [new Map()]);
  assert.deepEqual(rows.map(({ question }) => question), ["q0", "\tx"]);
  assert.match(asJsonLines(rows), /"question":"\\tx"/);
  assert.match(asCsv(rows, []), /\r\n'\tx,/); // a spreadsheet must not take it for a formula
});

test("a filter leaves the questions that it holds of", () => {
  const found = data([[right, wrong, half]]);
  assert.deepEqual(chosen(found, choice({ filter: (n) => n !== 1, category: "even" }), null), [0, 2]);
});

test("what got worse begins with lost answers, then with the larger loss of the walk", () => {
  const whole = outcome({ found: 2, required: 2 });
  // q0 lost a half, q1 its answer and a half, q2 nothing, q3 all by a failure, q4 got better.
  const found = data([[half, wrong, half, failed, right], [whole, right, half, whole, wrong]]);
  assert.deepEqual(worse(found.runs[0], found.runs[1]), [1, 3, 0]);
});

test("without a baseline nothing regressed", () => {
  const found = data([[wrong, failed]]);
  assert.deepEqual(chosen(found, choice({ baseline: null, preset: "regressed" }), null), []);
  assert.deepEqual(chosen(found, choice({ baseline: null, preset: "failed" }), null), [1]);
});

test("every filter leaves its questions, and several leave what all leave", () => {
  const found = data([[right, wrong, half, failed], [right, right, right, right]]);
  assert.deepEqual(chosen(found, choice({ category: "odd" }), null), [1, 3]);
  assert.deepEqual(chosen(found, choice({ difficulty: "easy" }), null), [1]);
  assert.deepEqual(chosen(found, choice({ what: "complete" }), null), [0]);
  assert.deepEqual(chosen(found, choice({ edge: 0 }), null), [0]);
  assert.deepEqual(chosen(found, choice({ edge: 1 }), null), [0, 1, 2, 3]);
  assert.deepEqual(chosen(found, choice({ edge: 1, missed: true }), null), []);
  assert.deepEqual(chosen(found, choice({ bound: "0.5" }), null), [1, 2, 3]);
  assert.deepEqual(chosen(found, choice({ bound: "0.5", category: "odd" }), null), [1, 3]);
});

test("a run whose alternatives differ has its own needs; without a run, an edge counts that some run needs", () => {
  const found = data([[right, wrong], [right, right]]);
  found.runs[1].needs = [[1], [0, 1]]; // the first run needs edge 0 in q0, the second in q1
  assert.deepEqual(chosen(found, choice({ edge: 0 }), null), [0]);
  assert.deepEqual(chosen(found, choice({ run: 1, edge: 0 }), null), [1]);
  found.edges.needs = [[0, 1], [0, 1]];
  found.runs[0].needs = [[0, 1], [1]];
  assert.deepEqual(chosen(found, choice({ edge: 0, anyRun: true }), null), [0, 1]);
  assert.deepEqual(chosen(found, choice({ edge: 0 }), null), [0]);
});

test("a search finds every word in ids, questions or texts", () => {
  const found = data([[right, wrong]]);
  assert.deepEqual(chosen(found, choice({ text: "Q1 TEXT" }), null), [1]);
  assert.deepEqual(chosen(found, choice({ text: "flask.py" }), null), []);
  assert.deepEqual(chosen(found, choice({ text: "flask.py text" }), ["web:flask.py#run", "web:other.py"]), [0]);
});

test("a sort puts unknown values last in both directions, and keeps the order of equals", () => {
  const found = data([[half, right, failed, none, half], [right, right, right, right, right]]);
  assert.deepEqual(chosen(found, choice({ sort: "run:run0" }), null), [3, 0, 4, 1, 2]);
  assert.deepEqual(chosen(found, choice({ sort: "-run:run0" }), null), [1, 0, 4, 3, 2]);
  assert.deepEqual(chosen(found, choice({ sort: "-question" }), null), [4, 3, 2, 1, 0]);
  assert.deepEqual(chosen(found, choice({ sort: "difficulty" }), null), [1, 4, 0, 3, 2]);
  assert.deepEqual(chosen(found, choice({ sort: "moved" }), null), [0, 2, 3, 4, 1]);
  assert.deepEqual(chosen(found, choice({ sort: "-value:EdgeRecall" }), null), [1, 0, 4, 2, 3]); // failed: 0, as none
  assert.deepEqual(chosen(found, choice({ sort: "value:Nothing" }), null), [0, 1, 2, 3, 4]);
  found.stages = ["not retrieved", "undecided"];
  found.runs[0].questions = [half, outcome({ stage: "not retrieved" }), half, half, half];
  assert.deepEqual(chosen(found, choice({ sort: "stage" }), null), [1, 0, 2, 3, 4]);
});

test("an export holds what every run did, and no formula", () => {
  const found = data([[half], [right]], [{ id: "=1+1", text: 'say "x", twice', category: "", difficulty: "" }]);
  const edge = { source: "a:x", relation: null, target: "b:y" };
  const rows = exported(found, [0], [new Map([[0, { missed_edges: null, absent_edges: null }]]), new Map([[0, { missed_edges: [edge], absent_edges: [] }]])]);
  assert.equal(asCsv(rows, found.measures), "question,text,category,difficulty,run,answer,path,found,required,flags,stage,EdgeRecall,missed_edges,absent_edges\r\n" +
    `'=1+1,"say ""x"", twice",,,run0,undecided,undecided,1,2,,undecided,0.5,,\r\n` +
    `'=1+1,"say ""x"", twice",,,run1,right,right,2,2,complete,undecided,1,"[{""source"":""a:x"",""relation"":null,""target"":""b:y""}]",[]\r\n`);
  const [line] = asJsonLines(rows).trim().split("\n").map((one) => JSON.parse(one));
  assert.deepEqual(line.runs.run0, { answer: "undecided", path: "undecided", found: 1, required: 2, flags: [], stage: "undecided", values: { EdgeRecall: 0.5 }, missed_edges: null, absent_edges: null });
  assert.deepEqual(line.runs.run1.missed_edges, [edge]);
  assert.equal(line.question, "=1+1");
});

test("edges of the map are missed where the path is judged, and lacking where the graph is known", () => {
  const nodes = [{ id: "a:x" }, { id: "b:y" }];
  const edges = [{ source: 0, target: 1, relation: "CALLS", status: "matched" }, { source: 1, target: 0, relation: "", status: "missed" }];
  const back = { source: "b:y", relation: null, target: "a:x" };
  assert.deepEqual(edgesOf({ nodes, edges, absent: [1] }, wrong), { missed_edges: [back], absent_edges: [back] });
  assert.deepEqual(edgesOf({ nodes, edges: edges.slice(0, 1), absent: [] }, right), { missed_edges: [], absent_edges: [] });
  assert.deepEqual(edgesOf({ nodes, edges }, unlogged), { missed_edges: null, absent_edges: null });
});

test("what an address names and the page lacks is told", () => {
  const one = data([[right, half], [wrong, none]]);
  /** @param {Record<string, string>} state */
  const told = (state) => lacking(one, new Map(Object.entries(state)), ["A", "B"]).map(({ kind, name }) => `${kind} ${name}`);
  const there = { run: "run0", baseline: "run1", runs: "A,B", preset: "luck", boundary: "a → b", relation: "CALLS", what: "wrong", category: "odd", difficulty: "easy", measure: "EdgeRecall", columns: "stage,value:EdgeRecall", sort: "-run:run1" };
  assert.deepEqual(told({ ...there, any: "1", text: "zzz", keep: "zzz", theme: "dark" }), []);
  for (const [key, kind] of Object.entries({ run: "run", baseline: "run", runs: "run", preset: "preset", boundary: "boundary", relation: "relation", edge: "edge", node: "node", what: "event", category: "category", difficulty: "difficulty", measure: "measure", columns: "column", sort: "column" })) {
    assert.deepEqual(told({ ...there, [key]: "zzz" }), [`${kind} zzz`]);
  }
  // A name of a relation is no boundary, and one of two runs is enough to be told.
  assert.deepEqual(told({ boundary: "CALLS", runs: "A,C", columns: "__proto__" }), ["boundary CALLS", "run C", "column __proto__"]);
});
