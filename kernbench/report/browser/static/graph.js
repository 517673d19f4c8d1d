// A graph of an answer: paths from left to right, with pan, zoom, and facts beneath the pointer.

import { button, h, s } from "./dom.js";
import { panZoom } from "./panzoom.js";
import { hideTip, showTip } from "./tip.js";

const BOX_H = 30, ACROSS = 70, DOWN = 22, CHAR = 6.4, MOST_CHARS = 34, GAP = 40, WIDE = 1000;
const FILLS = ["#cfe3f5", "#fde3c0", "#d3ecd9", "#eddcf0", "#f7f0b2", "#f5d5c8", "#e4e7eb"];

// Columns by the longest way from a start; what lies on a circle stays where it was reached first.
function layers(nodes, edges) {
  const next = new Map(nodes.map((node) => [node.id, []]));
  const waiting = new Map(nodes.map((node) => [node.id, 0]));
  for (const edge of edges) {
    if (edge.source === edge.target) continue;
    next.get(edge.source).push(edge.target);
    waiting.set(edge.target, waiting.get(edge.target) + 1);
  }
  const layer = new Map();
  let ready = nodes.filter((node) => !waiting.get(node.id)).map((node) => node.id);
  for (const id of ready) layer.set(id, 0);
  const left = new Set(nodes.map((node) => node.id));
  while (left.size) {
    if (!ready.length) {
      const [first] = left;
      if (!layer.has(first)) layer.set(first, 0);
      ready = [first];
    }
    const id = ready.shift();
    if (!left.delete(id)) continue;
    for (const to of next.get(id)) {
      if (!left.has(to)) continue;
      layer.set(to, Math.max(layer.get(to) ?? 0, layer.get(id) + 1));
      waiting.set(to, waiting.get(to) - 1);
      if (waiting.get(to) <= 0) ready.push(to);
    }
  }
  return layer;
}

const short = (text) => (text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS - 1)}…` : text);

// Parts of a graph that nothing connects.
function separate(data) {
  const of = new Map(data.nodes.map((node) => [node.id, node.id]));
  const root = (id) => {
    while (of.get(id) !== id) id = of.get(id);
    return id;
  };
  for (const edge of data.edges) of.set(root(edge.source), root(edge.target));
  const parts = new Map();
  for (const node of data.nodes) {
    const key = root(node.id);
    if (!parts.has(key)) parts.set(key, { nodes: [], edges: [] });
    parts.get(key).nodes.push(node);
  }
  for (const edge of data.edges) parts.get(root(edge.source)).edges.push(edge);
  return [...parts.values()];
}

// Side by side in rows, as words are.
function placed(data) {
  const parts = separate(data).map(placedPart);
  const area = parts.reduce((sum, part) => sum + (part.width + GAP) * (part.height + GAP), 0);
  const wide = Math.max(WIDE, Math.sqrt(area * 2.2), ...parts.map((part) => part.width));
  const at = new Map();
  let x = 0, y = 0, high = 0, width = 0;
  for (const part of parts) {
    if (x && x + part.width > wide) {
      x = 0;
      y += high + GAP;
      high = 0;
    }
    for (const [id, one] of part.at) at.set(id, { ...one, x: one.x + x, y: one.y + y });
    x += part.width + GAP;
    high = Math.max(high, part.height);
    width = Math.max(width, x);
  }
  return { at, width: width - GAP, height: y + high };
}

function placedPart(data) {
  const layer = layers(data.nodes, data.edges);
  const columns = [];
  for (const node of data.nodes) (columns[layer.get(node.id)] ||= []).push(node);
  const at = new Map();
  const rowOf = new Map();
  // A long chain is broken into rows.
  const perRow = columns.every((column) => column.length === 1) ? 5 : columns.length;
  let x = 0, top = 0, height = 0, wide = 0;
  columns.forEach((column, n) => {
    if (n && n % perRow === 0) {
      x = 0;
      top = height + 46;
    }
    const before = (node) => {
      const from = data.edges.filter((e) => e.target === node.id && rowOf.has(e.source)).map((e) => rowOf.get(e.source));
      return from.length ? from.reduce((a, b) => a + b, 0) / from.length : Infinity;
    };
    const order = n ? [...column].sort((a, b) => before(a) - before(b)) : column;
    const w = Math.max(...order.map((node) => Math.max(short(node.label).length, node.kind.length) * CHAR + 18));
    order.forEach((node, row) => {
      rowOf.set(node.id, row);
      at.set(node.id, { node, x, y: top + row * (BOX_H + DOWN), w, layer: n });
      height = Math.max(height, top + row * (BOX_H + DOWN) + BOX_H);
    });
    wide = Math.max(wide, x + w);
    const named = Math.max(0, ...data.edges.filter((e) => column.some((node) => node.id === e.source)).map((e) => short(e.label).length));
    x += w + Math.max(ACROSS, named * 5.6 + 24);
  });
  return { at, width: wide, height };
}

// From right to left where an edge leads on, somewhat lower where it leads back, round the end of a broken row.
function way(a, b) {
  const curve = (x1, y1, x2, y2) => {
    const bend = (x2 - x1) / 2;
    return { d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`, x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 4 };
  };
  if (b.x >= a.x + a.w) return curve(a.x + a.w, a.y + BOX_H * 0.4, b.x, b.y + BOX_H * 0.4);
  if (b.layer < a.layer && b.x + b.w <= a.x) {
    const back = curve(a.x, a.y + BOX_H * 0.75, b.x + b.w, b.y + BOX_H * 0.75);
    return { ...back, y: back.y + 14 };
  }
  const x1 = a.x + a.w / 2, y1 = a.y + BOX_H, x2 = b.x + b.w / 2, y2 = b.y;
  return { d: `M${x1} ${y1}C${x1} ${y1 + 30} ${x2} ${y2 - 30} ${x2} ${y2}`, x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 4 };
}

export function graph(data) {
  const { at, width, height } = placed(data);
  const kinds = [...new Set(data.nodes.map((node) => node.kind))];
  const fill = (kind) => FILLS[kinds.indexOf(kind) % FILLS.length];
  // A label that all have is said once.
  const same = data.edges.length > 1 && new Set(data.edges.map((one) => one.label)).size === 1 ? data.edges[0].label : "";
  const edge = (one) => {
    const a = at.get(one.source), b = at.get(one.target);
    const { d, x, y } = way(a, b);
    return s("g", { class: "edge" }, s("path", { d, class: "line", "marker-end": "url(#arrow)" }), s("path", { d, class: "hit", "data-facts": [one.label, ...one.facts].join("\n") }),
      same ? null : s("text", { x, y, "text-anchor": "middle" }, short(one.label)));
  };
  const pad = 20;
  const svg = s("svg", { class: "graph", role: "application", "aria-label": `graph of ${data.nodes.length} nodes; arrow keys pan, + and - zoom, 0 shows all` },
    s("defs", {}, s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, s("path", { d: "M0 0L8 4L0 8Z" }))),
    s("g", { transform: `translate(${pad} ${pad})` }, data.edges.map(edge), [...at.values()].map(({ node, x, y, w }) =>
      s("g", { class: "node" }, s("rect", { x, y, width: w, height: BOX_H, rx: 6, fill: fill(node.kind), "data-facts": [node.label, node.kind, ...node.facts].join("\n") }),
        s("text", { x: x + w / 2, y: y + (node.kind ? 13 : 19), "text-anchor": "middle" }, short(node.label)),
        node.kind ? s("text", { class: "kind", x: x + w / 2, y: y + 25, "text-anchor": "middle" }, node.kind) : null))));
  const full = { w: Math.max(width, 200) + 2 * pad, h: Math.max(height, 60) + 2 * pad };
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
