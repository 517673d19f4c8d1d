// The machine: four views with pan and zoom, and a run's utilisation over time on top of them.

import { button, choice, clear, h, put, s, select } from "./dom.js";
import { number, percent } from "./format.js";
import { panZoom } from "./panzoom.js";
import { hideTip, showTip } from "./tip.js";

const LINE = 18, SIZE = 15; // as the picture was laid out for
const LEAST = 0.005;
const VIEWS = [["system", "system"], ["sip", "SIP"], ["cube", "cube"], ["pe", "PE"]];
const PLAY_MS = 250;
const LEAST_SIZE = [760, 420];
// Labels are never smaller at first; on a small screen a part of the picture is seen, and `fit` shows all.
const READABLE_PX = 11;

// In a file: which view shows a part of that name, and in which instance of it. A server says it itself.
function whereIs(name) {
  const at = name.split("->")[0].split(".");
  const within = at.filter((part) => /^(sip|cube|pe)\d+$/.test(part));
  if (/^pe\d+$/.test(at[2] || "") && at.length > 3) return ["pe", within.slice(0, 3).join(".")];
  if (/^cube\d+$/.test(at[1] || "") && at.length > 2) return ["cube", within.slice(0, 2).join(".")];
  if (/^sip\d+$/.test(at[0])) return ["sip", within[0]];
  return ["system", ""];
}

// The scale of all pictures, 0 to 100 %: colour and thickness.
function paint(picture, share) {
  const last = picture.steps.length - 1;
  if (!(share > 0)) return [picture.idle, 1.4];
  const step = Math.min(Math.floor(share * picture.steps.length * (1 - 1e-12)), last);
  return [picture.steps[step], 2.2 + 0.7 * step];
}

function lines(texts, x, y, anchor = "middle") {
  const first = y - LINE * (texts.length - 1) / 2;
  return texts.map((text, n) => s("text", { x, y: first + n * LINE + 5, "text-anchor": anchor }, text));
}

function drawn(picture) {
  const shapes = new Map();
  const labels = s("g", { class: "percents" });
  const wire = (one) => {
    const line = s("polyline", { class: "wire", points: one.points.map((p) => p.join(",")).join(" ") });
    const hit = s("polyline", { class: "hit", points: line.getAttribute("points") });
    shapes.set(one.id, { one, line, wire: true });
    return s("g", { class: "part", "data-id": one.id }, line, hit);
  };
  const box = (one) => {
    const x = one.x + one.w / 2, y = one.frame ? one.y + 6 + LINE * one.lines.length / 2 : one.y + one.h / 2;
    if (one.kind === "label") return s("g", {}, lines(one.lines, x, one.y + one.h / 2));
    const line = s("rect", { class: one.frame ? `frame ${one.kind}` : one.kind === "lost" ? "box lost" : "box", x: one.x, y: one.y, width: one.w,
      height: one.h, rx: one.frame ? 6 : 3, fill: one.fill });
    shapes.set(one.id, { one, line, wire: false });
    return s("g", { class: "part", "data-id": one.id }, line, lines(one.lines, x, y));
  };
  const frames = picture.boxes.filter((one) => one.frame), solid = picture.boxes.filter((one) => !one.frame);
  // A small view is not blown up to the size of the window.
  const pad = 12, across = Math.max(0, LEAST_SIZE[0] - picture.width) / 2 + pad, down = Math.max(0, LEAST_SIZE[1] - picture.height) / 2 + pad;
  const svg = s("svg", { class: "machine", role: "application", "aria-label":
    `${picture.topology}: ${picture.title}; arrow keys pan, + and - zoom, 0 shows all` },
  s("g", { transform: `translate(${across} ${down})` }, frames.map(box), picture.wires.map(wire), solid.map(box),
    picture.notes.map((note) => s("text", { x: note.x, y: note.y + 5, "text-anchor": note.anchor }, note.text)), labels));
  return { svg, shapes, labels, width: picture.width + 2 * across, height: picture.height + 2 * down, across, down };
}

function legend(picture, used) {
  const sample = (colour, thick, dashed, text) => h("span", { class: "sample" },
    s("svg", { width: 26, height: 10, "aria-hidden": "true" }, s("line", { x1: 0, x2: 26, y1: 5, y2: 5, stroke: colour,
      "stroke-width": thick, "stroke-dasharray": dashed ? "5 3" : null })), text);
  if (!used) return h("div", { class: "legend" }, picture.legend.map((e) => sample(e.colour, e.thick, e.dashed, e.text)));
  const count = picture.steps.length;
  return h("div", { class: "legend" }, sample(...paint(picture, 0), false, "idle"),
    picture.steps.map((_, n) => sample(...paint(picture, (n + 0.5) / count), false, `${n ? n * 100 / count : "over 0"} to ${(n + 1) * 100 / count} %`)));
}

// How busy the busiest part of the view was in each interval: where to stop the slider.
function strip(use, picture, edges) {
  const most = Array.from({ length: edges }, (_, n) => Math.max(0, ...Object.values(use.frames).map((frame) => frame[n])));
  return s("svg", { class: "strip", viewBox: `0 0 ${edges} 20`, preserveAspectRatio: "none", role: "img",
    "aria-label": "how busy the busiest part was over time" },
  most.map((share, n) => s("rect", { x: n + 0.05, width: 0.9, y: 20 - 20 * share, height: 20 * share, fill: paint(picture, share)[0] })));
}

export async function topology(root, ctx) {
  const part = ctx.state.part;
  const inside = (name) => ctx.source.has("machine", { view: shown, of: name });
  let shown = ctx.state.view || "", of = ctx.state.of || "";
  if (!shown && !ctx.source.live) {
    [shown, of] = part ? whereIs(part) : ["cube", ""];
    if (!inside("")) [shown, of] = ["system", ""];
  }
  if (!inside(of)) of = "";
  const { picture, use } = await ctx.get("machine", shown ? { view: shown, of } : { part });
  [shown, of] = [picture.view, picture.of];
  const bins = use.edges.length - 1;
  let frame = -1, coloured = true, playing = 0, chosen = "";

  const made = drawn(picture);
  const zoom = panZoom(made.svg, made.width, made.height);
  const detail = h("aside", { class: "detail", "aria-live": "polite" });
  const when = h("output", { class: "when" });
  const legendPlace = h("div");
  const slider = h("input", { type: "range", min: 0, max: bins - 1, value: 0, "aria-label": "time interval",
    oninput: () => { stop(); step(Number(slider.value)); } });
  const whole = button("whole window", "utilisation of the whole window", () => { stop(); step(-1); }, { "aria-pressed": "true" });
  const play = button("▶", "play the intervals one after the other", () => playing ? stop() : start());
  const kinds = h("label", { class: "check" }, h("input", { type: "checkbox", onchange: (event) => {
    coloured = !event.target.checked; colour(); } }), "kinds of links");

  const shareOf = (id) => (frame < 0 ? use.whole[id] : use.frames[id]?.[frame]) || 0;

  function colour() {
    made.labels.replaceChildren();
    for (const [id, { one, line, wire }] of made.shapes) {
      const share = shareOf(id);
      line.classList.toggle("chosen", id === chosen);
      if (!coloured) {
        line.setAttribute("stroke", wire ? one.colour : "#52606d");
        line.setAttribute("stroke-width", wire ? one.thick : 1);
        line.setAttribute("stroke-dasharray", wire && one.dashed ? "5 3" : "none");
        continue;
      }
      const [ink, thick] = wire || share > 0 ? paint(picture, share) : ["#52606d", 1];
      line.setAttribute("stroke", ink);
      line.setAttribute("stroke-width", thick);
      line.setAttribute("stroke-dasharray", "none");
      const place = use.places[id];
      if (place && share >= LEAST) made.labels.append(s("text", { x: place[0], y: place[1] + 4.3, "text-anchor": "middle" }, `${Math.round(share * 100)}%`));
    }
    legendPlace.replaceChildren(legend(picture, coloured));
    tell();
  }

  function step(to) {
    frame = to;
    whole.setAttribute("aria-pressed", String(frame < 0));
    const [a, b] = frame < 0 ? [use.edges[0], use.edges[bins]] : [use.edges[frame], use.edges[frame + 1]];
    const text = frame < 0 ? `${use.window}: ${number(use.ns)} ns` : `${number(a)} to ${number(b)} ns`;
    when.textContent = text;
    slider.setAttribute("aria-valuetext", text);
    if (frame >= 0) slider.value = frame;
    marks.style.setProperty("--at", frame < 0 ? "-1" : String((frame + 0.5) / bins));
    colour();
  }

  function start() {
    play.textContent = "⏸";
    playing = setInterval(() => step((frame + 1) % bins), PLAY_MS);
    ctx.ended(stop);
  }

  function stop() {
    clearInterval(playing);
    playing = 0;
    play.textContent = "▶";
  }

  function about(id) {
    const { one, wire } = made.shapes.get(id);
    const share = shareOf(id);
    return `${one.tip || one.id}\n${wire || one.parts ? `utilisation ${percent(share)}${one.parts > 1 || wire ? ", of its busiest member" : ""}` : ""}`.trim();
  }

  function tell() {
    if (!chosen) {
      detail.replaceChildren(h("p", { class: "faint" }, "Click a part or a link, or find one by name, for what it is and its utilisation."));
      return;
    }
    const busiest = use.busiest[chosen] || [];
    put(clear(detail), h("h3", {}, chosen.replace("--", " – ")), h("p", { class: "lines" }, about(chosen)),
      busiest.length ? h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, `busiest in ${use.window}`), h("th", { scope: "col" }, "utilisation"))),
        h("tbody", {}, busiest.map(([name, share]) => h("tr", {}, h("td", {}, name), h("td", { class: "number" }, percent(share)))))) : h("p", { class: "faint" }, "not used in this run"),
      busiest.length ? h("p", {}, h("a", { href: ctx.href("timeline", { find: busiest[0][0] }) }, "on the timeline")) : null,
      chosen !== of && picture.instances.includes(chosen) && inside(chosen) ? h("p", {}, h("a", { href: ctx.href("topology", { view: shown, of: chosen }) }, "open it")) : null);
  }

  function middleOf(id) {
    if (!made.shapes.has(id)) return [made.width / 2, made.height / 2];
    const { one, wire } = made.shapes.get(id);
    const [x, y] = wire ? one.points[Math.floor(one.points.length / 2)] : [one.x + one.w / 2, one.y + one.h / 2];
    return [x + made.across, y + made.down];
  }

  function choose(id, centred) {
    chosen = made.shapes.has(id) ? id : "";
    if (chosen && centred) zoom.centre(...middleOf(chosen));
    colour();
  }

  function find(name) {
    const text = name.trim();
    if (!text) return;
    const owns = Object.entries(use.busiest).find(([, names]) => names.some(([one]) => one === text));
    const last = text.split(/[.]/).at(-1);
    const id = made.shapes.has(text) ? text : owns ? owns[0] : [...made.shapes.keys()].find((key) => key === last)
      || [...made.shapes.keys()].find((key) => key.includes(text));
    if (id) choose(id, true);
    else ctx.say(`nothing here is called '${text}'`);
  }

  made.svg.addEventListener("pointermove", (event) => {
    const id = event.target.closest?.("[data-id]")?.dataset.id;
    if (id && made.shapes.has(id)) showTip(about(id), event);
    else hideTip();
  });
  made.svg.addEventListener("pointerleave", hideTip);
  made.svg.addEventListener("click", (event) => {
    const id = event.target.closest?.("[data-id]")?.dataset.id;
    if (id) choose(id, false);
  });

  const names = h("datalist", { id: "parts" }, [...made.shapes.keys()].map((key) => h("option", { value: key })));
  const marks = h("div", { class: "marks" }, strip(use, picture, bins), slider);
  put(root,
    h("div", { class: "tools" },
      choice("view", VIEWS.filter(([view]) => picture.views.includes(view)), shown, (view) => ctx.go("topology", { view, of: "", part: "" })),
      picture.instances.length ? select("which", [["", shown === "system" ? "the whole machine" : "all as one"], ...picture.instances.filter(inside).map((name) => [name, name])], of,
        (name) => ctx.go("topology", { view: shown, of: name, part: "" })) : null,
      h("label", { class: "field" }, h("span", {}, "find"), h("input", { type: "search", list: "parts", placeholder: "part or link",
        onchange: (event) => find(event.target.value) })), names,
      kinds,
      h("span", { class: "zoom" }, button("+", "zoom in", zoom.zoomIn), button("−", "zoom out", zoom.zoomOut), button("fit", "show all", zoom.fit))),
    h("div", { class: "over-time" }, play, marks, whole, when),
    h("div", { class: "stage" }, h("div", { class: "paper", style: { "--picture": `${Math.round(made.height * READABLE_PX / SIZE)}px` } }, made.svg), detail),
    legendPlace,
    h("p", { class: "faint" }, `${picture.title}: ${picture.facts.join(", ")}. ${picture.remarks.join(" ")} Utilisation: the share of what a link or part could have done; where several are drawn as one, that of its busiest member, a part or a link within.`));
  step(-1);
  const [busiest] = Object.entries(use.whole).sort(([, a], [, b]) => b - a)[0] || [];
  zoom.atLeast(READABLE_PX / SIZE, middleOf(busiest));
  if (part) find(part);
}
