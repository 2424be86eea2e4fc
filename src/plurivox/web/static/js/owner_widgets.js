// Building blocks of the owner's pages: number and time formats, tables, meters, share bars, search form.
import { make } from "./dom.js";

export const percent = (share) => (share === null || share === undefined ? "–" : `${Math.round(share * 100)}%`);
export const seconds = (value) =>
  value === null || value === undefined
    ? "–"
    : value < 90
      ? `${value.toFixed(value >= 0.05 && value < 9.95 ? 1 : 0)} s`
      : `${Math.round(value / 60)} min`;
export const fixed = (value, digits = 2) => (value === null || value === undefined ? "–" : value.toFixed(digits));
export const count = (value) => value.toLocaleString("en");
export const people = (n) => `${count(n)} ${n === 1 ? "person" : "people"}`;

export function when(stamp) {
  if (!stamp) return "never";
  const ago = Date.now() / 1000 - stamp;
  if (ago < 90) return "just now";
  if (ago < 5400) return `${Math.round(ago / 60)} min ago`;
  if (ago < 86400) return `${Math.round(ago / 3600)} h ago`;
  return new Date(stamp * 1000).toISOString().slice(0, 16).replace("T", " ");
}

export function table(name, head, rows, { sorts = {}, order = "", help = {}, here = -1, empty = "There are no entries yet." } = {}) {
  // A table. `head` are column names, with "#" before numeric ones; cells are texts or nodes. `sorts` maps a column name to the
  // address and key of its sort order, `help` to its meaning (show it with `explained` too); `here` is the index of the row to
  // highlight.
  const numeric = head.map((one) => one.startsWith("#"));
  const top = head.map((one, at) => {
    const [text, sort] = [one.replace("#", ""), sorts[one.replace("#", "")]];
    const is = sort && sort.key === order;
    return make(
      "th",
      {
        scope: "col",
        class: numeric[at] && "number",
        "aria-sort": is && sort.way,
        title: help[text],
        "aria-describedby": help[text] && helpId(text),
      },
      sort ? make("a", { href: sort.to, class: "sort" }, text) : text,
    );
  });
  const body = rows.map((row, place) =>
    make(
      "tr",
      { class: place === here && "here" },
      row.map((cell, at) => make("td", { class: numeric[at] && "number" }, cell)),
    ),
  );
  const inside = rows.length
    ? make("table", {}, make("thead", {}, make("tr", {}, top)), make("tbody", {}, body))
    : make("p", { class: "quiet pad" }, empty);
  return make("div", { class: "card scroll", tabindex: "0", role: "region", "aria-label": name }, inside);
}

const helpId = (column) => `help-${column.toLowerCase().replaceAll(" ", "-")}`;

// What the columns of a table mean, to open by mouse, touch or keyboard; `help` maps a column name to its meaning.
export const explained = (title, help) =>
  make(
    "details",
    { class: "card explained" },
    make("summary", {}, title),
    make(
      "dl",
      { class: "facts small" },
      Object.entries(help).map(([column, meaning]) => [make("dt", {}, column), make("dd", { id: helpId(column) }, meaning)]),
    ),
  );

export function meter(name, done, total) {
  const share = total ? Math.min(1, done / total) : 0;
  const fill = make("span", {});
  fill.style.width = `${share * 100}%`;
  return make(
    "div",
    {
      class: "meter",
      role: "progressbar",
      "aria-label": name,
      "aria-valuenow": Math.round(share * 100),
      "aria-valuemin": "0",
      "aria-valuemax": "100",
    },
    fill,
  );
}

export function figureCard(value, name, more = null) {
  return make(
    "div",
    { class: "card figure" },
    make("strong", { class: "number" }, value),
    make("span", { class: "quiet small" }, name),
    more,
  );
}

export function shareBar(top) {
  // The most probable labels of a task as a bar and as text.
  const parts = top.map(({ p }, at) => {
    const piece = make("span", { data: { rank: at } });
    piece.style.width = `${p * 100}%`;
    return piece;
  });
  const words = top.map(({ label, p }) => `${label}\u00a0${percent(p)}`).join(" · "); // a label and its share on one line
  return make(
    "div",
    { class: "sharebar" },
    make("div", { class: "pieces", "aria-hidden": "true" }, parts),
    make("span", { class: "small" }, words || "no label named yet"),
  );
}

export const truthAndPeople = (truth, people) =>
  // Both soft labels of a task, one below the other, so that their bars can be compared.
  make(
    "dl",
    { class: "pair" },
    [["Truth", truth, "not computed yet"], ["People", people, ""]].map(([name, top, none]) => [
      make("dt", { class: "small quiet" }, name),
      make("dd", {}, top.length || !none || !people.length ? shareBar(top) : make("span", { class: "small quiet" }, none)),
    ]),
  );

export function said(answer) {
  // An answer as text.
  if (answer.abstain) return "can't tell";
  if (answer.none_of_these) return "none of these";
  const kind = (name) => answer.marks.filter((mark) => mark.kind === name);
  const named = kind("named")
    .map((mark) => (mark.typed ? `${mark.label || "no label"} ${mark.typed}%` : mark.label))
    .join(", ");
  const rest = [
    ["never", "not"],
    ["possible", "also"],
  ].map(([name, word]) =>
    kind(name).length
      ? `${word} ${kind(name)
          .map((mark) => mark.label)
          .join(", ")}`
      : "",
  );
  return [named, ...rest].filter(Boolean).join("; ");
}

export const titled = (name) => (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll("-", " ");
// The flags of an answer as sentences; `meanings` maps a flag to its sentence.
export const flagList = (names, meanings) =>
  names.length ? make("ul", { class: "flags small" }, names.map((name) => make("li", {}, meanings[name]))) : null;
export const badges = (names) => names.map((name) => make("span", { class: "badge" }, name.replaceAll("-", " ")));

export const page = (title, tools, ...parts) => [
  make("div", { class: "pagehead" }, make("h1", { tabindex: "-1" }, title), make("div", { class: "row" }, tools)),
  ...parts,
];

export function searchForm(label, value, found) {
  // A search form; calls `found` with the text when it is submitted.
  const input = make("input", { type: "search", id: "find", value, maxlength: "200", autocomplete: "off" });
  const send = (event) => (event.preventDefault(), found(input.value.trim()));
  return make(
    "form",
    { class: "find row", role: "search", onsubmit: send },
    make("label", { for: "find", class: "small quiet" }, label),
    input,
    make("button", { class: "button" }, "Find"),
  );
}

// Notes at the top of every page: alerts, and whether the figures are being recomputed.
export const alertNotes = ({ troubles, recomputing }) => [
  ...troubles.map(({ what, since, to_do: advice }) =>
    make("p", { class: "note bad trouble", role: "status" }, make("span", {}, since ? `${what} (since ${when(since)}) ${advice}` : `${what} ${advice}`)),
  ),
  recomputing &&
    make(
      "p",
      { class: "note calm recomputing", role: "status" },
      make("span", {}, "A worker was excluded or an exclusion was lifted: soft labels, scores and times are being recomputed. The figures shown are from before."),
    ),
];

export const query = (values) => new URLSearchParams(Object.entries(values).filter(([, one]) => one)).toString();

// A link to the next part of a list.
export const more = (next, to) =>
  next ? make("p", {}, make("a", { class: "button", href: `#/${to}${encodeURIComponent(next)}` }, "More")) : null;
