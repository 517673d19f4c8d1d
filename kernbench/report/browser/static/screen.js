// A tab as it is described: lines of text, and tables with their bars, one below the other or one at a time.

import { choice, clear, h, put } from "./dom.js";
import { panel } from "./panel.js";
import { shares, table } from "./table.js";

// `draw` makes the picture of a table, where a tab has one of its own.
export function screen(key, title, draw) {
  return async (root, ctx) => {
    const data = await ctx.get(key);
    const shown = (grid) => [
      draw ? draw(grid.drawn, root.clientWidth || 900) : null,
      panel(grid.heading, grid.pairs.length ? shares(grid.pairs, grid.total, `${title}: ${grid.heading.toLowerCase()}`, grid.unit) : null,
        table(grid.table, ctx, `${title.toLowerCase()}, ${grid.heading.toLowerCase()}`)),
    ];
    const room = h("div");
    const only = (at) => put(clear(room), shown(data.grids.find((grid) => grid.key === at)));
    put(root, data.said.map((text) => h("p", {}, text)), data.note ? h("p", { class: "faint" }, data.note) : null);
    if (!data.choice) put(root, data.grids.map(shown));
    else if (data.grids.some((grid) => grid.table.rows.length)) {
      put(root, choice(data.choice, data.grids.map((grid) => [grid.key, grid.heading]), data.grids[0].key, only), room);
      only(data.grids[0].key);
    } else put(root, h("p", { class: "faint" }, data.grids[0].table.empty));
  };
}
