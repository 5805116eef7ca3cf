// The language of filters, such as `EdgeRecall < 0.5 and category == "data flow"`: its parser, its meaning, and what may
// stand at a caret. `graphkit/scoring/filter_expressions.py` reads the same language; both read tests/filter_cases.json.

/** @typedef {"number" | "text" | "flag" | "page" | "keep"} Kind A number, text or a flag; or which other reader knows a name. */
/** @typedef {{kind: Kind, about?: string, values?: string[], closed?: boolean}} Named A name: what it is, in words, the values that text has, and whether it can't have others. */
/** @typedef {Map<string, Named>} Names */
/** @typedef {(name: string) => number | string | boolean | null} Getter The value of a name in one run; null without one. */
/** @typedef {{kind: string, text: string, at: number, end: number, value?: string | number}} Token */
/** @typedef {{value: string | number | null, at: number}} Literal */
/** @typedef {{is: "flag", name: string, at: number}} FlagPart */
/** @typedef {{is: "comparison", name: string, at: number, sign: string, signAt: number, values: Literal[]}} Comparison */
/** @typedef {FlagPart | Comparison | {is: "and" | "or", parts: Part[]} | {is: "not" | "any", part: Part}} Part */
/** @typedef {{error: string, at: number}} Wrong What is wrong, and where in the text. */
/** @typedef {{test: (own: Getter, runs?: Getter[]) => boolean}} Filter */

const FILTER_WORDS = ["and", "or", "not", "any", "in", "contains", "none"];
/** The signs of each kind. @type {Record<"number" | "text", string[]>} */
const SIGNS_OF = { number: ["<", "<=", ">", ">=", "==", "!=", "in", "not in"], text: ["==", "!=", "in", "not in", "contains"] };
/** Who else knows a name of these kinds. @type {Partial<Record<Kind, string>>} */
const ELSEWHERE = { page: "known in the page only", keep: "known to --keep only" };
/** How others write what is a word or a sign here. @type {Record<string, string>} */
const WRITTEN_AS = { "=": "==", "&&": "and", "&": "and", "||": "or", "|": "or", "!": "not", "<>": "!=" };
/** How deeply parentheses and `not` may nest, and how long a filter may be. */
const DEEPEST_FILTER = 50;
const LONGEST_FILTER = 2000;
/** How many values an error lists at most. */
const FEW_VALUES = 6;
const BLANK = /[ \t\r\n\u00a0]*/y;
const NAME_TOKEN = /[A-Za-z_\u00a1-\uffff][A-Za-z0-9_.:/\u00a1-\uffff-]*(?:\([^()]*\))?(?:@[A-Za-z0-9_]+)?/y;
const WORD_TOKEN = /(?:and|or|not|any|in|contains|none)(?![A-Za-z0-9_.:/@\u00a1-\uffff-])/y;
const NUMBER_TOKEN = /-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![A-Za-z0-9_.])/y;
const SIGN_TOKEN = /<=|>=|==|!=|<>|&&|\|\||[<>=!&|(),]/y;
const QUOTED_TOKEN = /(["'])((?:\\["'\\]|\\(?!["'\\])|(?!\1)[^\\])*)\1/y;
const NAME_IN_QUOTES = /`([^`]+)`/y;

class FilterProblem extends Error {
  /** @param {string} what @param {number} at */
  constructor(what, at) { super(what); this.at = at; }
}

/** Return what a pattern matches at a place. @param {RegExp} pattern @param {string} text @param {number} at */
const tokenAt = (pattern, text, at) => { pattern.lastIndex = at; return pattern.exec(text); };

/**
 * Return the tokens of a text, the last one its end; a token that can't be read is the last one of kind "wrong".
 * @param {string} text @returns {Token[]}
 */
const tokensOf = (text) => {
  /** @type {Token[]} */
  const tokens = [];
  /** @param {string} kind @param {string} found @param {number} at @param {string | number} [value] */
  const add = (kind, found, at, value) => { tokens.push({ kind, text: found, at, end: at + found.length, value }); return at + found.length; };
  for (let at = 0; ;) {
    at += (tokenAt(BLANK, text, at) || [""])[0].length;
    if (at >= text.length) { add("end", "", at); return tokens; }
    let found;
    if ((found = tokenAt(WORD_TOKEN, text, at))) at = add("word", found[0], at);
    else if ((found = tokenAt(NUMBER_TOKEN, text, at))) at = add("number", found[0], at, Number(found[0]));
    else if ((found = tokenAt(NAME_TOKEN, text, at))) at = add("name", found[0], at, found[0]);
    else if ((found = tokenAt(NAME_IN_QUOTES, text, at))) at = add("name", found[0], at, found[1]);
    else if ((found = tokenAt(QUOTED_TOKEN, text, at))) at = add("text", found[0], at, found[2].replace(/\\(["'\\])/g, "$1"));
    else if ((found = tokenAt(SIGN_TOKEN, text, at))) at = add("sign", found[0], at);
    else { add("wrong", text.slice(at), at); return tokens; }
  }
};

/** Reads tokens from left to right, each rule of the language by a method. */
class FilterReader {
  /** @param {string} text */
  constructor(text) {
    if (text.length > LONGEST_FILTER) throw new FilterProblem(`a filter has at most ${LONGEST_FILTER} characters`, LONGEST_FILTER);
    this.tokens = tokensOf(text);
    this.place = 0;
    this.depth = 0;
    const last = this.tokens[this.tokens.length - 1];
    if (last.kind !== "wrong") return;
    const [first] = last.text;
    throw new FilterProblem("\"'`".includes(first) ? `the quote ${first} isn't closed` : `the character ${String.fromCodePoint(/** @type {number} */ (last.text.codePointAt(0)))} means nothing here`, last.at);
  }
  get next() { return this.tokens[this.place]; }
  /** Take the next token if it is one of these words or signs. @param {string[]} texts @returns {Token | null} */
  take(...texts) {
    const { kind, text } = this.next;
    return (kind === "word" || kind === "sign") && texts.includes(text) ? this.tokens[this.place++] : null;
  }
  /** @param {string} wanted @returns {FilterProblem} */
  problem(wanted) {
    const { kind, text, at } = this.next;
    const written = kind === "sign" ? WRITTEN_AS[text] : FILTER_WORDS.find((word) => word === text.toLowerCase() && word !== text);
    if (written) return new FilterProblem(`${text} is written ${written} here`, at);
    return new FilterProblem(`${wanted} is missing ${kind === "end" ? "at the end" : `before ${text}`}`, at);
  }
  /** @returns {Part} */
  whole() {
    const part = this.either();
    if (this.next.kind !== "end") throw this.problem('"and" or "or"');
    return part;
  }
  /** @returns {Part} */
  either() {
    const parts = [this.both()];
    while (this.take("or")) parts.push(this.both());
    return parts.length === 1 ? parts[0] : { is: "or", parts };
  }
  /** @returns {Part} */
  both() {
    const parts = [this.single()];
    while (this.take("and")) parts.push(this.single());
    return parts.length === 1 ? parts[0] : { is: "and", parts };
  }
  /** @returns {Part} */
  single() {
    if (this.depth === DEEPEST_FILTER) throw new FilterProblem(`this nests more than ${DEEPEST_FILTER} deep`, this.next.at);
    this.depth += 1;
    const part = this.nested();
    this.depth -= 1;
    return part;
  }
  /** @returns {Part} */
  nested() {
    if (this.take("not")) return { is: "not", part: this.single() };
    if (this.take("any")) {
      if (!this.take("(")) throw this.problem('"(" behind "any"');
      return { is: "any", part: this.closed() };
    }
    return this.take("(") ? this.closed() : this.condition();
  }
  /** @returns {Part} */
  closed() {
    const part = this.either();
    if (!this.take(")")) throw this.problem('")"');
    return part;
  }
  /** @returns {Part} */
  condition() {
    const { kind, at, value } = this.next;
    if (kind !== "name") throw this.problem("a name");
    const name = String(value);
    this.place += 1;
    const sign = this.take("<", "<=", ">", ">=", "==", "!=", "in", "contains", "not");
    if (!sign) {
      if (this.next.kind === "sign" && ["=", "<>"].includes(this.next.text)) throw this.problem("");
      return { is: "flag", name, at };
    }
    if (sign.text === "not" && !this.take("in")) throw this.problem('"in" behind "not"');
    const text = sign.text === "not" ? "not in" : sign.text;
    return { is: "comparison", name, at, sign: text, signAt: sign.at, values: text.endsWith("in") ? this.list() : [this.literal()] };
  }
  /** @returns {Literal[]} */
  list() {
    if (!this.take("(")) throw this.problem('"(" behind "in"');
    const values = [this.literal()];
    while (this.take(",")) values.push(this.literal());
    if (!this.take(")")) throw this.problem('"," or ")"');
    return values;
  }
  /** @returns {Literal} */
  literal() {
    const { kind, text, at, value } = this.next;
    if (this.take("none")) return { value: null, at };
    if (kind === "name") {
      const alone = ["true", "false"].includes(text.toLowerCase()) ? "a flag stands alone, as in failed or not failed; " : "";
      throw new FilterProblem(`${alone}text stands in quotes: "${text}"`, at);
    }
    if (kind !== "number" && kind !== "text") throw this.problem("a value");
    this.place += 1;
    return { value: /** @type {string | number} */ (value), at };
  }
}

/** Return how many characters one word must change to be another. @param {string} one @param {string} other */
const lettersApart = (one, other) => {
  let row = Array.from({ length: other.length + 1 }, (_, n) => n);
  [...one].forEach((char, place) => {
    const above = row;
    row = [place + 1];
    for (let n = 0; n < other.length; n += 1) row.push(Math.min(above[n] + Number(char !== other[n]), above[n + 1] + 1, row[n] + 1));
  });
  return row[other.length];
};

/** Return the known word that is closest to another one, of which at most a third differs, or another part; null if none is. @param {string} name @param {string[]} known */
const closest = (name, known, part = 3) => {
  const near = known.map((one) => /** @type {[number, string]} */ ([lettersApart(name.toLowerCase(), one.toLowerCase()), one]))
    .filter(([by, one]) => by * part <= Math.max(one.length, name.length)).sort(([a], [b]) => a - b);
  return near.length ? near[0][1] : null;
};

/** Return a name as it is known: a different case is forgiven. @param {string} name @param {Names} names */
const knownAs = (name, names) => {
  if (names.has(name)) return name;
  const some = [...names.keys()].filter((one) => one.toLowerCase() === name.toLowerCase());
  return some.length === 1 ? some[0] : null;
};

/** Refuse what the names of a part don't allow, and name them as they are known. @param {Part} part @param {Names} names @returns {Part} */
const checkedPart = (part, names) => {
  if ("parts" in part) return { is: part.is, parts: part.parts.map((one) => checkedPart(one, names)) };
  if ("part" in part) return { is: part.is, part: checkedPart(part.part, names) };
  const name = knownAs(part.name, names);
  const one = name === null ? undefined : names.get(name);
  if (name === null || !one) {
    const near = closest(part.name.toLowerCase() === "id" ? "question" : part.name, [...names].filter(([, { kind }]) => !(kind in ELSEWHERE)).map(([known]) => known));
    throw new FilterProblem(`${part.name} is no name of a measure, field or flag${near === null ? "" : `; did you mean ${near}?`}`, part.at);
  }
  if (one.kind in ELSEWHERE) throw new FilterProblem(`${name} is ${ELSEWHERE[one.kind]}`, part.at);
  if (part.is === "flag") {
    if (one.kind === "number") throw new FilterProblem(`${name} is a number: compare it, as in ${name} < 0.5`, part.at);
    if (one.kind === "text") throw new FilterProblem(`${name} is text: compare it, as in ${name} == "..."`, part.at);
    return { ...part, name };
  }
  if (one.kind === "flag") throw new FilterProblem(`${name} is true or false by itself: write ${name} or not ${name}`, part.signAt);
  const what = one.kind === "number" ? "a number" : "text";
  const signs = SIGNS_OF[/** @type {"number" | "text"} */ (one.kind)];
  if (!signs.includes(part.sign)) throw new FilterProblem(`${name} is ${what}: compare it by ${signs.join(", ")}`, part.signAt);
  for (const { value, at } of part.values) {
    if (value === null) {
      if (!["==", "!="].includes(part.sign)) throw new FilterProblem("none goes with == and != only", at);
    } else if (one.kind === "number" && typeof value === "string") throw new FilterProblem(`${name} is a number: write it without quotes`, at);
    else if (one.kind === "text" && typeof value === "number") throw new FilterProblem(`${name} is text: write it in quotes`, at);
  }
  if (one.closed && part.sign !== "contains") checkValues(name, part.values, one.values || []);
  return { ...part, name };
};

/** Refuse a value that a text with known values can't have. @param {string} name @param {Literal[]} values @param {string[]} known */
const checkValues = (name, values, known) => {
  for (const { value, at } of values) {
    if (typeof value !== "string" || !known.length || known.includes(value)) continue;
    const near = closest(value, known, 2); // few values are known, and most are short
    const shown = known.map((one) => `"${one}"`);
    const few = known.length <= FEW_VALUES ? `: it is ${[shown.slice(0, -1).join(", "), ...shown.slice(-1)].filter(Boolean).join(" or ")}` : "";
    throw new FilterProblem(`${name} is never "${value}"${near === null ? few : `; did you mean "${near}"?`}`, at);
  }
};

/** Return whether a comparison holds; null where the value is missing, unless it asks for just that. @param {Comparison} part @param {Getter} own @returns {boolean | null} */
const comparisonHolds = ({ name, sign, values }, own) => {
  const value = own(name);
  const wanted = values[0].value;
  if (wanted === null) return (value === null) === (sign === "==");
  if (value === null) return null;
  if (sign === "contains") return String(value).toLowerCase().includes(String(wanted).toLowerCase());
  if (sign === "<") return value < wanted;
  if (sign === "<=") return value <= wanted;
  if (sign === ">") return value > wanted;
  if (sign === ">=") return value >= wanted;
  return values.some((one) => one.value === value) !== (sign === "!=" || sign === "not in");
};

/** Return whether some of the truths hold: null if none does and one isn't known. @param {(boolean | null)[]} truths */
const someHold = (truths) => (truths.includes(true) ? true : truths.includes(null) ? null : false);

/** Return whether a part holds of a run, null where nobody knows. @param {Part} part @param {Getter} own @param {Getter[]} runs @returns {boolean | null} */
const truthOf = (part, own, runs) => {
  if (part.is === "flag") return own(part.name) === true;
  if (part.is === "comparison") return comparisonHolds(part, own);
  if ("part" in part) {
    if (part.is === "any") return someHold(runs.map((one) => truthOf(part.part, one, runs)));
    const held = truthOf(part.part, own, runs);
    return held === null ? null : !held;
  }
  const truths = part.parts.map((one) => truthOf(one, own, runs));
  if (part.is === "or") return someHold(truths);
  return truths.includes(false) ? false : truths.includes(null) ? null : true;
};

/**
 * Return the filter of a text, or what is wrong with it and where. A filter tests a question by the values of its run;
 * `any(...)` asks all of `runs`. What compares a value that is missing is neither true nor false, and its negation too:
 * such a question is left out.
 * @param {string} text @param {Names} names @returns {Filter | Wrong}
 */
export const parseFilter = (text, names) => {
  try {
    const part = checkedPart(new FilterReader(text).whole(), names);
    return { test: (own, runs = [own]) => truthOf(part, own, runs) === true };
  } catch (error) {
    if (error instanceof FilterProblem) return { error: error.message, at: error.at };
    throw error;
  }
};

/** Return a name as a filter writes it. @param {string} name */
export const writtenName = (name) => {
  const found = tokenAt(NAME_TOKEN, name, 0);
  const plain = found !== null && found[0] === name && !FILTER_WORDS.includes(name.split("(")[0]);
  return plain ? name : `\`${name}\``;
};

/** Return text as a filter writes it. @param {string} text */
export const writtenText = (text) => `"${text.replace(/["\\]/g, "\\$&")}"`;

/** @typedef {{text: string, about: string}} Suggestion */

/** Return what may stand behind some tokens, and what it is. @param {Token[]} tokens @param {Names} names @returns {Suggestion[]} */
const mayFollow = (tokens, names) => {
  /** @param {string[]} texts @returns {Suggestion[]} */
  const words = (...texts) => texts.map((text) => ({ text, about: "" }));
  const last = tokens[tokens.length - 1];
  const behind = tokens.map((one) => (one.kind === "word" || one.kind === "sign" ? one.text : ""));
  const opened = behind.lastIndexOf("in") + 1;
  const inList = opened > 0 && behind[opened] === "(" && !behind.includes(")", opened);
  const place = inList ? opened - 1 : behind.length - 1;
  const compares = place >= 0 && (["<", "<=", ">", ">=", "==", "!=", "contains"].includes(behind[place]) || inList);
  if (compares && (!inList || ["(", ","].includes(last.text))) {
    const owner = tokens[place - 1 - Number(behind[place - 1] === "not")];
    const known = owner && owner.kind === "name" ? knownAs(String(owner.value), names) : null;
    const one = known === null ? undefined : names.get(known);
    const values = one && one.kind === "text" ? (one.values || []).map((value) => ({ text: writtenText(value), about: "" })) : [];
    return ["==", "!="].includes(behind[place]) ? [...values, { text: "none", about: "without a value" }] : values;
  }
  if (inList) return words(",", ")");
  if (last && last.kind === "name") {
    const known = knownAs(String(last.value), names);
    const kind = known === null ? undefined : /** @type {Named} */ (names.get(known)).kind;
    if (kind === "number" || kind === "text") return words(...SIGNS_OF[kind]);
    if (kind === "flag") return words("and", "or", ...mayClose(behind));
    return [];
  }
  if (last && (["number", "text"].includes(last.kind) || ["none", ")"].includes(last.text))) return words("and", "or", ...mayClose(behind));
  if (last && ["in", "any"].includes(last.text)) return words("(");
  const all = [...names].filter(([, { kind }]) => !(kind in ELSEWHERE)).map(([name, { about, kind }]) => ({ text: writtenName(name), about: about || (kind === "flag" ? "" : kind) }));
  return [...all, { text: "not", about: "" }, { text: "any(", about: "in any run" }];
};

/** @param {string[]} behind */
const mayClose = (behind) => (behind.filter((one) => one === "(").length > behind.filter((one) => one === ")").length ? [")"] : []);

/**
 * Return what may stand at a caret: options that go in the place of the text between `from` and `to`.
 * What is typed already is found anywhere in an option; options that begin with it come first.
 * @param {string} text @param {number} caret @param {Names} names @returns {{from: number, to: number, options: Suggestion[]}}
 */
export const suggestions = (text, caret, names) => {
  const tokens = tokensOf(text.slice(0, caret)).filter((one) => one.kind !== "end");
  const last = tokens[tokens.length - 1];
  // A word or quote that ends at the caret is being typed; a number and a sign are not completed.
  const typing = last && last.end === caret && ["word", "name", "wrong"].includes(last.kind) && last.text !== "`" ? /** @type {Token} */ (tokens.pop()) : null;
  const typed = typing ? typing.text.toLowerCase() : "";
  const options = mayFollow(tokens, names).filter((one) => one.text.toLowerCase().includes(typed.replace(/^["'`]/, "")));
  const begins = (/** @type {Suggestion} */ one) => Number(!one.text.toLowerCase().replace(/^["`]/, "").startsWith(typed.replace(/^["'`]/, "")));
  const from = typing ? typing.at : caret;
  return { from, to: caret, options: options.map((one, n) => ({ one, n })).sort((a, b) => begins(a.one) - begins(b.one) || a.n - b.n).map(({ one }) => one) };
};
