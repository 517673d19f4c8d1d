// A graph of an answer: paths from left to right, with pan, zoom, and facts beneath the pointer.

import { button, h, s } from "./dom.js";
import { panZoom } from "./panzoom.js";
import { target } from "./table.js";
import { hideTip, showTip } from "./tip.js";

// The sizes of a box where it was laid out.
const BOX_W = 176, BOX_H = 34, MOST_CHARS = 26;
const FILLS = ["#cfe3f5", "#fde3c0", "#d3ecd9", "#eddcf0", "#f7f0b2", "#f5d5c8", "#e4e7eb"];

const short = (text) => (text.length > MOST_CHARS ? `…${text.slice(1 - MOST_CHARS)}` : text);

export function graph(data, ctx) {
  const kinds = [...new Set(data.nodes.map((node) => node.kind))];
  const fill = (kind) => FILLS[kinds.indexOf(kind) % FILLS.length];
  // A label that all have is said once.
  const same = data.edges.length > 1 && new Set(data.edges.map((one) => one.label)).size === 1 ? data.edges[0].label : "";
  // So is one that several edges of a node have: named on the first of them.
  const named = new Set();
  const edge = (one) => {
    const key = `${one.source} ${one.label}`, unnamed = !same && !named.has(key);
    named.add(key);
    const { way: d, x, y } = one;
    return s("g", { class: "edge" }, s("path", { d, class: "line", "marker-end": "url(#arrow)" }), s("path", { d, class: "hit", "data-facts": [one.label, ...one.facts].join("\n") }),
      unnamed ? s("text", { x, y, "text-anchor": "middle" }, short(one.label)) : null);
  };
  const pad = 20;
  const svg = s("svg", { class: "graph", role: "application", "aria-label": `graph of ${data.nodes.length} nodes; arrow keys pan, + and - zoom, 0 shows all` },
    s("defs", {}, s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, s("path", { d: "M0 0L8 4L0 8Z" }))),
    s("g", { transform: `translate(${pad} ${pad})` }, data.edges.map(edge), data.nodes.map((node) => {
      const x = node.x, y = node.y - BOX_H / 2;
      return s(target(node, node.value, ctx) ? "a" : "g", { class: "node", href: target(node, node.value, ctx) }, s("rect", { x, y, width: BOX_W, height: BOX_H, rx: 6, fill: fill(node.kind), "data-facts": [node.label, node.kind, ...node.facts].join("\n") }),
        s("text", { x: x + BOX_W / 2, y: y + (node.kind ? 14 : 21), "text-anchor": "middle" }, short(node.label)),
        node.kind ? s("text", { class: "kind", x: x + BOX_W / 2, y: y + 28, "text-anchor": "middle" }, node.kind) : null);
    })));
  const full = { w: Math.max(data.width, 200) + 2 * pad, h: Math.max(data.height, 60) + 2 * pad };
  const zoom = panZoom(svg, full.w, full.h);
  svg.style.aspectRatio = `${full.w} / ${full.h}`;
  svg.addEventListener("pointermove", (event) => {
    const facts = event.target.dataset?.facts;
    if (facts) showTip(facts, event);
    else hideTip();
  });
  svg.addEventListener("pointerleave", hideTip);
  return h("figure", { class: "drawn" },
    h("div", { class: "tools" }, h("figcaption", {}, `${data.nodes.length} nodes, ${data.edges.length} relationships${same ? `, all ${same}` : ""}${data.left_out ? `; ${data.left_out} more nodes are in the table alone` : ""}`),
      h("span", { class: "zoom" }, button("+", "zoom in", zoom.zoomIn), button("−", "zoom out", zoom.zoomOut), button("fit", "show all", zoom.fit))), svg);
}
