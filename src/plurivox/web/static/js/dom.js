// Creating and changing page elements. Text is inserted as text; no function parses markup.

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = ["value", "checked", "disabled"];

export function make(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

export function draw(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(node.dataset, value);
    else if (PROPERTIES.includes(name)) node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...presentNodes(children));
  return node;
}

const presentNodes = (children) =>
  children.flat(3).filter((child) => child !== null && child !== undefined && child !== false);

export const put = (place, ...children) => place.replaceChildren(...presentNodes(children));

export function change(node, text) {
  if (node.textContent !== text) node.textContent = text; // so that screen readers announce changes only
}

export const paragraphs = (text) =>
  text
    .trim()
    .split(/\n\s*\n/)
    .map((block) => make("p", {}, block));

export const button = (text, onclick, props = {}) =>
  make("button", { type: "button", class: "button", onclick, ...props }, text);
