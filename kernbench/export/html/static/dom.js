// Elements without markup: a text never becomes HTML, whatever users call things.

const SVG = "http://www.w3.org/2000/svg";

// Put children at the end of an element; null and false stand for none.
export function put(element, ...children) {
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function clear(element) {
  element.replaceChildren();
  return element;
}

function filled(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  return put(element, children);
}

// An HTML element; `props` are attributes, `on...` listeners and `style` an object of CSS properties.
export function h(tag, props = {}, ...children) {
  return filled(document.createElement(tag), props, children);
}

// The same of SVG.
export function s(tag, props = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

// A button with a text, or with a sign and what it does for those who cannot see it.
export function button(text, does, press, props = {}) {
  return h("button", { type: "button", title: does, "aria-label": does, onclick: press, ...props }, text);
}

// A choice of one of a few: radio buttons that look like one bar. `chosen` is called with the new value.
export function choice(name, options, value, chosen) {
  return h("fieldset", { class: "choice" }, h("legend", {}, name), options.map(([key, text]) =>
    h("label", {}, h("input", { type: "radio", name: `choice-${name}`, value: key, checked: key === value,
      onchange: () => chosen(key) }), h("span", {}, text))));
}

// A drop-down list with its name.
export function select(name, options, value, chosen) {
  const list = h("select", { onchange: (event) => chosen(event.target.value) }, options.map(([key, text]) =>
    h("option", { value: key, selected: key === value }, text)));
  return h("label", { class: "field" }, h("span", {}, name), list);
}
