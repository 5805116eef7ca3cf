// The open question beside the list: its spine, and what one run did on it.
import { questionElements } from "./answer.js";
import { $, brief, el } from "./dom.js";
import { read, readOf } from "./blocks.js";
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

/** Put commas and "and" between the names of runs that are shown. @param {ParentNode} place */
export const joinNames = (place) => {
  for (const one of place.querySelectorAll(".who")) {
    const shown = /** @type {HTMLElement[]} */ ([...one.children]).filter((name) => !name.hidden);
    for (const text of [...one.childNodes]) if (text.nodeType === Node.TEXT_NODE) text.remove();
    shown.forEach((name, number) => { if (number) name.before(number === shown.length - 1 ? " and " : ", "); });
  }
};

/**
 * @typedef {object} Around What the panel asks of the page.
 * @property {import("./model.js").Summary} data
 * @property {(run: number, question: number) => string} link
 * @property {(place: ParentNode) => void} showRuns Hides what belongs to runs that aren't shown.
 * @property {(place: ParentNode, question: number) => void} tell Says what the reader's grades decide.
 * @property {ReturnType<typeof import("./grades.js").gradesOf>} grades
 * @property {() => number | null} baseline
 */

/** @param {Around} around */
export const panelOf = ({ data, link, showRuns, tell, grades, baseline }) => {
  const panel = $("detail");
  const perBlock = Number(document.getElementById("s-0")?.dataset.questions);
  /** What was asked for last: what was asked before and is unpacked later isn't shown. @type {object | null} */
  let asked = null;

  /** @param {"d" | "j" | "x"} kind @param {number} run @param {number} n */
  const within = (kind, run, n) => readOf(kind, run, data.runs[run].questions[n].block, n);

  /** Return the parts of a question's spine: what stands above the answer, and what is folded below it. @param {number} run @param {number} n */
  const spineOf = async (run, n) => {
    const template = document.createElement("template");
    template.innerHTML = (await read(`s-${Math.floor(n / perBlock)}`))[n]; // escaped when the page was written
    tell(template.content, n);
    enableCopies(template.content);
    for (const one of /** @type {NodeListOf<HTMLAnchorElement>} */ (template.content.querySelectorAll("a[data-run]"))) {
      one.href = link(Number(one.dataset.run), n);
      if (one.dataset.run === String(run)) one.setAttribute("aria-current", "true");
    }
    // What to do about the chosen run stands first; what stood there is folded with the others.
    const todo = /** @type {HTMLElement[]} */ ([...template.content.querySelectorAll(".remedy")]);
    const own = todo.find((one) => (one.dataset.runs || "").split(" ").includes(String(run)));
    if (own && own !== todo[0]) {
      todo[1].before(todo[0].cloneNode(true));
      todo[0].replaceWith(own);
    }
    const folds = /** @type {HTMLElement} */ (template.content.querySelector(".folds"));
    folds.remove();
    return { spine: el("div", { id: "spine" }, template.content), folds: [...folds.children] };
  };

  /**
   * Show a question in a run. @param {number} run @param {number} n @param {number[]} list
   * @returns {Promise<boolean>} False if another question was asked for meanwhile.
   */
  const show = async (run, n, list) => {
    const mine = asked = {};
    const [detail, verdicts, code, { spine, folds }] = await Promise.all([within("d", run, n), within("j", run, n), within("x", run, n), spineOf(run, n)]);
    if (asked !== mine) return false;
    const place = list.indexOf(n);
    /** @param {number | undefined} to @param {string} words @param {string} sign */
    const step = (to, words, sign) => el("button", { type: "button", "aria-label": words, title: words, disabled: to === undefined, on: { click: () => { location.hash = link(run, /** @type {number} */ (to)); } } }, sign);
    panel.replaceChildren(
      el("div", { class: "bar" },
        el("h2", { id: "d-title", tabindex: -1 }, brief(data.questions[n].id, 80), el("span", { class: "vh" }, " in ", brief(data.runs[run].name, 60))),
        step(place > 0 ? list[place - 1] : undefined, "Previous", "‹"), step(place >= 0 ? list[place + 1] : undefined, "Next", "›"),
        el("button", { type: "button", on: { click: (/** @type {any} */ event) => copy(event.currentTarget, location.href) } }, "Copy link"),
        el("button", { type: "button", id: "close", "aria-label": "Close", title: "Close" }, "✕")),
      el("div", { class: "body" },
        questionElements(detail.question),
        spine,
        sectionsOf({
          data, run: data.runs[run], number: n, detail, verdicts: verdicts || [], code, baseline: baseline(), grades, folds,
          detailIn: (other) => within("d", data.runs.indexOf(other), n),
        })));
    showRuns(panel);
    panel.hidden = false;
    panel.scrollTop = 0;
    return true;
  };
  return { show, drop: () => { asked = null; }, clear: () => panel.replaceChildren(), detail: (/** @type {number} */ run, /** @type {number} */ n) => within("d", run, n) };
};
