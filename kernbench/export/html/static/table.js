// A table that sorts, filters, and leads on from what its cells name.

import { h } from "./dom.js";
import { percent } from "./format.js";

const PAGE = 100;
// Tables of so few rows need no filter.
const FEW = 8;
// Texts of more characters than these are broken into lines, so that the columns after them are seen.
const WRAPS = 32;

// A line leads to the source where the run keeps that file.
export function lineHref(line, ctx) {
  return ctx.state.lines && String(line).startsWith(`${ctx.state.lines}:`) ? ctx.href("source", { line }) : null;
}

export function target(column, value, ctx) {
  if (column.leads === "run") return ctx.source.live ? ctx.href("overview", { run: value, launch: "", from: "", to: "" }) : null;
  if (column.leads === "launch") return ctx.source.live && value >= 0 ? ctx.href("overview", { launch: value }) : null;
  if (column.leads === "transaction") return value >= 0 ? ctx.href("timeline", { find: `transaction ${value}` }) : null;
  if (column.leads === "operation") return value >= 0 ? ctx.href("timeline", { find: `op ${value}` }) : null;
  if (column.leads === "question") return ctx.source.live && value ? ctx.href("questions", { question: value }) : null;
  if (column.leads === "line") return lineHref(value, ctx);
  if (column.leads === "resource" && typeof value === "string" && value) return ctx.href("topology", { part: value });
  return null;
}

// A cell is a value that is read as it is, or a value with its text.
export const both = (cell) => (Array.isArray(cell) ? cell : [cell, String(cell)]);
const unpacked = (data) => ({ ...data, rows: data.rows.map((row) => row.map(both)) });

// A text in the colour that it has in every picture.
export function swatch(colours, text) {
  return colours?.[text] ? [h("i", { class: "swatch", style: { background: colours[text] } }), " ", text] : text;
}

function cell(column, [value, text], ctx, right) {
  const to = target(column, value, ctx);
  const inner = to && text !== "-" ? h("a", { href: to }, text) : swatch(column.colours, text);
  const bar = column.bar && typeof value === "number" && value > 0
    ? h("i", { class: "bar", style: { width: `${Math.min(value, 1) * 100}%` } }) : null;
  const wraps = text.length > WRAPS && text.includes(" ");
  const kind = column.name === "plan" ? "plan" : wraps ? "prose" : null; // a plan is drawn with characters
  return h("td", { class: right ? "number" : kind, "data-name": column.title }, bar, inner);
}

function fits(row, words) {
  const text = row.map(([, text]) => text).join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

function compared([a], [b]) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a ?? "").localeCompare(String(b ?? ""), "en", { numeric: true });
}

// `refill` of what it returns puts other rows in, sorted and filtered as before.
export function table(given, ctx, name) {
  let data = unpacked(given);
  let rows = data.rows;
  let words = [];
  let sorted = { at: -1, down: false };
  let shown = PAGE;
  const body = h("tbody");
  const more = h("p", { class: "faint" });
  const numeric = data.columns.map((_, at) => isNumber(at));
  const heads = data.columns.map((column, at) => h("th", { scope: "col", class: numeric[at] ? "number" : null },
    h("button", { type: "button", onclick: () => sort(at) }, column.title)));

  function isNumber(at) {
    return data.rows.some((row) => typeof row[at][0] === "number") && data.rows.every((row) => row[at][0] === null || typeof row[at][0] === "number");
  }

  function sort(at) {
    sorted = { at, down: sorted.at === at ? !sorted.down : numeric[at] };
    heads.forEach((head, n) => n === at ? head.setAttribute("aria-sort", sorted.down ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
    draw();
  }

  function draw() {
    const order = sorted.at < 0 ? rows : [...rows].sort((a, b) => compared(a[sorted.at], b[sorted.at]) * (sorted.down ? -1 : 1));
    body.replaceChildren(...order.slice(0, shown).map((row) => h("tr", {}, row.map((value, at) => cell(data.columns[at], value, ctx, numeric[at])))));
    const left = order.length - shown;
    more.replaceChildren();
    if (left > 0) more.append(h("button", { type: "button", onclick: () => { shown += 10 * PAGE; draw(); } }, `show more of ${order.length}`));
    if (data.cut) more.append(` ${data.cut} further rows are not on this page`);
  }

  function fill() {
    rows = words.length ? data.rows.filter((row) => fits(row, words)) : data.rows;
    filter.hidden = data.rows.length <= FEW;
    draw();
  }

  if (!data.rows.length) return h("p", { class: "faint" }, data.empty);
  const filter = h("input", { type: "search", placeholder: "filter", "aria-label": `filter ${name}`,
    oninput: (event) => {
      words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
      shown = PAGE;
      fill();
    } });
  fill();
  const whole = h("div", { class: "table" }, filter,
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": name },
      h("table", {}, h("thead", {}, h("tr", {}, heads)), body)),
    more, data.notes.map((note) => h("p", { class: "faint" }, note)));
  whole.refill = (fresh) => {
    data = unpacked(fresh);
    fill();
  };
  return whole;
}

// Names with figures as bars, as long as their share of all.
export function shares(pairs, name, colours, ctx) {
  if (!pairs.length) return h("p", { class: "faint" }, "nothing here");
  return h("dl", { class: "shares", "aria-label": name }, pairs.map(([what, share, text]) =>
    h("div", {}, h("dt", {}, lineHref(what, ctx) ? h("a", { href: lineHref(what, ctx) }, what) : what), h("dd", {}, h("b", {}, text), h("b", {}, percent(share)),
      h("span", { class: "track" }, h("i", { class: "bar", style: { width: `${Math.min(share, 1) * 100}%`, background: colours?.[what] } }))))));
}
