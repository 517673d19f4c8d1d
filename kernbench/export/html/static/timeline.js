// The timeline: launches, PEs with their engines, links. Zoom, search, and the causes of a bar.

import { button, clear, h, put, select } from "./dom.js";
import { number, percent, ticks } from "./format.js";
import { lineHref } from "./table.js";
import { hideTip, showTip } from "./tip.js";

const ROW = 18, GAP = 4, HEAD = 20, AXIS = 24, LANES = 4;
const STEP = 1.5, CHAR = 6.5; // px of a character, about
const NARROW = "(max-width: 40rem)", ABOVE = 16;

// On a phone, names stand above their bars: beside them, long names would be cut.
function flat(data, above) {
  const rows = [];
  let y = 0;
  for (const group of data.groups) {
    const alone = group.rows.length === 1 && group.rows[0].label === group.place;
    const count = group.count > 1 ? ` × ${group.count}` : "";
    if (!alone) {
      rows.push({ head: group.place + count, y, high: HEAD });
      y += HEAD;
    }
    for (const row of group.rows) {
      rows.push({ row, label: alone ? row.label + count : row.label, y: y + above, high: ROW, place: row.place });
      y += above + ROW + GAP;
    }
    y += GAP;
  }
  return { rows, height: y };
}

// A link's name without what both of its ends begin with.
function short(label) {
  const ends = label.split("->");
  if (ends.length < 2) return label;
  const [a, b] = ends.map((end) => end.split("."));
  let same = 0;
  while (same < a.length - 1 && a[same] === b[same]) same += 1;
  return same ? `${a.slice(0, same).join(".")}: ${a.slice(same).join(".")} → ${b.slice(same).join(".")}` : `${ends[0]} → ${ends[1]}`;
}

// Bars that a text fits: names, places and source lines, or "op 12" and "transaction 12" exactly.
function matches(data, rows, text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const exact = /^(op|transaction) (\d+)$/.exec(wanted);
  const fits = data.texts.map((one) => one.toLowerCase().includes(wanted));
  const found = [];
  for (const { row } of rows) {
    if (!row) continue;
    const place = !exact && row.place.toLowerCase().includes(wanted);
    for (let n = 0; n < row.begin.length; n += 1) {
      const hit = exact ? row.what === exact[1] && row.number[n] === Number(exact[2])
        : place || fits[row.name[n]] || fits[row.source[n]];
      if (hit) found.push({ row, n });
    }
  }
  return found.sort((a, b) => a.row.begin[a.n] - b.row.begin[b.n]);
}

export async function timeline(root, ctx) {
  const many = ctx.state.rows || "";
  const data = await ctx.get("timeline", { bars: 40000, rows: many });
  const narrow = window.matchMedia(NARROW);
  const above = narrow.matches ? ABOVE : 0;
  const { rows, height } = flat(data, above);
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  let from = 0, to = data.ns, found = [], current = -1, selected = null;
  const hits = new Set();

  const labels = h("div", { class: "labels" }, rows.map((one) => h("div", { class: one.head ? "head" : "row", style: { height: `${above && one.row ? above : one.high}px`, top: `${one.y + AXIS - (one.row ? above : 0)}px` }, title: one.head || one.place },
    h("span", {}, one.head || short(one.label)), one.row ? h("b", { title: "occupancy" }, percent(one.row.occupancy)) : null)));
  const canvas = h("canvas", { tabindex: "0", role: "application", "aria-label": "timeline; arrow keys pan, + and - zoom, 0 shows all, n goes to the next that was found" });
  const range = h("output", { class: "when" });
  const detail = h("aside", { class: "detail", "aria-live": "polite" });
  const count = h("output", { class: "faint" });
  const search = h("input", { type: "search", placeholder: "name, place, file.py:12, op 7", value: ctx.state.find || "",
    oninput: () => look(false), onkeydown: (event) => { if (event.key === "Enter") next(event.shiftKey ? -1 : 1); } });

  const width = () => canvas.clientWidth;
  const x = (time) => (time - from) / (to - from) * width();
  const time = (px) => from + px / width() * (to - from);

  function draw() {
    const scale = window.devicePixelRatio || 1;
    const wide = width();
    canvas.width = wide * scale;
    canvas.height = (height + AXIS) * scale;
    canvas.style.height = `${height + AXIS}px`;
    labels.style.height = `${height + AXIS}px`;
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, wide, height + AXIS);
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    for (const tick of ticks(from, to, wide / 90)) {
      pen.fillStyle = ink("--line");
      pen.fillRect(Math.round(x(tick)), AXIS - 4, 1, height + 4);
      pen.fillStyle = ink("--faint");
      pen.fillText(`${number(tick)}${tick === 0 ? " ns" : ""}`, Math.min(x(tick) + 3, wide - 30), AXIS / 2);
    }
    for (const one of rows) if (one.row) bars(pen, one, wide);
    range.textContent = `${number(from)} to ${number(to)} ns, ${number(to - from)} ns long`;
    canvas.dataset.from = from;
    canvas.dataset.to = to;
  }

  function bars(pen, { row, y }, wide) {
    const lanes = Math.min(row.lanes, LANES), high = ROW / lanes;
    // What is narrower than a pixel is as high as the share of the pixel that it covers.
    const thin = new Map();
    for (let n = 0; n < row.begin.length; n += 1) {
      if (row.begin[n] > to || row.end[n] < from) continue;
      const lane = Math.min(row.lane[n], lanes - 1);
      const a = Math.max(x(row.begin[n]), -1), b = Math.min(x(row.end[n]), wide + 1);
      const hit = hits.has(row) && found.some((one) => one.row === row && one.n === n);
      const covers = row.filled.length ? row.filled[n] : 1;
      if (!hit && b - a < 1) {
        const key = `${Math.floor(a)} ${lane} ${row.category[n]}`;
        thin.set(key, (thin.get(key) || 0) + (b - a) * covers);
        continue;
      }
      const w = Math.max(b - a, 1);
      const tall = covers < 1 ? Math.max(high * covers, 1) : high;
      const top = y + AXIS + lane * high + high - tall;
      pen.globalAlpha = found.length && !hit ? 0.35 : 1;
      pen.fillStyle = data.categories[row.category[n]].colour;
      pen.fillRect(a, top, w, tall - (lanes > 1 ? 0.5 : 0));
      pen.globalAlpha = 1;
      if (w > 3 && covers === 1) {
        pen.fillStyle = ink("--paper");
        pen.fillRect(a + w - 0.5, top, 0.5, high);
      }
      if (w > 34 && tall > 10) {
        const text = row.count.length && row.count[n] > 1 ? `${row.count[n]} short ones` : data.texts[row.name[n]];
        const room = Math.floor((a + w - Math.max(a, 0) - 6) / CHAR);
        pen.fillStyle = "#1f2933";
        pen.fillText(text.length > room ? `${text.slice(0, Math.max(room - 1, 0))}…` : text, Math.max(a, 0) + 3, top + tall / 2 + 0.5);
      }
      if (selected && selected.row === row && selected.n === n) {
        pen.strokeStyle = ink("--accent");
        pen.lineWidth = 2;
        pen.strokeRect(a, top + 1, w, high - 2);
      }
    }
    for (const [key, covered] of thin) {
      const [at, lane, category] = key.split(" ").map(Number);
      const tall = Math.max(high * Math.min(covered, 1), 1);
      pen.globalAlpha = found.length ? 0.35 : 1;
      pen.fillStyle = data.categories[category].colour;
      pen.fillRect(at, y + AXIS + (lane + 1) * high - tall, 1, tall);
      pen.globalAlpha = 1;
    }
    pen.fillStyle = data.waiting;
    for (let n = 0; n < row.waits.length; n += 2) {
      if (row.waits[n] > to || row.waits[n + 1] < from) continue;
      const a = Math.max(x(row.waits[n]), 0);
      pen.fillRect(a, y + AXIS + ROW, Math.max(Math.min(x(row.waits[n + 1]), wide) - a, 0.5), 2.5);
    }
  }

  function show(a, b) {
    const least = data.ns / 1e6;
    const long = Math.min(Math.max(b - a, least), data.ns);
    from = Math.min(Math.max(a, 0), data.ns - long);
    to = from + long;
    draw();
  }

  function zoom(factor, around = (from + to) / 2) {
    show(around - (around - from) / factor, around + (to - around) / factor);
  }

  const pan = (share) => show(from + (to - from) * share, to + (to - from) * share);
  const fit = () => show(0, data.ns);

  function barAt(event) {
    const rect = canvas.getBoundingClientRect();
    const px = event.clientX - rect.left, py = event.clientY - rect.top - AXIS;
    const one = rows.find((each) => each.row && py >= each.y && py < each.y + ROW);
    if (!one) return null;
    const { row } = one;
    const lanes = Math.min(row.lanes, LANES);
    const lane = Math.floor((py - one.y) / (ROW / lanes));
    const near = 2 / width() * (to - from), at = time(px);
    let best = null;
    for (let n = 0; n < row.begin.length; n += 1) {
      if (Math.min(row.lane[n], lanes - 1) !== lane || row.begin[n] - near > at || row.end[n] + near < at) continue;
      const inside = row.begin[n] <= at && row.end[n] >= at;
      if (!best || (inside && !best.inside)) best = { row, n, inside };
    }
    return best;
  }

  function facts({ row, n }) {
    const many = row.count.length && row.count[n] > 1;
    const begin = row.begin[n], end = row.end[n];
    return [many ? `${row.count[n]} short ones: zoom in, or ask for a shorter window` : data.texts[row.name[n]],
      `${number(begin)} to ${number(end)} ns: ${number(end - begin)} ns`, row.place,
      row.number[n] >= 0 && row.what ? `${row.what} ${row.number[n]}` : "", data.texts[row.source[n]]].filter(Boolean);
  }

  function choose(bar) {
    selected = bar;
    if (!bar) {
      detail.replaceChildren(h("p", { class: "faint" }, "Click a bar for its times, its source line and its causes. Drag moves, Shift and drag chooses a time range, Ctrl and wheel zooms."));
    } else {
      const [title, ...rest] = facts(bar);
      const { row, n } = bar;
      const id = row.number[n];
      const question = row.what === "op" ? "causes/behind-operation" : "causes/behind-transaction";
      const param = row.what === "op" ? "op" : "transaction";
      put(clear(detail), h("h3", {}, title), h("p", { class: "lines" }, rest.join("\n")),
        h("p", { class: "links" }, button("zoom to it", "zoom to this bar", () => { const pad = (row.end[n] - row.begin[n] || data.ns / 1000) * 0.5; show(row.begin[n] - pad, row.end[n] + pad); }),
          ctx.source.live && id >= 0 && row.what ? h("a", { href: ctx.href("questions", { question, [`p.${param}`]: id, asked: 1 }) }, "show its causes") : null,
          lineHref(data.texts[row.source[n]], ctx) ? h("a", { href: lineHref(data.texts[row.source[n]], ctx) }, "its source") : null,
          !["launches", "repeats"].includes(row.place) ? h("a", { href: ctx.href("topology", { part: row.place }) }, "in the machine") : null));
    }
    draw();
  }

  function look(jump) {
    found = matches(data, rows, search.value);
    hits.clear();
    for (const one of found) hits.add(one.row);
    current = -1;
    count.textContent = search.value.trim() ? found.length ? `${found.length} found` : "none found" : "";
    if (jump && found.length) next(1);
    else draw();
  }

  function next(way) {
    if (!found.length) return;
    current = (current + way + found.length) % found.length;
    const { row, n } = found[current];
    count.textContent = `${current + 1} of ${found.length}`;
    if (row.begin[n] < from || row.end[n] > to) {
      const half = Math.max((to - from) / 2, (row.end[n] - row.begin[n]) * 0.6);
      const middle = (row.begin[n] + row.end[n]) / 2;
      show(middle - half, middle + half);
    }
    const one = rows.find((each) => each.row === row);
    const seen = scroll.scrollTop, high = scroll.clientHeight;
    if (one.y < seen || one.y + AXIS + ROW > seen + high) scroll.scrollTop = Math.max(one.y - high / 2, 0);
    choose(found[current]);
  }

  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { at: event.clientX, from, to, shift: event.shiftKey, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) {
      const bar = barAt(event);
      if (bar) showTip(facts(bar).join("\n"), event);
      else hideTip();
      return;
    }
    hideTip();
    const by = event.clientX - drag.at;
    if (Math.abs(by) > 3) drag.moved = true;
    if (!drag.moved) return;
    if (drag.shift) {
      draw();
      const rect = canvas.getBoundingClientRect();
      const pen = canvas.getContext("2d");
      pen.fillStyle = "rgba(59, 130, 246, .25)";
      pen.fillRect(drag.at - rect.left, 0, by, height + AXIS);
    } else {
      const ns = by / width() * (drag.to - drag.from);
      show(drag.from - ns, drag.to - ns);
    }
  });
  canvas.addEventListener("pointerup", (event) => {
    const was = drag;
    drag = null;
    if (!was) return;
    if (!was.moved) choose(barAt(event));
    else if (was.shift) {
      const left = canvas.getBoundingClientRect().left;
      const [a, b] = [time(was.at - left), time(event.clientX - left)].sort((p, q) => p - q);
      show(a, b);
    }
  });
  canvas.addEventListener("pointercancel", () => { drag = null; });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("dblclick", (event) => zoom(2 * STEP, time(event.clientX - canvas.getBoundingClientRect().left)));
  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) zoom(event.deltaY < 0 ? STEP : 1 / STEP, time(event.clientX - canvas.getBoundingClientRect().left));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / 1000);
    else return;
    event.preventDefault();
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { "+": () => zoom(STEP), "=": () => zoom(STEP), "-": () => zoom(1 / STEP), 0: fit, Home: fit,
      ArrowLeft: () => pan(-0.1), ArrowRight: () => pan(0.1), n: () => next(1), N: () => next(-1), Escape: () => choose(null) }[event.key];
    if (by) { by(); event.preventDefault(); }
  });
  const resized = new ResizeObserver(() => draw());
  resized.observe(canvas);
  const turned = () => ctx.go("timeline", { rows: many, find: search.value, turn: narrow.matches ? 1 : "" });
  narrow.addEventListener("change", turned);
  ctx.ended(() => { resized.disconnect(); narrow.removeEventListener("change", turned); });

  const scroll = h("div", { class: "lanes" }, labels, canvas);
  const zoomed = () => (from > 0 || to < data.ns) && ctx.source.live
    ? ctx.go("timeline", { from: data.start_ns + from, to: data.start_ns + to }) : ctx.say("zoom in first");
  put(root,
    h("div", { class: "tools" },
      h("label", { class: "field" }, h("span", {}, "search"), search), count,
      button("↑", "the one before", () => next(-1)), button("↓", "the next one", () => next(1)),
      h("span", { class: "zoom" }, button("+", "zoom in", () => zoom(STEP)), button("−", "zoom out", () => zoom(1 / STEP)),
        button("◀", "earlier", () => pan(-0.25)), button("▶", "later", () => pan(0.25)), button("fit", "show all", fit)),
      ctx.source.live ? button("apply to all views", "make what is seen the time range of all views", zoomed) : null,
      ctx.source.live && (data.left_out || many) ? select("rows", [["", "16 PEs, 16 links"], ["64", "64 of each"], ["200", "200 of each"]], many,
        (rows) => ctx.go("timeline", { rows, find: search.value })) : null, range),
    h("div", { class: "stage" }, scroll, detail),
    h("div", { class: "legend" }, data.categories.filter((one) => one.used).map((one) => h("span", { class: "sample" },
      h("i", { class: "swatch", style: { background: one.colour } }), one.title)),
    h("span", { class: "sample" }, h("i", { class: "swatch thin", style: { background: data.waiting } }), "queued")),
    h("p", { class: "faint" }, [...data.remarks, data.left_out ? `${data.left_out} more PEs and links not shown` : "", data.joined ? `bars shorter than ${number(data.joined)} ns are drawn together${ctx.source.live ? "; choose a shorter window to see each" : ""}` : ""].filter(Boolean).join("; ")));
  choose(null);
  draw();
  if (search.value) look(true);
}
