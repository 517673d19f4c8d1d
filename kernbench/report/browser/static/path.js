// The critical path over time: a strip of its causes, each in its colour.

import { h, s } from "./dom.js";
import { number } from "./format.js";
import { hideTip, showTip } from "./tip.js";

const CAUSES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7b8794", "#a05195", "#665191"];
const WIDE = 1000;

export function path(strip) {
  const taken = new Map();
  for (const [from, to, cause] of strip) taken.set(cause, (taken.get(cause) || 0) + to - from);
  const order = [...taken.keys()].sort((a, b) => taken.get(b) - taken.get(a));
  const colour = (name) => CAUSES[order.indexOf(name) % CAUSES.length];
  const [begin, end] = strip.length ? [strip[0][0], strip.at(-1)[1]] : [0, 0];
  const x = (ns) => (end > begin ? (ns - begin) / (end - begin) * WIDE : 0);
  const drawn = s("svg", { class: "path-strip", viewBox: `0 0 ${WIDE} 40`, preserveAspectRatio: "none", role: "img",
    "aria-label": "the critical path over time, by cause" },
  strip.map(([a, b, cause], n) => s("rect", { x: x(a), width: Math.max(x(b) - x(a), 0.4), y: 0, height: 40, fill: colour(cause), "data-n": n })));
  drawn.addEventListener("pointermove", (event) => {
    const one = strip[event.target.dataset?.n];
    if (one) showTip(`${one[2]}\n${number(one[0])} to ${number(one[1])} ns: ${number(one[1] - one[0])} ns`, event);
    else hideTip();
  });
  drawn.addEventListener("pointerleave", hideTip);
  return h("div", {}, drawn, h("div", { class: "legend" }, order.map((name) => h("span", { class: "sample" }, h("i", { class: "swatch", style: { background: colour(name) } }), name))));
}
