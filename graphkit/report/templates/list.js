// The list of questions: filters, presets, a row per question with the mark of each run, pages and export.
import { joinedNames } from "./address.js";
import { $, brief, counted, el, middle, shown, startOf, tag } from "./dom.js";
import { parseFilter } from "./filter_expression.js";
import { filterField } from "./filter_field.js";
import { filterNames, filterValues } from "./filter_rows.js";
import { ANYWHERE, COMPARING, EDGE_KINDS, LEVELS, PRESETS, asCsv, asJsonLines, chosen, edgesOf, events, execution, exported, markOf, moved, worse } from "./model.js";
import { tagsOf } from "./tags.js";

const PER_PAGE = 100;
/** Runs up to which a column is headed by its name; more have letters. */
const NAMED = 6;
/** How many questions are named that got worse. */
const NAMED_WORSE = 3;

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
 * @property {(run: number, question: number) => Promise<any>} detail The details of a question in a run.
 */

/** @param {Around} around */
export const listOf = ({ data, link, change, shownRuns, graded, texts, detail }) => {
  /** @type {any} What is shown; nothing before the first time. */
  let choice;
  /** @type {number[]} */
  let numbers = [];
  /** @type {string[] | null} */
  let searched = null;
  let page = 0;
  const letters = data.runs.length > 1;
  const table = /** @type {HTMLTableElement} */ ($("table"));
  const names = filterNames(data);
  const EDGE_RECALL = Math.max(data.measures.findIndex((one) => one.name === "EdgeRecall"), 0);

  /** @typedef {{name: string, words: string, usual: boolean, cell: (n: number) => HTMLElement}} Column A column beside those of the runs. */
  /** The columns that a reader may choose, in their order. @returns {Column[]} */
  const offered = () => {
    const own = data.runs[choice.run];
    const base = comparing() ? data.runs[/** @type {number} */ (choice.baseline)] : null;
    return [
      { name: "category", words: "category", usual: true, cell: (n) => el("td", { class: "about" }, brief(data.questions[n].category, 24), data.questions[n].difficulty ? el("span", { class: "dim" }, " ", data.questions[n].difficulty) : null) },
      ...(base ? [{ name: "moved", words: "change", usual: true, cell: (/** @type {number} */ n) => movedCell(own.questions[n], base.questions[n]) }] : []),
      ...(data.statuses ? [{ name: "tests", words: "tests passed", usual: true, cell: (/** @type {number} */ n) => {
        const code = execution(own, n);
        return el("td", { class: "about num tests" }, code && code.total ? `${code.passed} of ${code.total}` : "–");
      } }] : []),
      { name: "stage", words: "ended", usual: false, cell: (n) => el("td", { class: "about" }, own.questions[n].stage) },
      ...data.measures.map((measure, place) => ({ name: `value:${measure.name}`, words: measure.name, usual: place === choice.measure,
        cell: (/** @type {number} */ n) => el("td", { class: "about num measured", title: own.values[place][n] }, shown(own.values[place][n])) })),
    ];
  };
  const columns = () => offered().filter((one) => (choice.columns ? choice.columns.includes(one.name) : one.usual));
  /** The headings: name of the sort, words, and class. @returns {[string, import("./dom.js").Child, string][]} */
  const headings = () => [
    ["question", "question", ""],
    ...shownRuns().map((run) => /** @type {[string, import("./dom.js").Child, string]} */ ([`run:${data.runs[run].name}`, heading(run), "run"])),
    ...columns().map((one) => /** @type {[string, import("./dom.js").Child, string]} */ ([one.name, one.words, "about"])),
  ];
  /** Return the cell that says whether a run did better than the baseline. @param {import("./model.js").Outcome} one @param {import("./model.js").Outcome} other */
  const movedCell = (one, other) => {
    const by = moved(one, other);
    const [kind, arrow, words] = by === 1 ? ["good", "▲", "improved"] : by === -1 ? ["bad", "▼", "regressed"] : ["dim", by === 0 ? "=" : "–", by === 0 ? "unchanged" : "unknown"];
    return el("td", { class: "about" }, el("span", { class: `moved ${kind}`, title: words }, el("span", { "aria-hidden": "true" }, arrow), el("span", { class: "vh" }, words)));
  };
  const comparing = () => choice.baseline !== null && choice.baseline !== choice.run;
  /** @param {number} run */
  const heading = (run) => el("span", { title: data.runs[run].name, class: run === choice.run ? "own" : null },
    letters ? [el("b", { class: "letter" }, letterOf(run)), " "] : null, el("bdi", { class: "name" }, middle(data.runs[run].name.slice(data.beginning.length), 18)));

  /** @param {number} n */
  const row = (n) => {
    const { id, text } = data.questions[n];
    const own = data.runs[choice.run];
    const grade = graded(choice.run, n);
    return el("tr", { "data-n": n },
      el("th", { scope: "row" }, el("a", { href: link(choice.run, n) }, brief(id, 40)), " ", el("span", { class: "text data" }, startOf(text, 320)),
        el("span", { class: "tags" }, tagsOf(data, own, n), grade === null ? null : tag("opt", `graded ${grade}`))),
      shownRuns().map((run) => {
        const mark = markOf(data.runs[run].questions[n]);
        return el("td", { class: `run${run === choice.run ? " own" : ""}` }, letters ? el("b", { class: "letter", "aria-hidden": "true" }, letterOf(run)) : null,
          el("a", { href: link(run, n), class: `outcome ${mark.kind}`, title: `${data.runs[run].name}: ${mark.words}` }, mark.text));
      }),
      columns().map((one) => one.cell(n)));
  };

  const draw = () => {
    const pages = Math.max(1, Math.ceil(numbers.length / PER_PAGE));
    const down = choice.sort.startsWith("-");
    const sorted = choice.sort.replace(/^-/, "");
    table.classList.toggle("lettered", shownRuns().length > NAMED);
    table.tHead?.replaceChildren(el("tr", {}, headings().map(([name, words, kind]) =>
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
    const place = headings().findIndex(([one]) => one === name);
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
    const everywhere = shownRuns().map((run) => data.runs[run]);
    $("anywhere").hidden = letters === false;
    $("anywhere").replaceChildren("In any run: ", ...events(data).filter(([name]) => ANYWHERE.includes(name)).sort(([a], [b]) => ANYWHERE.indexOf(a) - ANYWHERE.indexOf(b)).map(([name, words, holds]) => {
      const count = data.questions.reduce((sum, _, n) => sum + Number(everywhere.some((run) => holds(run.questions[n], execution(run, n)))), 0);
      const pressed = choice.anywhere && choice.what === name;
      return el("button", { type: "button", "aria-pressed": String(pressed), disabled: !count && !pressed, "data-event": name,
        on: { click: () => { change(pressed ? { what: null, any: null } : { what: name, any: "1" }); /** @type {HTMLElement | null} */ ($("anywhere").querySelector(`[data-event="${name}"]`))?.focus(); } } }, `${words.split(":")[0]} `, el("b", {}, count));
    }));
    $("versus").replaceChildren(...(other ? ["against ", brief(data.runs[/** @type {number} */ (choice.baseline)].name, 40)] : []));
  };

  /** @param {import("./model.js").Run} run */
  const nameLeft = ({ name }) => el("bdi", { title: name }, middle(name.slice(data.beginning.length), 40));
  /** Name the questions that got worse, with a link each. */
  const drawWorse = () => {
    const base = comparing() ? data.runs[/** @type {number} */ (choice.baseline)] : null;
    const own = data.runs[choice.run];
    const lost = base ? worse(own, base) : [];
    $("worse").hidden = !lost.length;
    if (!base || !lost.length) return;
    const more = lost.length - NAMED_WORSE;
    $("worse").replaceChildren(el("span", {}, el("b", {}, `${counted(lost.length, "question")} got worse`), " in ", nameLeft(own), " than in ", nameLeft(base), ": ",
      lost.slice(0, NAMED_WORSE).map((n, place) => [place ? ", " : "", el("a", { href: link(choice.run, n) }, brief(data.questions[n].id, 40)), ` ${markOf(base.questions[n]).text} → ${markOf(own.questions[n]).text}`]),
      more > 0 ? [" and ", el("button", { type: "button", class: "link", on: { click: () => { change({ preset: "regressed" }); $("questions").scrollIntoView(); } } }, `${more} more`)] : null, "."));
  };
  const drawColumns = () => $("shown-columns").replaceChildren(...offered().map((one) => el("label", {},
    el("input", { type: "checkbox", value: one.name, checked: columns().some(({ name }) => name === one.name) }), " ", el("bdi", {}, middle(one.words, 40)))));

  const find = () => {
    numbers = chosen(data, choice, searched);
    $("count").textContent = `${numbers.length} of ${counted(data.questions.length, "question")}${choice.text && !searched ? ", searching answers, files and symbols …" : ""}`;
  };
  /** Show a choice from its first page on. @param {import("./model.js").Choice} wanted */
  const show = (wanted) => {
    choice = wanted;
    const filter = choice.keep ? parseFilter(choice.keep, names) : null;
    if (filter && "test" in filter) {
      const all = shownRuns();
      choice.filter = (/** @type {number} */ n) => filter.test(filterValues(data, choice.run, n), all.map((run) => filterValues(data, run, n)));
    }
    page = 0;
    drawPresets();
    drawWorse();
    drawColumns();
    find();
    draw();
    if (choice.text && !searched) {
      texts().then((found) => { searched = found; find(); draw(); }, () => { $("count").append(" (this browser can't unpack answers, files and symbols)"); });
    }
  };

  const expression = filterField(names, (text) => { if (text !== choice.keep) change({ keep: text }); });

  // The form holds the choice; what it holds is written into the address.
  const FIELDS = ["text", "category", "difficulty", "what", "bound"];
  /** Show a choice in the form. @param {import("./model.js").Choice} wanted */
  const fillForm = (wanted) => {
    for (const name of FIELDS) $(`f-${name}`).value = /** @type {any} */ (wanted)[name];
    if ($("f-what").selectedIndex < 0) $("f-what").value = "";
    $("f-measure").value = String(wanted.measure);
    $("f-edge").value = wanted.edge < 0 ? "" : String(wanted.edge);
    $("f-missed").checked = wanted.missed;
    $("f-any").checked = wanted.anywhere;
    expression.show(wanted.keep || "");
    $("run").value = String(wanted.run);
    const pressed = wanted.anywhere && ANYWHERE.includes(wanted.what);
    if ([wanted.category, wanted.difficulty, !pressed && wanted.what, wanted.bound].some(Boolean) || wanted.edge >= 0 || wanted.measure !== EDGE_RECALL) $("more").open = true;
  };
  const keep = () => {
    const [kind, name] = data.edges.rows[$("f-edge").value] || [];
    change({
      ...Object.fromEntries(FIELDS.map((one) => [one, $(`f-${one}`).value || null])),
      measure: Number($("f-measure").value) === EDGE_RECALL ? null : data.measures[Number($("f-measure").value)].name,
      ...Object.fromEntries(EDGE_KINDS.map((one) => [one, kind === one ? name : null])),
      missed: kind && $("f-missed").checked ? "1" : null,
      any: $("f-any").checked ? "1" : null,
      run: data.runs[Number($("run").value)].name,
    });
  };
  const categories = [...new Set(data.questions.map((question) => question.category))].filter(Boolean).sort();
  fillSelect($("run"), data.runs.map((one, number) => [number, `${letters ? `${letterOf(number)} ` : ""}${middle(one.name, 60)}`]));
  fillSelect($("f-category"), [["", "any"], ...categories.map((one) => /** @type {[string, string]} */ ([one, middle(one, 60)]))]);
  fillSelect($("f-difficulty"), [["", "any"], ...LEVELS.map((one) => /** @type {[string, string]} */ ([one, one]))]);
  fillSelect($("f-what"), events(data).map(([value, name]) => [value, name]));
  fillSelect($("f-measure"), data.measures.map((one, number) => [number, one.name]));
  fillSelect($("f-edge"), [["", "any"], ...data.edges.rows.map(([kind, name], number) => /** @type {[string, string]} */ ([String(number), kind === "boundary" ? middle(name, 60) : `${kind} ${middle(name, 56)}`]))]);
  let waiting = 0;
  $("f-any").closest("label").hidden = !letters;
  $("shown-columns").addEventListener("change", () => {
    const wanted = [...$("shown-columns").querySelectorAll("input:checked")].map((one) => one.value);
    const usual = offered().filter((one) => one.usual).map((one) => one.name);
    change({ columns: joinedNames(wanted) === joinedNames(usual) ? null : joinedNames(wanted) });
  });
  $("filters").addEventListener("input", () => { clearTimeout(waiting); waiting = window.setTimeout(keep, 60); });
  $("filters").addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
  $("filters").addEventListener("reset", (/** @type {Event} */ event) => {
    event.preventDefault();
    change({ ...Object.fromEntries(FIELDS.map((one) => [one, null])), measure: null, ...Object.fromEntries(EDGE_KINDS.map((one) => [one, null])), missed: null, any: null, keep: null, preset: null, sort: null });
  });
  const stem = document.title.replace(/[^\w.-]+/g, "-").slice(0, 80);
  /** Save what is left, with the edges that the details hold: block by block, since few stay unpacked. @param {any} event @param {string} name @param {string} type @param {(rows: ReturnType<typeof exported>) => string} text */
  const saveList = async ({ currentTarget }, name, type, text) => {
    currentTarget.disabled = true;
    const list = numbers, edges = data.runs.map(() => new Map());
    for (const [number, run] of data.runs.entries()) {
      for (const n of [...list].sort((a, b) => run.questions[a].block - run.questions[b].block)) edges[number].set(n, edgesOf((await detail(number, n)).map, run.questions[n]));
    }
    save(name, type, text(exported(data, list, edges)));
    currentTarget.disabled = false;
  };
  $("save-csv").addEventListener("click", (/** @type {any} */ event) => saveList(event, `${stem}.csv`, "text/csv", (rows) => asCsv(rows, data.measures)));
  $("save-jsonl").addEventListener("click", (/** @type {any} */ event) => saveList(event, `${stem}.jsonl`, "application/jsonl", asJsonLines));
  return {
    show, fillForm, usualMeasure: EDGE_RECALL,
    /** Draw the same rows again, with the counts of what has changed. */
    redraw: () => { if (choice) { drawPresets(); drawWorse(); draw(); } },
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
