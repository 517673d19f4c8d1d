// The overview of a run; a file says what is not in it.

import { h, put } from "./dom.js";
import { panel } from "./panel.js";
import { screen } from "./screen.js";

const LEFT_OUT = "Windows other than this one, SIPs, cubes and PEs by name beyond the busiest three, PEs and links that the timeline leaves out, questions with parameters of one's own, free Cypher, and other runs.";
const described = screen("overview", "Overview");

export async function overview(root, ctx) {
  await described(root, ctx);
  if (!ctx.source.live) put(root, panel("Not in this file", h("p", {}, `${LEFT_OUT} 'kernbench web', where run ${ctx.source.run} is kept, shows them.`)));
}
