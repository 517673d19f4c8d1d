// Two runs: what was configured differently, what got slower, where, by how much.

import { h, put, select } from "./dom.js";
import { number, percent } from "./format.js";
import { panel } from "./panel.js";
import { table } from "./table.js";

function bars(causes) {
  const most = Math.max(...causes.map(([, a, b]) => Math.max(a, b)), 1e-9);
  const bar = (ns, kind) => [h("span", { class: "faint" }, kind), h("b", {}, `${number(ns)} ns`),
    h("span", { class: "track" }, h("i", { class: `bar ${kind}`, style: { width: `${ns / most * 100}%` } }))];
  return h("dl", { class: "shares", "aria-label": "time by cause, before and after" }, causes.map(([cause, before, after]) =>
    h("div", {}, h("dt", {}, cause), h("dd", {}, bar(before, "before"), bar(after, "after")))));
}

// How much each figure changed; those beyond the threshold where there are any.
function result({ figures, slower, threshold }) {
  const at = Object.fromEntries(figures.columns.map(({ name }, n) => [name, n]));
  const shown = figures.rows.filter((row) => (!slower || row[at.slower]) && row[at.change] !== null);
  const change = (row) => `${row[at.name]} ${row[at.change] > 0 ? "+" : ""}${percent(row[at.change])}`;
  const list = shown.slice(0, SHOWN).map(change).join(", ") + (shown.length > SHOWN ? `, and ${shown.length - SHOWN} more` : "");
  return slower ? `slower: ${list} (more than ${threshold * 100}% counts)` : `nothing slower by more than ${threshold * 100}%${list ? `: ${list}` : ""}`;
}

const SHOWN = 4;
const called = (run) => `${run.run_id}: ${run.bench} on ${run.topology}`;

export async function compare(root, ctx) {
  let { before, after } = ctx.state;
  if (ctx.source.live) {
    const { runs, table: kept } = await ctx.get("runs");
    const names = runs.map(([id, bench]) => [id, `${id} ${bench}`]);
    after ||= ctx.state.run || runs[0]?.[0];
    const bench = runs.find(([id]) => id === after)?.[1];
    const older = runs.slice(runs.findIndex(([id]) => id === after) + 1);
    before ||= (older.find(([, other]) => other === bench) || older[0] || [])[0];
    put(root, h("div", { class: "tools" },
      select("before", names, before, (id) => ctx.go("compare", { before: id, after })),
      select("after", names, after, (id) => ctx.go("compare", { before, after: id }))));
    if (runs.length < 2) {
      put(root, h("p", {}, "A comparison needs two runs; this store has fewer."), panel("Runs", table(kept, ctx, "runs")));
      return;
    }
    if (!before) before = runs.find(([id]) => id !== after)[0];
  } else if (!ctx.source.compared) {
    put(root, h("p", {}, "This file holds one run; write it with --against RUN to compare it with an earlier one."));
    return;
  }
  const data = await ctx.get("compare", { before, after, run: "" });
  const alike = data.before.bench === data.after.bench;
  put(root,
    alike ? null : h("p", { class: "bad" }, "Two different benches: their times say little about each other."),
    h("dl", { class: "facts" }, h("div", {}, h("dt", {}, "before"), h("dd", {}, called(data.before))), h("div", {}, h("dt", {}, "after"), h("dd", {}, called(data.after))),
      h("div", {}, h("dt", {}, "result"), h("dd", { class: data.slower ? "bad" : null }, result(data)))),
    panel("Configured differently", table(data.configured, ctx, "configured differently")),
    panel("Times", table(data.figures, ctx, "times")),
    panel("Where the time went", data.causes.length ? bars(data.causes) : h("p", { class: "faint" }, "no critical path")),
    panel("Slower where", table(data.resources, ctx, "slower where")));
}
