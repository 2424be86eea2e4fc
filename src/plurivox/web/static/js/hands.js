// How to answer, by keys and by fingers: what people do comes first, the rest is folded away.
import { make } from "./dom.js";

const press = (...names) => names.map((name) => make("kbd", {}, name));
const table = (rows) =>
  make(
    "dl",
    { class: "keys small" },
    rows.filter(Boolean).map(([names, does]) => [make("dt", {}, names), make("dd", {}, does)]),
  );

export function howTo(me) {
  const fingers = globalThis.matchMedia("(pointer: coarse)").matches;
  const ways = [
    ["With keys", table(keyRows(me))],
    ["By touch or mouse", table(handRows(me))],
  ];
  const [first, other] = fingers ? ways.reverse() : ways;
  return make(
    "div",
    { class: "ways" },
    make("h2", {}, first[0]),
    first[1],
    make("details", {}, make("summary", {}, other[0]), other[1]),
  );
}

const excludes = (me) => me.form === "top-two" && me.exclude_by === "never";
const splits = (me) => me.form === "top-two" || me.form === "also-possible";

export function keyRows(me) {
  const many = me.labels.length > 10;
  const command = (letter) => (many ? press("Alt", letter) : press(letter));
  const pick = many ? "Pick a label; type letters to find it" : "Pick the most probable label";
  return [
    [press("1", "…", "0"), me.form === "histogram" ? "Put 5% on a label; with Shift, take 5% away" : pick],
    me.form === "histogram" && [press("."), "All that is left to the label moved last"],
    [press("↵"), me.form === "histogram" ? "Send it and go on, once all 100% are placed" : "Sure: send it and go on"],
    splits(me) && [press("3", "5", "7", "0", "↵"), "Label 3 with 70%, label 5 with the rest"],
    splits(me) && [press("←", "→"), "Move the split by 5%; with Shift, by 1%"],
    splits(me) && [press("."), "Type the percent of the other label, or of the top label alone"],
    splits(me) && [
      press("Shift", "4"),
      excludes(me) ? "Label 4 is definitely not it" : "Label 4 is possible as well",
    ],
    excludes(me) && [command("N"), "None of the others: rules out what is not named"],
    splits(me) && [command("H"), "All labels as bars, to drag"],
    [command("U"), "Undo; with nothing to undo, back to the last task"],
    [command("S"), "Can't tell"],
    [command("O"), "None of these"],
  ];
}

function handRows(me) {
  const bars = ["Drag a bar", "Put percents on a label; − and + move 5%"];
  if (me.form === "histogram") return [bars, ["Next", "Send it, once all 100% are placed"]];
  return [
    ["Tap a label", "The most probable one; tap it again to take it back"],
    splits(me) && ["Tap another", "The second most probable one"],
    splits(me) && ["Drag the slider", "Share 100% between the two"],
    splits(me) && [excludes(me) ? "✕ not" : "+ also", excludes(me) ? "Definitely not this one" : "Possible as well"],
    splits(me) && ["Bars", "All labels as bars, to drag"],
    ["Next", "Send it and go on"],
  ];
}
