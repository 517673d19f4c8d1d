// The critical path over time: a strip of its causes, each in its colour.

import { h, s } from "./dom.js";
import { number, percent } from "./format.js";
import { hideTip, showTip } from "./tip.js";

const WIDE = 1000;

// `strip` has intervals with the ns of each cause; the causes of one stand side by side.
export function path(strip, room, colours) {
  const taken = new Map();
  for (const [, , causes] of strip) for (const [cause, ns] of Object.entries(causes)) taken.set(cause, (taken.get(cause) || 0) + ns);
  const order = [...taken.keys()].sort((a, b) => taken.get(b) - taken.get(a));
  const sum = [...taken.values()].reduce((a, b) => a + b, 0);
  const [begin, end] = strip.length ? [strip[0][0], strip.at(-1)[1]] : [0, 0];
  const x = (ns) => (end > begin ? (ns - begin) / (end - begin) * WIDE : 0);
  const told = [];
  const pieces = strip.flatMap(([from, to, causes]) => {
    let at = from;
    return order.filter((cause) => cause in causes).map((cause) => {
      const ns = causes[cause], left = x(at);
      at += ns;
      told.push(`${cause}\n${number(from)} to ${number(to)} ns: ${number(ns)} ns${Object.keys(causes).length > 1 ? " of it" : ""}`);
      return s("rect", { x: left, width: x(at) - left, y: 0, height: 40, fill: colours[cause], "data-n": told.length - 1 });
    });
  });
  const drawn = s("svg", { class: "path-strip", viewBox: `0 0 ${WIDE} 40`, preserveAspectRatio: "none", role: "img",
    "aria-label": "the critical path over time, by cause" }, pieces);
  drawn.addEventListener("pointermove", (event) => {
    const one = told[event.target.dataset?.n];
    if (one) showTip(one, event);
    else hideTip();
  });
  drawn.addEventListener("pointerleave", hideTip);
  return h("div", {}, drawn, h("div", { class: "legend" }, order.map((name) => h("span", { class: "sample" }, h("i", { class: "swatch", style: { background: colours[name] } }), `${name} ${percent(taken.get(name) / sum)}`))));
}
