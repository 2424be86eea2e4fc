// Help on how to answer with keys and by touch or mouse; the input this device uses is shown first, the other is folded away.
import { asksBars, asksChips, asksOne, asksOrder, asksPercents, asksTwo, ticksToAsk } from "./question_type.js";
import { make } from "./dom.js";
import { showsKeys } from "./key_hints.js";

const keyCaps = (...names) => names.map((name) => make("kbd", {}, name));
const keyTable = (rows) =>
  make(
    "dl",
    { class: "keys small" },
    rows.filter(Boolean).map(([names, does]) => [make("dt", {}, names), make("dd", {}, does)]),
  );

export function controlsHelp(me) {
  const fingers = !showsKeys();
  const ways = [
    ["With keys", keyTable(keyRows(me)), "with-keys"],
    [fingers ? "By touch" : "By touch or mouse", keyTable(pointerRows(me))],
  ];
  const [first, other] = fingers ? ways.reverse() : ways;
  return make(
    "div",
    { class: "ways" },
    make("h2", {}, first[0]),
    first[1],
    make("details", { class: other[2] }, make("summary", {}, other[0]), other[1]), // keys are left out on phones
  );
}

const allPlaced = (me) => (asksChips(me) ? "all chips are placed" : "all 100% is placed");
const asksHowSure = (me) => asksPercents(me) && !asksBars(me);
const asksSplit = (me) => asksPercents(me) && asksTwo(me);
const TICK_SIGNS = { never: "✕ not", possible: "+ also" };
const tickText = (me) => me.phrases[`${ticksToAsk(me)}_mark`];

function pickText(me, many) {
  if (asksOrder(me)) return "Add a label to your ranking";
  if (asksTwo(me) && !asksPercents(me)) return `${me.phrases.pick_top}; press another key to pick a second label`;
  return many ? "Pick a label" : me.phrases.pick_top;
}

export function keyRows(me) {
  const n = me.labels.length;
  const many = n > 10;
  const last = n < 10 ? String(n) : "0";
  const [one, two, third] = n < 5 ? ["1", "2", last] : ["3", "5", "4"]; // keys that the study has
  const command = (letter) => (many ? keyCaps("Alt", letter) : keyCaps(letter));
  const step = asksBars(me) && (asksChips(me) ? "a chip" : "5%");
  const pick = pickText(me, many);
  const [asks, ticks] = [asksHowSure(me), ticksToAsk(me)];
  const sure = asks ? `Send the answer; for a single label without a percent, the button says “${me.phrases.sure}”` : "Send the answer";
  const placing = `Add ${step} to a label; with Shift, take ${step} away`;
  return [
    [n === 2 ? keyCaps("1", "2") : keyCaps("1", "…", last), (step ? placing : pick) + (many ? "; type letters to find it" : "")],
    step && [keyCaps("."), `Give all remaining ${asksChips(me) ? "chips" : "percents"} to the label you changed last`],
    asksOrder(me) && [keyCaps("←", "→"), "Move a label in the ranking: the one added last, or whose key you pressed again"],
    asksOrder(me) && [keyCaps("Shift", third), `Take label ${third} out of the ranking`],
    [keyCaps("↵"), step ? `Send the answer once ${allPlaced(me)}` : sure],
    asks && asksOne(me) && [keyCaps(one, "7", "0", "↵"), `Example: give label ${one} 70%`],
    asksSplit(me) && [keyCaps(one, two, "7", "0", "↵"), `Example: give label ${one} 70% and label ${two} the remaining 30%`],
    asks && [keyCaps("←", "→"), `${asksSplit(me) ? "Move 5% from one picked label to the other" : "Change the percent by 5%"}; with Shift, 1%`],
    asksSplit(me) && [keyCaps("."), "Switch to the other picked label, to type its percent"],
    ticks && [keyCaps("Shift", third), `Mark label ${third}: ${tickText(me)}`],
    ticks === "never" && [command("N"), "Rule out all labels that you did not pick"],
    asks && [command("H"), "Show all labels as bars to drag; your answer so far is cleared"],
    [command("U"), "Undo the last change; if there is none, go back to the previous task"],
    [command("S"), "Answer “Can't tell”"],
    [command("O"), "Answer “None of these”"],
  ];
}

function pointerRows(me) {
  const tap = showsKeys() ? "click" : "tap";
  const Tap = showsKeys() ? "Click" : "Tap";
  const bars = ["Drag a bar", "Set the percent of a label; − and + change it by 5%"];
  const chips = ["+ and −", "Add a chip to a label or take one away; or drag along the chips"];
  if (asksBars(me))
    return [asksChips(me) ? chips : bars, ["Next", `Send the answer once ${allPlaced(me)}`]];
  if (asksOrder(me))
    return [
      [`${Tap} labels`, `${me.phrases.rank}; ${tap} one again to take it out`],
      ["Drag", "Move a label in your ranking; or pick it and use Earlier or Later"],
      ["Next", "Send the answer"],
    ];
  return [
    !showsKeys() && (asksTwo(me) || asksPercents(me)) && ["Tap the question", "Show the next one, where the screen shows one at a time"],
    [`${Tap} a label`, `${me.phrases.pick_top}; ${tap} it again to take it back`],
    asksTwo(me) && [`${Tap} another`, me.phrases.pick_second],
    asksHowSure(me) && asksOne(me) && ["Drag the slider", me.phrases.slider],
    asksSplit(me) && ["Drag the slider", "Divide 100% between the two picked labels"],
    ticksToAsk(me) && [TICK_SIGNS[ticksToAsk(me)], `Mark the label: ${tickText(me)}`],
    asksHowSure(me) && ["Bars", "Show all labels as bars to drag; your answer so far is cleared"],
    asksHowSure(me) && [me.phrases.sure, "Send the answer; the label picked gets 100%"],
    ["Next", "Send the answer"],
  ];
}
