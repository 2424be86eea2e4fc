// State of the histogram bars and chips: percents per label that start at 0. Pure functions.
// A bar can have any whole percent; a chip is worth `percentStep(state)` percent.
import { asksChips, percentStep } from "./question_type.js";

export const emptyBars = (labels) => labels.map(() => 0); // empty: equal bars would bias the answer, and could be sent untouched
export const placedPercent = (state) => (state.bars ?? []).reduce((sum, value) => sum + value, 0);
export const chipCount = (state, percent) => Math.round(percent / percentStep(state));

export const amountText = (state, percent) => (asksChips(state) ? String(chipCount(state, percent)) : `${percent}%`);
// Nothing was placed on a label and not everything is placed yet: neither a number nor a slider position is shown.
export const isUnset = (state, percent) => percent === 0 && placedPercent(state) < 100;

const allText = (state) => (asksChips(state) ? `All ${chipCount(state, 100)} chips` : "All 100%");

export function placedText(state) {
  // How much is still to be placed, as text for the worker.
  const left = 100 - placedPercent(state);
  if (!left) return `${allText(state)} placed`;
  if (!asksChips(state)) return `${left}% still to place`;
  const n = chipCount(state, left);
  return `${n} of ${chipCount(state, 100)} chips still to place`;
}

export function setBar(state, place, value) {
  if (state.bars === null) return null;
  const space = 100 - placedPercent(state) + state.bars[place];
  const grain = asksChips(state) ? percentStep(state) : 1;
  const height = Math.max(0, Math.min(space, Math.round(value / grain) * grain));
  if (value > space && height === state.bars[place])
    return { ...state, hint: `${allText(state)} ${asksChips(state) ? "are" : "is"} placed; take some away first` };
  const bars = state.bars.map((old, other) => (other === place ? height : old));
  return { ...state, aside: null, bars, touched: place };
}

export function barMarks(state) {
  // Marks of the bars, the largest first; chips are sent as percents.
  const bars = state.bars.map((value, place) => ({ value, place })).filter((bar) => bar.value > 0);
  bars.sort((a, b) => b.value - a.value || a.place - b.place);
  return bars.map(({ value, place }) => ({ kind: "named", label: state.labels[place], typed: String(value) }));
}
