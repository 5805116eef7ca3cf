// What a filter may name in the list of questions, and the values of one question.
import { FLAGS, has, LEVELS, lucky } from "./model.js";

const DECISIONS = ["right", "wrong", "undecided"];
/** What the flags say, in the words of a completion. @type {Record<string, string>} */
const FLAG_WORDS = { incoherent: "conflicting commits", off_pin: "a commit that the question doesn't pin", luck: "right answer, wrong path" };

/** What the dataset says of a question. @type {("category" | "split" | "session")[]} */
const LABELS = ["category", "split", "session"];

/** What `--keep` may name, and the page doesn't hold. */
const KEEP_ONLY = ["failures", "group"];

/** Return the names that a filter of the page knows. @param {import("./model.js").Summary} data @returns {import("./filter_expression.js").Names} */
export const filterNames = (data) => {
  /** @param {string} about @param {string[]} [values] @param {boolean} [closed] @returns {import("./filter_expression.js").Named} */
  const text = (about, values, closed) => ({ kind: "text", about, values, closed });
  /** @param {string} about @returns {import("./filter_expression.js").Named} */
  const number = (about) => ({ kind: "number", about });
  return new Map([
    ...KEEP_ONLY.map((name) => /** @type {[string, import("./filter_expression.js").Named]} */ ([name, { kind: "keep" }])),
    ...data.measures.map(({ name, definition }) => /** @type {[string, import("./filter_expression.js").Named]} */ ([name, number(definition)])),
    ["missed", number("required edges that the run missed")],
    ...Object.entries({ ...FLAGS, luck: ["", "luck"] }).map(([name, [, words]]) =>
      /** @type {[string, import("./filter_expression.js").Named]} */ ([name, { kind: "flag", about: FLAG_WORDS[name] || words }])),
    ["answer", text("the answer is right or wrong", DECISIONS, true)],
    ["path", text("the path is right or wrong", DECISIONS, true)],
    ["stage", text("where the question ended", data.stages, true)],
    ["cause", text("why the run lacks a required step", data.causes, true)],
    ...LABELS.map((name) => /** @type {[string, import("./filter_expression.js").Named]} */ ([name, text("of the question", [...new Set(data.questions.map((one) => one[name]).filter(Boolean))].sort(), true)])),
    ["difficulty", text("of the question", LEVELS, true)],
    ["question", text("its id")],
    ["text", text("its words")],
    ["run", text("the name of the run", data.runs.map((one) => one.name))],
  ]);
};

/**
 * Return the values of a question in a run by name.
 * @param {import("./model.js").Summary} data @param {number} run @param {number} n @returns {import("./filter_expression.js").Getter}
 */
export const filterValues = (data, run, n) => {
  const { id, text, category, difficulty, split, session } = data.questions[n];
  const { name, values, questions } = data.runs[run];
  const one = questions[n];
  /** @type {Record<string, string | number | null>} */
  const fields = { answer: one.answer, path: one.path, stage: one.stage, cause: one.cause, category, difficulty, split, session, question: id, text, run: name, missed: one.required ? one.required - one.found : null };
  return (asked) => {
    if (Object.hasOwn(fields, asked)) return fields[asked] === "" ? null : fields[asked];
    if (asked === "luck") return lucky(one);
    if (Object.hasOwn(FLAGS, asked)) return has(one, asked);
    const place = data.measures.findIndex((measure) => measure.name === asked);
    return place < 0 ? null : values[place][n];
  };
};
