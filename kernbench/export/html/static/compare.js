// Two runs: what was configured differently, what got slower, where, by how much.

import { h, put, select } from "./dom.js";
import { panel } from "./panel.js";
import { described } from "./screen.js";
import { swatch, table } from "./table.js";

function bars(causes, room, colours) {
  const most = Math.max(...causes.map(([, [a], [b]]) => Math.max(a, b)), 1e-9);
  const bar = ([ns, text], kind) => [h("span", { class: "faint" }, kind), h("b", {}, `${text} ns`),
    h("span", { class: "track" }, h("i", { class: `bar ${kind}`, style: { width: `${ns / most * 100}%` } }))];
  return h("dl", { class: "shares", "aria-label": "time by cause, before and after" }, causes.map(([cause, before, after]) =>
    h("div", {}, h("dt", {}, swatch(colours, cause)), h("dd", {}, bar(before, "before"), bar(after, "after")))));
}

export async function compare(root, ctx) {
  let { before, after } = ctx.state;
  if (ctx.source.live) {
    const { runs, table: kept } = await ctx.get("runs");
    const names = runs.map(([id, , text]) => [id, text]);
    after ||= ctx.state.run || runs[0]?.[0];
    const bench = runs.find(([id]) => id === after)?.[1];
    const older = runs.slice(runs.findIndex(([id]) => id === after) + 1);
    before ||= (older.find(([, other]) => other === bench) || older[0] || [])[0];
    put(root, h("div", { class: "tools" },
      select("before", names, before, (id) => ctx.go("compare", { before: id, after })),
      select("after", names, after, (id) => ctx.go("compare", { before, after: id }))));
    if (runs.length < 2) {
      put(root, h("p", {}, "A comparison needs two runs; this store has fewer."), panel("", table(kept, ctx, "runs")));
      return;
    }
    if (!before) before = runs.find(([id]) => id !== after)[0];
  } else if (!ctx.source.compared) {
    put(root, h("p", {}, "This file holds one run; write it with --against RUN to compare it with an earlier one."));
    return;
  }
  described(root, await ctx.get("compare", { before, after, run: "" }), ctx, "Comparison", bars);
}
