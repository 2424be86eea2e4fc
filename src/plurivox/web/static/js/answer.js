// The answer to one task as a pure state: no page, no clock, no network. Labels are numbers: places in `state.labels`, the
// order shown. A state is never changed: a key is read (keys.js) as an action, and an action (acts.js) gives a new state;
// meaning.js tells what it says, judging.js whether it may be sent.
import { asksBars, asksOrder, ticksMean } from "./asks.js";
import { noBars } from "./bars.js";

export const EMPTY = {
  top: null, // place of the label named first
  second: null,
  topPercent: null, // null: nothing was typed
  secondPercent: null, // null: what the top label leaves
  field: null, // "top" or "second": whose percent the digits go to
  typed: "",
  ticked: [], // never or also possible, by form
  bars: null, // percents of the histogram, null while it is closed
  order: [], // places of a ranking
  touched: null, // the bar or rank that was moved last
  aside: null, // "abstain" or "none"
  filter: "",
};

export function begin(setup) {
  // `asks`: what the form asks for, see asks.js.
  const { labels, asks, guard = 300, now = 0 } = setup;
  const flags = { hint: "", warned: false, sent: false, back: false };
  return { ...EMPTY, bars: asksBars(setup) ? noBars(labels) : null, labels, asks, opened: now, guard, ...flags, past: [] };
}

export const inHistogram = (state) => state.bars !== null;
export const isEmpty = (state) =>
  state.top === null &&
  state.aside === null &&
  !state.order.length &&
  !state.ticked.length &&
  !(state.bars ?? []).some((value) => value > 0) &&
  !state.filter;

export function recall(setup, said) {
  // The state in which an earlier answer was given, so that it can be put right.
  const state = begin(setup);
  const place = (mark) => state.labels.indexOf(mark.label);
  const percent = (mark) => (mark?.typed ? Math.round(Number(mark.typed)) : null);
  const named = said.marks.filter((mark) => mark.kind === "named" && place(mark) >= 0);
  const ticked = said.marks
    .filter((mark) => mark.kind === ticksMean(state) && place(mark) >= 0)
    .map(place)
    .sort((a, b) => a - b);
  if (said.abstain || said.none_of_these) return { ...state, aside: said.abstain ? "abstain" : "none" };
  if (asksOrder(state)) return { ...state, order: named.map(place) };
  if (said.mode === "histogram" || isBars(state, named)) {
    const bars = state.labels.map((label) => percent(named.find((mark) => mark.label === label)) ?? 0);
    return { ...state, bars };
  }
  const [first, next] = named;
  if (!first) return state;
  if (!next) {
    const sure = percent(first) === 100 && !ticked.length;
    return { ...state, top: place(first), topPercent: sure ? null : percent(first), ticked };
  }
  return {
    ...state,
    top: place(first),
    second: place(next),
    topPercent: percent(first),
    secondPercent: percent(next),
    ticked,
  };
}

const isBars = (state, named) => asksBars(state) || named.length > 2;
