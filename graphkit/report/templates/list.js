// The list of questions: filters, presets, a row per question with the mark of each run, pages and export.
import { $, brief, counted, el, middle, shown, tag } from "./dom.js";
import { COMPARING, LEVELS, PRESETS, asCsv, asJsonLines, chosen, events, execution, exported, markOf, moved } from "./model.js";
import { tagsOf } from "./tags.js";

const PER_PAGE = 100;
/** Runs up to which a column is headed by its name; more have letters. */
const NAMED = 6;

/** Give the reader a file. @param {string} name @param {string} type @param {string} text */
export const save = (name, type, text) => {
  const link = /** @type {HTMLAnchorElement} */ (el("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

/** @param {HTMLSelectElement} select @param {[string | number, string][]} pairs */
const fillSelect = (select, pairs) => select.replaceChildren(...pairs.map(([value, name]) => el("option", { value }, name)));

/**
 * @typedef {object} Around What the list asks of the page.
 * @property {import("./model.js").Summary} data
 * @property {(run: number, question: number) => string} link The address of a question in a run.
 * @property {(changes: Record<string, string | null>) => void} change Writes choices into the address and shows them.
 * @property {() => number[]} shownRuns The numbers of the runs that are shown.
 * @property {(run: number, question: number) => string | null} graded The words of the reader's grade.
 * @property {() => Promise<string[]>} texts
 */

/** @param {Around} around */
export const listOf = ({ data, link, change, shownRuns, graded, texts }) => {
  /** @type {any} What is shown; nothing before the first time. */
  let choice;
  /** @type {number[]} */
  let numbers = [];
  /** @type {string[] | null} */
  let searched = null;
  let page = 0;
  const letters = data.runs.length > 1;
  const table = /** @type {HTMLTableElement} */ ($("table"));
  const EDGE_RECALL = Math.max(data.measures.findIndex((one) => one.name === "EdgeRecall"), 0);

  /** The columns: name of the sort, words of the heading, whether they are numbers. @returns {[string, import("./dom.js").Child, string][]} */
  const columns = () => [
    ["question", "question", ""],
    ["category", "category", "about"],
    ...shownRuns().map((run) => /** @type {[string, import("./dom.js").Child, string]} */ ([`run:${data.runs[run].name}`, heading(run), "run"])),
    ...(comparing() ? [/** @type {[string, import("./dom.js").Child, string]} */ (["moved", "change", "about"])] : []),
    ...(data.statuses ? [/** @type {[string, import("./dom.js").Child, string]} */ (["tests", "tests passed", "about"])] : []),
    ["measure", (data.measures[choice.measure] || { name: "measure" }).name, "about"],
  ];
  const comparing = () => choice.baseline !== null && choice.baseline !== choice.run;
  /** @param {number} run */
  const heading = (run) => el("span", { title: data.runs[run].name, class: run === choice.run ? "own" : null },
    letters ? [el("b", { class: "letter" }, letterOf(run)), " "] : null, el("bdi", { class: "name" }, middle(data.runs[run].name, 18)));

  /** @param {number} n */
  const row = (n) => {
    const { id, text, category, difficulty } = data.questions[n];
    const own = data.runs[choice.run];
    const base = comparing() ? data.runs[/** @type {number} */ (choice.baseline)] : null;
    const by = base ? moved(own.questions[n], base.questions[n]) : null;
    const [kind, arrow, words] = by === 1 ? ["good", "▲", "improved"] : by === -1 ? ["bad", "▼", "regressed"] : ["dim", by === 0 ? "=" : "–", by === 0 ? "unchanged" : "unknown"];
    const grade = graded(choice.run, n);
    const code = execution(own, n);
    return el("tr", { "data-n": n },
      el("th", { scope: "row" }, el("a", { href: link(choice.run, n) }, brief(id, 40)), " ", el("span", { class: "text data" }, text),
        el("span", { class: "tags" }, tagsOf(data, own, n), grade === null ? null : tag("opt", `graded ${grade}`))),
      el("td", { class: "about" }, brief(category, 24), difficulty ? el("span", { class: "dim" }, " ", difficulty) : null),
      shownRuns().map((run) => {
        const mark = markOf(data.runs[run].questions[n]);
        return el("td", { class: `run${run === choice.run ? " own" : ""}` }, letters ? el("b", { class: "letter", "aria-hidden": "true" }, letterOf(run)) : null,
          el("a", { href: link(run, n), class: `outcome ${mark.kind}`, title: `${data.runs[run].name}: ${mark.words}` }, mark.text));
      }),
      base ? el("td", { class: "about" }, el("span", { class: `moved ${kind}`, title: words }, el("span", { "aria-hidden": "true" }, arrow), el("span", { class: "vh" }, words))) : null,
      data.statuses ? el("td", { class: "about num tests" }, code && code.total ? `${code.passed} of ${code.total}` : "–") : null,
      el("td", { class: "about num measured", title: own.values[choice.measure]?.[n] ?? null }, shown(own.values[choice.measure]?.[n])));
  };

  const draw = () => {
    const pages = Math.max(1, Math.ceil(numbers.length / PER_PAGE));
    const down = choice.sort.startsWith("-");
    const sorted = choice.sort.replace(/^-/, "");
    table.classList.toggle("lettered", shownRuns().length > NAMED);
    table.tHead?.replaceChildren(el("tr", {}, columns().map(([name, words, kind]) =>
      el("th", { scope: "col", class: kind, "aria-sort": sorted === name ? (down ? "descending" : "ascending") : null },
        el("button", { type: "button", on: { click: () => sortBy(name) } }, words, sorted === name ? el("span", { "aria-hidden": "true" }, down ? " ▼" : " ▲") : "")))));
    table.tBodies[0].replaceChildren(...numbers.slice(page * PER_PAGE, (page + 1) * PER_PAGE).map(row));
    /** @param {number} step */
    const turn = (step) => () => { page += step; draw(); $("questions").scrollIntoView(); };
    $("pages").hidden = pages === 1;
    $("pages").replaceChildren(
      el("button", { type: "button", disabled: page === 0, on: { click: turn(-1) } }, "Previous page"),
      el("span", {}, `Page ${page + 1} of ${pages}`),
      el("button", { type: "button", disabled: page >= pages - 1, on: { click: turn(1) } }, "Next page"));
  };
  /** @param {string} name */
  const sortBy = (name) => {
    const place = columns().findIndex(([one]) => one === name);
    change({ sort: choice.sort === name ? `-${name}` : name });
    /** @type {NodeListOf<HTMLElement>} */ (table.querySelectorAll("thead button"))[place].focus();
  };

  const drawPresets = () => {
    const one = data.runs[choice.run].questions;
    const other = comparing() ? data.runs[/** @type {number} */ (choice.baseline)].questions : null;
    $("presets").replaceChildren(...PRESETS.filter(([name]) => other || !COMPARING.includes(name)).map(([name, words, holds]) => {
      const count = one.reduce((sum, outcome, n) => sum + Number(holds(outcome, other ? other[n] : null)), 0);
      return el("button", { type: "button", "aria-pressed": String(choice.preset === name), disabled: !count && choice.preset !== name, "data-preset": name,
        on: { click: () => { change({ preset: choice.preset === name ? null : name }); /** @type {HTMLElement | null} */ ($("presets").querySelector(`[data-preset="${name}"]`))?.focus(); } } }, `${words} `, el("b", {}, count));
    }));
    $("versus").replaceChildren(...(other ? ["against ", brief(data.runs[/** @type {number} */ (choice.baseline)].name, 40)] : []));
  };

  const find = () => {
    numbers = chosen(data, choice, searched);
    $("count").textContent = `${numbers.length} of ${counted(data.questions.length, "question")}${choice.text && !searched ? ", searching answers, files and symbols …" : ""}`;
  };
  /** Show a choice from its first page on. @param {import("./model.js").Choice} wanted */
  const show = (wanted) => {
    choice = wanted;
    page = 0;
    drawPresets();
    find();
    draw();
    if (choice.text && !searched) {
      texts().then((found) => { searched = found; find(); draw(); }, () => { $("count").append(" (this browser can't unpack answers, files and symbols)"); });
    }
  };

  // The form holds the choice; what it holds is written into the address.
  const FIELDS = ["text", "category", "difficulty", "what", "bound"];
  /** Show a choice in the form. @param {import("./model.js").Choice} wanted */
  const fillForm = (wanted) => {
    for (const name of FIELDS) $(`f-${name}`).value = /** @type {any} */ (wanted)[name];
    if ($("f-what").selectedIndex < 0) $("f-what").value = "";
    $("f-measure").value = String(wanted.measure);
    $("f-edge").value = wanted.edge < 0 ? "" : String(wanted.edge);
    $("f-missed").checked = wanted.missed;
    $("run").value = String(wanted.run);
    if ([wanted.category, wanted.difficulty, wanted.what, wanted.bound].some(Boolean) || wanted.edge >= 0 || wanted.measure !== EDGE_RECALL) $("more").open = true;
  };
  const keep = () => {
    const [kind, name] = data.edges.rows[$("f-edge").value] || [];
    change({
      ...Object.fromEntries(FIELDS.map((one) => [one, $(`f-${one}`).value || null])),
      measure: Number($("f-measure").value) === EDGE_RECALL ? null : data.measures[Number($("f-measure").value)].name,
      boundary: kind === "boundary" ? name : null, relation: kind === "relation" ? name : null,
      missed: kind && $("f-missed").checked ? "1" : null,
      run: data.runs[Number($("run").value)].name,
    });
  };
  const categories = [...new Set(data.questions.map((question) => question.category))].filter(Boolean).sort();
  fillSelect($("run"), data.runs.map((one, number) => [number, `${letters ? `${letterOf(number)} ` : ""}${middle(one.name, 60)}`]));
  fillSelect($("f-category"), [["", "any"], ...categories.map((one) => /** @type {[string, string]} */ ([one, middle(one, 60)]))]);
  fillSelect($("f-difficulty"), [["", "any"], ...LEVELS.map((one) => /** @type {[string, string]} */ ([one, one]))]);
  fillSelect($("f-what"), events(data).map(([value, name]) => [value, name]));
  fillSelect($("f-measure"), data.measures.map((one, number) => [number, one.name]));
  fillSelect($("f-edge"), [["", "any"], ...data.edges.rows.map(([kind, name], number) => /** @type {[string, string]} */ ([String(number), kind === "boundary" ? middle(name, 60) : `relation ${middle(name, 40)}`]))]);
  let waiting = 0;
  $("filters").addEventListener("input", () => { clearTimeout(waiting); waiting = window.setTimeout(keep, 60); });
  $("filters").addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
  $("filters").addEventListener("reset", (/** @type {Event} */ event) => {
    event.preventDefault();
    change({ ...Object.fromEntries(FIELDS.map((one) => [one, null])), measure: null, boundary: null, relation: null, missed: null, preset: null, sort: null });
  });
  const stem = document.title.replace(/[^\w.-]+/g, "-").slice(0, 80);
  $("save-csv").addEventListener("click", () => save(`${stem}.csv`, "text/csv", asCsv(exported(data, numbers), data.measures)));
  $("save-jsonl").addEventListener("click", () => save(`${stem}.jsonl`, "application/jsonl", asJsonLines(exported(data, numbers))));
  return {
    show, fillForm, usualMeasure: EDGE_RECALL,
    redraw: () => { if (choice) draw(); },
    /** Unpack what is searched, so that the first search needn't wait. */
    prepare: () => { texts().then((found) => { searched = found; }, () => {}); },
    numbers: () => numbers,
    /** Mark the row of the open question, and turn to its page. @param {number} n */
    mark: (n) => {
      const place = numbers.indexOf(n);
      if (place >= 0 && Math.floor(place / PER_PAGE) !== page) { page = Math.floor(place / PER_PAGE); draw(); }
      for (const one of table.tBodies[0].rows) {
        const open = one.dataset.n === String(n);
        one.classList.toggle("open", open);
        if (open) one.scrollIntoView({ block: "nearest" });
      }
    },
    /** Return the link of a question's row on the shown page. @param {number} n @returns {HTMLElement | null} */
    rowLink: (n) => table.tBodies[0].querySelector(`tr[data-n="${n}"] th a`),
  };
};

/** Return the letter of a run: A for the first; its number behind Z. @param {number} run */
export const letterOf = (run) => (run < 26 ? String.fromCharCode(65 + run) : String(run + 1));
