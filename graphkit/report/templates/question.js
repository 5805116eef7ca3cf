// What one run did on one question, below the spine: answer, code and verdicts; and folded chunks, commits and values.
import { answerElement, leavesOutCode } from "./answer.js";
import { clashesOf, commitText } from "./commits.js";
import { brief, counted, el, middle, plain, shown, table, tag } from "./dom.js";
import { wordDiff } from "./diff.js";
import { graderOf } from "./grades.js";
import { judgedSection } from "./judged.js";
import { drawMap } from "./map.js";
import { has } from "./model.js";
import { codeTag, tagsOf } from "./tags.js";

/**
 * @typedef {object} Opened An open question: its number, its run, and what the run's blocks hold of it.
 * @property {import("./model.js").Summary} data
 * @property {import("./model.js").Run} run
 * @property {number} number
 * @property {any} detail
 * @property {any[]} verdicts
 * @property {any} code
 * @property {(run: import("./model.js").Run) => Promise<any>} detailIn Reads the details of the question in another run.
 * @property {number | null} baseline
 * @property {ReturnType<typeof import("./grades.js").gradesOf>} grades
 * @property {Element[]} folds What the spine of the question folds.
 */
/** @typedef {import("./dom.js").Child} Child */

/** @param {number} ms */
const time = (ms) => (ms >= 1000 ? `${Number((ms / 1000).toPrecision(3))} s` : `${Number(ms.toPrecision(3))} ms`);
/** @param {any[]} parts @returns {any[]} */
const together = (...parts) => parts.filter(Boolean).flatMap((part, place) => [place ? ", " : "", part]);
/** @param {string[]} ids */
const listed = (ids) => ids.map((id, place) => [place ? ", " : "", plain(id)]);

/** @param {Record<string, number>} spent */
const spentLine = (spent) => {
  /** @type {[string, (value: number) => string][]} */
  const words = [
    ["latency_ms", time], ["model_calls", (value) => counted(value, "model call")], ["prompt_tokens", (value) => `${value} prompt tokens`],
    ["output_tokens", (value) => `${value} output tokens`], ["cost", (value) => `cost ${Number(value.toPrecision(4))}`],
  ];
  return el("p", { class: "dim", id: "spent" }, words.filter(([name]) => spent[name] !== undefined).map(([name, say]) => say(spent[name])).join(" · "));
};

/** What keeps the question from having an answer or a score. @param {Opened} at */
const notes = ({ detail }) => [
  detail.error !== null ? el("p", { class: "note" }, el("b", {}, "Not answered: "), plain(detail.error)) : null,
  detail.invalid !== null ? el("p", { class: "note" }, el("b", {}, "Not scored: "), plain(detail.invalid)) : null,
];

/** Return a part that is folded. @param {string} id @param {Child} words Its line. @param {Child[]} parts */
const fold = (id, words, ...parts) => /** @type {HTMLDetailsElement} */ (el("details", { id }, el("summary", {}, words), parts));

/** How the question ended, with its tags. @param {Opened} at */
const happened = ({ data, detail, run, number }) => fold("happened", ["Ended: ", detail.stage.name],
  el("p", {}, tagsOf(data, run, number), plain(detail.stage.reason), detail.stage.missing.length ? [" (", listed(detail.stage.missing), ")"] : null),
  detail.undecided ? el("p", { class: "dim" }, "Not in the two-by-two table: ", plain(detail.undecided)) : null,
  detail.ordered ? null : el("p", { class: "note" }, "The traversal is a set of edges, without an order."));

/** The difference of the answer to that of another run, made when it is unfolded. @param {Opened} at */
const difference = ({ data, run, number, detail, detailIn, baseline }) => {
  const others = data.runs.map((_, place) => place).filter((place) => data.runs[place] !== run);
  if (!others.length || detail.answer === null) return null;
  const usual = baseline !== null && data.runs[baseline] !== run ? baseline : others[0];
  const select = /** @type {HTMLSelectElement} */ (el("select", { "aria-label": "Compare the answer with that of" },
    others.map((place) => el("option", { value: place, selected: place === usual }, middle(data.runs[place].name, 60)))));
  const result = el("p", { class: "data", id: "diff" });
  const compare = async () => {
    const other = await detailIn(data.runs[Number(select.value)]);
    const before = other ? other.answer : null;
    const pieces = before === null ? [] : wordDiff(before, detail.answer);
    result.replaceChildren(...(before === null ? [el("span", { class: "dim" }, "The record of that run holds no answer.")]
      : pieces.every(({ kind }) => kind === "same") ? [el("span", { class: "dim" }, "Both answers have the same words.")]
        : pieces.map(({ kind, text }) => (kind === "same" ? document.createTextNode(text) : el(kind === "added" ? "ins" : "del", {}, text)))));
  };
  select.addEventListener("change", compare);
  const folded = fold("difference", "Word by word", el("p", {}, "Against ", select, " (struck out: only there)"), result);
  folded.addEventListener("toggle", () => { if (folded.open && !result.childNodes.length) compare(); });
  return folded;
};

/** The answer of the run with the buttons that grade it, beside the gold answer. @param {Opened} at */
const answers = ({ data, run, number, detail, code, grades }) => {
  const several = data.runs.length > 1;
  /** @param {string} key */
  const kbd = (key) => el("kbd", {}, key);
  const hint = el("span", { class: "hint" }, "next ", kbd("j"), several ? [" · run ", kbd("1"), "–", kbd(String(data.runs.length < 10 ? data.runs.length : 0))] : null);
  const { answer_hash } = detail;
  const gold_hash = data.gold_hashes[number];
  const hashes = { ...(answer_hash ? { answer_hash } : {}), ...(gold_hash ? { gold_hash } : {}) };
  return el("div", { class: "columns answers" },
    el("section", {}, el("h3", {}, "Answer", several ? [" of ", brief(run.name, 60)] : null),
      detail.answer === null ? el("p", { class: "dim" }, "The run logs no answer text: nothing to grade.")
        : [answerElement(detail.answer, code), graderOf(grades, run.name, data.questions[number].id, hashes, hint)]),
    el("section", {}, el("h3", {}, "Gold answer"), detail.gold === null ? el("p", { class: "dim" }, "No gold answer is annotated.") : el("p", { class: "data" }, detail.gold),
      detail.facts.length ? el("ul", {}, detail.facts.map((/** @type {string} */ fact) => el("li", { class: "data" }, fact))) : null));
};

/** How the code of the answer ran: the first failing test, the code with its line, the other tests. @param {Opened} at */
const codeSection = ({ data, detail, code: found }) => {
  if (!found) return null;
  const statuses = data.statuses || {};
  const { failing } = found;
  /** @param {any} test */
  const more = (test) => (test.more_attempts ? ` and ${test.more_attempts} more` : "");
  /** @param {string} name @param {string | null} text */
  const value = (name, text) => el("div", {}, el("h5", {}, name), text === null ? el("p", { class: "dim" }, "nothing") : el("pre", { class: "chunk", tabindex: 0 }, text));
  /** @param {any} test */
  const whole = (test) => el("div", { class: "failing" },
    el("h4", {}, "The first test that didn't pass: ", plain(test.name)),
    el("p", {}, test.message === null ? null : el("b", { class: "data" }, test.message),
      test.line === null && test.duration === null ? null : el("span", { class: "dim" }, " (", together(test.line === null ? null : `line ${test.line}`, test.duration === null ? null : time(test.duration)), ")")),
    test.expected === null && test.returned === null ? null : el("div", { class: "values" }, value("expected", test.expected), value("returned", test.returned)),
    test.printed ? [el("h5", {}, "printed"), el("pre", { class: "chunk printed", tabindex: 0 }, test.printed)] : null,
    test.attempts.length ? [el("h5", {}, "tried what the sandbox doesn't allow"), el("ul", { class: "attempts" }, test.attempts.map((/** @type {string} */ one) => el("li", { class: "data" }, one)), test.more_attempts ? el("li", { class: "dim" }, more(test)) : null)] : null);
  /** @param {any} test */
  const short = (test) => el("li", {},
    codeTag(test.status, test.status === "success" ? "passed" : statuses[test.status]), " ", plain(test.name),
    test.message === null ? null : [": ", plain(test.message)],
    test.decided_by === null ? null : [", trusted: ", plain(test.decided_by)],
    test.attempts.length ? [", tried ", together(...test.attempts.map(plain)), more(test)] : null,
    test.duration === null ? null : el("span", { class: "dim" }, ` ${time(test.duration)}`));
  /** @param {number} first @returns {(text: string, place: number) => HTMLElement} */
  const line = (first) => (text, place) => {
    const hit = failing !== null && first + place === failing.line;
    return el("li", { value: first + place, class: hit ? "hit" : null }, hit ? el("mark", {}, text) : text);
  };
  /** @param {number} count */
  const gap = (count) => (count > 0 ? el("p", { class: "dim gap" }, `… ${counted(count, "more line")}`) : null);
  /** @param {any} piece */
  const upTo = ({ first, lines }) => first + lines.length - 1;
  const listing = found.code.map((/** @type {any} */ piece, /** @type {number} */ place) => [
    gap(place ? piece.first - upTo(found.code[place - 1]) - 1 : 0), el("ol", {}, piece.lines.map(line(piece.first)))]);
  return [
    el("h3", {}, "Code"),
    el("section", { class: "code", id: "code" },
      el("p", {}, codeTag(found.status, statuses[found.status]), " ",
        found.mechanism === "none" ? [el("strong", { class: "tag bad" }, "‼ no sandbox"), " "] : null,
        found.total ? `${found.passed} of ${counted(found.total, "test")} passed ` : null,
        el("span", { class: "dim" }, together(plain(found.language), found.entry_point ? ["entry point ", plain(found.entry_point)] : null,
          found.mechanism === null ? "nothing ran" : found.mechanism === "none" ? null : `in ${found.mechanism}`, found.duration === null ? null : time(found.duration)))),
      failing === null ? null : whole(failing),
      found.lines ? el("details", { open: failing !== null || leavesOutCode(detail.answer, found) }, el("summary", {}, `The code, ${counted(found.lines, "line")}`),
        el("div", { class: "listing" }, listing, gap(found.lines - upTo(found.code.at(-1))))) : null,
      found.others.length ? [el("h4", {}, failing === null ? "The tests" : "The other tests"), el("ul", { class: "tests" }, found.others.map(short))] : null,
      found.more_tests ? el("p", { class: "dim" }, `and ${counted(found.more_tests, "more test")}`, found.more_failing ? `, ${found.more_failing} of which didn't pass` : "") : null),
  ];
};

/** The queries of the record and of gold, and what came of running them. @param {any} queries */
const querySection = (queries) => {
  if (!queries) return null;
  const code = (/** @type {string} */ text) => el("pre", { class: "chunk", tabindex: 0 }, text);
  const came = queries.ran === null ? queries.reason === null ? "graphkit cypher has not run them" : "not known" : !queries.ran ? "did not run"
    : queries.same === null ? "ran; its result is not compared" : queries.same ? "ran; its result is that of gold" : "ran; its result is not that of gold";
  return fold("queries", counted(queries.written.length + queries.more_written, "query", "queries"),
    queries.logged ? el("p", { class: "note", id: "ran" }, came, queries.reason === null ? null : [": ", plain(queries.reason)]) : el("p", { class: "dim" }, "The record logs no query."),
    queries.cause === null ? null : el("p", { class: "note", id: "query-cause" }, plain(queries.cause)),
    queries.written.map((/** @type {any} */ [text, error]) => [code(text), error ? el("p", { class: "dim" }, plain(error)) : null]),
    queries.more_written ? el("p", { class: "dim" }, `and ${queries.more_written} more`) : null,
    queries.gold.length ? [el("p", { class: "dim" }, "Gold:"), queries.gold.map(code)] : null);
};

/** @param {any} calls */
const callSection = (calls) => {
  if (!calls) return null;
  /** @param {any} one @param {number} place */
  const seen = ({ id, gold, again }, place) => [place ? ", " : "", gold ? el("b", { class: "met data" }, id) : plain(id), again ? el("span", { class: "dim" }, " again") : null];
  /** @param {any} call @param {number} place */
  const row = (call, place) => el("tr", {},
    el("td", { class: "num" }, place + 1),
    el("td", {}, brief(call.name, 60), call.failed ? [" ", tag("bad", "failed")] : null),
    el("td", {}, call.arguments ? el("pre", { class: "chunk", tabindex: 0 }, call.arguments) : ""),
    el("td", {}, call.seen === null ? el("span", { class: "dim" }, "unknown") : call.seen.map(seen), call.more_seen ? el("span", { class: "dim" }, ` and ${call.more_seen} more`) : null),
    el("td", {}, call.result ? el("pre", { class: "chunk", tabindex: 0 }, call.result) : ""));
  return fold("calls", counted(calls.made.length + calls.more, "tool call"),
    calls.lack === null ? null : el("p", { class: "note", id: "lack" }, calls.lack),
    calls.expected.length ? el("details", {}, el("summary", {}, `Expected, ${counted(calls.expected.length + calls.more_expected, "call")}`),
      el("ol", {}, calls.expected.map((/** @type {any} */ one) => el("li", {}, plain(one.name), one.arguments === null ? el("span", { class: "dim" }, " with any arguments") : [" ", plain(one.arguments || "without arguments")]))),
      calls.more_expected ? el("p", { class: "dim" }, `and ${calls.more_expected} more`) : null) : null,
    calls.made.length ? table("In order, with the ids that each call showed; gold ids are bold", ["call", "tool", "arguments", "showed", "result"], calls.made.map(row)) : el("p", { class: "dim" }, "The run called no tool."),
    calls.more ? el("p", { class: "dim" }, `and ${counted(calls.more, "more call")}`) : null);
};

/**
 * The commits that the run read, those of the question that it didn't read, and the conflicting pairs, numbered as the map names them.
 * @param {any} detail @param {HTMLElement | null} folded What the spine says about them.
 */
const commitsOf = (detail, folded) => {
  if (!detail.commits.length) return folded;
  /** @param {number} commit */
  const name = (commit) => el("span", {}, plain(detail.commits[commit].repo), " at ", plain(commitText(detail, commit)));
  /** @param {number[]} commits @param {string} rule */
  const names = (commits, rule) => (rule === "unknown commit" ? commits.map((commit, place) => [place ? ", " : "", name(commit)])
    : [name(commits[0]), " with ", name(commits[commits.length - 1])]);
  const place = folded || fold("commits", "Commits");
  place.id = "commits";
  /** @param {boolean} unread @param {string} words */
  const listed = (unread, words) => {
    const some = [...detail.commits.keys()].filter((commit) => Boolean(detail.commits[commit].unread) === unread);
    return some.length ? [el("p", {}, words, some.map((commit, at) => [at ? ", " : "", name(commit)]))] : [];
  };
  place.append(...[
    ...listed(false, "Read: "),
    ...listed(true, "What the question is about but the run did not read: "),
    ...(detail.pairs.length ? [el("p", {}, "Conflicting commits:"), el("ol", { id: "pairs" }, detail.pairs.map((/** @type {any} */ { commits, rule, count }) =>
      el("li", {}, names(commits, rule), `: ${rule} (${counted(count, "pair")} of chunks)`)))] : []),
    ...(detail.more_pairs ? [el("p", { class: "dim" }, `and ${detail.more_pairs} more`)] : []),
  ]);
  return place;
};

/** @param {Opened} at */
const chunks = ({ detail, run, number }) => {
  const clashes = clashesOf(detail);
  const one = run.questions[number];
  const silent = has(one, "failed") || has(one, "absent") || detail.chunks_logged ? "Nothing was retrieved." : "The record has no retrieved chunks (not logged).";
  /** @param {any} chunk @param {number} rank */
  const row = ({ id, gain, score, commit, text }, rank) => el("tr", {},
    el("td", { class: "num" }, rank + 1),
    el("td", { class: "num" }, gain > 0 ? el("b", { class: "met" }, `+${gain}`) : gain),
    el("td", { class: "num" }, score === null ? "" : Number(score.toPrecision(5))),
    el("td", {}, plain(id), commit !== null ? el("div", { class: "dim" }, commitText(detail, commit), clashes.has(commit) ? ` ✕${(clashes.get(commit) || []).join(",")}` : "") : ""),
    el("td", {}, text ? el("pre", { class: "chunk", tabindex: 0 }, text) : ""));
  return fold("chunks", counted(detail.chunks.length + detail.more_chunks, "chunk"),
    detail.chunks.length ? table("In order of rank, with the annotated gain of each", ["rank", "gain", "score", "chunk", "text"], detail.chunks.map(row)) : el("p", { class: "dim" }, silent),
    detail.more_chunks ? el("p", { class: "dim" }, `and ${detail.more_chunks} more`) : null,
    detail.lost.length ? el("p", {}, "Relevant but not retrieved: ", detail.lost.map((/** @type {any} */ { id, gain }, /** @type {number} */ place) => [place ? ", " : "", plain(id), ` (+${gain})`])) : null);
};

/** @param {Opened} at */
const values = ({ data, run, number, detail }) => {
  // Scores by other tools are among the values of the run.
  /** @param {number} place */
  const valueOf = (place) => detail.values[place] ?? run.values[place][number];
  return fold("values", "Every measure", detail.spent ? spentLine(detail.spent) : null, table("The value, or why there is none", ["measure", "value"], data.measures.map((measure, place) => el("tr", {},
    el("th", { scope: "row", title: measure.definition }, measure.name),
    el("td", { title: typeof valueOf(place) === "number" ? valueOf(place) : null }, typeof valueOf(place) === "number" ? shown(valueOf(place)) : el("span", { class: "dim data" }, `not scored: ${valueOf(place) ?? "no score was given"}`)))), "narrow"));
};

/** Put the map of the walk into what is folded about edges off the path; it is drawn when that is unfolded. @param {Opened} at @param {HTMLDetailsElement | null} off */
const withMap = ({ run, detail }, off) => {
  const { edges, omitted } = detail.map;
  const folded = off || fold("map", "Map");
  const place = el("div", {});
  folded.id = "map";
  folded.append(el("p", {}, "The map of ", brief(run.name, 60), `: ${counted(edges.length + (omitted || 0), "edge")} of gold and traversal`), place);
  folded.addEventListener("toggle", () => { if (folded.open && !place.childNodes.length) place.append(drawMap(detail)); });
  return folded;
};

/** Return what stands below the spine of an open question: the answers, what was found about them, and what is folded. @param {Opened} at @returns {Child[]} */
export const sectionsOf = (at) => {
  /** @param {string} kind @returns {any} */
  const known = (kind) => at.folds.find((one) => one.classList.contains(kind)) || null;
  return [
    notes(at),
    answers(at),
    codeSection(at),
    judgedSection(at.detail, at.verdicts),
    el("div", { class: "spine" }, el("div", { class: "folds" }, withMap(at, known("off")), known("remedies"), known("others"), chunks(at), commitsOf(at.detail, known("commits")), callSection(at.detail.calls), querySection(at.detail.queries), values(at),
      difference(at), happened(at), known("commands"))),
  ];
};
