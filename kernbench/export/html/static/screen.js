// A tab as it is described: facts, lines of text, tables with their bars, one below the other or one at a time.

import { choice, clear, h, put } from "./dom.js";
import { panel } from "./panel.js";
import { shares, table } from "./table.js";

// `draw` makes the picture of a table, where a tab has one of its own.
export function screen(key, title, draw) {
  return async (root, ctx) => described(root, await ctx.get(key), ctx, title, draw);
}

// What an answer describes; as above.
export function described(root, data, ctx, title, draw) {
  const named = (grid) => `${title.toLowerCase()}, ${grid.heading.toLowerCase()}`;
  const coloursOf = (grid) => grid.table.columns.find((column) => column.colours)?.colours;
  const note = (text) => text ? h("p", { class: "faint" }, text) : null;
  const bars = (grid) => grid.pairs.length ? shares(grid.pairs, named(grid), coloursOf(grid), ctx) : null;
  const picture = (grid) => draw && grid.drawn ? draw(grid.drawn, root.clientWidth || 900, coloursOf(grid)) : bars(grid);
  const shown = (grid) => panel(grid.heading === title ? "" : grid.heading, note(grid.note), picture(grid), grid.only_bars ? null : table(grid.table, ctx, named(grid)));
  const room = h("div");
  const only = (at) => put(clear(room), shown(data.grids.find((grid) => grid.key === at)));
  put(root, data.facts.length ? h("dl", { class: "facts" }, data.facts.map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, text)))) : null,
    data.wrong.map((text) => h("p", { class: "bad" }, text)), data.said.map((text) => h("p", {}, text)), note(data.note));
  if (!data.choice) put(root, h("div", { class: "grids" }, data.grids.map((grid) => h("div", { class: grid.only_bars ? "narrow" : null }, shown(grid)))));
  else if (data.grids.some((grid) => grid.table.rows.length)) {
    const first = data.opens || data.grids[0].key;
    put(root, choice(data.choice, data.grids.map((grid) => [grid.key, grid.heading]), first, only), room);
    only(first);
  } else put(root, note(data.grids[0].table.empty));
}
