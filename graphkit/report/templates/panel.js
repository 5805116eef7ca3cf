// The open question beside the list: its spine, and what one run did on it.
import { $, brief, el } from "./dom.js";
import { read } from "./blocks.js";
import { graderOf } from "./grades.js";
import { letterOf } from "./list.js";
import { markOf } from "./model.js";
import { sectionsOf } from "./question.js";

/** Copy text; where the browser lets no page do so, select it in a prompt. @param {HTMLElement} button @param {string} text */
export const copy = async (button, text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const held = /** @type {HTMLTextAreaElement} */ (el("textarea", { class: "vh", "aria-hidden": "true" }));
    held.value = text;
    document.body.append(held);
    held.select();
    document.execCommand("copy");
    held.remove();
    button.focus();
  }
  button.classList.add("copied");
  setTimeout(() => button.classList.remove("copied"), 1500);
};

/** Make the buttons of a part of the page work that copy the text before them. @param {ParentNode} place */
export const enableCopies = (place) => {
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll("button.copy"))) {
    one.hidden = false;
    one.addEventListener("click", () => copy(one, one.previousElementSibling?.textContent || ""));
  }
};

/**
 * @typedef {object} Around What the panel asks of the page.
 * @property {import("./model.js").Summary} data
 * @property {(run: number, question: number) => string} link
 * @property {(place: ParentNode) => void} showRuns Hides what belongs to runs that aren't shown.
 * @property {ReturnType<typeof import("./grades.js").gradesOf>} grades
 * @property {() => number | null} baseline
 */

/** @param {Around} around */
export const panelOf = ({ data, link, showRuns, grades, baseline }) => {
  const panel = $("detail");
  const perBlock = Number(document.getElementById("s-0")?.dataset.questions);
  /** What was asked for last: what was asked before and is unpacked later isn't shown. @type {object | null} */
  let asked = null;

  /** @param {"d" | "j" | "x"} kind @param {number} run @param {number} n */
  const within = async (kind, run, n) => (await read(`${kind}-${run}-${data.runs[run].questions[n].block}`))?.[n];

  /** @param {number} n */
  const spineOf = async (n) => {
    const template = document.createElement("template");
    template.innerHTML = (await read(`s-${Math.floor(n / perBlock)}`))[n]; // escaped when the page was written
    showRuns(template.content);
    enableCopies(template.content);
    return el("div", { id: "spine" }, template.content);
  };

  /** @param {number} run @param {number} n */
  const tabs = (run, n) => (data.runs.length < 2 ? null : el("nav", { class: "tabs", "aria-label": "Runs" }, data.runs.map((_, one) => {
    const mark = markOf(data.runs[one].questions[n]);
    return el("a", { href: link(one, n), "data-run": one, "aria-current": one === run ? "true" : null }, el("b", { class: "letter" }, letterOf(one)), " ", brief(data.runs[one].name, 24), " ", el("span", { class: `outcome ${mark.kind}`, title: mark.words }, mark.text));
  })));

  /**
   * Show a question in a run. @param {number} run @param {number} n @param {number[]} list
   * @returns {Promise<boolean>} False if another question was asked for meanwhile.
   */
  const show = async (run, n, list) => {
    const mine = asked = {};
    const [detail, verdicts, code, spine] = await Promise.all([within("d", run, n), within("j", run, n), within("x", run, n), spineOf(n)]);
    if (asked !== mine) return false;
    const place = list.indexOf(n);
    /** @param {number | undefined} to @param {string} words */
    const step = (to, words) => el("button", { type: "button", disabled: to === undefined, on: { click: () => { location.hash = link(run, /** @type {number} */ (to)); } } }, words);
    const { id } = data.questions[n];
    panel.replaceChildren(
      el("div", { class: "bar" },
        el("h2", { id: "d-title", tabindex: -1 }, brief(id, 80), el("span", { class: "dim" }, " in ", brief(data.runs[run].name, 60))),
        step(place > 0 ? list[place - 1] : undefined, "Previous"), step(place >= 0 ? list[place + 1] : undefined, "Next"),
        el("button", { type: "button", on: { click: (/** @type {any} */ event) => copy(event.currentTarget, location.href) } }, "Copy link"),
        el("button", { type: "button", id: "close" }, "Close")),
      el("div", { class: "body" },
        el("p", { class: "question data" }, detail.question),
        spine,
        tabs(run, n),
        data.runs.length < 2 ? null : el("h3", {}, "What ", brief(data.runs[run].name, 60), " did"),
        graderOf(grades, data.runs[run].name, id),
        sectionsOf({
          data, run: data.runs[run], number: n, detail, verdicts: verdicts || [], code, baseline: baseline(),
          detailIn: (other) => within("d", data.runs.indexOf(other), n),
        })));
    showRuns(panel);
    panel.hidden = false;
    panel.scrollTop = 0;
    return true;
  };
  return { show, drop: () => { asked = null; }, clear: () => panel.replaceChildren() };
};
