// Elements and words of the page. Text from data reaches it by textContent and setAttribute only.

/** @typedef {Node | string | number | null | undefined | false | any[]} Child */
/** @typedef {Record<string, any>} Attributes Values null, undefined and false set nothing; `on` holds listeners by event. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @template {Element} T
 * @param {T} node @param {Attributes | null} attributes @param {Child[]} children
 */
const fill = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, call] of Object.entries(value)) node.addEventListener(event, call);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of /** @type {any[]} */ (children.flat(Infinity))) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
};

/** @type {(tag: string, attributes?: Attributes | null, ...children: Child[]) => HTMLElement} */
export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes ?? null, children);
/** @type {(tag: string, attributes?: Attributes | null, ...children: Child[]) => SVGElement} */
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes ?? null, children);

/** Return the element with an id, which the page must hold. @param {string} id @returns {any} */
export const $ = (id) => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
};

/** Return a value with two decimals, a dash without one. @param {number | null | undefined} value */
export const shown = (value) => (value === null || value === undefined ? "–" : (value + 1e-9 * Math.sign(value)).toFixed(2));

/** Return text cut in its middle to a length. @param {string} text @param {number} room */
export const middle = (text, room) => {
  const marks = Array.from(text);
  return marks.length <= room ? text : marks.slice(0, Math.ceil(room / 2) - 1).join("") + "…" + marks.slice(-Math.floor(room / 2)).join("");
};

/** Return the start of a text, with an ellipsis where it is longer. @param {string} text @param {number} room */
export const startOf = (text, room) => (text.length <= room ? text : `${Array.from(text.slice(0, room)).slice(0, -1).join("")}…`);

/** @param {number} count @param {string} noun @param {string} [plural] */
export const counted = (count, noun, plural = `${noun}s`) => `${count} ${count === 1 ? noun : plural}`;

/** Return a name that is cut in the middle where it is long, with the whole in its title. @param {string} text @param {number} room */
export const brief = (text, room) => {
  const short = middle(text, room);
  return el("bdi", { title: short === text ? null : text }, short);
};

/** Return text from data, with its lines and spaces. @param {Child} text */
export const plain = (text) => el("span", { class: "data" }, text);

/** Return a word of judgement in a frame. @param {string} kind @param {Child} words */
export const tag = (kind, words) => el("span", { class: `tag ${kind}` }, words);

/** @param {string} caption @param {string[]} heads @param {Child[]} rows @param {string} [kind] */
export const table = (caption, heads, rows, kind = "wide") => el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": caption }, el("table", { class: kind },
  el("caption", { class: "dim" }, caption),
  el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, rows)));
