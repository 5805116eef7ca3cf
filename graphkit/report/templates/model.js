// The questions of the page and what each run did on them: marks, presets, filters, order and export. Pure functions.
import { splitNames } from "./address.js";

/** @typedef {{id: string, text: string, category: string, difficulty: string, split: string, session: string}} Listed */
/** @typedef {{block: number, flags: string[], found: number, required: number, answer: string, path: string, stage: string, cause: string}} Outcome */
/** @typedef {{status: string, passed: number, total: number}} Execution */
/** @typedef {{name: string, values: (number | null)[][], means: (number | null)[], questions: Outcome[], missed: number[][], needs?: number[][], executions?: (Execution | null)[]}} Run */
/** @typedef {{name: string, definition: string, lower: boolean, range: [number, number]}} Measure */
/**
 * @typedef {object} Summary What the page knows before a question is opened.
 * @property {Measure[]} measures
 * @property {Listed[]} questions
 * @property {Record<number, string>} [ids] By number, the ids that are shown with escapes.
 * @property {string[]} stages
 * @property {string[]} causes
 * @property {{rows: [string, string][], needs: number[][]}} edges
 * @property {Record<string, string>} [statuses]
 * @property {Run[]} runs
 * @property {string} beginning How the names of all runs begin, which heads leave out.
 * @property {import("./told.js").Said} said
 * @property {number} best
 * @property {number | null} baseline
 * @property {string | null} gold_hash
 * @property {(string | null)[]} gold_hashes The hash of each question's gold.
 */
/**
 * @typedef {object} Choice What the reader chose; an empty text chooses nothing.
 * @property {number} run
 * @property {number | null} baseline
 * @property {string} preset
 * @property {string} what What happened to the question in the run, by the name of an event.
 * @property {boolean} [anywhere] Whether it may have happened in any run that is shown, and an edge be missed by any.
 * @property {number[]} [shown] The runs that are shown.
 * @property {string} [keep] A filter expression, and in `filter` what it means; without one, every question is left.
 * @property {((n: number) => boolean) | null} [filter]
 * @property {string[] | null} [columns] The names of the columns beside the runs; null for the usual ones.
 * @property {string} text
 * @property {string} category
 * @property {string} difficulty
 * @property {number} measure
 * @property {string} bound
 * @property {number} edge The number of a boundary, relation, edge or node; -1 for any.
 * @property {boolean} missed
 * @property {boolean} [anyRun] Whether no run was named: then an edge counts that some run needs.
 * @property {string} sort A column, with a minus before it for the descending order; empty for the order of the dataset.
 */

export const LEVELS = ["easy", "medium", "hard"];

/** What can be true of a question, in the order in which tags stand, with the kind and the text of its tag. @type {Record<string, [string, string]>} */
export const FLAGS = {
  failed: ["bad", "failed"], absent: ["bad", "no record"], invalid: ["bad", "invalid"], unlogged: ["turn", "traversal not logged"],
  complete: ["good", "path complete"], turn: ["turn", "wrong turn"], incoherent: ["bad", "conflicting commits"], off_pin: ["turn", "off pin"],
};

/** @param {Outcome} one @param {string} flag */
export const has = (one, flag) => one.flags.includes(flag);
/** @param {Outcome} one */
export const unanswered = (one) => has(one, "failed") || has(one, "absent");
/** Tell whether an answer is right over a path that isn't. @param {Outcome} one */
export const lucky = (one) => one.answer === "right" && one.path === "wrong";

/**
 * Return the mark of a run on a question: its kind (the class of its colour), its text, and the words of the text.
 * @param {Outcome} one @returns {{kind: string, text: string, words: string}}
 */
export const markOf = (one) => {
  if (has(one, "failed")) return { kind: "bad", text: "failed", words: "failed" };
  if (has(one, "absent")) return { kind: "bad", text: "none", words: "no record" };
  if (has(one, "invalid")) return { kind: "dim", text: "stale", words: "not scored: its gold is stale" };
  const edges = has(one, "unlogged") ? "?" : one.required ? `${one.found}/${one.required}` : "–";
  const walked = has(one, "unlogged") ? "traversal not logged" : one.required ? `${one.found} of ${one.required} required edges walked` : "no edge is required";
  if (lucky(one)) return { kind: "turn", text: `${edges} luck`, words: `${walked}, right answer: luck` };
  if (one.answer === "right") return { kind: "good", text: `${edges} answer ✓`, words: `${walked}, right answer` };
  if (one.answer === "wrong") return { kind: "bad", text: `${edges} answer ✗`, words: `${walked}, wrong answer` };
  return { kind: has(one, "complete") ? "good" : one.required && !has(one, "unlogged") ? "short" : "dim", text: edges, words: walked };
};

/** Tell whether an answer is right; null where nobody knows. A question without an answer isn't. @param {Outcome} one */
const won = (one) => (unanswered(one) ? false : one.answer === "undecided" ? null : one.answer === "right");
/** Return the share of the required edges that a run walked; null where nobody knows or none is required. @param {Outcome} one */
export const share = (one) => (unanswered(one) ? 0 : one.required ? one.found / one.required : null);

/**
 * Return 1 where a run did better on a question than another, -1 where worse, 0 where as well, null where nobody knows.
 * The answers decide if one is right and the other wrong, else the walked share of the required edges.
 * @param {Outcome} one @param {Outcome} other
 */
export const moved = (one, other) => {
  const [a, b] = [won(one), won(other)];
  if (a !== null && b !== null && a !== b) return a ? 1 : -1;
  const [mine, theirs] = [share(one), share(other)];
  if (mine !== null && theirs !== null) return Math.sign(mine - theirs);
  return a !== null && a === b ? 0 : null;
};

/** Tell whether a run got a question wrong: by its answer, by its path where no answer is decided. @param {Outcome} one */
const lost = (one) => won(one) === false || (won(one) === null && (share(one) ?? 1) < 1);

/** The kinds of what a question may need. */
export const EDGE_KINDS = ["boundary", "relation", "edge", "node"];

/** The presets: name, words, and what holds of the outcome of the run and of the baseline. @type {[string, string, (one: Outcome, other: Outcome | null) => boolean][]} */
export const PRESETS = [
  ["regressed", "regressed", (one, other) => other !== null && moved(one, other) === -1],
  ["improved", "improved", (one, other) => other !== null && moved(one, other) === 1],
  ["both-wrong", "both wrong", (one, other) => other !== null && lost(one) && lost(other)],
  ["luck", "luck", (one) => lucky(one)],
  ["incoherent", "conflicting commits", (one) => has(one, "incoherent")],
  ["failed", "failed", (one) => has(one, "failed")],
  ["absent", "no record", (one) => has(one, "absent")],
];
/** The presets that compare the run with the baseline. */
export const COMPARING = ["regressed", "improved", "both-wrong"];
/** The events that a click finds in any run. */
export const ANYWHERE = ["luck", "incoherent", "failed", "absent", "wrong"];

/**
 * Return the questions on which a run did worse than another: lost answers first, then by the lost share of the walk.
 * @param {Run} run @param {Run} base @returns {number[]}
 */
export const worse = (run, base) => {
  /** @param {number} n */
  const loss = (n) => Number(won(base.questions[n]) === true && won(run.questions[n]) === false) * 2 + (share(base.questions[n]) ?? 0) - (share(run.questions[n]) ?? 0);
  return run.questions.map((_, n) => n).filter((n) => moved(run.questions[n], base.questions[n]) === -1).sort((a, b) => loss(b) - loss(a) || a - b);
};

/**
 * Return what can have happened to a question: name, words, and what holds of the outcome and the execution of its code.
 * @param {Summary} data @returns {[string, string, (one: Outcome, execution: Execution | null) => boolean][]}
 */
export const events = (data) => [
  ["", "anything", () => true],
  ["complete", "path complete", (one) => has(one, "complete")],
  ["incomplete", "path incomplete", (one) => !has(one, "complete") && one.required > 0],
  ["turn", "wrong turn", (one) => has(one, "turn")],
  ["incoherent", "conflicting commits", (one) => has(one, "incoherent")],
  ["off-pin", "off pin", (one) => has(one, "off_pin")],
  ["failed", "failed", (one) => has(one, "failed")],
  ["absent", "no record", (one) => has(one, "absent")],
  ["invalid", "invalid for stale gold", (one) => has(one, "invalid")],
  ["unlogged", "traversal not logged", (one) => has(one, "unlogged")],
  ["right", "right answer", (one) => one.answer === "right"],
  ["wrong", "wrong answer", (one) => one.answer === "wrong"],
  ["undecided", "answer undecided", (one) => one.answer === "undecided"],
  ["sound", "right answer by the right path", (one) => one.answer === "right" && one.path === "right"],
  ["luck", "luck: right answer by a wrong path", lucky],
  ["misread", "wrong answer by the right path", (one) => one.answer === "wrong" && one.path === "right"],
  ["lost", "wrong answer by a wrong path", (one) => one.answer === "wrong" && one.path === "wrong"],
  ...(data.statuses ? /** @type {[string, string, (one: Outcome, execution: Execution | null) => boolean][]} */ ([
    ["code-failed", "code: not every test passed", (_, execution) => execution !== null && execution.status !== "success"],
    ...Object.entries(data.statuses).map(([status, words]) => [`code-${status}`, `code: ${words}`,
      (/** @type {Outcome} */ _, /** @type {Execution | null} */ execution) => execution !== null && execution.status === status]),
  ]) : []),
  ...data.stages.map((name, place) => /** @type {[string, string, (one: Outcome) => boolean]} */ ([`stage-${place}`, `ended: ${name}`, (one) => one.stage === name])),
];

/** The columns beside the runs, but for those of measures. */
const COLUMNS = ["category", "moved", "tests", "stage"];

/**
 * Return what a state names and the page lacks: the key, what it names, and the name. A link may lead to a newer page.
 * @param {Summary} data @param {Map<string, string>} state @param {string[]} letters Those of the runs. @returns {{key: string, kind: string, name: string}[]}
 */
export const lacking = (data, state, letters) => {
  const runs = () => data.runs.map(({ name }) => name);
  const columns = () => [...COLUMNS, ...data.measures.map(({ name }) => `value:${name}`)];
  /** @type {Record<string, [string, () => string[]]>} What each key names, and the names that the page has. */
  const known = {
    run: ["run", runs], baseline: ["run", runs], runs: ["run", () => letters], preset: ["preset", () => PRESETS.map(([name]) => name)],
    what: ["event", () => events(data).map(([name]) => name)], category: ["category", () => data.questions.map(({ category }) => category)],
    difficulty: ["difficulty", () => LEVELS], measure: ["measure", () => data.measures.map(({ name }) => name)], columns: ["column", columns],
    sort: ["column", () => ["question", "difficulty", ...columns(), ...runs().map((name) => `run:${name}`)]],
    ...Object.fromEntries(EDGE_KINDS.map((kind) => [kind, [kind, () => data.edges.rows.filter(([one]) => one === kind).map(([, name]) => name)]])),
  };
  /** @param {string} key @param {string} value @returns {string[]} */
  const names = (key, value) => (key === "columns" ? splitNames(value) || [] : key === "runs" ? value.split(",").filter(Boolean) : [key === "sort" ? value.replace(/^-/, "") : value]);
  return [...state].flatMap(([key, value]) => {
    if (!Object.hasOwn(known, key)) return [];
    const [kind, all] = known[key];
    const had = new Set(all());
    return names(key, value).filter((name) => !had.has(name)).map((name) => ({ key, kind, name }));
  });
};

/** Return the execution of the code of an answer; null where none was executed. @param {Run} run @param {number} n */
export const execution = (run, n) => (run.executions || [])[n] || null;

/**
 * Return the numbers of the questions that a choice leaves, in its order.
 * @param {Summary} data @param {Choice} choice @param {string[] | null} texts The searched texts; without them, ids and questions are searched.
 * @returns {number[]}
 */
export const chosen = (data, choice, texts) => {
  const run = data.runs[choice.run];
  const base = choice.baseline === null ? null : data.runs[choice.baseline];
  const words = choice.text.toLowerCase().split(/\s+/).filter(Boolean);
  const preset = (PRESETS.find(([name]) => name === choice.preset) || [])[2];
  const event = (events(data).find(([name]) => name === choice.what) || [])[2];
  const bound = choice.bound === "" ? null : Number(choice.bound);
  const values = run.values[choice.measure];
  const asked = choice.anywhere ? (choice.shown || data.runs.map((_, place) => place)).map((place) => data.runs[place]) : [run];
  /** @type {number[]} */
  const list = [];
  data.questions.forEach(({ id, text, category, difficulty }, n) => {
    const one = run.questions[n];
    if (choice.category && category !== choice.category) return;
    if (choice.difficulty && difficulty !== choice.difficulty) return;
    if (preset && !preset(one, base ? base.questions[n] : null)) return;
    if (event && !asked.some((other) => event(other.questions[n], execution(other, n)))) return;
    if (choice.filter && !choice.filter(n)) return;
    const needs = (choice.anyRun ? null : run.needs) || data.edges.needs;
    if (choice.edge >= 0 && !(choice.missed ? asked.some((other) => other.missed[n].includes(choice.edge)) : needs[n].includes(choice.edge))) return;
    const value = values ? values[n] : null;
    if (bound !== null && (value === null || value > bound)) return;
    if (words.length) {
      const searched = `${id} ${text}`.toLowerCase();
      if (!words.every((word) => searched.includes(word) || (texts !== null && texts[n].includes(word)))) return;
    }
    list.push(n);
  });
  return ordered(data, choice, list);
};

/**
 * Return the key by which a column sorts a question; null puts it last in both directions.
 * @param {Summary} data @param {Choice} choice @param {string} column @returns {(n: number) => string | number | null}
 */
const keyOf = (data, choice, column) => {
  const run = data.runs[choice.run];
  /** @param {Run} one @returns {(n: number) => number | null} */
  const outcomes = (one) => (n) => {
    const outcome = one.questions[n];
    if (unanswered(outcome) || has(outcome, "invalid")) return null;
    const right = { wrong: 0, undecided: 1, right: 2 }[outcome.answer] ?? 1;
    const walked = share(outcome);
    return walked === null && outcome.answer === "undecided" ? null : right * 2 + (walked ?? 0);
  };
  if (column === "question") return (n) => data.questions[n].id;
  if (column === "category") return (n) => data.questions[n].category || null;
  if (column === "difficulty") return (n) => LEVELS.indexOf(data.questions[n].difficulty) + 1 || null;
  if (column === "stage") return (n) => data.stages.indexOf(run.questions[n].stage);
  if (column.startsWith("value:")) {
    const place = data.measures.findIndex(({ name }) => column === `value:${name}`);
    return (n) => (run.values[place] || [])[n] ?? null;
  }
  if (column === "tests") return (n) => { const code = execution(run, n); return code && code.total ? code.passed / code.total : null; };
  if (column === "moved") {
    const base = choice.baseline === null ? null : data.runs[choice.baseline];
    return (n) => (base === null ? null : moved(run.questions[n], base.questions[n]));
  }
  const found = data.runs.find((one) => column === `run:${one.name}`);
  return found ? outcomes(found) : () => null;
};

/** @param {Summary} data @param {Choice} choice @param {number[]} list */
const ordered = (data, choice, list) => {
  if (!choice.sort) return list;
  const sign = choice.sort.startsWith("-") ? -1 : 1;
  const key = keyOf(data, choice, choice.sort.replace(/^-/, ""));
  const keys = new Map(list.map((n) => [n, key(n)]));
  return list.sort((a, b) => {
    const [one, two] = [keys.get(a) ?? null, keys.get(b) ?? null];
    if (one === null || two === null) return Number(one === null) - Number(two === null) || a - b;
    return (one < two ? -sign : one > two ? sign : 0) || a - b;
  });
};

/** @typedef {{source: string, relation: string | null, target: string}} Edge */
/** @typedef {{missed_edges: Edge[] | null, absent_edges: Edge[] | null}} Edges What isn't known is null, as in the files of `evaluate`. */

/**
 * Return the required edges that a run missed of a question, if its path is judged, and the gold edges that no knowledge graph holds.
 * @param {any} map @param {Outcome} outcome @returns {Edges}
 */
export const edgesOf = (map, outcome) => {
  /** @type {Edge[]} */
  const edges = map.edges.map((/** @type {any} */ one) => ({ source: map.nodes[one.source].id, relation: one.relation || null, target: map.nodes[one.target].id }));
  return {
    missed_edges: outcome.path === "undecided" ? null : edges.filter((_, at) => map.edges[at].status === "missed"),
    absent_edges: map.absent ? map.absent.map((/** @type {number} */ at) => edges[at]) : null,
  };
};

/**
 * Return questions as rows for other programs: each with what every run did, and with the edges of each run by question.
 * @param {Summary} data @param {number[]} list @param {Map<number, Edges>[]} edges
 */
export const exported = (data, list, edges) => list.map((n) => ({
  question: data.ids?.[n] ?? data.questions[n].id,
  text: data.questions[n].text,
  category: data.questions[n].category,
  difficulty: data.questions[n].difficulty,
  runs: Object.fromEntries(data.runs.map((run, number) => {
    const { flags, found, required, answer, path, stage } = run.questions[n];
    const values = Object.fromEntries(data.measures.map((measure, place) => [measure.name, run.values[place][n]]));
    return [run.name, { answer, path, found, required, flags, stage, values, .../** @type {Edges} */ (edges[number].get(n)) }];
  })),
}));

/** Return rows as JSON Lines. @param {ReturnType<typeof exported>} rows */
export const asJsonLines = (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/** Return a cell of CSV: a spreadsheet must not take it for a formula. @param {string | number | null} value */
const cell = (value) => {
  const text = value === null ? "" : String(value);
  const harmless = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
};

/** Return rows as CSV: one line per question and run. @param {ReturnType<typeof exported>} rows @param {Measure[]} measures */
export const asCsv = (rows, measures) => {
  const heads = ["question", "text", "category", "difficulty", "run", "answer", "path", "found", "required", "flags", "stage", ...measures.map((one) => one.name), "missed_edges", "absent_edges"];
  const lines = rows.flatMap((row) => Object.entries(row.runs).map(([run, one]) => [
    row.question, row.text, row.category, row.difficulty, run, one.answer, one.path, one.found, one.required, one.flags.join(" "), one.stage,
    ...measures.map((measure) => one.values[measure.name]), ...[one.missed_edges, one.absent_edges].map((some) => some && JSON.stringify(some)),
  ]));
  return [heads, ...lines].map((line) => `${line.map(cell).join(",")}\r\n`).join("");
};
