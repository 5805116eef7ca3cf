// The reader's grades of answers: right, wrong, or a note. A page that `graphkit view` serves stores them beside the
// run; any other keeps them in the browser, and gives them as a file of scores.
import { $, el } from "./dom.js";
import { save } from "./list.js";

/** @typedef {{run: string, question: string, measure: string, value: number | null, reason?: string, explanation?: string, grader: string, gold_hash?: string, answer_hash?: string}} Grade */

const MEASURE = "PersonGrade";
const GRADER = "person";
const UNGRADED = "noted, not graded";

/** @typedef {{answer_hash?: string, gold_hash?: string}} Hashes What a grade is about: the answer, and the gold of its question. */

/**
 * Return a grade as a score, null if it holds nothing.
 * @param {string} run @param {string} question @param {number | null} value @param {string} note @param {Hashes} hashes @returns {Grade | null}
 */
export const gradeOf = (run, question, value, note, hashes) => (value === null && !note ? null : {
  run, question, measure: MEASURE, value, ...(value === null ? { reason: UNGRADED } : {}), ...(note ? { explanation: note } : {}), grader: GRADER, ...hashes,
});

/** Tell whether a grade is of the answer and the gold that have these hashes; one without a hash may be. @param {Grade} grade @param {Hashes} hashes */
export const isOf = (grade, hashes) => /** @type {(keyof Hashes)[]} */ (["answer_hash", "gold_hash"]).every((name) => !grade[name] || !hashes[name] || grade[name] === hashes[name]);

/** Return a grade in words; null without one. @param {Grade | undefined} grade */
export const gradeWords = (grade) => (!grade ? null : grade.value === null ? "noted" : grade.value ? "right" : "wrong");

/** @param {Iterable<Grade>} grades */
export const asScores = (grades) => [...grades].map((one) => `${JSON.stringify(one)}\n`).join("");

/**
 * Return the grades of a page.
 * @param {string | null} goldHash @param {string | undefined} served The version of a served page.
 * @param {() => void} changed Called when a grade has changed.
 */
export const gradesOf = (goldHash, served, changed) => {
  const key = `graphkit grades of ${goldHash} in ${document.title}`;
  /** @type {Map<string, Grade>} */
  const grades = new Map();
  /** @param {string} run @param {string} question */
  const place = (run, question) => JSON.stringify([run, question]);
  /** @param {string} words */
  const say = (words) => { $("graded").textContent = words; };
  const count = () => {
    $("save-grades").hidden = !grades.size;
    $("save-grades").textContent = `Grades (${grades.size})`;
    changed();
  };
  /** @param {any} found */
  const take = (found) => {
    for (const one of Array.isArray(found) ? found : []) grades.set(place(one.run, one.question), one);
    count();
  };
  const load = async () => {
    try {
      take(served ? await (await fetch("grades", { cache: "no-store" })).json() : JSON.parse(localStorage.getItem(key) || "[]"));
    } catch {
      say("Earlier grades can't be read.");
    }
  };
  /** @param {string} run @param {string} question @param {number | null} value @param {string} note @param {Hashes} hashes */
  const set = async (run, question, value, note, hashes) => {
    let grade = gradeOf(run, question, value, note, hashes);
    try {
      if (served) {
        const reply = await fetch("grades", { method: "POST", mode: "same-origin", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ run, question, value, note, version: served }) });
        const told = await reply.json();
        if (!reply.ok) { say(`Not saved: ${told.error}`); return; }
        grade = told;
      }
      if (grade) grades.set(place(run, question), grade);
      else grades.delete(place(run, question));
      if (!served) localStorage.setItem(key, JSON.stringify([...grades.values()]));
      say(grade ? `Saved: ${gradeWords(grade)}${grade.value !== null && grade.explanation ? ", with a note" : ""}` : "Removed");
    } catch {
      say(served ? "Not saved: the server doesn't answer." : "Kept until the page is closed: this browser stores nothing. Save the grades as a file.");
    }
    count();
  };
  $("save-grades").addEventListener("click", () => save("person.scores.jsonl", "application/jsonl", asScores(grades.values())));
  return {
    load,
    set,
    all: () => [...grades.values()],
    /** @param {string} run @param {string} question */
    of: (run, question) => grades.get(place(run, question)),
  };
};

/**
 * Return the controls that grade an answer. A grade of an earlier answer, or of other gold, isn't shown.
 * @param {ReturnType<typeof gradesOf>} grades @param {string} run @param {string} question @param {Hashes} hashes @param {import("./dom.js").Child} hint What stands behind the buttons.
 */
export const graderOf = (grades, run, question, hashes, hint) => {
  const note = /** @type {HTMLTextAreaElement} */ (el("textarea", { id: "note", rows: 2, "aria-label": "Note on the answer" }));
  const held = () => {
    const grade = grades.of(run, question);
    return grade && isOf(grade, hashes) ? grade : undefined;
  };
  const value = () => held()?.value ?? null;
  /** @param {number | null} wanted */
  const grade = (wanted) => grades.set(run, question, wanted, note.value.trim(), hashes).then(draw);
  /** @param {string} id @param {string} words @param {string} key @param {() => void} click */
  const button = (id, words, key, click) => el("button", { type: "button", id, "aria-keyshortcuts": key, on: { click } }, words, " ", el("kbd", { "aria-hidden": "true" }, key));
  /** @param {number} wanted @param {string} words @param {string} key @param {string} id */
  const choice = (wanted, words, key, id) => button(id, words, key, () => grade(value() === wanted ? null : wanted));
  const [right, wrong] = [choice(1, "Right", "r", "grade-right"), choice(0, "Wrong", "w", "grade-wrong")];
  const open = button("grade-note", "Note", "n", () => { note.hidden = false; note.focus(); });
  const draw = () => {
    right.setAttribute("aria-pressed", String(value() === 1));
    wrong.setAttribute("aria-pressed", String(value() === 0));
    note.value = held()?.explanation || "";
    note.hidden = !note.value && document.activeElement !== note;
  };
  note.addEventListener("change", () => { grade(value()); });
  note.addEventListener("blur", () => { note.hidden = !note.value; });
  draw();
  return el("div", { class: "grader", role: "group", "aria-label": "Grade the answer" }, right, wrong, open, hint, note);
};
