// All runs of the store; the list fills in as runs are kept.

import { put } from "./dom.js";
import { panel } from "./panel.js";
import { KEPT } from "./running.js";
import { table } from "./table.js";

export async function runs(root, ctx) {
  let list = table((await ctx.get("runs")).table, ctx, "runs");
  async function again() {
    const { table: fresh } = await ctx.get("runs");
    if (list.refill) {
      list.refill(fresh);
    } else {
      const first = table(fresh, ctx, "runs");
      list.replaceWith(first);
      list = first;
    }
  }
  window.addEventListener(KEPT, again);
  ctx.ended(() => window.removeEventListener(KEPT, again));
  put(root, panel("", list));
}
