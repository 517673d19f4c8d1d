// A part of a page with a title, or without where that of the page says it already.

import { h } from "./dom.js";

export function panel(title, ...content) {
  return h("section", { class: "panel" }, title ? h("h3", {}, title) : null, content);
}
