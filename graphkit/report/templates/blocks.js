// Packed blocks of the page: JSON, compressed by gzip, in base64.

const MOST_HELD = 24;
/** @type {Map<string, Promise<any>>} */
const unpacked = new Map();

/** Return the value of a packed text. @param {string} text @returns {Promise<any>} */
export const unpack = async (text) => {
  const packed = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
};

/**
 * Return a block, undefined where the page has none; blocks that were read remain at hand, some at a time.
 * @param {string} id @returns {Promise<any>}
 */
export const read = (id) => {
  const place = document.getElementById(id);
  if (!place) return Promise.resolve(undefined);
  const known = unpacked.get(id);
  if (known) return known;
  if (unpacked.size >= MOST_HELD) unpacked.clear();
  const found = unpack(JSON.parse(place.textContent || ""));
  unpacked.set(id, found);
  return found;
};

/** Return what the blocks of a kind hold of a question in a run. @param {"d" | "j" | "x"} kind @param {number} run @param {number} block @param {number} n */
export const readOf = async (kind, run, block, n) => (await read(`${kind}-${run}-${block}`))?.[n];

/** Return the texts in which questions are found, in lower case, by the number of the question. @returns {Promise<string[]>} */
export const readTexts = async () => {
  /** @type {Promise<string[]>[]} */
  const found = [];
  for (let number = 0; ; number += 1) {
    const place = document.getElementById(`t-${number}`);
    if (!place) return (await Promise.all(found)).flat();
    found.push(unpack(JSON.parse(place.textContent || "")));
  }
};
