// The layout of the map: its rows, the edges that they tell, and the lines beside them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ROW_HEIGHTS, linesOf, partsOf, rowsOf, toldBy } from "../../graphkit/report/templates/map_layout.js";

const gold = (id) => ({ id, marks: ["gold"] });
const stray = (id) => ({ id });
const edge = (source, target, status = "extra", relation = "CALLS") => ({ source, target, relation, status });
/** The rows in short: the node with its depth, or the number of folded nodes. */
const inShort = (rows) => rows.map(({ node, depth, folded }) => (folded ? `+${folded}` : `${node}@${depth}`)).join(" ");
/** A hub, node 0, that leads to so many others. */
const hub = (count) => ({ nodes: [gold("hub"), ...Array.from({ length: count }, (_, leaf) => stray(`leaf ${leaf}`))], edges: Array.from({ length: count }, (_, leaf) => edge(0, leaf + 1)) });

/** Draw maps of up to 50 nodes and 100 edges, some of them with a hub, the same ones every time. */
const drawnMaps = function* () {
  let seed = 7;
  const draw = (below) => { seed = (seed * 48271) % 2147483647; return seed % below; };
  for (let turn = 0; turn < 300; turn += 1) {
    const steps = draw(12), others = 1 + draw(28), leaves = draw(12);
    const count = steps + 1 + others;
    const nodes = Array.from({ length: count + leaves }, (_, node) => (steps && node <= steps ? gold : stray)(`r${draw(3)}:f.py#n${node}`));
    const at = draw(count);
    const edges = [
      ...Array.from({ length: steps }, (_, step) => edge(step, step + 1, ["matched", "missed", "optional"][draw(3)])),
      ...Array.from({ length: others + draw(50) }, () => (draw(3) ? edge(draw(count), draw(count)) : edge(draw(1 + steps), draw(count)))),
      ...Array.from({ length: leaves }, (_, leaf) => edge(at, count + leaf)),
    ];
    const rows = rowsOf(nodes, edges);
    yield { nodes, edges, rows, hubs: rows.filter(({ folded }) => folded).map(({ node }) => node) };
  }
};

test("a node id is its repository, file and name", () => {
  assert.deepEqual(partsOf("web:src/login.ts#submit"), { repo: "web", file: "src/login.ts", name: "submit" });
  assert.deepEqual(partsOf("web:src/login.ts"), { repo: "web", file: "src/login.ts", name: "login.ts" });
  assert.deepEqual(partsOf("web:C#/login.cs#submit"), { repo: "web", file: "C#/login.cs", name: "submit" });
  assert.deepEqual(partsOf("just a name"), { repo: "", file: "", name: "just a name" });
  assert.equal(partsOf("web:").name, "web:");
  assert.deepEqual(partsOf("flask.app:Flask.run", "flask"), { repo: "flask", file: "", name: "flask.app:Flask.run" });
  assert.deepEqual(partsOf("Harbour 1: A Story", ""), { repo: "", file: "", name: "Harbour 1: A Story" });
});

test("gold comes in the order of its path, and below each node what the walk reached from it", () => {
  // Gold 0 -> 1 -> 2; the walk leaves 0 to 3, and 1 to 4, and goes on from 4 to 5.
  const nodes = [gold("a"), gold("b"), gold("c"), stray("d"), stray("e"), stray("f")];
  const edges = [edge(0, 1, "matched"), edge(1, 2, "missed"), edge(4, 5), edge(1, 4, "turn"), edge(0, 3)];
  const rows = rowsOf(nodes, edges);
  assert.equal(inShort(rows), "0@0 3@1 1@0 4@1 5@1 2@0");
  // Each hangs by its edge on the row of the node from which the walk reached it; the first begins.
  assert.deepEqual(rows.map(({ parent, edge: by }) => [parent, by]), [[-1, -1], [0, 4], [0, 0], [2, 3], [3, 2], [2, 1]]);
});

test("a walk goes straight down, and what branches off it is indented above the rest of it", () => {
  // 1 -> 2 -> 3 -> 4 with a branch 5 at 1 and the branch 6 -> 7 at 2, off the gold node 0.
  const nodes = [gold("a"), ...Array.from({ length: 7 }, (_, node) => stray(`${node}`))];
  const edges = [edge(0, 1), edge(1, 2), edge(2, 3), edge(3, 4), edge(1, 5), edge(2, 6), edge(6, 7)];
  assert.equal(inShort(rowsOf(nodes, edges)), "0@0 1@1 5@2 2@1 6@2 7@2 3@1 4@1");
});

test("what no edge leads to is joined by an edge from it, and else begins a walk of its own", () => {
  // 2 leads into gold 1 and thereby to 3; nothing joins 4 -> 5 to the path.
  const nodes = [gold("a"), gold("b"), stray("c"), stray("d"), stray("e"), stray("f")];
  const edges = [edge(0, 1, "missed"), edge(2, 1), edge(2, 3), edge(4, 5)];
  const rows = rowsOf(nodes, edges);
  assert.equal(inShort(rows), "0@0 1@0 2@1 3@1 4@1 5@1");
  assert.deepEqual(rows.map(({ parent }) => parent), [-1, 0, 1, 2, -1, 4]);
  const { lines } = linesOf(rows, edges, ROW_HEIGHTS.wide);
  assert.deepEqual(lines.map(({ edge: by, back }) => [by, back]), [[0, false], [1, true], [2, false], [3, false]]);
});

test("two gold paths stand one below the other, joined where an edge joins them", () => {
  // 0 -> 1 and 2 -> 3 are two paths; 3 -> 4 and 5 -> 4 lead to one node.
  const nodes = ["a", "b", "c", "d", "e", "f"].map(gold);
  const edges = [edge(0, 1, "matched"), edge(2, 3, "missed"), edge(3, 4, "missed"), edge(5, 4, "missed")];
  assert.deepEqual(rowsOf(nodes, edges).map(({ parent }) => parent), [-1, 0, -1, 2, 3, 4]);
});

test("a hub of more than five folds all but three of the nodes that hang on it alone", () => {
  const small = hub(5), large = hub(6);
  assert.equal(inShort(rowsOf(small.nodes, small.edges)), "0@0 1@1 2@1 3@1 4@1 5@1");
  assert.equal(inShort(rowsOf(large.nodes, large.edges)), "0@0 1@1 2@1 3@1 +3");
  assert.equal(inShort(rowsOf(large.nodes, large.edges, new Set([0]))), "0@0 1@1 2@1 3@1 +3 4@1 5@1 6@1");
});

test("a fold holds neither a wrong turn nor a node with another neighbour", () => {
  // Of eight leaves the last is a wrong turn, and the seventh leads on to a ninth node: six hang on the hub alone.
  const { nodes, edges } = hub(8);
  edges[7].status = "turn";
  assert.equal(inShort(rowsOf([...nodes, stray("on")], [...edges, edge(7, 9)])), "0@0 1@1 2@1 3@1 7@1 9@1 8@1 +3");
  // A second edge to the hub, and one to itself, are no other neighbour.
  const again = hub(6);
  assert.equal(inShort(rowsOf(again.nodes, [...again.edges, edge(6, 0, "extra", "READS"), edge(6, 6)])), "0@0 1@1 2@1 3@1 +3");
});

test("unfolded, every node has one row and every edge is told by one row and drawn as one line", () => {
  for (const { nodes, edges, hubs } of drawnMaps()) {
    const rows = rowsOf(nodes, edges, new Set(hubs));
    assert.deepEqual(rows.filter(({ folded }) => !folded).map(({ node }) => node).sort((a, b) => a - b), [...nodes.keys()]);
    assert.deepEqual(toldBy(rows, edges).flat().sort((a, b) => a - b), [...edges.keys()]);
    const drawn = linesOf(rows, edges, ROW_HEIGHTS.wide).lines.map((line) => line.edge).filter((one) => one >= 0);
    assert.deepEqual(drawn.sort((a, b) => a - b), [...edges.keys()]);
  }
});

test("folded, the rows and the folds hold every node, and a line leads to each fold", () => {
  let folds = 0;
  for (const { nodes, edges, rows, hubs } of drawnMaps()) {
    assert.equal(rows.reduce((sum, { folded }) => sum + (folded || 1), 0), nodes.length);
    const { lines } = linesOf(rows, edges, ROW_HEIGHTS.narrow);
    assert.equal(lines.filter((line) => line.edge < 0).length, hubs.length);
    folds += hubs.length;
  }
  assert.ok(folds > 20, `${folds} folds are too few to prove anything`);
});

test("rows stay within the logarithm of their number and two steps", () => {
  for (const { nodes, rows } of drawnMaps()) {
    assert.ok(Math.max(...rows.map(({ depth }) => depth)) <= Math.log2(nodes.length) + 2);
  }
  // A chain of 500 with a leaf at each node takes two columns.
  const nodes = [gold("a"), ...Array.from({ length: 999 }, (_, node) => stray(`${node}`))];
  const edges = Array.from({ length: 999 }, (_, node) => edge(node % 2 ? node - 1 : node, node + 1));
  assert.equal(Math.max(...rowsOf(nodes, edges).map(({ depth }) => depth)), 2);
});

/** The upright parts of a path, each as its x and its two ends. */
const uprights = (path) => {
  const found = [];
  let x = 0, y = 0;
  for (const [, command, rest] of path.matchAll(/([MLHVQ])([-\d. ]+)/g)) {
    const numbers = rest.trim().split(" ").map(Number);
    if (command === "V") found.push({ x, from: Math.min(y, numbers[0]), to: Math.max(y, numbers[0]) });
    if (command === "H") [x] = numbers;
    else if (command === "V") [y] = numbers;
    else [x, y] = numbers.slice(-2);
  }
  return found;
};

test("no line passes a row at its text or right of it", () => {
  for (const height of Object.values(ROW_HEIGHTS)) {
    for (const { edges, rows } of drawnMaps()) {
      const { lines, dots, width } = linesOf(rows, edges, height);
      for (const { path } of lines) {
        for (const { x, from, to } of uprights(path)) {
          assert.ok(x > 0 && x < width, path);
          dots.forEach((dot) => { if (from < dot.y - 8 && dot.y + 8 < to) assert.ok(x < dot.x + 10, `${path} at ${dot.x} ${dot.y}`); });
        }
      }
    }
  }
});

test("lines in the gutter lie apart unless they leave one node with one status", () => {
  let compared = 0;
  for (const { edges, rows } of drawnMaps()) {
    const { lines, dots } = linesOf(rows, edges, ROW_HEIGHTS.wide);
    const left = Math.min(...dots.map(({ x }) => x));
    const inGutter = lines.flatMap(({ edge: by, path }) => uprights(path).filter(({ x }) => x < left).map((part) => ({ ...part, by })));
    for (const [place, one] of inGutter.entries()) {
      for (const other of inGutter.slice(place + 1)) {
        if (edges[one.by].source === edges[other.by].source && edges[one.by].status === edges[other.by].status) continue;
        compared += 1;
        assert.ok(one.x !== other.x || one.to < other.from || other.to < one.from);
      }
    }
  }
  assert.ok(compared > 1000);
});

test("the gutter takes no more than so much, however many lines it holds", () => {
  // Twenty gold nodes in a row, and extra edges from each to all of them.
  const nodes = Array.from({ length: 20 }, (_, node) => gold(`${node}`));
  const path = nodes.slice(1).map((_, node) => edge(node, node + 1, "matched"));
  const many = nodes.flatMap((_, node) => nodes.map((__, other) => edge(node, other)));
  // A margin of 6 on both sides; with lines, 64 for them and another 6.
  assert.equal(linesOf(rowsOf(nodes, path), path, ROW_HEIGHTS.wide).width, 12);
  assert.equal(linesOf(rowsOf(nodes, [...path, ...many]), [...path, ...many], ROW_HEIGHTS.wide).width, 82);
});

test("a straight step, a branch and a line in the gutter are drawn where they belong", () => {
  // Rows of 26: 0 at 13, its branch 2 at 39, then 1 at 65. 1 reads 0 again, in the only lane, and 2 calls itself.
  const nodes = [gold("a"), gold("b"), stray("c")];
  const edges = [edge(0, 1, "matched"), edge(0, 2), edge(1, 0, "extra", "READS")];
  const { lines, dots } = linesOf(rowsOf(nodes, edges), edges, 26);
  // The gutter holds a lane of 8 between two margins of 6.
  assert.deepEqual(dots, [{ x: 20, y: 13 }, { x: 40, y: 39 }, { x: 20, y: 65 }]);
  assert.deepEqual(Object.fromEntries(lines.map(({ edge: by, path }) => [by, path])), {
    0: "M20 19V59",
    1: "M24 17L29 22V34Q29 39 34 39H34",
    2: "M16 62H11Q6 62 6 57V21Q6 16 11 16H14",
  });
});
