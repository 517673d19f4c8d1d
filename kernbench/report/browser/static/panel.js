// A titled part of a page.

import { h } from "./dom.js";

export function panel(title, ...content) {
  return h("section", { class: "panel" }, h("h3", {}, title), content);
}
