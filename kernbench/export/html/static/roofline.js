// The roofline: rate over arithmetic intensity, a dot for each level that work moved bytes over, below the roofs.

import { h, s } from "./dom.js";
import { number, percent } from "./format.js";
import { hideTip, showTip } from "./tip.js";

const LEFT = 64, RIGHT = 20, TOP = 20, BOTTOM = 48;
const NAMED = 34;

function decades(low, high) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const digit of [1, 2, 5]) {
      const at = digit * 10 ** power;
      if (at >= low && at <= high) found.push([at, digit === 1]);
    }
  }
  return found;
}

function mark(shape, x, y, r, props) {
  if (shape === "circle") return s("circle", { cx: x, cy: y, r, ...props });
  if (shape === "square") return s("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r, ...props });
  if (shape === "diamond") return s("path", { d: `M${x} ${y - 1.3 * r}L${x + 1.3 * r} ${y}L${x} ${y + 1.3 * r}L${x - 1.3 * r} ${y}Z`, ...props });
  const up = shape === "triangle" ? r : -r;
  return s("path", { d: `M${x} ${y - up}L${x + r} ${y + up}H${x - r}Z`, ...props });
}

// Texts beside dots, in the first of some places where no other text and no dot stands; none where all are taken.
function labels(work, x, y, wide, name) {
  const taken = work.flatMap((one) => one.dots.map((dot) => [x(dot.intensity) - 7, y(one.achieved_tflops) - 7, x(dot.intensity) + 7, y(one.achieved_tflops) + 7]));
  const free = ([a, b, c, d]) => a >= LEFT && c <= wide && taken.every(([e, f, g, i]) => c <= e || g <= a || d <= f || i <= b);
  const put = (kind, texts, places) => {
    for (const text of texts) {
      const long = text.length * 6.6;
      for (const [from, middle] of places(long)) {
        const box = [from, middle - 7, from + long, middle + 7];
        if (!free(box)) continue;
        taken.push(box);
        return s("text", { class: kind, x: from, y: middle + 4 }, text);
      }
    }
    return null;
  };
  return [...work].sort((a, b) => a.share - b.share).flatMap((one) => {
    const at = y(one.achieved_tflops), ends = one.dots.map((dot) => x(dot.intensity));
    const last = Math.max(...ends);
    // Beside the dot whose roof the text names.
    const bound = one.dots.find((dot) => dot.level === one.bound), own = bound ? x(bound.intensity) : last;
    const called = one.name.length > NAMED ? `${one.name.slice(0, NAMED - 1)}…` : one.name;
    const op = one.op >= 0 ? `, op ${one.op}` : "";
    const reached = `: ${percent(one.share)} of ${name(one.bound)}${one.count > 1 ? ` × ${one.count}` : ""}`;
    const texts = [called, called.split(" ")[0], called.split("_")[0]].map((short) => `${short}${op}${reached}`);
    // Levels whose dots lie on one another have one text.
    const met = [];
    for (const dot of one.dots) {
      const there = met.find(([at]) => Math.abs(at - x(dot.intensity)) < 8);
      if (there) there[1].push(name(dot.level));
      else met.push([x(dot.intensity), [name(dot.level)]]);
    }
    return [
      put("named", texts, (long) => [[own + 12, at], [own - 12 - long, at], [own - 6, at + 17], [own - 6, at - 17], [own + 6 - long, at + 17], [own + 6 - long, at - 17]]),
      ...met.map(([middle, names]) => put("level", [names.join(", ")], (long) => [[middle - long / 2, at - 15], [middle - long / 2, at + 15]])),
    ];
  });
}

export function roofline({ work, roofs, peak_tflops: peak, peak_colour: gemm, left_out: without }, room) {
  // As wide as there is room for, so that texts are as large on a phone.
  const W = Math.min(Math.max(room, 320), 1100), H = Math.min(Math.max(W * 0.5, 300), 460);
  if (!work.length) return h("p", { class: "faint" }, "nothing here has both flops and bytes, so there is no roofline to draw");
  const of = Object.fromEntries(roofs.map((roof) => [roof.level, roof]));
  const name = (level) => (of[level] ? of[level].label : level.toUpperCase());
  const places = [...work.flatMap((one) => one.dots.map((dot) => dot.intensity)), ...roofs.map(({ gbs }) => peak * 1e3 / gbs)];
  const [lowX, highX] = [Math.min(...places) / 3, Math.max(...places) * 3];
  const [lowY, highY] = [Math.min(...work.map((one) => one.achieved_tflops)) / 3, peak * 1.8];
  const x = (v) => LEFT + (Math.log(v) - Math.log(lowX)) / (Math.log(highX) - Math.log(lowX)) * (W - LEFT - RIGHT);
  const y = (v) => H - BOTTOM - (Math.log(v) - Math.log(lowY)) / (Math.log(highY) - Math.log(lowY)) * (H - TOP - BOTTOM);
  // The level that binds is full and on top, the others are hollow.
  const binds = ({ one, dot }) => dot.level === one.bound;
  const dots = work.flatMap((one) => one.dots.map((dot) => ({ one, dot }))).sort((a, b) => binds(a) - binds(b));
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "roofline" },
    decades(lowX, highX).map(([at, named]) => [s("line", { class: "grid", x1: x(at), x2: x(at), y1: TOP, y2: H - BOTTOM }),
      named || highX / lowX < 300 && W > 500 ? s("text", { x: x(at), y: H - BOTTOM + 16, "text-anchor": "middle" }, number(at)) : null]),
    decades(lowY, highY).map(([at, named]) => [s("line", { class: "grid", x1: LEFT, x2: W - RIGHT, y1: y(at), y2: y(at) }),
      named || highY / lowY < 300 && H > 300 ? s("text", { x: LEFT - 6, y: y(at) + 4, "text-anchor": "end" }, number(at)) : null]),
    s("text", { x: (W + LEFT) / 2, y: H - 8, "text-anchor": "middle" }, "arithmetic intensity, FLOP/byte of each level"),
    s("text", { x: 14, y: H / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${H / 2})` }, "TFLOP/s"),
    s("line", { class: "roof", x1: x(lowX), x2: x(highX), y1: y(peak), y2: y(peak), stroke: gemm }),
    s("text", { x: W - RIGHT - 4, y: y(peak) - 6, "text-anchor": "end" }, `GEMM: ${number(peak)} TFLOP/s`),
    roofs.map(({ gbs, colour }) => {
      const low = Math.max(lowX, lowY * 1e3 / gbs);
      return s("line", { class: "roof", x1: x(low), x2: x(peak * 1e3 / gbs), y1: y(low * gbs / 1e3), y2: y(peak), stroke: colour });
    }),
    work.map((one) => s("line", { class: "grid", x1: Math.min(...one.dots.map((dot) => x(dot.intensity))), x2: Math.max(...one.dots.map((dot) => x(dot.intensity))), y1: y(one.achieved_tflops), y2: y(one.achieved_tflops) })),
    labels(work, x, y, W, name),
    dots.map((found, n) => {
      const { one, dot } = found, { mark: shape, colour } = of[dot.level], full = binds(found);
      return mark(shape, x(dot.intensity), y(one.achieved_tflops), full ? 4.5 : 7, { class: "point", stroke: colour, fill: full ? colour : "var(--paper)", "data-n": n });
    }));
  svg.addEventListener("pointermove", (event) => {
    const found = dots[event.target.dataset?.n];
    if (!found) return hideTip();
    const { one, dot } = found;
    showTip([one.name + (one.count > 1 ? `, ${one.count} alike` : ""), one.source, `${number(dot.intensity)} flops for each byte of ${name(dot.level)}, which could bring ${number(dot.gbs)} GB/s`,
      `${number(one.ns)} ns, bound by ${name(one.bound)}`, `${number(one.achieved_tflops)} of ${number(one.attainable_tflops)} TFLOP/s attainable: ${percent(one.share)}`].filter(Boolean).join("\n"), event);
  });
  svg.addEventListener("pointerleave", hideTip);
  return h("div", {}, svg, h("div", { class: "legend chart-legend" }, roofs.map(({ label, gbs, mark: shape, colour }) => h("span", { class: "sample" },
    s("svg", { width: 16, height: 14, "aria-hidden": "true" }, mark(shape, 8, 7, 5, { fill: colour })), `${label}: ${number(gbs)} GB/s`)),
  h("span", { class: "faint" }, `full: the level that binds; of work bound by GEMM none is${without ? `; ${without} without flops are not shown` : ""}`)));
}
