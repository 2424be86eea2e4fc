// What an action did, in the words of the record: kind, label, value. Keys and clicks that do the same read the same.
import { asksOrder, ticksMean } from "./asks.js";

export function tell(old, next, action) {
  // [kind, label, value], or null where nothing happened.
  if (next.sent) return ["submit", null, null];
  if (next.back) return ["back", null, null];
  const told = TOLD[action.do]?.(old, next, action) ?? changed(old, next);
  if (told) return told;
  return next.hint ? ["refused", null, action.key ?? null] : null;
}

const name = (state, place) => state.labels[place] ?? null;
const on = (value) => (value ? "on" : "off");
const differs = (old, next, ...names) => names.some((one) => old[one] !== next[one]);

const TOLD = {
  undo: () => ["undo", null, null],
  clear: () => ["clear", null, null],
  filter: (old, next) => (differs(old, next, "filter") ? ["find", null, next.filter.slice(0, 40)] : null),
  field: (old, next) => (next.field ? ["field", name(next, next[next.field]), null] : null),
  histogram: (old, next) => (differs(old, next, "bars") ? ["mode", null, next.bars ? "bars" : "labels"] : null),
  abstain: (old, next) => (differs(old, next, "aside") ? ["abstain", null, on(next.aside)] : null),
  none: (old, next) => (differs(old, next, "aside") ? ["none", null, on(next.aside)] : null),
  others: (old, next) => (differs(old, next, "ticked") ? ["others", null, on(next.ticked.length)] : null),
};

function changed(old, next) {
  if (next.bars && old.bars) {
    const place = next.bars.findIndex((value, at) => value !== old.bars[at]);
    return place < 0 ? null : ["bar", name(next, place), String(next.bars[place])];
  }
  if (asksOrder(next) && differs(old, next, "order", "touched")) return moved(old, next);
  if (differs(old, next, "top", "second")) return picked(old, next);
  if (differs(old, next, "topPercent", "secondPercent")) {
    const who = next.field ?? "top";
    return ["percent", name(next, next[who]), String(next[`${who}Percent`])];
  }
  const place = [...old.ticked, ...next.ticked].find((one) => old.ticked.includes(one) !== next.ticked.includes(one));
  if (place !== undefined) return [ticksMean(next), name(next, place), on(next.ticked.includes(place))];
  return TOLD.filter(old, next); // a digit that goes on with a name
}

function picked(old, next) {
  const gone = [old.top, old.second].find((place) => place !== null && place !== next.top && place !== next.second);
  const led = old.top !== next.top && next.top !== old.second;
  if (led) return ["pick", name(next, next.top ?? gone), next.top === null ? "off" : "top"];
  if (next.second !== null && next.second !== old.second) return ["pick", name(next, next.second), "second"];
  return ["pick", name(next, gone), "off"];
}

function moved(old, next) {
  // A label got a place in the order, another one, or lost it.
  const gone = old.order.find((place) => !next.order.includes(place));
  if (gone !== undefined) return ["pick", name(next, gone), "off"];
  const at = String(next.order.indexOf(next.touched) + 1);
  if (next.order.length > old.order.length) return ["pick", name(next, next.touched), at];
  return [differs(old, next, "order") ? "move" : "touch", name(next, next.touched), at];
}
