// The roofline: rate over arithmetic intensity, below the roofs of GEMM engines, memories and links.

import { h, s } from "./dom.js";
import { number, percent } from "./format.js";
import { hideTip, showTip } from "./tip.js";

const LEFT = 64, RIGHT = 20, TOP = 20, BOTTOM = 48;
const NAMED = 34;
const ROOFS = { hbm: ["#0072b2", "circle"], sram: ["#e69f00", "triangle"], tcm: ["#009e73", "square"], link: ["#cc79a7", "diamond"], package: ["#d55e00", "down"] };

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

function mark(shape, x, y, colour, props) {
  if (shape === "circle") return s("circle", { cx: x, cy: y, r: 5.5, fill: colour, ...props });
  if (shape === "square") return s("rect", { x: x - 5, y: y - 5, width: 10, height: 10, fill: colour, ...props });
  if (shape === "diamond") return s("path", { d: `M${x} ${y - 7}l7 7l-7 7l-7 -7Z`, fill: colour, ...props });
  if (shape === "down") return s("path", { d: `M${x} ${y + 6}L${x + 6} ${y - 5}H${x - 6}Z`, fill: colour, ...props });
  return s("path", { d: `M${x} ${y - 6}L${x + 6} ${y + 5}H${x - 6}Z`, fill: colour, ...props });
}

// A name and the share of its roof beside each dot, the lowest shares first, where no other text stands.
function labels(points, x, y, wide) {
  const taken = points.map((p) => [x(p.intensity) - 7, y(p.achieved_tflops) - 7, x(p.intensity) + 7, y(p.achieved_tflops) + 7]);
  const free = ([a, b, c, d]) => a >= LEFT && c <= wide && taken.every(([e, f, g, i]) => c <= e || g <= a || d <= f || i <= b);
  return [...points].sort((a, b) => a.share - b.share).map((p) => {
    const name = p.name.length > NAMED ? `${p.name.slice(0, NAMED - 1)}…` : p.name;
    const text = `${name}${p.op >= 0 && p.op !== null ? `, op ${p.op}` : ""}: ${percent(p.share)}${p.count > 1 ? ` × ${p.count}` : ""}`;
    const long = text.length * 6.4, px = x(p.intensity), py = y(p.achieved_tflops);
    for (const [left, down] of [[px + 10, 0], [px - 10 - long, 0], [px + 10, -14], [px + 10, 14], [px - 10 - long, -14], [px - 10 - long, 14]]) {
      const box = [left, py + down - 7, left + long, py + down + 7];
      if (!free(box)) continue;
      taken.push(box);
      return s("text", { class: "named", x: left, y: py + down + 4 }, text);
    }
    return null;
  });
}

export function roofline(points, room) {
  // As wide as there is room for, so that texts are as large on a phone.
  const W = Math.min(Math.max(room, 320), 1100), H = Math.min(Math.max(W * 0.5, 300), 460);
  if (!points.length) return h("p", { class: "faint" }, "no GEMM with bytes to set its flops against; there is no roofline to draw");
  const peak = Math.max(...points.map((p) => p.peak_tflops));
  const memories = [...new Set(points.map((p) => p.memory))];
  const roof = Object.fromEntries(memories.map((memory) => [memory, Math.max(...points.filter((p) => p.memory === memory).map((p) => p.peak_gbs))]));
  const places = [...points.map((p) => p.intensity), ...memories.map((memory) => peak * 1e3 / roof[memory])];
  const [lowX, highX] = [Math.min(...places) / 3, Math.max(...places) * 3];
  const [lowY, highY] = [Math.min(...points.map((p) => p.achieved_tflops)) / 3, peak * 1.8];
  const x = (v) => LEFT + (Math.log(v) - Math.log(lowX)) / (Math.log(highX) - Math.log(lowX)) * (W - LEFT - RIGHT);
  const y = (v) => H - BOTTOM - (Math.log(v) - Math.log(lowY)) / (Math.log(highY) - Math.log(lowY)) * (H - TOP - BOTTOM);
  const inside = (v) => Math.max(v, lowY);
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "roofline" },
    decades(lowX, highX).map(([at, named]) => [s("line", { class: "grid", x1: x(at), x2: x(at), y1: TOP, y2: H - BOTTOM }),
      named || highX / lowX < 300 && W > 500 ? s("text", { x: x(at), y: H - BOTTOM + 16, "text-anchor": "middle" }, number(at)) : null]),
    decades(lowY, highY).map(([at, named]) => [s("line", { class: "grid", x1: LEFT, x2: W - RIGHT, y1: y(at), y2: y(at) }),
      named || highY / lowY < 300 && H > 300 ? s("text", { x: LEFT - 6, y: y(at) + 4, "text-anchor": "end" }, number(at)) : null]),
    s("text", { x: (W + LEFT) / 2, y: H - 8, "text-anchor": "middle" }, "arithmetic intensity, FLOP/byte"),
    s("text", { x: 14, y: H / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${H / 2})` }, "TFLOP/s"),
    s("line", { class: "roof", x1: x(lowX), x2: x(highX), y1: y(peak), y2: y(peak), stroke: "#d55e00" }),
    s("text", { x: W - RIGHT - 4, y: y(peak) - 6, "text-anchor": "end" }, `GEMM: ${number(peak)} TFLOP/s`),
    memories.map((memory) => {
      const [colour] = ROOFS[memory] || ["#7b8794"];
      const gbs = roof[memory], ridge = peak * 1e3 / gbs, low = Math.max(lowX, lowY * 1e3 / gbs);
      return [s("line", { class: "roof", x1: x(low), x2: x(ridge), y1: y(inside(low * gbs / 1e3)), y2: y(peak), stroke: colour }),
        s("text", { x: x(low) + 16, y: y(inside(low * gbs / 1e3)) + 16 }, `${memory.toUpperCase()}: ${number(gbs)} GB/s`)];
    }),
    labels(points, x, y, W),
    points.map((p, n) => mark((ROOFS[p.memory] || ["", "circle"])[1], x(p.intensity), y(p.achieved_tflops), (ROOFS[p.memory] || ["#7b8794"])[0], { class: "point", "data-n": n })));
  svg.addEventListener("pointermove", (event) => {
    const p = points[event.target.dataset?.n];
    if (!p) return hideTip();
    showTip([p.name + (p.count > 1 ? `, ${p.count} alike` : ""), p.source, `${number(p.achieved_tflops)} of ${number(p.attainable_tflops)} TFLOP/s attainable: ${percent(p.share)}`,
      `${number(p.intensity)} flops for each byte of ${p.memory}`, `${number(p.ns)} ns, bound by ${p.bound}`].filter(Boolean).join("\n"), event);
  });
  svg.addEventListener("pointerleave", hideTip);
  return h("div", {}, svg, h("div", { class: "legend chart-legend" }, memories.map((memory) => h("span", { class: "sample" },
    s("svg", { width: 16, height: 14, "aria-hidden": "true" }, mark((ROOFS[memory] || ["", "circle"])[1], 8, 7, (ROOFS[memory] || ["#7b8794"])[0], {})), `${memory}: ${number(roof[memory])} GB/s`))));
}
