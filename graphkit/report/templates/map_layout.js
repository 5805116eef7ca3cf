// The layout of the map: one row per node, and one line per edge in the gutter left of the rows. It touches no element.

/**
 * @typedef {object} MapNode
 * @property {string} id
 * @property {number[]} [commits] Places of the commits at which it was read.
 * @property {string} [repo] Its repository, if its id doesn't begin with it.
 * @property {string} [pin] "off pin" or "pinned".
 * @property {string} [name] The name, if another node has the same short one.
 * @property {string[]} [marks] "gold", "left", "unreached" and "never_entered".
 * @property {number} [rank]
 */
/** @typedef {{source: number, target: number, relation: string, status: string, gold_path?: string, position?: number}} MapEdge */
/**
 * @typedef {object} MapRow A node, or a fold: the row of a button for nodes that hang on one node alone.
 * @property {number} node The node; for a fold, the node on which the others hang.
 * @property {number} depth Steps of indentation; nodes of gold paths have 0.
 * @property {number} parent The place of the row that it is joined to; -1 if none.
 * @property {number} edge The edge that joins it to that row; -1 if none, and for a fold.
 * @property {number} folded Nodes that the fold holds; 0 for a node.
 */
/** @typedef {{edge: number, path: string, back: boolean}} MapLine A path of SVG; `back` if its edge points at its start. */

// A hub has more than HUB neighbours that hang on it alone; it shows the first of them, and a fold holds the others.
const HUB = 5;
const SHOWN = 3;

// Sizes in sixteenths of an em.
const INDENT = 20;
const LANE = 8;
const LANES = 64;
const BRANCH = 9;
const CORNER = 5;
const REACH = 6;
const BESIDE = 3;
/** The height of a row whose text takes one line, and of one that takes two. */
export const ROW_HEIGHTS = { wide: 26, narrow: 42 };
/** How far below the top of its row a node is drawn. */
const NODE_AT = 13;

/**
 * Return the parts of a node id. A file is named by the last part of its path, an id of another form by itself; only such
 * a node states its repository. @param {string} id @param {string} [repo]
 */
export const partsOf = (id, repo) => {
  if (repo !== undefined) return { repo, file: "", name: id };
  const colon = id.indexOf(":");
  if (colon < 0) return { repo: "", file: "", name: id };
  const hash = id.lastIndexOf("#");
  const file = id.slice(colon + 1, hash > colon ? hash : undefined);
  const symbol = hash > colon ? id.slice(hash + 1) : "";
  return { repo: id.slice(0, colon), file, name: symbol || file.slice(file.lastIndexOf("/") + 1) || id };
};

/** @param {MapNode} node */
export const isGold = ({ marks }) => marks !== undefined && marks.includes("gold");

/**
 * Return the nodes in the order in which the walk reaches them from the gold paths, and for each the node and the edge
 * that it hangs on, -1 if none. An edge against the walk joins a node that no edge leads to; what nothing joins begins anew.
 * @param {MapNode[]} nodes @param {MapEdge[]} edges
 */
const reached = (nodes, edges) => {
  const from = nodes.map(() => -1);
  const by = nodes.map(() => -1);
  const order = [...nodes.keys()].filter((node) => isGold(nodes[node]));
  const known = new Set(order);
  const join = (/** @type {number} */ node, /** @type {number} */ parent, /** @type {number} */ edge) => {
    if (known.has(node)) return;
    known.add(node);
    order.push(node);
    from[node] = parent;
    by[node] = edge;
  };
  for (let next = 0; ;) {
    for (; next < order.length; next += 1) edges.forEach(({ source, target }, edge) => { if (source === order[next]) join(target, source, edge); });
    if (order.length === nodes.length) return { order, from, by };
    const edge = edges.findIndex(({ source, target }) => known.has(target) && !known.has(source));
    if (edge >= 0) join(edges[edge].source, edges[edge].target, edge);
    else join(nodes.findIndex((_, node) => !known.has(node)), -1, -1);
  }
};

/**
 * Return the rows of the map: the gold paths in their order, and below each node the nodes that the walk reached from
 * it off the paths. A walk goes straight down and only what branches off it is indented, so the rows stay within the
 * logarithm of their number, and one step more.
 * @param {MapNode[]} nodes @param {MapEdge[]} edges @param {Set<number>} [unfolded] Nodes whose folds are open. @returns {MapRow[]}
 */
export const rowsOf = (nodes, edges, unfolded = new Set()) => {
  const { order, from, by } = reached(nodes, edges);
  /** @type {number[][]} */
  const children = nodes.map(() => []);
  const size = nodes.map(() => 1);
  for (const node of order) if (from[node] >= 0) children[from[node]].push(node);
  for (const node of [...order].reverse()) if (from[node] >= 0) size[from[node]] += size[node];
  const alone = (/** @type {number} */ node) => edges[by[node]].status === "extra"
    && edges.every(({ source, target }) => (source !== node || target === node || target === from[node]) && (target !== node || source === node || source === from[node]));
  /** @type {MapRow[]} */
  const rows = [];
  const add = (/** @type {number} */ node, /** @type {number} */ depth, /** @type {number} */ parent, /** @type {number} */ edge) => {
    const place = rows.push({ node, depth, parent, edge, folded: 0 }) - 1;
    const hung = children[node].filter(alone);
    const folded = hung.length > HUB ? hung.slice(SHOWN) : [];
    const longest = Math.max(0, ...children[node].map((one) => size[one]));
    const straight = depth > 0 && (longest > 1 || children[node].length === 1) ? children[node].find((one) => size[one] === longest) : undefined;
    const below = (/** @type {number} */ one) => add(one, depth + (one === straight ? 0 : 1), place, by[one]);
    children[node].filter((one) => one !== straight && !folded.includes(one)).forEach(below);
    if (folded.length) rows.push({ node, depth: depth + 1, parent: place, edge: -1, folded: folded.length });
    if (unfolded.has(node)) folded.forEach(below);
    if (straight !== undefined) below(straight);
  };
  let last = -1;
  for (const node of order.filter((one) => from[one] < 0)) {
    const place = rows.length;
    if (!isGold(nodes[node])) {
      add(node, 1, -1, -1);
      continue;
    }
    const before = last < 0 ? -1 : rows[last].node;
    const edge = edges.findIndex(({ source, target }) => (source === before && target === node) || (source === node && target === before));
    add(node, 0, edge < 0 ? -1 : last, edge);
    last = place;
  }
  return rows;
};

/**
 * Return the edges between rows that join none of them to the one above.
 * @param {MapRow[]} rows @param {MapEdge[]} edges
 */
const looseOf = (rows, edges) => {
  const shown = new Set(rows.filter(({ folded }) => !folded).map(({ node }) => node));
  const joining = new Set(rows.map(({ edge }) => edge));
  return [...edges.keys()].filter((edge) => !joining.has(edge) && shown.has(edges[edge].source) && shown.has(edges[edge].target));
};

/**
 * Return for each row the edges that it tells: the one that joins it to the row above, then the others that lead to its node.
 * @param {MapRow[]} rows @param {MapEdge[]} edges
 */
export const toldBy = (rows, edges) => {
  const loose = looseOf(rows, edges);
  return rows.map(({ node, edge, folded }) => (folded ? [] : [...(edge < 0 ? [] : [edge]), ...loose.filter((one) => edges[one].target === node)]));
};

/** @param {number} number */
const rounded = (number) => Math.round(number * 100) / 100;

/**
 * Return the lane of each edge that joins no rows, and the number of lanes. Edges of one status that leave one node
 * share a lane; others beside the same rows don't. The shortest are the nearest to the rows.
 * @param {number[]} loose @param {MapEdge[]} edges @param {number[]} places The place of each node's row.
 */
const lanesOf = (loose, edges, places) => {
  /** @type {Record<string, {edges: number[], top: number, bottom: number}>} */
  const buses = {};
  for (const edge of loose) {
    const { source, target, status } = edges[edge];
    const bus = buses[`${source} ${status}`] ||= { edges: [], top: Infinity, bottom: -1 };
    bus.edges.push(edge);
    bus.top = Math.min(bus.top, places[source], places[target]);
    bus.bottom = Math.max(bus.bottom, places[source], places[target]);
  }
  /** @type {{top: number, bottom: number}[][]} */
  const lanes = [];
  const lane = edges.map(() => -1);
  for (const bus of Object.values(buses).sort((one, other) => one.bottom - one.top - (other.bottom - other.top))) {
    const free = lanes.findIndex((taken) => taken.every(({ top, bottom }) => bottom < bus.top || bus.bottom < top));
    const place = free < 0 ? lanes.push([]) - 1 : free;
    lanes[place].push(bus);
    for (const edge of bus.edges) lane[edge] = place;
  }
  return { lane, count: lanes.length };
};

/**
 * Return the lines of the edges between rows and those of the folds, the place of each row's node, and the width that
 * they take, in sixteenths of an em. A line stays left of the text of every row that it passes.
 * @param {MapRow[]} rows @param {MapEdge[]} edges @param {number} height The height of a row.
 */
export const linesOf = (rows, edges, height) => {
  /** @type {number[]} */
  const places = [];
  rows.forEach(({ node, folded }, place) => { if (!folded) places[node] = place; });
  const loose = looseOf(rows, edges);
  const { lane, count } = lanesOf(loose, edges, places);
  const gap = Math.min(LANE, LANES / Math.max(count, 1));
  const left = REACH + (count ? REACH + count * gap : 0);
  const dots = rows.map(({ depth }, place) => ({ x: rounded(left + depth * INDENT), y: place * height + NODE_AT }));
  /** @type {MapLine[]} */
  const lines = [];
  rows.forEach(({ node, parent, edge, folded }, place) => {
    if (parent < 0) return;
    const { x, y } = dots[parent], end = dots[place];
    const path = x === end.x ? `M${x} ${y + REACH}V${end.y - REACH}`
      : `M${x + 4} ${y + 4}L${x + BRANCH} ${y + BRANCH}V${end.y - CORNER}Q${x + BRANCH} ${end.y} ${x + BRANCH + CORNER} ${end.y}H${end.x - (folded ? 2 : REACH)}`;
    lines.push({ edge, path, back: edge >= 0 && edges[edge].source === node });
  });
  for (const edge of loose) {
    const start = dots[places[edges[edge].source]], end = dots[places[edges[edge].target]];
    const x = rounded(left - REACH - (1 + lane[edge]) * gap);
    // A line leaves and enters beside the middle of a node, on the side to which it runs; one to its own node turns back.
    const way = end.y > start.y ? 1 : -1;
    const beside = (start === end ? -way : way) * BESIDE;
    const from = start.y + beside, to = end.y - beside;
    const corner = Math.min(CORNER, Math.abs(to - from) / 2);
    lines.push({ edge, back: false, path: `M${start.x - 4} ${from}H${x + corner}Q${x} ${from} ${x} ${from + way * corner}V${to - way * corner}Q${x} ${to} ${x + corner} ${to}H${end.x - REACH}` });
  }
  return { lines, dots, width: rounded(left + Math.max(0, ...rows.map(({ depth }) => depth)) * INDENT + REACH) };
};
