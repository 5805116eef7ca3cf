// The text of an answer: its paragraphs, and the code between fences, which is drawn without them and once.
import { el } from "./dom.js";

/** @typedef {{code: boolean, text: string}} AnswerPiece */

/** The longest line of code that the section of executed code shows, in characters; a longer one is cut and gets an ellipsis. */
const CODE_LINE = 200;

/** Return an answer in pieces: text, and the code of fenced blocks; an unclosed block goes on to the end. @param {string} text @returns {AnswerPiece[]} */
export const answerPieces = (text) => {
  /** @type {AnswerPiece[]} */
  const found = [];
  /** @type {string[]} */
  let lines = [];
  /** The fence of the open block; empty outside. */
  let fence = "";
  const end = () => {
    const piece = lines.join("\n");
    if (fence ? piece : piece.trim()) found.push({ code: Boolean(fence), text: fence ? piece : piece.replace(/^\n+|\n+$/g, "") });
    lines = [];
  };
  for (const line of text.split("\n")) {
    const [, mark] = line.match(fence ? /^ {0,3}(`{3,}|~{3,})[ \t]*$/ : /^ {0,3}(`{3,}|~{3,})[^`]*$/) || [];
    const turns = mark && (!fence || (mark[0] === fence[0] && mark.length >= fence.length));
    if (!turns) { lines.push(line); continue; }
    end();
    fence = fence ? "" : mark;
  }
  end();
  return found;
};

/** Tell whether the section of executed code shows some code, line by line. @param {string} code @param {{lines: string[]}[]} shown */
export const isShownIn = (code, shown) => {
  const lines = code.replace(/\s+$/, "").split("\n").map((line) => (line.length > CODE_LINE ? `${line.slice(0, CODE_LINE - 1)}…` : line));
  return lines.some((line) => line.trim()) && shown.some((piece) => piece.lines.some((_, place) => lines.every((line, number) => piece.lines[place + number] === line)));
};

/** Tell whether an answer is nothing but code that the section of executed code shows. @param {AnswerPiece[]} found @param {any} code */
const isAllShown = (found, code) => found.length === 1 && !found[0].code && isShownIn(found[0].text, code.code) && found[0].text.trimEnd().split("\n").length >= code.lines;

/** Tell whether the answer leaves out code because the section of executed code shows it. @param {string | null} text @param {any} code */
export const leavesOutCode = (text, code) => {
  const found = text === null ? [] : answerPieces(text);
  return isAllShown(found, code) || found.some((piece) => piece.code && isShownIn(piece.text, code.code));
};

/** @param {AnswerPiece} piece */
const drawnPiece = ({ code, text }) => el(code ? "pre" : "p", { class: code ? "block" : "data", tabindex: code ? 0 : null }, text);

/** Return the answer of a run as an element. @param {string} text @param {any} code What the section of executed code shows, if there is one. */
export const answerElement = (text, code) => {
  const found = answerPieces(text);
  const whole = code && isAllShown(found, code);
  if (found.every((piece) => !piece.code) && !whole) return el("p", { class: "data", id: "answer" }, text);
  return el("div", { id: "answer" }, found.map((piece) => (whole || (code && piece.code && isShownIn(piece.text, code.code))
    ? el("p", { class: "dim" }, "The code stands below.")
    : drawnPiece(piece))));
};

/** The lines and characters of a question that are shown unfolded. */
const LONGEST = { lines: 4, characters: 320 };

/** Return a question as elements: its code without fences, and of a long one the first lines, with a button for the others. @param {string} text */
export const questionElements = (text) => {
  const pieces = answerPieces(text);
  const shown = el("div", { class: "question data", id: "d-question" }, pieces.some(({ code }) => code) ? pieces.map(drawnPiece) : text);
  if (text.split("\n").length <= LONGEST.lines && text.length <= LONGEST.characters) return [shown];
  shown.classList.add("long", "folded");
  const button = el("button", { type: "button", id: "unfold", class: "link", "aria-controls": "d-question", "aria-expanded": "false", on: { click: () => {
    const folded = shown.classList.toggle("folded");
    button.setAttribute("aria-expanded", String(!folded));
    button.textContent = folded ? "Show the whole question" : "Show its first lines";
  } } }, "Show the whole question");
  return [shown, button];
};
