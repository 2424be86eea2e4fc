// How to answer, by keys and by fingers: what people do comes first, the rest is folded away.
import { asksBars, asksChips, asksOne, asksOrder, asksPercents, asksTwo, ticksMean } from "./asks.js";
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

const wholeOf = (me) => (asksChips(me) ? "all chips" : "all 100%");
const saysHowSure = (me) => asksPercents(me) && !asksBars(me);
const splits = (me) => asksPercents(me) && asksTwo(me);
const TICK_HELP = {
  never: ["definitely not it", "✕ not", "Definitely not this one"],
  possible: ["possible as well", "+ also", "Possible as well"],
};

function pickWords(me, many) {
  if (asksOrder(me)) return "Put a label next in your order";
  if (asksTwo(me) && !asksPercents(me)) return "Pick the most probable label, then perhaps the second";
  return many ? "Pick a label" : "Pick the most probable label";
}

export function keyRows(me) {
  const n = me.labels.length;
  const many = n > 10;
  const last = n < 10 ? String(n) : "0";
  const [one, two, third] = n < 5 ? ["1", "2", last] : ["3", "5", "4"]; // keys that are there
  const command = (letter) => (many ? press("Alt", letter) : press(letter));
  const step = asksBars(me) && (asksChips(me) ? "a chip" : "5%");
  const pick = pickWords(me, many);
  const [asks, ticks] = [saysHowSure(me), ticksMean(me)];
  const sure = asks ? "Sure: send it and go on" : "Done: send it and go on";
  const placing = `Put ${step} on a label; with Shift, take ${step} away`;
  return [
    [n === 2 ? press("1", "2") : press("1", "…", last), (step ? placing : pick) + (many ? "; type letters to find it" : "")],
    step && [press("."), "All that is left to the label moved last"],
    asksOrder(me) && [press("←", "→"), "Move the label that you ranked last, or whose key you pressed again"],
    asksOrder(me) && [press("Shift", third), `Take label ${third} out of the order`],
    [press("↵"), step ? `Send it and go on, once ${wholeOf(me)} are placed` : sure],
    asks && asksOne(me) && [press(one, "7", "0", "↵"), `Label ${one} with 70%`],
    splits(me) && [press(one, two, "7", "0", "↵"), `Label ${one} with 70%, label ${two} with the rest`],
    asks && [press("←", "→"), `Move the ${splits(me) ? "split" : "percent"} by 5%; with Shift, by 1%`],
    splits(me) && [press("."), "Type the percent of the other label, or of the top label alone"],
    ticks && [press("Shift", third), `Label ${third} is ${TICK_HELP[ticks][0]}`],
    ticks === "never" && [command("N"), "None of the others: rules out what is not named"],
    asks && [command("H"), "All labels as bars, to drag"],
    [command("U"), "Undo; with nothing to undo, back to the last task"],
    [command("S"), "Can't tell"],
    [command("O"), "None of these"],
  ];
}

function handRows(me) {
  const bars = ["Drag a bar", "Put percents on a label; − and + move 5%"];
  const chips = ["+ and −", "Put a chip on a label, or take one away; or drag along the chips"];
  if (asksBars(me))
    return [asksChips(me) ? chips : bars, ["Next", `Send it, once ${wholeOf(me)} are placed`]];
  if (asksOrder(me))
    return [
      ["Tap labels", "In order, the most probable first; tap one again to take it out"],
      ["Drag", "A label of your order to another place; or pick it, then Earlier or Later"],
      ["Next", "Send it and go on"],
    ];
  return [
    ["Tap a label", "The most probable one; tap it again to take it back"],
    asksTwo(me) && ["Tap another", "The second most probable one"],
    saysHowSure(me) && asksOne(me) && ["Drag the slider", "Say how probable it is"],
    splits(me) && ["Drag the slider", "Share 100% between the two"],
    ticksMean(me) && TICK_HELP[ticksMean(me)].slice(1),
    saysHowSure(me) && ["Bars", "All labels as bars, to drag"],
    ["Next", "Send it and go on"],
  ];
}
