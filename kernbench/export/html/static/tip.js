// One tip for the whole page, beside the pointer.

import { h } from "./dom.js";

const tip = h("div", { class: "tip", role: "tooltip", hidden: true });

export function showTip(text, event) {
  if (!tip.isConnected) document.body.append(tip);
  tip.textContent = text;
  tip.hidden = false;
  const rect = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, window.innerWidth - rect.width - 8);
  const below = event.clientY + 18;
  const top = below + rect.height > window.innerHeight - 8 ? event.clientY - rect.height - 12 : below;
  tip.style.left = `${Math.max(left, 8)}px`;
  tip.style.top = `${Math.max(top, 8)}px`;
}

export function hideTip() {
  tip.hidden = true;
}
