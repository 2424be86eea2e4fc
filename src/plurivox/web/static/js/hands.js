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

const STEP_OF = { histogram: "5%", chips: "a chip" };
const ALL_OF = { histogram: "all 100%", chips: "all chips" };
const SAYS_HOW_SURE = ["top-one", "top-two", "also-possible"];
const PICKS = {
  ranking: "Put a label next in your order",
  "select-top-two": "Pick the most probable label, then perhaps the second",
};
const excludes = (me) => ["top-one", "top-two"].includes(me.form) && me.exclude_by === "never";
const splits = (me) => me.form === "top-two" || me.form === "also-possible";

export function keyRows(me) {
  const many = me.labels.length > 10;
  const command = (letter) => (many ? press("Alt", letter) : press(letter));
  const step = STEP_OF[me.form];
  const pick = PICKS[me.form] ?? (many ? "Pick a label" : "Pick the most probable label");
  const sure = SAYS_HOW_SURE.includes(me.form) ? "Sure: send it and go on" : "Done: send it and go on";
  const placing = `Put ${step} on a label; with Shift, take ${step} away`;
  return [
    [press("1", "…", "0"), (step ? placing : pick) + (many ? "; type letters to find it" : "")],
    step && [press("."), "All that is left to the label moved last"],
    me.form === "ranking" && [press("←", "→"), "Move the label that you ranked last, or whose key you pressed again"],
    me.form === "ranking" && [press("Shift", "4"), "Take label 4 out of the order"],
    [press("↵"), step ? `Send it and go on, once ${ALL_OF[me.form]} are placed` : sure],
    me.form === "top-one" && [press("3", "7", "0", "↵"), "Label 3 with 70%"],
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
  const chips = ["+ and −", "Put a chip on a label, or take one away; or drag along the chips"];
  if (STEP_OF[me.form])
    return [me.form === "chips" ? chips : bars, ["Next", `Send it, once ${ALL_OF[me.form]} are placed`]];
  if (me.form === "ranking")
    return [
      ["Tap labels", "In order, the most probable first; tap one again to take it out"],
      ["Drag", "A label of your order to another place; or pick it, then Earlier or Later"],
      ["Next", "Send it and go on"],
    ];
  return [
    ["Tap a label", "The most probable one; tap it again to take it back"],
    (splits(me) || me.form === "select-top-two") && ["Tap another", "The second most probable one"],
    me.form === "top-one" && ["Drag the slider", "Say how probable it is"],
    splits(me) && ["Drag the slider", "Share 100% between the two"],
    splits(me) && [excludes(me) ? "✕ not" : "+ also", excludes(me) ? "Definitely not this one" : "Possible as well"],
    splits(me) && ["Bars", "All labels as bars, to drag"],
    ["Next", "Send it and go on"],
  ];
}
