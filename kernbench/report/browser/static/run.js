// One run: overview and critical path, as tables and bars.

import { choice, h, put, s } from "./dom.js";
import { number } from "./format.js";
import { panel } from "./panel.js";
import { shares, table } from "./table.js";
import { hideTip, showTip } from "./tip.js";

const CAUSES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7b8794", "#a05195", "#665191"];

const LEFT_OUT = "Windows other than this one, SIPs, cubes and PEs by name beyond the busiest three, PEs and links that the timeline leaves out, questions with parameters of one's own, free Cypher, and other runs.";

export async function overview(root, ctx) {
  const data = await ctx.get("overview");
  put(root,
    h("dl", { class: "facts" }, data.facts.map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, text)))),
    data.races.length ? panel("Races", data.races.map((text) => h("p", { class: "bad" }, text))) : null,
    panel("Launches", table(data.launches, ctx, "launches"),
      data.setup_ns > 0 ? h("p", { class: "faint" }, `${number(data.setup_ns)} ns of the run are setup, outside of launches`) : null),
    h("div", { class: "pair" },
      panel("Where the time went", h("p", { class: "faint" }, `The critical path of ${data.window}, by cause.`), shares(data.causes, data.ns, "time by cause")),
      panel("By source line", h("p", { class: "faint" }, "The same by line of the kernel."), shares(data.lines, data.ns, "time by source line"))),
    panel("Busiest parts", h("p", { class: "faint" }, "Links, engines, memories and routers together. Utilisation is the share of what a part could have done, occupancy the share of the time for which something was there."), table(data.busiest, ctx, "busiest parts")),
    panel("Waited for longest", h("p", { class: "faint" }, "The same by wait_ns: what transactions and operations waited for the part."), table(data.waited, ctx, "parts that were waited for longest")),
    ctx.source.live ? null : panel("Not in this file", h("p", {}, `${LEFT_OUT} 'kernbench web', where run ${ctx.source.run} is kept, shows them.`)));
}

export async function path(root, ctx) {
  const data = await ctx.get("path");
  const order = data.causes.map(([name]) => name);
  const colour = (name) => CAUSES[order.indexOf(name) % CAUSES.length];
  const wide = 1000;
  const end = data.strip.length ? data.strip.at(-1)[1] : data.start_ns;
  const begin = data.strip.length ? data.strip[0][0] : data.start_ns;
  const x = (ns) => (end > begin ? (ns - begin) / (end - begin) * wide : 0);
  const strip = s("svg", { class: "path-strip", viewBox: `0 0 ${wide} 40`, preserveAspectRatio: "none", role: "img",
    "aria-label": "the critical path over time, by cause" },
  data.strip.map(([a, b, cause], n) => s("rect", { x: x(a), width: Math.max(x(b) - x(a), 0.4), y: 0, height: 40, fill: colour(cause), "data-n": n })));
  strip.addEventListener("pointermove", (event) => {
    const one = data.strip[event.target.dataset?.n];
    if (one) showTip(`${one[2]}\n${number(one[0])} to ${number(one[1])} ns: ${number(one[1] - one[0])} ns`, event);
    else hideTip();
  });
  strip.addEventListener("pointerleave", hideTip);
  const by = { causes: "cause", locations: "location", lines: "source line" };
  const place = h("div");
  const show = (key) => place.replaceChildren(shares(data[key], data.ns, `time by ${by[key]}`));
  put(root,
    h("p", {}, `${number(data.ns)} ns: the chain of work and waiting that makes this time.`),
    strip, h("div", { class: "legend" }, order.map((name) => h("span", { class: "sample" }, h("i", { class: "swatch", style: { background: colour(name) } }), name))),
    choice("by", Object.entries(by), "causes", show), place,
    panel("Steps", table(data.steps, ctx, "steps of the critical path")));
  show("causes");
}
