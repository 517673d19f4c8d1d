// What is going on: runs and sweeps that processes do into the store, and the queries that the server is at,
// those of other windows and people too, each with a button that cancels it.

import { h } from "./dom.js";

const EVERY_MS = 1500;
const SHORT_S = 1;
// Told to the window when the store has a new run.
export const KEPT = "kept";

export function running(source, place) {
  const shown = new Map();
  const going = h("ul", { class: "running", "aria-label": "Runs under way" });
  let newest;
  const title = h("summary", {});
  const list = h("ul", {});
  const panel = h("details", { class: "running", open: true }, title, list);

  async function cancel(number, button) {
    button.disabled = true;
    try {
      await source.ask("cancel", { number });
    } catch { /* it has ended by itself */ }
    look();
  }

  function row(query) {
    const state = h("span", { class: "faint" });
    const button = h("button", { type: "button", onclick: () => cancel(query.number, button) }, "Cancel");
    const item = h("li", {}, button, " ", state, " ", h("code", {}, query.text));
    list.append(item);
    return { item, state, button };
  }

  function draw(queries) {
    const there = new Set(queries.map(({ number }) => number));
    for (const [number, { item }] of shown) {
      if (!there.has(number)) {
        item.remove();
        shown.delete(number);
      }
    }
    for (const query of queries) {
      if (!shown.has(query.number)) shown.set(query.number, row(query));
      const { state, button } = shown.get(query.number);
      button.disabled = query.doing === "stopping";
      state.textContent = `${query.doing}, ${Math.round(query.seconds)} s, run ${query.run || "all"}, by ${query.asker}:`;
    }
    title.textContent = queries.length === 1 ? "1 query is running" : `${queries.length} queries are running`;
  }

  function follow({ under_way: underWay, newest: last }) {
    going.replaceChildren(...underWay.map(({ name, text }) => h("li", {}, h("b", {}, name), `: ${text}`)));
    if (newest !== undefined && last !== newest) window.dispatchEvent(new Event(KEPT));
    newest = last;
  }

  async function look() {
    if (document.hidden) return;
    try {
      const state = await source.get("state");
      const queries = state.queries.filter(({ seconds }) => seconds >= SHORT_S);
      draw(queries);
      follow(state);
      place.replaceChildren(...(state.under_way.length ? [going] : []), ...(queries.length ? [panel] : []));
    } catch { /* what is asked next says what is wrong */ }
  }

  look();
  setInterval(look, EVERY_MS);
}
