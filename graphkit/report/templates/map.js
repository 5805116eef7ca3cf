// The map of one run's walk: the gold path, and what was traversed off it, with one row per node.
import { clashesOf, commitText } from "./commits.js";
import { brief, counted, el, middle, plain, svg, table } from "./dom.js";
import { ROW_HEIGHTS, isGold, linesOf, partsOf, rowsOf, toldBy } from "./map_layout.js";

/** @typedef {import("./map_layout.js").MapNode} MapNode */
/** @typedef {import("./map_layout.js").MapEdge} MapEdge */
/** @typedef {import("./map_layout.js").MapRow} MapRow */

/** Statuses of edges in the order of the legend, with the sign beside a relation. @type {Record<string, {word: string, sign: string, meaning: string, line: string}>} */
const EDGE_STATUSES = {
  matched: { word: "matched", sign: "✓", meaning: "matched: required and traversed", line: "solid" },
  uncounted: { word: "gold, not counted", sign: "✓", meaning: "gold and traversed, but not counted: optional or of another alternative", line: "thin solid" },
  missed: { word: "missed", sign: "✗", meaning: "missed: required, not traversed", line: "dashed" },
  unattempted: { word: "not attempted", sign: "·", meaning: "not attempted: the question failed or has no record", line: "dash-dot-dot" },
  unlogged: { word: "not logged", sign: "?", meaning: "not logged: the record has no traversal", line: "dash-dot-dot" },
  otherwise: { word: "walked otherwise", sign: "≠", meaning: "walked otherwise: a gold edge in the other direction or with another relation", line: "thin" },
  turn: { word: "wrong turn", sign: "", meaning: "wrong turn: where the traversal left the path", line: "thick" },
  optional: { word: "optional", sign: "○", meaning: "optional, not traversed: no loss", line: "dotted" },
  alternative: { word: "alternative", sign: "–", meaning: "from another alternative: no loss", line: "dash-dotted" },
  invented: { word: "invented", sign: "✗", meaning: "invented: traversed, though the question lists it as absent, or neither graph nor gold holds it", line: "thick" },
  crossed: { word: "over the line", sign: "✗", meaning: "over the line: traversed, though the principal may not follow it", line: "thick" },
  extra: { word: "extra", sign: "", meaning: "extra: traversed, not gold", line: "thin" },
  related: { word: "another relationship", sign: "", meaning: "another relationship", line: "thin" },
};
/** Marks of nodes, with their words and what they mean. */
const NODE_MARKS = [
  ["left", "✕ path left here", "where the traversal left a gold path"],
  ["unreached", "not reached", "where a gold path broke, at a node that the traversal never came to"],
  ["never_entered", "never entered", "the start of a gold path of which the traversal reached no node"],
];
/** The width in em from which a row takes one line. */
const ONE_LINE = 52;
/** Maps drawn so far: elements that others refer to are named by it. */
let mapsDrawn = 0;

/** @param {string} text */
const unseen = (text) => el("span", { class: "vh" }, text);

/** Return sixteenths of an em as a length. @param {number} size */
const ems = (size) => `${size / 16}em`;

/** The edges with the ids of their ends, made when they are unfolded. @param {MapNode[]} nodes @param {MapEdge[]} edges */
const edgeTable = (nodes, edges) => {
  const row = (/** @type {MapEdge} */ { source, target, relation, status, gold_path: path, position = 0 }) => el("tr", {},
    el("td", {}, path === undefined ? "" : [brief(path, 24), `, step ${position + 1}`]),
    el("td", { class: `status-${status}` }, EDGE_STATUSES[status].word),
    el("td", {}, plain(nodes[source].id)), el("td", {}, brief(relation, 24)), el("td", {}, plain(nodes[target].id)));
  const folded = el("details", { id: "edges" }, el("summary", {}, edges.length === 1 ? "The edge as a table" : `All ${edges.length} edges as a table`));
  folded.addEventListener("toggle", () => {
    if (folded.childElementCount === 1) folded.append(table("Gold steps first, in order", ["gold path", "status", "source", "relation", "target"], edges.map(row)));
  });
  return folded;
};

/** Return the legend: the statuses that occur, with the number of their edges and a sample of their line. @param {[string, string][]} counts @param {string} name The name of the map. */
const legend = (counts, name) => el("ul", { class: "legend", "aria-label": "Legend" }, counts.map(([status, count]) =>
  el("li", {}, svg("svg", { class: `edge ${status}`, width: "2.6em", height: "1em", viewBox: "0 0 42 16", "aria-hidden": "true" },
    svg("path", { d: "M2 8H38", "marker-end": `url(#${name}-${status})` })), `${count} ${EDGE_STATUSES[status].meaning} (${EDGE_STATUSES[status].line} line)`)));

/**
 * Return the lines of a map, of which each row shows a slice, and the heads of its arrows. A slice prints with its row.
 * @param {string} name The name of the map. @param {ReturnType<typeof linesOf>} drawn @param {MapRow[]} rows @param {MapNode[]} nodes @param {MapEdge[]} edges
 */
const lineArt = (name, { lines, dots }, rows, nodes, edges) => {
  const arrow = (/** @type {string} */ status) => svg("marker", { id: `${name}-${status}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerUnits: "userSpaceOnUse", markerWidth: status === "turn" ? 10 : 7, markerHeight: status === "turn" ? 10 : 7, orient: "auto-start-reverse" },
    svg("path", { d: "M0 .5L8 4L0 7.5z", class: `head ${status}` }));
  const line = (/** @type {import("./map_layout.js").MapLine} */ { edge, path, back }) => {
    if (edge < 0) return svg("g", { class: "edge extra" }, svg("path", { d: path }));
    const { status } = edges[edge];
    return svg("g", { class: `edge ${status}`, "data-status": status }, svg("path", { d: path, [back ? "marker-start" : "marker-end"]: `url(#${name}-${status})` }));
  };
  const faint = (/** @type {import("./map_layout.js").MapLine} */ { edge }) => edge < 0 || edges[edge].status === "extra";
  return svg("svg", { class: "lines", width: 0, height: 0, "aria-hidden": "true" },
    svg("defs", {}, Object.keys(EDGE_STATUSES).map(arrow),
      svg("g", { id: name }, lines.filter(faint).map(line), lines.filter((one) => !faint(one)).map(line),
        rows.map(({ node, folded }, place) => (folded ? null : svg("circle", { class: isGold(nodes[node]) ? "node gold" : "node", cx: dots[place].x, cy: dots[place].y, r: isGold(nodes[node]) ? 4 : 3 }))))));
};

/** Return what makes the texts of a row, from the row and the edges that it tells. @param {any} detail */
const rowTexts = (detail) => {
  /** @type {{nodes: MapNode[], edges: MapEdge[]}} */
  const { nodes, edges } = detail.map;
  const clashes = clashesOf(detail);
  const parts = nodes.map(({ id, name, repo }) => ({ ...partsOf(id, repo), ...(name ? { name } : {}) }));
  const badge = (/** @type {MapNode} */ { commits = [], pin }) => {
    if (!commits.length) return null;
    const numbers = pin === "pinned" ? [] : [...new Set(commits.flatMap((commit) => clashes.get(commit) || []))];
    const read = commits.map((commit) => detail.commits[commit]).map(({ repo, sha, name }) => `${repo} at ${sha}${name ? ` (${name})` : ""}`);
    const title = [...read, pin === "pinned" ? "not read: the pinned commit" : pin === "off pin" ? "not the pinned commit" : "",
      numbers.length ? `in pairs of conflicting commits: ${numbers.join(", ")}` : ""].filter(Boolean).join("\n");
    const signs = (numbers.length ? ` ✕${numbers.slice(0, 3).join(",")}${numbers.length > 3 ? "…" : ""}` : "") + (pin === "off pin" ? " ≠pin" : pin === "pinned" ? " pinned" : "");
    return el("span", { class: `badge${numbers.length ? " clash" : ""}${pin === "pinned" ? " pinned" : ""}`, title },
      el("span", { class: "commit" }, middle(commitText(detail, commits[0]) + (commits.length > 1 ? ` +${commits.length - 1}` : ""), 16)), signs ? el("span", {}, signs) : null);
  };
  const relation = (/** @type {MapEdge} */ edge, /** @type {MapRow} */ row) => {
    const { source, target, status } = edge;
    const { word, sign } = EDGE_STATUSES[status];
    const back = target !== row.node;
    const end = [back ? " to " : " from ", el("bdi", {}, middle(parts[back ? target : source].name, 40))];
    const into = status !== "related" && parts[source].repo !== parts[target].repo ? parts[target].repo : "";
    return el("span", { class: `by ${status}` }, sign ? el("i", { "aria-hidden": "true" }, `${sign} `) : null, unseen(`${word}: `),
      edge.relation ? el("bdi", {}, edge.relation) : "edge",
      // The line shows where the edge comes from that joins a row to the one above.
      edge === edges[row.edge] && !back ? el("span", { class: "vh" }, end) : end,
      into ? el("b", { class: "into" }, " ", el("span", { "aria-hidden": "true" }, "→ "), unseen("crosses into "), el("bdi", {}, into)) : null);
  };
  return (/** @type {MapRow} */ row, /** @type {number[]} */ told) => {
    const { repo, file, name } = parts[row.node];
    const { id, rank, marks = [] } = nodes[row.node];
    const titles = told.map((edge) => edges[edge]).map(({ source, target, relation: by, status }) => `${EDGE_STATUSES[status].word}: ${nodes[source].id} -${by}-> ${nodes[target].id}`);
    return [
      el("span", { class: "line" },
        el("span", { class: "who" },
          el("span", { class: "at" }, el("bdi", { class: "name", title: id }, name),
            NODE_MARKS.filter(([mark]) => marks.includes(mark)).map(([, words, meaning]) => [" ", el("b", { class: "left", title: meaning }, words)])), " ",
          repo || file ? el("span", { class: "where" }, el("bdi", {}, repo), file && file !== name ? [" · ", el("bdi", {}, file)] : null) : null), " ",
        rank ? el("span", { class: "rank", title: `retrieved at rank ${rank}` }, unseen("rank "), `#${rank}`) : null), " ",
      el("span", { class: "line" },
        told.length ? el("span", { class: "told", title: titles.join("\n") }, told.map((edge, place) => [place ? ", " : "", relation(edges[edge], row)])) : null, " ",
        badge(nodes[row.node])),
    ];
  };
};

/** Return what the signs of the rows mean, as far as they occur. @param {any} detail */
const signs = (detail) => {
  /** @type {MapNode[]} */
  const nodes = detail.map.nodes;
  const clashes = clashesOf(detail);
  const words = [
    nodes.some(isGold) ? "a large dot is a node of a gold path" : "",
    nodes.some(({ rank }) => rank) ? "#1 is a retrieved rank" : "",
    nodes.some(({ commits = [], pin }) => pin !== "pinned" && commits.some((one) => clashes.has(one))) ? "✕1 marks a commit of the first pair of conflicting commits below" : "",
    nodes.some(({ pin }) => pin === "off pin") ? "≠pin a commit other than the question's" : "",
    nodes.some(({ pin }) => pin === "pinned") ? "pinned the commit of a node that was not read" : "",
    ...NODE_MARKS.filter(([mark]) => nodes.some(({ marks = [] }) => marks.includes(mark))).map(([, name, meaning]) => `“${name}” is ${meaning}`),
  ].filter(Boolean).join("; ");
  return words ? el("p", { class: "dim", id: "marks" }, words[0].toUpperCase(), words.slice(1), ".") : null;
};

/**
 * Return the map of an open question. It folds the neighbours of hubs, and follows its width: a narrow row takes two lines.
 * @param {any} detail
 */
export const drawMap = (detail) => {
  /** @type {{nodes: MapNode[], edges: MapEdge[], omitted: number}} */
  const { nodes, edges, omitted } = detail.map;
  if (!nodes.length) return el("p", {}, "The question has no gold path, and the traversal is empty.");
  const counts = Object.keys(EDGE_STATUSES).map((status) => /** @type {[string, number]} */ ([status, edges.filter((edge) => edge.status === status).length])).filter(([, count]) => count)
    .map(([status, count]) => /** @type {[string, string]} */ ([status, status === "extra" && omitted ? `${count} of ${count + omitted}` : `${count}`]));
  const repositories = new Set(nodes.map(({ id, repo }) => partsOf(id, repo).repo)).size;
  const words = detail.map.about ?? `Gold path and traversal, overlaid: ${counted(repositories, "repository", "repositories")}, ${counted(nodes.length, "node")}; edges: ` +
    `${counts.map(([status, count]) => `${count} ${EDGE_STATUSES[status].word}`).join(", ")}. The table below lists them.`;
  const texts = rowTexts(detail);
  const mapName = `map-${mapsDrawn += 1}`;
  /** @type {Set<number>} */
  const unfolded = new Set();
  const place = el("div", {});
  let size = ROW_HEIGHTS.narrow;

  const draw = () => {
    const rows = rowsOf(nodes, edges, unfolded);
    const told = toldBy(rows, edges);
    const drawn = linesOf(rows, edges, size);
    const slice = (/** @type {number} */ number) => svg("svg", { viewBox: `0 ${number * size} ${drawn.width} ${size}`, width: ems(drawn.width), height: ems(size), "aria-hidden": "true" }, svg("use", { href: `#${mapName}` }));
    const fold = (/** @type {MapRow} */ { node, folded }) => el("button", {
      type: "button", "aria-expanded": String(unfolded.has(node)), "data-node": node, on: { click: () => turn(node) },
    }, unfolded.has(node) ? `−${folded}` : `+${folded}`, " more", unseen(` reached only from ${nodes[node].name ?? partsOf(nodes[node].id, nodes[node].repo).name}`));
    place.replaceChildren(lineArt(mapName, drawn, rows, nodes, edges),
      el("ul", { class: `rows ${size === ROW_HEIGHTS.narrow ? "narrow" : "wide"}`, role: "list", "aria-label": words }, rows.map((row, number) => {
        const item = el("li", { class: row.folded ? "fold" : isGold(nodes[row.node]) ? "gold" : null }, slice(number), row.folded ? fold(row) : texts(row, told[number]));
        item.style.height = ems(size);
        item.style.paddingLeft = ems(drawn.dots[number].x + 10);
        return item;
      })));
  };
  const turn = (/** @type {number} */ node) => {
    if (!unfolded.delete(node)) unfolded.add(node);
    draw();
    /** @type {HTMLElement} */ (place.querySelector(`button[data-node="${node}"]`)).focus();
  };
  draw();
  const key = legend(counts, mapName);
  // The width of the legend is that of the rows, and doesn't depend on how they are drawn.
  new ResizeObserver(() => {
    const fitting = key.clientWidth < ONE_LINE * parseFloat(getComputedStyle(place).fontSize) ? ROW_HEIGHTS.narrow : ROW_HEIGHTS.wide;
    if (fitting === size) return;
    size = fitting;
    draw();
  }).observe(key);
  return el("div", { class: "map" }, key, place,
    omitted ? el("p", { class: "note" }, `${counted(omitted, "more extra edge")} ${omitted === 1 ? "is" : "are"} not drawn.`) : null,
    signs(detail), edgeTable(nodes, edges));
};
