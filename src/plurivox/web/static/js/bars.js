// Bars and chips: percents on labels that start empty and are placed step by step. Pure, as answer.js is.
// A bar may end at any percent; chips are whole ones, each worth `stepOf(state)` percent.
import { asksChips, stepOf } from "./asks.js";

export const noBars = (labels) => labels.map(() => 0); // empty: an equal start would anchor, and be complete untouched
export const placed = (state) => (state.bars ?? []).reduce((sum, value) => sum + value, 0);
export const chipsOf = (state, percent) => Math.round(percent / stepOf(state));

export const barAmount = (state, percent) => (asksChips(state) ? String(chipsOf(state, percent)) : `${percent}%`);

const allOf = (state) => (asksChips(state) ? `All ${chipsOf(state, 100)} chips` : "All 100%");

export function barWords(state) {
  // What is still to be placed, or that all is.
  const left = 100 - placed(state);
  if (!left) return `${allOf(state)} placed`;
  if (!asksChips(state)) return `${left}% still to place`;
  const n = chipsOf(state, left);
  return `${n} of ${chipsOf(state, 100)} chips still to place`;
}

export function setBar(state, place, value) {
  if (state.bars === null) return null;
  const room = 100 - placed(state) + state.bars[place];
  const grain = asksChips(state) ? stepOf(state) : 1;
  const height = Math.max(0, Math.min(room, Math.round(value / grain) * grain));
  if (value > room && height === state.bars[place])
    return { ...state, hint: `${allOf(state)} are placed; take some away first` };
  const bars = state.bars.map((old, other) => (other === place ? height : old));
  return { ...state, aside: null, bars, touched: place };
}

export function barMarks(state) {
  // The largest first; chips are told as the percents that they are worth.
  const bars = state.bars.map((value, place) => ({ value, place })).filter((bar) => bar.value > 0);
  bars.sort((a, b) => b.value - a.value || a.place - b.place);
  return bars.map(({ value, place }) => ({ kind: "named", label: state.labels[place], typed: String(value) }));
}
