// A graph of an answer: paths from left to right, with pan, zoom, and facts beneath the pointer.

import { button, h, s } from "./dom.js";
import { panZoom } from "./panzoom.js";
import { target } from "./table.js";
import { hideTip, showTip } from "./tip.js";

const BOX_H = 30, ACROSS = 70, DOWN = 22, PASSAGE = 20, CHAR = 6.4, MOST_CHARS = 34, GAP = 40, WIDE = 1000;
const MOST_COLUMNS = 12;
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
  const over = new Map(parts.flatMap((part) => [...part.over]));
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
  return { at, over, width: width - GAP, height: y + high };
}

// The passages through the columns between the ends of an edge, which would run behind boxes otherwise.
function passages(edge, layer) {
  const from = layer.get(edge.source), to = layer.get(edge.target), step = to > from ? 1 : -1;
  const found = [];
  for (let n = from + step; (to - n) * step > 0; n += step) found.push({ id: `${edge.source} ${edge.target} ${n}`, passage: true, column: n });
  return found;
}

function placedPart(data) {
  const layer = layers(data.nodes, data.edges);
  const columns = [];
  for (const node of data.nodes) (columns[layer.get(node.id)] ||= []).push(node);
  const at = new Map();
  const rowOf = new Map();
  const joined = new Map();
  const join = (a, b) => joined.has(b) ? joined.get(b).push(a) : joined.set(b, [a]);
  const single = columns.every((column) => column.length === 1);
  const passed = single && columns.length > MOST_COLUMNS ? data.edges.map(() => []) : data.edges.map((edge) => passages(edge, layer));
  const known = new Set();
  data.edges.forEach((edge, n) => {
    const chain = [edge.source, ...passed[n].map((one) => one.id), edge.target];
    for (let k = 1; k < chain.length; k++) {
      join(chain[k - 1], chain[k]);
      join(chain[k], chain[k - 1]);
    }
    for (const one of passed[n]) if (!known.has(one.id)) columns[one.column].push(one), known.add(one.id);
  });
  // A long chain is broken into rows.
  const perRow = single && !known.size ? 5 : columns.length;
  let x = 0, top = 0, height = 0, wide = 0;
  columns.forEach((column, n) => {
    if (n && n % perRow === 0) {
      x = 0;
      top = height + 46;
    }
    const before = (node) => {
      const from = joined.get(node.id)?.filter((id) => rowOf.has(id)).map((id) => rowOf.get(id)) ?? [];
      return from.length ? from.reduce((a, b) => a + b, 0) / from.length : Infinity;
    };
    // Boxes before passages where neither comes from further above.
    const order = n ? [...column].sort((a, b) => before(a) - before(b) || !!a.passage - !!b.passage) : column;
    const boxes = order.filter((node) => !node.passage);
    const w = Math.max(...boxes.map((node) => Math.max(short(node.label).length, node.kind.length) * CHAR + 18));
    let y = top;
    for (const node of order) {
      rowOf.set(node.id, y);
      at.set(node.id, node.passage ? { passage: true, x, y: y + PASSAGE / 2, w } : { node, x, y, w, layer: n });
      height = Math.max(height, y + (node.passage ? PASSAGE : BOX_H));
      y += node.passage ? PASSAGE : BOX_H + DOWN;
    }
    wide = Math.max(wide, x + w);
    const named = Math.max(0, ...data.edges.filter((e) => boxes.some((node) => node.id === e.source)).map((e) => short(e.label).length));
    x += w + Math.max(ACROSS, named * 5.6 + 24);
  });
  return { at, over: new Map(data.edges.map((edge, n) => [edge, passed[n].map((one) => one.id)])), width: wide, height };
}

// To the right where an edge leads on, somewhat lower where it leads back, beside a column within it, and round
// the end of a broken row.
function way(a, b, over) {
  const ahead = b.x >= a.x + a.w;
  if (ahead || (b.layer < a.layer && b.x + b.w <= a.x)) {
    const down = BOX_H * (ahead ? 0.4 : 0.75);
    const sides = over.flatMap(({ x, y, w }) => (ahead ? [[x, y], [x + w, y]] : [[x + w, y], [x, y]]));
    const points = [[ahead ? a.x + a.w : a.x, a.y + down], ...sides, [ahead ? b.x : b.x + b.w, b.y + down]];
    let d = `M${points[0].join(" ")}`;
    for (let n = 1; n < points.length; n++) {
      const [x1, y1] = points[n - 1], [x2, y2] = points[n], bend = (x2 - x1) / 2;
      d += `C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
    }
    const [[x1, y1], [x2, y2]] = points;
    return { d, x: (x1 + x2) / 2, y: (y1 + y2) / 2 + (ahead ? -4 : 10) };
  }
  if (a.layer === b.layer) {
    const side = a.x + a.w, out = side + ACROSS / 2, y1 = a.y + BOX_H * 0.7, y2 = b.y + BOX_H * 0.3;
    return { d: `M${side} ${y1}C${out} ${y1} ${out} ${y2} ${side} ${y2}`, x: out, y: (y1 + y2) / 2 };
  }
  const x1 = a.x + a.w / 2, y1 = a.y + BOX_H, x2 = b.x + b.w / 2, y2 = b.y;
  return { d: `M${x1} ${y1}C${x1} ${y1 + 30} ${x2} ${y2 - 30} ${x2} ${y2}`, x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 4 };
}

export function graph(data, ctx) {
  const { at, over, width, height } = placed(data);
  const kinds = [...new Set(data.nodes.map((node) => node.kind))];
  const fill = (kind) => FILLS[kinds.indexOf(kind) % FILLS.length];
  // A label that all have is said once.
  const same = data.edges.length > 1 && new Set(data.edges.map((one) => one.label)).size === 1 ? data.edges[0].label : "";
  // So is one that several edges of a node have: named on the first of them.
  const named = new Set();
  const edge = (one) => {
    const key = `${one.source} ${one.label}`, unnamed = !same && !named.has(key);
    named.add(key);
    const a = at.get(one.source), b = at.get(one.target);
    const { d, x, y } = way(a, b, over.get(one).map((id) => at.get(id)));
    return s("g", { class: "edge" }, s("path", { d, class: "line", "marker-end": "url(#arrow)" }), s("path", { d, class: "hit", "data-facts": [one.label, ...one.facts].join("\n") }),
      unnamed ? s("text", { x, y, "text-anchor": "middle" }, short(one.label)) : null);
  };
  const pad = 20;
  const svg = s("svg", { class: "graph", role: "application", "aria-label": `graph of ${data.nodes.length} nodes; arrow keys pan, + and - zoom, 0 shows all` },
    s("defs", {}, s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, s("path", { d: "M0 0L8 4L0 8Z" }))),
    s("g", { transform: `translate(${pad} ${pad})` }, data.edges.map(edge), [...at.values()].filter((one) => !one.passage).map(({ node, x, y, w }) =>
      s(target(node, node.value, ctx) ? "a" : "g", { class: "node", href: target(node, node.value, ctx) }, s("rect", { x, y, width: w, height: BOX_H, rx: 6, fill: fill(node.kind), "data-facts": [node.label, node.kind, ...node.facts].join("\n") }),
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
