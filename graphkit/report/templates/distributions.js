// The distribution of each measure in a run, in ten bins.
import { $, el, shown, svg } from "./dom.js";

/** @param {import("./model.js").Summary} data @param {import("./model.js").Run} run */
export const drawDistributions = (data, run) => $("dist").replaceChildren(...data.measures.map((measure, place) => {
  const values = /** @type {number[]} */ (run.values[place].filter((value) => value !== null));
  const bins = /** @type {number[]} */ (new Array(10).fill(0));
  const [low, high] = measure.range;
  /** @param {number} bin */
  const edge = (bin) => (low + ((high - low) * bin) / 10).toFixed(1);
  for (const value of values) bins[Math.max(0, Math.min(9, Math.floor(((value - low) / (high - low)) * 10 + 1e-9)))] += 1;
  const most = Math.max(1, ...bins);
  const words = bins.map((count, bin) => (count ? `${edge(bin)} to ${edge(bin + 1)}: ${count}` : "")).filter(Boolean).join(", ") || "nothing was scored";
  const drawing = svg("svg", { viewBox: "0 0 220 78", role: "img", "aria-label": words },
    svg("title", {}, words),
    bins.map((count, bin) => (count ? [
      svg("rect", { x: bin * 22 + 2, y: 62 - (48 * count) / most, width: 18, height: Math.max((48 * count) / most, 1.5) }),
      svg("text", { x: bin * 22 + 11, y: 59 - (48 * count) / most, "text-anchor": "middle" }, count)] : [])),
    svg("line", { x1: 0, y1: 62.5, x2: 220, y2: 62.5 }),
    svg("text", { x: 2, y: 74 }, String(low)), svg("text", { x: 218, y: 74, "text-anchor": "end" }, String(high)));
  return el("figure", { class: "card" },
    el("figcaption", {}, el("span", { title: measure.definition }, measure.name, measure.lower ? el("span", { class: "dim" }, " (lower is better)") : null),
      el("span", { title: run.means[place] }, shown(run.means[place]), el("span", { class: "dim" }, ` ${values.length}/${data.questions.length}`))),
    drawing);
}));
