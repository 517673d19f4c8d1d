// The text of the bench's file that the run keeps, with the time of each line; the line of the address is marked.

import { h, put } from "./dom.js";
import { both } from "./table.js";

export async function sourceText(root, ctx) {
  const found = await ctx.get("source");
  const marked = Number((ctx.state.line || "").split(":").at(-1));
  const rows = found.grids[0].table.rows.map((row) => row.map((cell) => both(cell)[1]));
  const lines = rows.map(([nr, ns, share, text, model]) => h("li", { class: Number(nr) === marked ? "marked" : null },
    h("span", { class: "number" }, nr), h("span", { class: "number" }, ns === "-" ? "" : `${ns} ns ${share}`), h("span", {}, text, model ? h("span", { class: "faint" }, `   ${model}`) : "")));
  put(root, h("h3", {}, found.title), h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": found.title },
    h("ol", { class: "source-text" }, lines)));
  lines[marked - 1]?.scrollIntoView({ block: "center" });
}
