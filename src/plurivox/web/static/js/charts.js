// Small charts as SVG, each with its numbers in a table behind it. Sizes are in the chart's own units; pages scale it.
import { draw, make } from "./dom.js";

const narrow = () => matchMedia("(max-width: 760px)").matches; // a phone: a smaller chart, whose letters stay readable
const size = () => (narrow() ? 340 : 560);

function figure(title, note, picture, head, rows) {
  const cells = (row, tag) =>
    row.map((cell, at) =>
      make(at ? "td" : tag, at ? { class: "number" } : { scope: tag === "th" && "row" }, String(cell)),
    );
  const table = make(
    "table",
    { class: "small" },
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        head.map((name) => make("th", { scope: "col" }, name)),
      ),
    ),
    make(
      "tbody",
      {},
      rows.map((row) => make("tr", {}, cells(row, "th"))),
    ),
  );
  const behind = make(
    "details",
    { class: "small" },
    make("summary", {}, "As a table"),
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${title}, as a table` }, table),
  );
  const heading = make("figcaption", {}, make("h2", {}, title), note && make("p", { class: "quiet small" }, note));
  return make(
    "figure",
    { class: "chart card" },
    heading,
    rows.length ? picture : make("p", { class: "quiet" }, "Nothing to show yet."),
    rows.length ? behind : null,
  );
}

const frame = (title, height, ...parts) =>
  draw("svg", { viewBox: `0 0 ${size()} ${height}`, role: "img", "aria-label": title, class: "plot" }, parts);
const text = (x, y, words, props = {}) => draw("text", { x, y, ...props }, words);
const line = (x1, y1, x2, y2, name = "axis") => draw("line", { x1, y1, x2, y2, class: name });
export const short = (words, most) => (words.length > most ? `${words.slice(0, most - 1)}…` : words);
export const tidy = (value) =>
  value === null || value === undefined
    ? "–"
    : Math.abs(value) >= 100
      ? String(Math.round(value))
      : String(Number(value.toPrecision(3)));

export function steps(most, about = 4) {
  // Round numbers from 0 to at least `most`.
  if (!(most > 0)) return [0, 1];
  const rough = most / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= rough);
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, at) => Number((at * step).toPrecision(6)));
}

const span = (values) => (values.length ? `${values.length} values from ${tidy(Math.min(...values))} to ${tidy(Math.max(...values))}` : "");
const listed = (rows, most = 12) =>
  rows.slice(0, most).map(([name, words]) => `${name} ${words}`).join("; ") + (rows.length > most ? `; and ${rows.length - most} more` : "");
const letter = 6.6; // about the width of one, in the chart's units
const roomFor = (names, most) => Math.min(most, Math.max(...names.map((name) => name.length), 3) * letter + 20); // names at the left
const unit = (words) => (words ? text(4, 12, words, { class: "unit" }) : null); // what the numbers at the left count

export function columnChart({ title, note = "", bars, x = "", y = "" }) {
  // Upright bars; `bars` are [name, value], perhaps with a shorter name for the axis.
  const width = size();
  const [left, top, low, height] = [48, 24, 184, 222];
  const ticks = steps(Math.max(...bars.map(([, value]) => value), 0));
  const room = (width - left - 8) / Math.max(bars.length, 1);
  const rise = (value) => ((low - top) * value) / ticks.at(-1);
  const longest = Math.max(...bars.map(([name, , brief = name]) => brief.length), 1);
  const every = longest > 8 ? Math.ceil((longest * letter) / room) : Math.ceil(bars.length / (narrow() ? 6 : 10));
  const letters = Math.max(4, Math.floor((room * every) / letter));
  const grid = ticks.map((tick) => [
    line(left, low - rise(tick), width - 8, low - rise(tick), "rule"),
    text(left - 6, low - rise(tick) + 4, tidy(tick), { "text-anchor": "end" }),
  ]);
  const columns = bars.map(([name, value, brief = name], at) => [
    draw(
      "rect",
      {
        class: "mark",
        x: left + at * room + room * 0.1,
        y: low - rise(value),
        width: room * 0.8,
        height: rise(value),
        rx: 2,
      },
      draw("title", {}, `${name}: ${tidy(value)}`),
    ),
    at % every ? null : text(left + (at + 0.5) * room, low + 16, short(brief, letters), { "text-anchor": "middle" }),
  ]);
  const plot = frame(
    `${title}: ${y || "value"} by ${x || "name"}, ${span(bars.map(([, value]) => value))}`,
    height,
    unit(y),
    grid.flat(),
    columns.flat(),
    line(left, low, width - 8, low),
    text((left + width) / 2, height - 2, x, { "text-anchor": "middle", class: "name" }),
  );
  return figure(
    title,
    note,
    plot,
    [x || "name", y || "value"],
    bars.map(([name, value]) => [name, tidy(value)]),
  );
}

export function rowChart({ title, note = "", bars, x = "", y = "" }) {
  // Bars that lie, for long names; `bars` are [name, count], the largest first.
  const width = size();
  const [widest, step, letters] = narrow() ? [130, 26, 17] : [190, 26, 26];
  const left = roomFor(bars.map(([name]) => name), widest);
  const most = Math.max(...bars.map(([, value]) => value), 1);
  const base = bars.length * step + 4;
  const rows = bars.map(([name, value], place) => {
    const length = ((width - left - 50) * value) / most;
    const middle = place * step + step / 2;
    return [
      text(left - 10, middle + 4, short(name, letters), { "text-anchor": "end", class: "name" }),
      draw("rect", { class: "mark", x: left, y: middle - 8, width: length, height: 16, rx: 2 }),
      text(left + length + 8, middle + 4, tidy(value), { class: "name" }),
    ];
  });
  return figure(
    title,
    note,
    frame(
      `${title}: ${y} by ${x}. ${listed(bars.map(([name, value]) => [name, tidy(value)]))}`,
      base + 20,
      rows.flat(),
      line(left, 0, left, base),
      text(left, base + 14, y, { class: "name" }),
    ),
    [x, y],
    bars.map(([name, value]) => [name, tidy(value)]),
  );
}

export function rangeChart({ title, note = "", rows, x = "share", y = "label" }) {
  // A dot with an interval for each name: rows are {name, value, low, high}; an interval may be missing.
  const width = size();
  const [widest, step, letters] = narrow() ? [100, 30, 13] : [150, 30, 20];
  const left = roomFor(rows.map(({ name }) => name), widest);
  const largest = Math.max(...rows.map(({ value, high = value }) => high), 0);
  const most = [0.2, 0.4].find((one) => largest <= one) ?? 1;
  const base = rows.length * step + 8;
  const at = (value) => left + (width - left - 56) * Math.min(1, Math.max(0, value / most));
  const grid = (narrow() ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]).map((part) => part * most).map((tick) => [
    line(at(tick), 4, at(tick), base, "rule"),
    text(at(tick), base + 16, `${tidy(tick * 100)}%`, { "text-anchor": "middle" }),
  ]);
  const marks = rows.map(({ name, value, low, high }, place) => {
    const y = place * step + step / 2 + 4;
    const span =
      low === undefined
        ? null
        : [
            line(at(low), y, at(high), y, "span"),
            line(at(low), y - 5, at(low), y + 5, "span"),
            line(at(high), y - 5, at(high), y + 5, "span"),
          ];
    return [
      text(left - 10, y + 4, short(name, letters), { "text-anchor": "end", class: "name" }),
      draw("rect", { class: "soft", x: at(0), y: y - 8, width: at(value) - at(0), height: 16, rx: 2 }),
      span,
      draw("circle", { class: "mark", cx: at(value), cy: y, r: 5 }),
      text(width - 48, y + 4, `${Math.round(value * 100)}%`, { class: "name" }),
    ];
  });
  const told = rows.map(({ name, value, low, high }) => [
    name,
    `${Math.round(value * 100)}%${low === undefined ? "" : ` (${Math.round(low * 100)} to ${Math.round(high * 100)}%)`}`,
  ]);
  const axis = text((at(0) + at(most)) / 2, base + 34, x, { "text-anchor": "middle", class: "name" });
  const plot = frame(`${title}: ${x} by ${y}. ${listed(told)}`, base + 38, grid.flat(), marks.flat(2), axis);
  const table = rows.map(({ name, value, low, high }) => [
    name,
    tidy(value),
    ...(low === undefined ? [] : [`${tidy(low)} to ${tidy(high)}`]),
  ]);
  return figure(
    title,
    note,
    plot,
    [y, x, ...(rows[0]?.low === undefined ? [] : ["95% interval"])],
    table,
  );
}

export function lineChart({ title, note = "", points, x = "", y = "", most = 0, name = tidy }) {
  const width = size();
  // `points` are [x, y]; the axis goes up to `most` at least, `name` says how x is written.
  const [left, top, low, height] = [48, 24, 184, 222];
  const ticks = steps(Math.max(...points.map(([, value]) => value), most));
  const [first, last] = [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 1];
  const across = (value) => left + ((width - left - 16) * (value - first)) / (last - first || 1);
  const up = (value) => low - ((low - top) * value) / ticks.at(-1);
  const grid = ticks.map((tick) => [
    line(left, up(tick), width - 8, up(tick), "rule"),
    text(left - 6, up(tick) + 4, tidy(tick), { "text-anchor": "end" }),
  ]);
  const apart = Math.max(40, Math.max(...points.map(([value]) => name(value).length), 1) * letter + 6);
  let end = -apart;
  const names = points
    .filter(([value]) => across(value) - end >= apart && ((end = across(value)), true)) // names do not touch each other
    .map(([value]) => text(across(value), low + 16, name(value), { "text-anchor": "middle" }));
  const path = draw("polyline", {
    class: "trace",
    points: points.map(([a, b]) => `${across(a).toFixed(1)},${up(b).toFixed(1)}`).join(" "),
  });
  const dots = points.map(([a, b]) =>
    draw("circle", { class: "mark", cx: across(a), cy: up(b), r: 3.5 }, draw("title", {}, `${name(a)}: ${tidy(b)}`)),
  );
  const plot = frame(
    `${title}: ${y} by ${x}, ${span(points.map(([, value]) => value))}`,
    height,
    unit(y),
    grid.flat(),
    names,
    path,
    dots,
    line(left, low, width - 8, low),
    text((left + width) / 2, height - 2, x, { "text-anchor": "middle", class: "name" }),
  );
  return figure(
    title,
    note,
    plot,
    [x, y],
    points.map(([a, b]) => [name(a), tidy(b)]),
  );
}

export function linesChart({ title, note = "", lines, x = "", y = "" }) {
  // Several lines from 0 to 1 over the same axis, each with its name at its end and a dash of its own; points are [x, y].
  const [left, right, top, low, height, width] = [44, narrow() ? 90 : 130, 24, 214, 250, size()];
  const all = lines.flatMap((one) => one.points);
  const [ticks, sides] = [steps(Math.max(...all.map(([value]) => value), 0)), [0, 0.25, 0.5, 0.75, 1]];
  const across = (value) => left + ((width - left - right) * value) / ticks.at(-1);
  const up = (value) => low - (low - top) * value;
  const grid = [
    sides.map((tick) => [
      line(left, up(tick), width - right, up(tick), "rule"),
      text(left - 6, up(tick) + 4, `${tick * 100}%`, { "text-anchor": "end" }),
    ]),
    ticks.map((tick) => text(across(tick), low + 16, tidy(tick), { "text-anchor": "middle" })),
  ];
  const ends = lines.map((one) => up(one.points.at(-1)[1]) + 4);
  const order = ends.map((_, at) => at).sort((a, b) => ends[a] - ends[b]);
  order.forEach((at, place) => place && (ends[at] = Math.max(ends[at], ends[order[place - 1]] + 15))); // names apart
  const drawn = lines.map(({ name, points }, at) => [
    draw("polyline", {
      class: "trace",
      "stroke-dasharray": ["", "7 4", "2 4", "9 3 2 3"][at % 4],
      points: points.map(([a, b]) => `${across(a).toFixed(1)},${up(b).toFixed(1)}`).join(" "),
    }),
    points.map(([a, b]) =>
      draw("circle", { class: "mark", cx: across(a), cy: up(b), r: 3.5 }, draw("title", {}, `${name}, ${tidy(a)}: ${tidy(b)}`)),
    ),
    text(across(points.at(-1)[0]) + 9, ends[at], short(name, 16), { class: "name" }),
  ]);
  const axis = line(left, low, width - right, low);
  const below = text((left + width - right) / 2, height - 2, x, { "text-anchor": "middle", class: "name" });
  const rows = lines.flatMap(({ name, points }) => points.map((point) => [name, ...point.map(tidy)]));
  const ended = listed(lines.map(({ name, points }) => [name, `reaches ${tidy(points.at(-1)[1])} at ${tidy(points.at(-1)[0])}`]));
  const plot = frame(`${title}: ${y} by ${x}. ${ended}`, height, unit(y), grid.flat(2), drawn.flat(2), axis, below);
  return figure(title, note, plot, ["name", x, y], rows);
}
