// The address of the page: #PLACE or #PLACE?STATE. A place is a part of the page or RUN/QUESTION; the state holds what
// the reader chose. A chosen value that is the usual one isn't in the address.

/** The names of the state, in the order in which an address holds them. */
export const KEYS = [
  "run", "baseline", "runs", "preset", "boundary", "relation", "edge", "node", "missed", "what", "any", "text", "keep", "category", "difficulty", "measure", "bound",
  "columns", "sort", "theme",
];
const STATE = new RegExp(`\\?((?:${KEYS.join("|")})=.*)$`, "s");

/** Return the place and the state of an address. @param {string} hash @returns {{place: string, state: Map<string, string>}} */
export const parsed = (hash) => {
  const found = hash.match(STATE);
  const given = new URLSearchParams(found ? found[1] : "");
  const state = new Map();
  for (const key of KEYS) if (given.get(key)) state.set(key, given.get(key));
  return { place: found ? hash.slice(0, found.index) : hash, state };
};

/** Return a state as the end of an address. @param {Map<string, string>} state */
export const query = (state) => {
  const given = KEYS.filter((key) => state.get(key)).map((key) => [key, state.get(key) || ""]);
  return given.length ? `?${new URLSearchParams(given)}` : "";
};

/** Return text from an address decoded, as it stands where it can't be. @param {string} text */
const decoded = (text) => { try { return decodeURIComponent(text); } catch { return text; } };

/** Return the names of a place: of a part of the page, or of a run and a question. @param {string} place @returns {[string, string | undefined]} */
export const named = (place) => {
  const [, name, id] = place.match(/^#?([^/]*)(?:\/(.*))?$/s) || ["", "", undefined];
  return [decoded(name || ""), id === undefined ? undefined : decoded(id)];
};

/** Return names as one value of the state. @param {string[]} names */
export const joinedNames = (names) => names.map((one) => one.replace(/[%,]/g, encodeURIComponent)).join(",") || "-";

/** Return the names that such a value holds; null without one. @param {string | undefined} value */
export const splitNames = (value) => (value ? value.split(",").filter((one) => one !== "-").map(decoded) : null);

/** Return the place of a question. @param {string} run @param {string} question */
export const placeOf = (run, question) => `#${encodeURIComponent(run)}/${encodeURIComponent(question)}`;
