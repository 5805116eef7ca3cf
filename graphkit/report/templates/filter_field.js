// The field of the filter expression: a combobox that completes what is typed, and says what is wrong and where.
import { $, el, middle } from "./dom.js";
import { parseFilter, suggestions } from "./filter_expression.js";

/** How many characters of an expression an error repeats on each side of the place. */
const AROUND = 60;

/** How long a reader may pause before an expression is read, in milliseconds. */
const PAUSE = 300;

/**
 * Make the field work. It shows a text only when told to, and an expression that can't be read changes nothing.
 * @param {import("./filter_expression.js").Names} names @param {(text: string) => void} keep Receives each expression that can be read, the empty text too.
 */
export const filterField = (names, keep) => {
  /** @type {HTMLInputElement} */
  const field = $("f-keep");
  const list = $("f-options");
  /** @type {{from: number, to: number, options: import("./filter_expression.js").Suggestion[]}} */
  let found = { from: 0, to: 0, options: [] };
  let active = -1;
  let waiting = 0;
  /** The expression by which the list is filtered. */
  let applied = "";

  const close = () => {
    active = -1;
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  /** @param {number} place */
  const activate = (place) => {
    active = place;
    for (const [number, one] of [...list.children].entries()) one.setAttribute("aria-selected", String(number === active));
    if (active < 0) return field.removeAttribute("aria-activedescendant");
    field.setAttribute("aria-activedescendant", `f-option-${active}`);
    list.children[active].scrollIntoView({ block: "nearest" });
  };
  const complete = () => {
    found = suggestions(field.value, field.selectionStart ?? field.value.length, names);
    list.replaceChildren(...found.options.map(({ text, about }, number) => el("li", {
      id: `f-option-${number}`, role: "option", "aria-selected": "false",
      on: { mousedown: (/** @type {Event} */ event) => { event.preventDefault(); accept(number); } },
    }, el("bdi", {}, text), about ? el("span", { class: "dim" }, " ", about) : null)));
    if (!found.options.length) return close();
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
    activate(-1);
  };
  /** Put an option in the place of what was typed. @param {number} place */
  const accept = (place) => {
    const { text } = found.options[place];
    const put = text.endsWith("(") ? text : `${text} `;
    field.setRangeText(put, found.from, found.to, "end");
    complete();
    read(false);
  };
  /** Read the expression: what ends too early isn't wrong yet where the reader may go on. @param {boolean} done */
  const read = (done) => {
    clearTimeout(waiting);
    const text = field.value.trim();
    const filter = text ? parseFilter(text, names) : null;
    if (!filter || !("error" in filter)) {
      applied = text;
      complain(null);
      keep(text);
    } else complain(filter, !done && (filter.at >= text.length || filter.error.endsWith("isn't closed")));
  };
  /** Say what is wrong and what filters the list meanwhile. @param {import("./filter_expression.js").Wrong | null} wrong @param {boolean} [unfinished] */
  const complain = (wrong, unfinished = false) => {
    const text = field.value.trim();
    field.setAttribute("aria-invalid", String(wrong !== null));
    $("f-error").replaceChildren(...(wrong === null ? [] : [
      el("b", {}, unfinished ? "Not applied yet: " : "Not applied: "), el("bdi", {}, wrong.error), wrong.error.endsWith("?") ? " " : unfinished ? "" : ". ",
      unfinished ? null : el("code", { dir: "ltr" }, wrong.at > AROUND ? "…" : "", text.slice(Math.max(wrong.at - AROUND, 0), wrong.at), el("mark", {}, text.slice(wrong.at, wrong.at + AROUND) || " "), text.length > wrong.at + AROUND ? "…" : ""),
      ...(applied ? ["; the list shows: ", el("code", { dir: "ltr" }, middle(applied, 2 * AROUND))] : []),
    ].filter((one) => one !== null)));
  };

  field.addEventListener("input", (event) => {
    event.stopPropagation();
    complete();
    clearTimeout(waiting);
    waiting = window.setTimeout(() => read(false), PAUSE);
  });
  field.addEventListener("click", complete);
  field.addEventListener("blur", () => { close(); read(true); });
  field.addEventListener("keydown", (event) => {
    const { length } = found.options;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      if (list.hidden) complete();
      else if (length) activate(active < 0 && step < 0 ? length - 1 : (active + step + length) % length);
    } else if (event.key === "Enter") {
      if (active >= 0) accept(active);
      else { close(); read(true); }
    } else if (event.key === "Escape" && !list.hidden) close();
    else return;
    event.preventDefault();
  });
  return {
    /** Show the expression of the address; what is being typed stays. @param {string} text */
    show: (text) => {
      const filter = text ? parseFilter(text, names) : null;
      const wrong = filter && "error" in filter ? filter : null;
      applied = wrong ? "" : text;
      if (document.activeElement === field || field.value.trim() === text) return;
      field.value = text;
      complain(wrong);
    },
  };
};
