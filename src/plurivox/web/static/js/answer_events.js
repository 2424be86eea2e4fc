// The recorded event of an action: [kind, label, value]. A key and a click with the same effect give the same event.
import { asksOrder, tickMeaning } from "./question_type.js";

export function inputEvent(old, next, action) {
  // [kind, label, value] of the change from `old` to `next`, or null if nothing changed.
  if (next.sent) return ["submit", null, null];
  if (next.back) return ["back", null, null];
  const event = EVENTS[action.do]?.(old, next, action) ?? changeEvent(old, next);
  if (event) return event;
  return next.hint ? ["refused", null, action.key ?? null] : null;
}

const name = (state, place) => state.labels[place] ?? null;
const onOff = (value) => (value ? "on" : "off");
const differs = (old, next, ...names) => names.some((one) => old[one] !== next[one]);

const EVENTS = {
  undo: () => ["undo", null, null],
  clear: () => ["clear", null, null],
  filter: (old, next) => (differs(old, next, "filter") ? ["find", null, next.filter.slice(0, 40)] : null),
  field: (old, next) => (next.field ? ["field", name(next, next[next.field]), null] : null),
  histogram: (old, next) => (differs(old, next, "bars") ? ["mode", null, next.bars ? "bars" : "labels"] : null),
  abstain: (old, next) => (differs(old, next, "aside") ? ["abstain", null, onOff(next.aside)] : null),
  none: (old, next) => (differs(old, next, "aside") ? ["none", null, onOff(next.aside)] : null),
  others: (old, next) => (differs(old, next, "ticked") ? ["others", null, onOff(next.ticked.length)] : null),
};

function changeEvent(old, next) {
  if (next.bars && old.bars) {
    const place = next.bars.findIndex((value, at) => value !== old.bars[at]);
    return place < 0 ? null : ["bar", name(next, place), String(next.bars[place])];
  }
  if (asksOrder(next) && differs(old, next, "order", "touched")) return rankEvent(old, next);
  if (differs(old, next, "top", "second")) return pickEvent(old, next);
  if (differs(old, next, "topPercent", "secondPercent")) {
    const who = next.field ?? "top";
    return ["percent", name(next, next[who]), String(next[`${who}Percent`])];
  }
  const place = [...old.ticked, ...next.ticked].find((one) => old.ticked.includes(one) !== next.ticked.includes(one));
  if (place !== undefined) return [tickMeaning(next), name(next, place), onOff(next.ticked.includes(place))];
  return EVENTS.filter(old, next); // a digit that continues a label name
}

function pickEvent(old, next) {
  const gone = [old.top, old.second].find((place) => place !== null && place !== next.top && place !== next.second);
  const led = old.top !== next.top && next.top !== old.second;
  if (led) return ["pick", name(next, next.top ?? gone), next.top === null ? "off" : "top"];
  if (next.second !== null && next.second !== old.second) return ["pick", name(next, next.second), "second"];
  return ["pick", name(next, gone), "off"];
}

function rankEvent(old, next) {
  // A label was added to the order, moved in it or removed from it.
  const gone = old.order.find((place) => !next.order.includes(place));
  if (gone !== undefined) return ["pick", name(next, gone), "off"];
  const at = String(next.order.indexOf(next.touched) + 1);
  if (next.order.length > old.order.length) return ["pick", name(next, next.touched), at];
  return [differs(old, next, "order") ? "move" : "touch", name(next, next.touched), at];
}
