// All runs of the store.

import { put } from "./dom.js";
import { panel } from "./panel.js";
import { table } from "./table.js";

export async function runs(root, ctx) {
  put(root, panel("Runs", table((await ctx.get("runs")).table, ctx, "runs")));
}
