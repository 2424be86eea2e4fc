// Charts as SVG, each with its numbers in a table below. Sizes are in SVG user units; the page scales the chart.
import { draw, make } from "./dom.js";

const narrow = () => matchMedia("(max-width: 760px)").matches; // phones get a smaller chart with readable text
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
    make("summary", {}, "Show as a table"),
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
  // Axis ticks: round numbers from 0 to at least `most`.
  if (!(most > 0)) return [0, 1];
  const rough = most / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= rough);
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, at) => Number((at * step).toPrecision(6)));
}

function rangeText(values) {
  if (values.length < 2) return values.map(tidy).join("");
  return `${values.length} values from ${tidy(Math.min(...values))} to ${tidy(Math.max(...values))}`;
}

const listText = (rows, most = 12) =>
  rows.slice(0, most).map(([name, words]) => `${name} ${words}`).join("; ") + (rows.length > most ? `; and ${rows.length - most} more` : "");
const letter = 7.4; // width of a wide letter in SVG units
const nameWidth = (names, most) => Math.min(most, Math.max(...names.map((name) => name.length), 3) * letter + 20); // width of the names at the left

function namesBelow(y, places, apart = 0) {
  // Names under an axis, [x, words]: moved inwards at the edges of the chart, left out if they would overlap.
  let [last, end] = [-1000, -1000];
  return places.map(([x, words]) => {
    const half = (words.length * letter) / 2;
    const middle = Math.max(half + 2, Math.min(size() - half - 2, x));
    if (middle - half < end + 6 || middle - last < apart) return null;
    [last, end] = [middle, middle + half];
    return text(middle, y, words, { "text-anchor": "middle" });
  });
}

const unit = (words) => (words ? text(4, 14, words, { class: "unit" }) : null); // unit of the y axis

const UPRIGHT = { left: 48, top: 24, low: 184, height: 222 }; // position of the axes

function uprightPlot({ title, x, y, values, most = 0 }, inside) {
  // Axes with ticks at the left and the name of x below; `inside(up)` returns the marks, `up` maps a value to its y coordinate.
  const { left, top, low, height } = UPRIGHT;
  const right = size() - 8;
  const ticks = steps(Math.max(...values, most));
  const up = (value) => low - ((low - top) * value) / ticks.at(-1);
  const grid = ticks.map((tick) => [
    line(left, up(tick), right, up(tick), "rule"),
    text(left - 6, up(tick) + 4, tidy(tick), { "text-anchor": "end" }),
  ]);
  const axis = line(left, low, right, low);
  const under = text((left + size()) / 2, height - 6, x, { "text-anchor": "middle", class: "name" });
  const told = `${title}: ${y || "value"} by ${x || "name"}, ${rangeText(values)}`;
  return frame(told, height, unit(y), grid.flat(), inside(up), axis, under);
}

export function columnChart({ title, note = "", bars, x = "", y = "" }) {
  // Column chart; `bars` are [name, value] or [name, value, short name for the axis].
  const { left, low } = UPRIGHT;
  const space = (size() - left - 8) / Math.max(bars.length, 1);
  const wide = Math.min(space * 0.8, 64); // a single column is not too wide
  const middle = (at) => left + (at + 0.5) * space;
  const names = bars.map(([name, , brief = name], at) => [middle(at), brief]);
  const longest = Math.max(...names.map(([, words]) => words.length), 1);
  const every = Math.max(Math.ceil(bars.length / (narrow() ? 6 : 10)), Math.ceil((longest * letter + 6) / space)); // every n-th name
  const below = namesBelow(low + 16, names.filter((_, at) => at % every === 0));
  const column = (up, value, at) => ({ x: middle(at) - wide / 2, y: up(value), width: wide, height: low - up(value), rx: 2 });
  const plot = uprightPlot({ title, x, y, values: bars.map(([, value]) => value) }, (up) => [
    ...bars.map(([name, value], at) =>
      draw("rect", { class: "mark", ...column(up, value, at) }, draw("title", {}, `${name}: ${tidy(value)}`)),
    ),
    ...below,
  ]);
  return figure(title, note, plot, [x || "name", y || "value"], bars.map(([name, value]) => [name, tidy(value)]));
}

export function rowChart({ title, note = "", bars, x = "", y = "" }) {
  // Horizontal bar chart, for long names; `bars` are [name, count], the largest first.
  const width = size();
  const [widest, step, letters] = narrow() ? [130, 26, 17] : [190, 26, 26];
  const left = nameWidth(bars.map(([name]) => name), widest);
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
      `${title}: ${y} by ${x}. ${listText(bars.map(([name, value]) => [name, tidy(value)]))}`,
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
  // Dot plot with intervals: rows are {name, value, low, high}; low and high are optional.
  const width = size();
  const [widest, step, letters] = narrow() ? [100, 30, 13] : [150, 30, 20];
  const left = nameWidth(rows.map(({ name }) => name), widest);
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
  const plot = frame(`${title}: ${x} by ${y}. ${listText(told)}`, base + 38, grid.flat(), marks.flat(2), axis);
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

const LEGEND = { truth: "Truth", people: "People" };

export function pairChart({ title, note = "", rows, x = "probability", y = "label" }) {
  // Two bars per label, truth above people; rows are {name, truth, people, low, high}: truth may be null, low and high (of
  // people) are optional.
  const width = size();
  const [widest, step, letters] = narrow() ? [100, 38, 13] : [150, 38, 20];
  const left = nameWidth(rows.map(({ name }) => name), widest);
  const base = rows.length * step + 8;
  const largest = Math.max(...rows.flatMap(({ truth, people, high = people }) => [truth ?? 0, high]), 0);
  const most = [0.2, 0.4].find((one) => largest <= one) ?? 1;
  const at = (value) => left + (width - left - 56) * Math.min(1, Math.max(0, value / most));
  const grid = (narrow() ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]).map((part) => part * most).map((tick) => [
    line(at(tick), 4, at(tick), base, "rule"),
    text(at(tick), base + 16, `${tidy(tick * 100)}%`, { "text-anchor": "middle" }),
  ]);
  const bar = (kind, value, top) => [
    value !== null && draw("rect", { class: kind, x: at(0), y: top, width: at(value) - at(0), height: 13, rx: 2 }),
    text(width - 48, top + 11, value === null ? "–" : `${Math.round(value * 100)}%`, { class: "name" }),
  ];
  const marks = rows.map(({ name, truth, people, low, high }, place) => {
    const top = place * step + 11;
    const y = top + 23.5;
    const span =
      low === undefined
        ? []
        : [
            line(at(low), y, at(high), y, "interval"),
            line(at(low), y - 4, at(low), y + 4, "interval"),
            line(at(high), y - 4, at(high), y + 4, "interval"),
          ];
    return [
      text(left - 10, top + 19, short(name, letters), { "text-anchor": "end", class: "name" }),
      bar("truth", truth, top),
      bar("people", people, top + 17),
      span,
    ];
  });
  const share = (value) => (value === null ? "–" : `${Math.round(value * 100)}%`);
  const told = rows.map(({ name, truth, people }) => [name, `truth ${share(truth)}, people ${share(people)}`]);
  const axis = text((at(0) + at(most)) / 2, base + 34, x, { "text-anchor": "middle", class: "name" });
  const plot = frame(`${title}: ${x} by ${y}. ${listText(told)}`, base + 38, grid.flat(), marks.flat(2).filter(Boolean), axis);
  const hasInterval = rows[0]?.low !== undefined;
  const table = rows.map(({ name, truth, people, low, high }) => [
    name,
    tidy(truth),
    tidy(people),
    ...(hasInterval ? [`${tidy(low)} to ${tidy(high)}`] : []),
  ]);
  const made = figure(title, note, plot, [y, LEGEND.truth, LEGEND.people, ...(hasInterval ? ["people, 95% interval"] : [])], table);
  if (rows.length) made.querySelector("figcaption").append(legend(hasInterval));
  return made;
}

const legend = (hasInterval) =>
  make(
    "p",
    { class: "legend small" },
    Object.entries(LEGEND).map(([kind, words]) =>
      make("span", {}, make("i", { class: kind, "aria-hidden": "true" }), kind === "people" && hasInterval ? `${words}, with 95% interval` : words),
    ),
  );

const trace = (points, across, up, more = {}) =>
  draw("polyline", {
    class: "trace",
    ...more,
    points: points.map(([a, b]) => `${across(a).toFixed(1)},${up(b).toFixed(1)}`).join(" "),
  });
const dots = (points, across, up, words) =>
  points.map(([a, b]) =>
    draw("circle", { class: "mark", cx: across(a), cy: up(b), r: 3.5 }, draw("title", {}, `${words(a)}: ${tidy(b)}`)),
  );

export function lineChart({ title, note = "", points, x = "", y = "", most = 0, name = tidy }) {
  // Line chart; `points` are [x, y]; the y axis reaches at least `most`; `name` formats x.
  const { left, low } = UPRIGHT;
  const [first, last] = [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 1];
  const across = (value) => left + ((size() - left - 16) * (value - first)) / (last - first || 1);
  const below = namesBelow(low + 16, points.map(([value]) => [across(value), name(value)]), 40);
  const plot = uprightPlot({ title, x, y, values: points.map(([, value]) => value), most }, (up) => [
    ...below,
    trace(points, across, up),
    ...dots(points, across, up, name),
  ]);
  return figure(title, note, plot, [x, y], points.map(([a, b]) => [name(a), tidy(b)]));
}

export function linesChart({ title, note = "", lines, x = "", y = "" }) {
  // Several lines with y from 0 to 1, each with its name at its end and its own dash pattern; points are [x, y].
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
  order.forEach((at, place) => place && (ends[at] = Math.max(ends[at], ends[order[place - 1]] + 15))); // names do not overlap
  const drawn = lines.map(({ name, points }, at) => [
    trace(points, across, up, { "stroke-dasharray": ["", "7 4", "2 4", "9 3 2 3"][at % 4] }),
    dots(points, across, up, (value) => `${name}, ${tidy(value)}`),
    text(across(points.at(-1)[0]) + 9, ends[at], short(name, 16), { class: "name" }),
  ]);
  const axis = line(left, low, width - right, low);
  const under = text((left + width - right) / 2, height - 6, x, { "text-anchor": "middle", class: "name" });
  const rows = lines.flatMap(({ name, points }) => points.map((point) => [name, ...point.map(tidy)]));
  const ended = listText(lines.map(({ name, points }) => [name, `reaches ${tidy(points.at(-1)[1])} at ${tidy(points.at(-1)[0])}`]));
  const plot = frame(`${title}: ${y} by ${x}. ${ended}`, height, unit(y), grid.flat(2), drawn.flat(2), axis, under);
  return figure(title, note, plot, ["name", x, y], rows);
}
