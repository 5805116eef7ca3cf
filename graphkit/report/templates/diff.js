// The difference of two texts, word by word.

/** @typedef {{kind: "same" | "removed" | "added", text: string}} Piece */

/** The most cells of the table of common words; longer texts are compared at their ends only. */
const MOST_CELLS = 4_000_000;

/** Return the words of a text, each with the space behind it. @param {string} text */
const wordsOf = (text) => text.match(/^\s+|\S+\s*/g) || [];

/**
 * Return the pieces that lead from one text to another: the fewest words are removed and added. Spaces don't count.
 * @param {string} before @param {string} after @returns {Piece[]}
 */
export const wordDiff = (before, after) => {
  const [a, b] = [wordsOf(before), wordsOf(after)];
  /** @param {number} i @param {number} j */
  const equal = (i, j) => a[i].trim() === b[j].trim();
  let [start, enda, endb] = [0, a.length, b.length];
  while (start < enda && start < endb && equal(start, start)) start += 1;
  while (enda > start && endb > start && equal(enda - 1, endb - 1)) { enda -= 1; endb -= 1; }
  const [rows, columns] = [enda - start, endb - start];
  const whole = rows * columns > MOST_CELLS;
  // The number of common words from each pair of places to the ends.
  const common = new Uint16Array(whole ? 0 : (rows + 1) * (columns + 1));
  /** @param {number} i @param {number} j */
  const at = (i, j) => (whole ? 0 : common[i * (columns + 1) + j]);
  if (!whole) {
    for (let i = rows - 1; i >= 0; i -= 1) {
      for (let j = columns - 1; j >= 0; j -= 1) {
        common[i * (columns + 1) + j] = equal(start + i, start + j) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
      }
    }
  }
  /** @type {Piece[]} */
  const pieces = [];
  /** @param {Piece["kind"]} kind @param {string} text */
  const add = (kind, text) => {
    const last = pieces[pieces.length - 1];
    if (last && last.kind === kind) last.text += text;
    else pieces.push({ kind, text });
  };
  for (let j = 0; j < start; j += 1) add("same", b[j]);
  let [i, j] = [0, 0];
  while (i < rows || j < columns) {
    if (!whole && i < rows && j < columns && equal(start + i, start + j)) { add("same", b[start + j]); i += 1; j += 1; }
    else if (i < rows && (j >= columns || at(i + 1, j) >= at(i, j + 1))) { add("removed", a[start + i]); i += 1; }
    else { add("added", b[start + j]); j += 1; }
  }
  for (let k = endb; k < b.length; k += 1) add("same", b[k]);
  return pieces;
};
