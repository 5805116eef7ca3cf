// The page: its state is in the address, and everything is shown from it.
import { splitNames, named, parsed, placeOf, query } from "./address.js";
import { readOf, readTexts, unpack } from "./blocks.js";
import { drawDistributions } from "./distributions.js";
import { $, el, middle } from "./dom.js";
import { gradesOf, gradeWords } from "./grades.js";
import { letterOf, listOf } from "./list.js";
import { watch } from "./live.js";
import { EDGE_KINDS, lacking } from "./model.js";
import { copy, enableCopies, joinNames, panelOf } from "./panel.js";
import { regrading, tellAnswers } from "./told.js";

/** @param {import("./model.js").Summary} data */
const start = (data) => {
  /** @type {Map<string, string>} */
  let state = new Map();
  let run = 0;
  let open = -1;
  let scrolled = 0;
  const served = document.documentElement.dataset.served;

  // The address ----------------------------------------------------------------------------------------------------
  /** @param {string} name */
  const runNamed = (name) => data.runs.findIndex((one) => one.name === name);
  /** @param {number} number @param {number} n */
  const link = (number, n) => placeOf(data.runs[number].name, data.questions[n].id) + query(state);
  /** Write choices into the address, without a new entry in the history, and show them. @param {Record<string, string | null>} changes */
  const change = (changes) => {
    for (const [key, value] of Object.entries(changes)) {
      if (value) state.set(key, value);
      else state.delete(key);
    }
    if (state.get("run") === data.runs[usualRun()].name) state.delete("run");
    const { place } = parsed(location.hash);
    const at = open >= 0 ? placeOf(data.runs[run].name, data.questions[open].id) : place.includes("/") || (!place && state.size) ? "#questions" : place;
    history.replaceState(null, "", `${location.pathname}${location.search}${at}${query(state)}`);
    show();
  };

  // Runs and the baseline ------------------------------------------------------------------------------------------
  const select = /** @type {HTMLSelectElement | null} */ (document.getElementById("baseline"));
  const baseline = () => {
    const wanted = runNamed(state.get("baseline") || "");
    return wanted >= 0 && select ? wanted : data.baseline;
  };
  const usualRun = () => (baseline() === data.best && data.runs.length > 1 ? data.runs.findIndex((_, place) => place !== data.best) : data.best);
  const shownRuns = () => {
    const letters = new Set((state.get("runs") || "").split(",").filter(Boolean));
    const found = data.runs.map((_, place) => place).filter((place) => letters.has(letterOf(place)));
    return found.length ? found : data.runs.map((_, place) => place);
  };
  /** Hide what belongs to runs that aren't shown. @param {ParentNode} place */
  const showRuns = (place) => {
    const shown = new Set(shownRuns().map(String));
    for (const one of /** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll("[data-run]"))) one.hidden = !shown.has(one.dataset.run || "");
    for (const one of /** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll("[data-runs]"))) one.hidden = !(one.dataset.runs || "").split(" ").some((run) => shown.has(run));
    joinNames(place);
    // A cell that spans the columns of all runs would keep the place of those that are hidden.
    for (const one of /** @type {NodeListOf<HTMLTableCellElement>} */ (place.querySelectorAll(".board td[colspan]"))) one.colSpan = shown.size + (one.classList.contains("note-cell") ? 0 : 1);
  };
  const showBaseline = () => {
    const number = baseline();
    if (select) select.value = String(number);
    for (const one of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".first [data-b]"))) one.hidden = one.dataset.b !== String(number);
  };
  if (select) {
    select.addEventListener("change", () => change({ baseline: Number(select.value) === data.baseline ? null : data.runs[Number(select.value)].name }));
    $("against").hidden = false;
  }
  const drawRunChoice = () => {
    const shown = new Set(shownRuns());
    $("shown-runs").replaceChildren(...data.runs.map((one, number) => el("label", {}, el("input", { type: "checkbox", value: letterOf(number), checked: shown.has(number) }), " ", el("b", { class: "letter" }, letterOf(number)), " ", el("bdi", {}, middle(one.name, 40)))));
  };
  $("shown-runs").addEventListener("change", () => {
    const wanted = [...$("shown-runs").querySelectorAll("input:checked")].map((one) => one.value);
    change({ runs: wanted.length && wanted.length < data.runs.length ? wanted.join(",") : null });
  });
  $("run-choice").hidden = data.runs.length < 3;

  // Parts ----------------------------------------------------------------------------------------------------------
  const grades = gradesOf(data.gold_hash, served, () => { regrade(); });
  /** @type {Promise<string[]> | null} */
  let texts = null;
  const list = listOf({
    data, link, change, shownRuns, texts: () => (texts ??= readTexts()),
    detail: (number, n) => readOf("d", number, data.runs[number].questions[n].block, n),
    graded: (number, n) => gradeWords(grades.of(data.runs[number].name, data.questions[n].id)),
  });
  /** Say what grades decide of a question that has some. @param {ParentNode} place @param {number} n */
  const tell = (place, n) => { if (grades.all().some((one) => one.question === data.questions[n].id)) tellAnswers(place, data, n); };
  const panel = panelOf({ data, link, showRuns, tell, grades, baseline });
  const regraded = regrading(data, panel.detail);
  /** Let grades decide marks, counts and the sentences of the open question. */
  const regrade = async () => {
    if (!(await regraded(grades.all()))) return;
    list.redraw();
    if (open < 0 || !document.getElementById("spine")) return;
    tellAnswers($("spine"), data, open);
    showRuns($("spine"));
  };

  /** @param {string} kind @param {string} name */
  const thing = (kind, name) => [` ${kind} `, el("bdi", {}, name)];
  /** Say what the state names and the page lacks, and return the state without it. */
  const knownState = () => {
    const missing = lacking(data, state, data.runs.map((_, place) => letterOf(place)));
    $("lacking").replaceChildren(...(missing.length ? [el("p", { class: "note" }, "This page has no", missing.map(({ kind, name }, place) => [place ? " and no" : "", ...thing(kind, middle(name, 80))]),
      missing.length > 1 ? ": the list is shown without them." : ": the list is shown without it.")] : []));
    const wrong = new Set(missing.map(({ key }) => key));
    return new Map([...state].filter(([key]) => !wrong.has(key)));
  };
  /** Return the choice that the state describes. @returns {import("./model.js").Choice} */
  const choice = () => {
    const state = knownState();
    const edge = EDGE_KINDS.flatMap((kind) => (state.has(kind) ? [data.edges.rows.findIndex((one) => one[0] === kind && one[1] === state.get(kind))] : []));
    const measure = data.measures.findIndex((one) => one.name === state.get("measure"));
    return {
      run, baseline: baseline(), edge: edge[0] ?? -1, missed: state.has("missed"), anyRun: !state.has("run"), measure: measure >= 0 ? measure : list.usualMeasure,
      preset: state.get("preset") || "", what: state.get("what") || "", text: state.get("text") || "", category: state.get("category") || "",
      anywhere: state.has("any"), shown: shownRuns(), keep: state.get("keep") || "", columns: splitNames(state.get("columns")),
      difficulty: state.get("difficulty") || "", bound: state.get("bound") || "", sort: state.get("sort") || "",
    };
  };
  /** What is shown: the run and the state. A question that is opened changes neither, so the list stays as it is. */
  let drawn = "";
  const view = () => `${run} ${query(state)}`;
  const show = () => {
    if (open < 0) {
      const wanted = runNamed(state.get("run") || "");
      run = wanted >= 0 ? wanted : usualRun();
    }
    showTheme();
    showBaseline();
    drawRunChoice();
    showRuns(document);
    for (const one of $("detail").querySelectorAll("a[data-run]")) one.href = link(Number(one.dataset.run), open);
    const wanted = choice();
    list.fillForm(wanted);
    list.show(wanted);
    drawn = view();
    if ($("distributions").open) drawDistributions(data, data.runs[run]);
  };
  $("distributions").addEventListener("toggle", () => { if ($("distributions").open) drawDistributions(data, data.runs[run]); });
  $("run").addEventListener("change", () => { if (open >= 0) location.hash = link(Number($("run").value), open); });

  // The theme ------------------------------------------------------------------------------------------------------
  const THEMES = ["", "dark", "light"];
  const showTheme = () => {
    const theme = THEMES.includes(state.get("theme") || "") ? state.get("theme") || "" : "";
    document.documentElement.dataset.theme = theme;
    $("theme").textContent = { "": "Theme: system", dark: "Theme: dark", light: "Theme: light" }[theme];
  };
  const turnTheme = () => change({ theme: THEMES[(THEMES.indexOf(state.get("theme") || "") + 1) % THEMES.length] || null });
  $("theme").addEventListener("click", turnTheme);

  // The open question ------------------------------------------------------------------------------------------------
  const byId = new Map(data.questions.map((question, number) => [question.id, number]));
  /** @param {import("./dom.js").Child[]} words */
  const say = (...words) => {
    $("notice").replaceChildren(...(words.length ? [el("p", { class: "note" }, words)] : []));
    if (words.length) $("notice").scrollIntoView({ block: "nearest" });
  };
  // What has the focus keeps it when the next question is shown.
  const focused = () => (document.activeElement instanceof HTMLElement && $("detail").contains(document.activeElement) ? document.activeElement.textContent : null);
  const read = async () => {
    const [number, n] = [run, open];
    const held = focused();
    if (!(await panel.show(number, n, list.numbers()))) return;
    document.body.classList.add("reading");
    $("close").addEventListener("click", close);
    list.mark(n);
    const again = held && [...$("detail").querySelectorAll(".bar button:not(:disabled)")].find((one) => one.textContent === held);
    (again || $("d-title")).focus({ preventScroll: true });
  };
  const leave = () => {
    panel.drop();
    if (open < 0) return;
    const n = open;
    open = -1;
    $("detail").hidden = true;
    panel.clear();
    document.body.classList.remove("reading");
    window.scrollTo({ top: scrolled, behavior: "instant" });
    list.mark(-1);
    list.rowLink(n)?.focus({ preventScroll: true });
  };
  // A closed question leaves an entry in the history, so that Back leads to it.
  const close = () => {
    const [{ size }, n] = [state, open];
    if (run !== usualRun()) state.set("run", data.runs[run].name);
    else state.delete("run");
    history.pushState(null, "", `#questions${query(state)}`);
    leave();
    if (state.size === size) return;
    show();
    list.rowLink(n)?.focus({ preventScroll: true });
  };

  const follow = () => {
    const { place, state: given } = parsed(location.hash);
    const theme = state.get("theme");
    // A question without a state keeps the present one; any other place has the state that its address holds.
    if (!place.includes("/") || given.size) state = given;
    if (theme && !given.has("theme")) {
      state.set("theme", theme);
      history.replaceState(null, "", `${place || "#questions"}${query(state)}`);
    }
    const [name, id] = named(place);
    const wanted = runNamed(name);
    const n = id === undefined ? undefined : byId.get(id);
    if (wanted >= 0 && n !== undefined) {
      say();
      if (open < 0) scrolled = window.scrollY;
      [run, open] = [wanted, n];
      if (drawn !== view()) show();
      read();
      return;
    }
    const wasOpen = open >= 0;
    leave();
    show();
    if (id === undefined && (name === "" || document.getElementById(name))) {
      say();
      if (name && !wasOpen) document.getElementById(name)?.scrollIntoView();
    }
    else if (id === undefined) say("Nothing on this page is called ", el("bdi", {}, name), ": the address of a question is #RUN/QUESTION.");
    else if (wanted >= 0) say("This page has no", thing("question", id), ".");
    else if (n !== undefined) say("This page has no", thing("run", name), ".");
    else say("This page has neither a", thing("run", name), " nor a", thing("question", id), ".");
  };

  // Keys -------------------------------------------------------------------------------------------------------------
  /** Open the next or the previous question of the list: after the open one or the row that has the focus, else the first. @param {number} step */
  const go = (step) => {
    const numbers = list.numbers();
    const row = /** @type {HTMLElement | null | undefined} */ (document.activeElement?.closest("#table tbody tr"));
    const at = numbers.indexOf(open >= 0 ? open : Number(row?.dataset.n ?? -1));
    if (open >= 0 && at < 0) return;
    const to = numbers[at + step];
    if (to !== undefined) location.hash = link(run, to);
  };
  /** @type {Record<string, () => void>} */
  const keys = {
    j: () => go(1), ArrowRight: () => go(1), k: () => go(-1), ArrowLeft: () => go(-1),
    Escape: () => { if (open >= 0) close(); },
    "/": () => { if (open >= 0) close(); $("f-text").focus(); },
    "?": () => $("help").showModal(),
    t: turnTheme,
    r: () => document.getElementById("grade-right")?.click(),
    w: () => document.getElementById("grade-wrong")?.click(),
    n: () => document.getElementById("grade-note")?.click(),
  };
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    if (target instanceof HTMLTextAreaElement && event.key === "Escape") { target.blur(); $("d-title").focus({ preventScroll: true }); event.preventDefault(); return; }
    if (target instanceof HTMLElement && target.closest("input, select, textarea")) return;
    // Arrows move what scrolls sideways.
    if (event.key.startsWith("Arrow") && target instanceof HTMLElement && target.closest(".scroll")) return;
    const number = "1234567890".indexOf(event.key);
    const call = number >= 0 && open >= 0 && shownRuns()[number] !== undefined ? () => { location.hash = link(shownRuns()[number], open); } : keys[event.key];
    if (!call) return;
    event.preventDefault();
    call();
  });
  $("keys").addEventListener("click", () => $("help").showModal());
  $("help").querySelector("button").addEventListener("click", () => $("help").close());

  for (const one of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".scripted"))) one.hidden = false;
  enableCopies(document);
  $("copy-list").addEventListener("click", () => copy($("copy-list"), location.href));
  window.addEventListener("hashchange", follow);
  grades.load().then(follow);
  // The first search needs the texts; they are unpacked once the page stands. Safari has no requestIdleCallback.
  setTimeout(list.prepare, 500);
  if (served) watch(served, (words) => { if (words) { say(words); $("notice").firstElementChild.id = "stale"; } else say(); });
};

unpack(JSON.parse($("summary").textContent)).then(start, () => {
  $("notice").replaceChildren(el("p", { class: "note" }, "This browser can't unpack the questions: it needs DecompressionStream."));
});
