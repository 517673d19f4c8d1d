// The frame: which run, which window, which view; the address says all three.

import { cypher, questions } from "./ask.js";
import { compare } from "./compare.js";
import { clear, h, put, select } from "./dom.js";
import { overview } from "./overview.js";
import { path } from "./path.js";
import { roofline } from "./roofline.js";
import { running } from "./running.js";
import { runs } from "./runs.js";
import { screen } from "./screen.js";
import { source as opened } from "./source.js";
import { sourceText } from "./source_text.js";
import { timeline } from "./timeline.js";
import { hideTip } from "./tip.js";
import { topology } from "./topology.js";

const STAY = ["run", "launch", "from", "to"];
const SLOW_MS = 300;

const source = opened();
const PICTURES = { path, roofline };
const OWN = { overview, topology, timeline, questions, cypher, compare, runs, source: sourceText };
const VIEWS = source.views.map(([key, title]) => [key, title, OWN[key] || screen(key, title, PICTURES[key])]);
const NOWHERE = ["", "No such page", (root) => {
  const known = VIEWS.filter(([name]) => source.live || name !== "runs").flatMap(([name, text]) => [h("a", { href: href(name) }, text), " "]);
  put(root, h("p", { class: "bad", role: "alert" }, `There is no page '${location.hash}'.`), h("p", {}, "There are: ", known));
}];
const page = document.getElementById("page");
const title = h("h1", {}, "KernBench");
const chooser = h("div", { class: "chooser" });
const said = h("p", { class: "said", role: "status" });
const busy = h("div", { "aria-live": "off" });
const body = h("div", { id: "view", tabindex: "-1" });
const nav = h("nav", { "aria-label": "Pages" });
let state = {};
let ends = [];
let stopped = new AbortController();

function parsed() {
  const [view, rest = ""] = location.hash.replace(/^#/, "").split("?");
  return { ...Object.fromEntries(new URLSearchParams(rest)), at: VIEWS.some(([name]) => name === view) ? view : view ? "" : "overview" };
}

function href(view, params = {}) {
  const kept = Object.fromEntries(STAY.filter((name) => state[name]).map((name) => [name, state[name]]));
  const all = Object.entries({ ...kept, ...params }).filter(([name, value]) => (value !== "" || name.startsWith("p.")) && value !== null && value !== undefined);
  return `#${view}${all.length ? `?${new URLSearchParams(all)}` : ""}`;
}

function go(view, params) {
  location.hash = href(view, params);
}

function say(text) {
  said.textContent = text;
}

function asked(params) {
  return { ...Object.fromEntries(STAY.map((name) => [name, state[name]])), run: state.run || source.run, ...params };
}

// While an answer takes long, what the server is at.
async function patiently(answer, { signal }) {
  const slow = setTimeout(() => say("working ..."), SLOW_MS);
  const every = source.live ? setInterval(async () => {
    try {
      const { building } = await source.get("state", {}, signal);
      if (building) say(building);
    } catch { /* the answer itself says what is wrong */ }
  }, 1000) : 0;
  try {
    return await answer;
  } finally {
    clearTimeout(slow);
    clearInterval(every);
    if (!signal.aborted) say("");
  }
}

function context(signal) {
  return {
    source, state, href, go, say,
    get: (name, params = {}) => patiently(source.get(name, asked(params), signal), { signal }),
    ask: (name, params) => patiently(source.ask(name, asked(params), signal), { signal }),
    ended: (stop) => ends.push(stop),
    keep(params) {
      const own = Object.fromEntries(Object.entries(state).filter(([name]) => name !== "at" && name !== "lines" && !STAY.includes(name)));
      history.replaceState(null, "", href(state.at, { ...own, ...params }));
      Object.assign(state, params);
    },
  };
}

async function choosers(signal) {
  const found = await source.get("overview", asked({}), signal);
  title.textContent = found.title;
  state.lines = found.source;
  document.title = `${found.title} - KernBench`;
  const window = state.from || state.to ? [["", found.window]] : [];
  chooser.replaceChildren(
    source.live ? h("a", { class: "button", href: href("runs") }, `run ${found.run}`) : h("span", { class: "faint" }, `run ${found.run}`),
    source.live ? select("window", [...window, ...found.windows], window.length ? "" : state.launch || found.windows[0][0],
      (launch) => go(state.at, { ...Object.fromEntries(Object.entries(state).filter(([name]) => name !== "at" && name !== "lines")), launch, from: "", to: "" })) : h("span", { class: "faint" }, found.window));
}

async function render() {
  state = parsed();
  stopped.abort();
  stopped = new AbortController();
  const { signal } = stopped;
  ends.forEach((stop) => stop());
  ends = [];
  hideTip();
  say("");
  nav.replaceChildren(...VIEWS.filter(([name]) => name === "source" ? state.at === name : source.live || name !== "runs").map(([name, text]) =>
    h("a", { href: href(name), "aria-current": name === state.at ? "page" : null }, text)));
  nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  const [, name, view] = VIEWS.find(([one]) => one === state.at) || NOWHERE;
  const root = h("div", { class: `view ${state.at}`.trim() }, h("h2", {}, name));
  body.setAttribute("aria-busy", "true");
  const loading = h("p", { class: "faint loading", role: "status" }, `loading ${name.toLowerCase()} ...`);
  body.replaceChildren(root, loading);
  try {
    // A store without runs, or a wrong one in the address, is said in the view.
    if (state.at && state.at !== "runs") await choosers(signal);
    else title.textContent = "KernBench";
    if (signal.aborted) return;
    await view(root, context(signal));
  } catch (error) {
    if (signal.aborted || error.name === "AbortError") return;
    if (!(error instanceof Error) || error instanceof TypeError || error instanceof ReferenceError) console.error(error);
    put(root, h("p", { class: "bad", role: "alert" }, error.message),
      source.live ? h("p", {}, h("a", { href: "#runs" }, "all runs")) : null);
  } finally {
    loading.remove();
    if (!signal.aborted) {
      body.removeAttribute("aria-busy");
      body.dataset.shown = location.hash;
    }
  }
}

put(clear(page), h("a", { class: "skip", href: "#", onclick: (event) => { event.preventDefault(); body.focus(); } }, "to the content"),
  h("header", {}, title, chooser), nav, said, busy, body,
  source.madeBy ? h("footer", { class: "faint" }, source.madeBy) : null);
if (source.live) running(source, busy);
window.addEventListener("hashchange", render);
render();
