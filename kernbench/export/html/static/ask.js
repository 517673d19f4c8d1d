// The library of questions with their parameters, and free Cypher.

import { h, put } from "./dom.js";
import { graph } from "./graph.js";
import { panel } from "./panel.js";
import { table } from "./table.js";

const IN_WINDOW = ["launch", "from_ns", "to_ns"];
// A field whose default names a thing is filled in with it: emptied, it stands for all.
const named = (param) => Boolean(param.refers && param.default);
const EXAMPLES = [
  ["transactions by kind", "MATCH (r:Run {id: $run})-[:SENT]->(t:Transaction)\nRETURN t.kind AS kind, count(t) AS transactions, max(t.wait_ns) AS worst_ns\nORDER BY worst_ns DESC"],
  ["who blocked whom", "MATCH p = (t:Transaction)-[:WAITED_FOR*2..3]->(:Transaction)\nWHERE t.launch >= 0\nRETURN p LIMIT 8"],
  ["around a PE", "MATCH p = (:Component {kind: 'pe_dma', pe: 0, cube: 0, sip: 0})-[:CONNECTS*1..3]->(:Component {kind: 'router'})\nRETURN p LIMIT 12"],
];

function answer(found, ctx, name) {
  return [found.graph ? graph(found.graph, ctx) : null, table(found.table, ctx, name)];
}

function failure(error) {
  return h("p", { class: "bad", role: "alert" }, error.message);
}

export async function questions(root, ctx) {
  const all = (await ctx.get("questions")).questions.filter((one) => ctx.source.live || ctx.source.questions.includes(one.name));
  const chosen = all.find((one) => one.name === ctx.state.question) || null;
  const list = h("div", { class: "library" });
  const place = h("div", { class: "answer", "aria-live": "polite" });

  function draw(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = all.filter((one) => words.every((word) => `${one.name} ${one.title}`.toLowerCase().includes(word)));
    const topics = Map.groupBy ? Map.groupBy(shown, (one) => one.name.split("/")[0])
      : shown.reduce((map, one) => map.set(one.name.split("/")[0], [...(map.get(one.name.split("/")[0]) || []), one]), new Map());
    list.replaceChildren(...[...topics].map(([topic, own]) => h("section", {}, h("h3", {}, topic), h("ul", {}, own.map((one) =>
      h("li", {}, h("a", { href: ctx.href("questions", { question: one.name }), "aria-current": one === chosen ? "true" : null, title: one.name }, one.title)))))));
    if (!shown.length) list.replaceChildren(h("p", { class: "faint" }, "no question has these words"));
  }

  async function ask(params) {
    place.replaceChildren(h("p", { class: "faint" }, "asking ..."));
    try {
      const found = await ctx.ask("ask", { question: chosen.name, params });
      place.replaceChildren(...answer(found, ctx, chosen.title).filter(Boolean));
    } catch (error) {
      if (error.name !== "AbortError") place.replaceChildren(failure(error));
    }
  }

  const sent = chosen ? chosen.params.filter(named).map((param) => param.name) : [];

  function form() {
    const inputs = chosen.params.map((param) => {
      const value = ctx.state[`p.${param.name}`] ?? (named(param) ? param.default : "");
      const hint = param.default === null ? "needed" : param.default === "" ? "" : String(param.default);
      const input = param.choices
        ? h("select", { name: param.name }, [...(param.default === null ? [] : [""]), ...param.choices].map((one) => h("option", { value: one, selected: String(one) === String(value) }, one === "" ? hint : one)))
        : h("input", { name: param.name, value, placeholder: IN_WINDOW.includes(param.name) ? "as chosen above" : hint, required: param.default === null });
      return h("label", { class: "field tall" }, h("span", {}, param.name), input, h("small", {}, param.help));
    });
    return h("form", { onsubmit: (event) => {
      event.preventDefault();
      const params = Object.fromEntries([...new FormData(event.target)].filter(([name, text]) => text.trim() || sent.includes(name)));
      ctx.keep(Object.fromEntries(chosen.params.map(({ name }) => [`p.${name}`, params[name]])));
      ask(params);
    } }, h("div", { class: "params" }, inputs), h("button", { type: "submit", class: "main" }, "Ask"));
  }

  draw("");
  const search = h("input", { type: "search", placeholder: "find a question", "aria-label": "find a question", oninput: (event) => draw(event.target.value) });
  const notes = ctx.source.live ? [] : [h("p", { class: "faint" }, "Answered with the defaults; other parameters and questions need 'kernbench web'.")];
  put(root, h("div", { class: "ask" }, h("div", { class: "side" }, search, list),
    h("div", { class: "body" }, chosen ? panel(chosen.title, h("p", { class: "faint" }, h("code", {}, chosen.name), chosen.notes ? ` ${chosen.notes}` : ""), notes, ctx.source.live ? form() : null)
      : h("p", { class: "faint" }, "Choose a question."), place)));
  const needed = chosen?.params.filter((param) => param.default === null).map((param) => `p.${param.name}`) || [];
  if (chosen && needed.every((name) => ctx.state[name])) {
    await ask(Object.fromEntries(chosen.params.map(({ name }) => [name, ctx.state[`p.${name}`]]).filter(([name, value]) => value || (value === "" && sent.includes(name)))));
  }
}

export async function cypher(root, ctx) {
  if (!ctx.source.live) {
    put(root, h("p", {}, "Free Cypher needs a store to ask: run 'kernbench web' where this run is kept."));
    return;
  }
  const place = h("div", { class: "answer", "aria-live": "polite" });
  const text = h("textarea", { rows: 5, spellcheck: "false", "aria-label": "Cypher", value: ctx.state.text || EXAMPLES[0][1],
    onkeydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); ask(); } } });
  const all = h("input", { type: "checkbox", checked: ctx.state.all === "1" });

  async function ask() {
    ctx.keep({ text: text.value, all: all.checked ? "1" : "" });
    place.replaceChildren(h("p", { class: "faint" }, "asking ..."));
    try {
      const found = await ctx.ask("cypher", { text: text.value, ...(all.checked ? { run: "*" } : {}) });
      place.replaceChildren(...answer(found, ctx, "rows").filter(Boolean));
    } catch (error) {
      if (error.name !== "AbortError") place.replaceChildren(failure(error));
    }
  }

  const insert = (word) => { text.setRangeText(word, text.selectionStart, text.selectionEnd, "end"); text.focus(); };
  const word = (shown, put, title) => h("li", {}, h("button", { type: "button", title, onclick: () => insert(put) }, shown));
  const schema = h("details", { class: "schema" }, h("summary", {}, "Schema"), (await ctx.get("schema")).labels.map((one) =>
    h("details", {}, h("summary", { title: one.help }, one.name), h("ul", {}, one.patterns.map((pattern) => word(pattern, pattern)),
      one.properties.map(([property, unit]) => word(`${property} (${unit})`, property, unit))))));
  const name = h("input", { placeholder: "topic/name", "aria-label": "name of the question" });
  const title = h("input", { placeholder: "Title of the question", "aria-label": "title of the question" });
  const said = h("p", { class: "faint", role: "status" });

  async function save() {
    try {
      const found = await ctx.ask("save", { name: name.value, title: title.value, text: text.value, ...(all.checked ? { run: "*" } : {}) });
      said.replaceChildren(h("a", { href: ctx.href("questions", { question: found.name }) }, `saved as ${found.name}`));
    } catch (error) {
      if (error.name !== "AbortError") said.replaceChildren(failure(error));
    }
  }

  put(root,
    h("p", { class: "faint" }, "Read-only. $run is the run; a click on a word of the schema inserts it at the cursor. Ctrl+Enter runs the query."),
    h("div", { class: "beside" }, text, schema), h("div", { class: "tools" }, h("button", { type: "button", class: "main", onclick: ask }, "Ask"),
      h("label", { class: "check" }, all, "of all runs"), EXAMPLES.map(([name, query]) => h("button", { type: "button", onclick: () => { text.value = query; ask(); } }, name))),
    h("div", { class: "tools" }, h("button", { type: "button", onclick: save }, "Save as a question"), name, title), said,
    place);
  if (ctx.state.text) await ask();
}
