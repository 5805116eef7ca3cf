// The verdicts of judges on an answer: claim by claim, with evidence and citations.
import { commitText } from "./commits.js";
import { brief, counted, el, plain, tag } from "./dom.js";

/** @type {Record<string, [string, string]>} */
const SUPPORT = { DIRECT: ["good", "supported directly"], INFERRED: ["good", "supported by inference"], UNSUPPORTED: ["bad", "not supported"] };
/** @type {Record<string, [string, string]>} */
const GOLD_SAYS = { SUPPORTED: ["good", "the gold answer says so"], CONTRADICTED: ["bad", "the gold answer says otherwise"], NOT_MENTIONED: ["turn", "the gold answer doesn't say"] };
/** @type {Record<string, [string, string]>} */
const IN_GOLD = { true: ["good", "in gold"], false: ["turn", "not in gold"], null: ["", "gold is unknown"] };
/** @type {Record<string, [string, string]>} */
const CORRECT = { true: ["good", "correct"], false: ["bad", "wrong"], null: ["", "not judged"] };

/** @param {[string, string]} kind */
const mark = (kind) => [" ", tag(...kind), " "];

/** Return the verdicts as a section; nothing without any. @param {any} detail @param {any[]} verdicts */
export const judgedSection = (detail, verdicts) => {
  /** @param {string} chunk */
  const where = (chunk) => {
    const place = detail.chunks.findIndex((/** @type {any} */ one) => one.id === chunk);
    if (place < 0) return el("span", { class: "dim" }, detail.more_chunks ? "" : " (not retrieved)");
    const { commit } = detail.chunks[place];
    return el("span", { class: "dim" }, ` (rank ${place + 1}`, commit !== null ? [" at ", plain(commitText(detail, commit))] : null, ")");
  };
  /** @param {any} one */
  const evidence = ({ chunk, quote, occurs, alone }) => el("li", { class: occurs ? null : "missed" },
    el("q", { class: "data" }, quote), " in ", plain(chunk), where(chunk),
    occurs ? null : ": the quote doesn't occur there and doesn't count", occurs && !alone ? el("span", { class: "dim" }, " together with the others only") : null);
  /** @param {any} one */
  const citation = ({ text, target, chunks, correct, needed, reason }) => el("li", { class: "citation" },
    "cites ", plain(text), text === target ? null : [" (", plain(target), ")"], mark(CORRECT[correct]),
    reason === null ? null : plain(reason), needed === false ? el("span", { class: "dim" }, " not needed") : null,
    chunks.length ? el("span", { class: "dim" }, needed === false ? ", means " : " means ", chunks.map((/** @type {string} */ chunk, /** @type {number} */ place) => [place ? ", " : "", plain(chunk)])) : null);
  /** @param {any} one @param {any[]} citations */
  const claim = (one, citations) => el("li", { class: `claim ${one.support.toLowerCase()}` },
    plain(one.text), mark(SUPPORT[one.support]), one.gold === null ? null : mark(GOLD_SAYS[one.gold]),
    one.sentence === null ? null : el("span", { class: "dim" }, `sentence ${one.sentence}`),
    one.mismatch === null ? null : el("p", { class: "missed data" }, one.mismatch),
    el("ul", {}, one.evidence.map(evidence),
      one.more_evidence ? el("li", { class: "dim" }, `and ${one.more_evidence} more`) : null,
      one.edge === null ? null : el("li", { class: "edge-of" }, "rests on the traversed edge ", plain(`${one.edge.source} -${one.edge.relation}-> ${one.edge.target}`), mark(IN_GOLD[one.edge.in_gold])),
      one.cited.map((/** @type {number} */ place) => citation(citations[place])),
      one.cited_support === null ? null : el("li", { class: "dim" }, one.cited_support ? "its citations together support it" : "its citations together don't support it")));
  /** @param {any} one */
  const goldClaim = (one) => el("li", { class: one.stated ? "gold-claim" : "gold-claim missed" },
    plain(one.text), mark(one.stated ? ["good", "stated"] : ["bad", "not stated"]),
    el("ul", {}, one.chunks.map((/** @type {string} */ chunk) => el("li", {}, "supported by ", plain(chunk), where(chunk))),
      one.edges.map((/** @type {any} */ edge) => el("li", { class: "gold-edge" }, "goes with the gold edge ", plain(`${edge.source} -${edge.relation}-> ${edge.target}`),
        one.named_in === "chunk" ? el("span", { class: "dim" }, " named by a chunk that supports it") : null))));
  /** @param {any} one */
  const verdict = (one) => {
    const stray = one.citations.filter((/** @type {any} */ _, /** @type {number} */ place) => !one.claims.some((/** @type {any} */ each) => each.cited.includes(place)));
    return el("section", { class: "verdict" },
      el("h4", {}, brief(one.grader, 40), el("span", { class: "dim" }, " by ", brief(one.judge, 40), one.model === null ? null : [", ", brief(one.model, 40)])),
      one.failure === null ? null : el("p", { class: "note" }, el("b", {}, "No verdict: "), plain(one.failure), one.reason === null ? null : [": ", plain(one.reason)]),
      one.grade === null && one.label === null && one.confidence === null ? null : el("p", {}, one.grade === null ? null : el("b", { class: "data" }, one.grade), one.label === null ? null : [" ", tag("turn", one.label)],
        one.confidence === null ? null : el("span", { class: "dim" }, ` confidence ${one.confidence.toFixed(2)}`)),
      one.explanation === null ? null : el("p", { class: "data" }, one.explanation),
      one.fields.length ? el("details", { open: one.explanation === null }, el("summary", {}, "The verdict in full"),
        el("dl", {}, one.fields.map((/** @type {any} */ { name, text }) => [el("dt", { class: "data" }, name), el("dd", { class: "data" }, text)]))) : null,
      one.claims.length ? el("ol", { class: "claims" }, one.claims.map((/** @type {any} */ each) => claim(each, one.citations))) : null,
      one.more_claims ? el("p", { class: "dim" }, `and ${counted(one.more_claims, "more claim")}`) : null,
      one.gold_claims.length ? el("details", {}, el("summary", {}, `The gold answer: ${one.gold_stated} of ${counted(one.gold_claims.length + one.more_gold_claims, "claim")} stated`),
        el("ol", { class: "claims" }, one.gold_claims.map(goldClaim)),
        one.more_gold_claims ? el("p", { class: "dim" }, `and ${counted(one.more_gold_claims, "more claim")}`) : null) : null,
      stray.length && !one.more_claims ? [el("p", {}, one.claims.length ? "Citations at no claim:" : "Citations:"), el("ul", {}, stray.map(citation))] : null,
      one.left_out.length ? el("p", { class: "note left-out" }, el("b", {}, "Not shown to the judge, for lack of space: "), one.left_out.map((/** @type {string} */ id, /** @type {number} */ place) => [place ? ", " : "", plain(id)]), one.more_left_out ? ` and ${one.more_left_out} more` : null) : null,
      one.notes.length ? el("ul", { class: "dim" }, one.notes.map((/** @type {string} */ note) => el("li", { class: "data" }, note))) : null);
  };
  return verdicts.length ? [el("h3", { id: "judged" }, "Verdicts on the answer"), verdicts.map(verdict)] : null;
};
