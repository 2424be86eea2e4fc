// The answer to one task as an immutable state, without page, clock or network. Labels are indices into `state.labels`, in the
// order shown. keyboard.js turns a key into an action, answer_actions.js applies an action and returns a new state,
// answer_marks.js computes percents and marks of a state, answer_check.js checks whether it can be sent.
import { asksBars, asksOrder, tickMeaning } from "./question_type.js";
import { emptyBars } from "./bars_state.js";

export const EMPTY = {
  top: null, // index of the label selected first
  second: null,
  topPercent: null, // null: not entered
  secondPercent: null, // null: the rest that the top label leaves
  field: null, // "top" or "second": the label whose percent is being typed
  typed: "",
  ticked: [], // labels marked "never" or "possible", depending on the form
  bars: null, // percents of the histogram; null while it is closed
  order: [], // label indices of a ranking
  touched: null, // label of the bar or rank moved last
  aside: null, // "abstain" or "none"
  filter: "",
};

export function newAnswer(setup) {
  // The empty answer to a task. `asks`: what the form asks for, see question_type.js.
  // `phrases`: texts of the study in the first or third person. `keys`: whether hints may name keys of a keyboard.
  const { labels, asks, phrases = {}, keys = true, inputDelay = 300, now = 0 } = setup;
  const flags = { hint: "", warned: false, sent: false, back: false };
  return { ...EMPTY, bars: asksBars(setup) ? emptyBars(labels) : null, labels, asks, phrases, keys, opened: now, inputDelay, ...flags, past: [] };
}

export const inHistogram = (state) => state.bars !== null;
export const isEmpty = (state) =>
  state.top === null &&
  state.aside === null &&
  !state.order.length &&
  !state.ticked.length &&
  !(state.bars ?? []).some((value) => value > 0) &&
  !state.filter;

export function restoreAnswer(setup, said) {
  // The state of an answer submitted earlier, so that it can be changed.
  const state = newAnswer(setup);
  const place = (mark) => state.labels.indexOf(mark.label);
  const percent = (mark) => (mark?.typed ? Math.round(Number(mark.typed)) : null);
  const named = said.marks.filter((mark) => mark.kind === "named" && place(mark) >= 0);
  const ticked = said.marks
    .filter((mark) => mark.kind === tickMeaning(state) && place(mark) >= 0)
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
  const second = next ? place(next) : null;
  return { ...state, top: place(first), second, topPercent: percent(first), secondPercent: percent(next), ticked };
}

const isBars = (state, named) => asksBars(state) || named.length > 2;
