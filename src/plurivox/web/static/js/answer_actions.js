// Actions of the task page: applyAction(state, action) returns the new state of the answer. Pure functions; keys and clicks
// use the same actions.
import { EMPTY, inHistogram, isEmpty } from "./answer.js";
import { asksBars, asksOne, asksOrder, asksPercents, percentStep, ticksToAsk } from "./question_type.js";
import { emptyBars, setBar } from "./bars_state.js";
import { placeOfKey, continuesName } from "./label_search.js";
import { problem, warning } from "./answer_check.js";
import { percents } from "./answer_marks.js";
import { moveTo, rank, shiftRank, toggleRank, touchRank, unrank } from "./ranking_state.js";

export function applyAction(state, action) {
  const handler = ACTIONS[action.do];
  if (!handler || state.sent) return state;
  const next = handler({ ...state, hint: "", back: false }, action);
  if (next === null) return state;
  const kept = action.do === "enter" || action.do === "undo" || next.hint;
  const changed = Object.keys(EMPTY).some((name) => next[name] !== state[name]);
  if (!changed || kept) return next;
  return { ...next, warned: false, past: [...state.past, answerFields(state)] };
}

const answerFields = (state) => Object.fromEntries(Object.keys(EMPTY).map((name) => [name, state[name]]));
const withHint = (state, hint) => ({ ...state, hint });

const ACTIONS = {
  enter(state, { at = Infinity }) {
    if (at - state.opened < state.inputDelay) return null; // the key is still held down from the previous page
    const fault = problem(state);
    if (fault) return withHint(state, fault);
    const doubt = warning(state);
    if (doubt && !state.warned) return { ...withHint(state, `${doubt}. ${state.keys ? "Press Enter" : "Tap Next"} again to send it anyway`), warned: true };
    return { ...state, sent: true };
  },

  undo(state) {
    if (!state.past.length) return { ...state, back: true };
    return { ...state, ...state.past.at(-1), warned: false, past: state.past.slice(0, -1) };
  },

  clear: (state) => (isEmpty(state) ? null : { ...state, ...EMPTY, bars: state.bars && emptyBars(state.labels) }),
  filter: (state, { text }) => ({ ...state, filter: text.slice(0, 60) }),

  pick(state, { place }) {
    if (place === undefined || place === null) return null;
    if (inHistogram(state)) return ACTIONS.chip({ ...state, filter: "" }, { place, by: percentStep(state) });
    if (asksOrder(state)) return toggleRank(state, place);
    const fresh = { ...state, aside: null, filter: "", ticked: state.ticked.filter((other) => other !== place) };
    if (asksOne(state) && !asksPercents(state)) return { ...fresh, top: state.top === place ? null : place };
    const unset = { topPercent: null, secondPercent: null, field: null, typed: "" };
    if (asksOne(state) && place !== state.top) return { ...fresh, ...unset, top: place, field: "top" };
    if (place === state.top) return { ...fresh, ...unset, top: state.second, second: null };
    if (place === state.second) return { ...fresh, ...unset, second: null };
    if (state.top === null) return { ...fresh, ...unset, top: place };
    const kept = state.topPercent < 100 ? state.topPercent : null; // the percent of the first label stays if it leaves a rest
    return { ...fresh, ...unset, second: place, topPercent: kept };
  },

  tick(state, { place }) {
    const what = ticksToAsk(state);
    if (what === null || inHistogram(state) || place === undefined) return null;
    if (place === state.top || place === state.second)
      return withHint(
        state,
        `${state.labels[place]} is already picked, so it cannot be marked as well`,
      );
    const has = state.ticked.includes(place);
    const ticked = has
      ? state.ticked.filter((other) => other !== place)
      : [...state.ticked, place].sort((a, b) => a - b);
    return { ...state, aside: null, ticked };
  },

  others(state) {
    // Rule out every label that is not selected, or clear these marks if they are all set.
    if (ticksToAsk(state) !== "never" || state.top === null || inHistogram(state)) return null;
    const free = state.labels.map((_, place) => place).filter((place) => place !== state.top && place !== state.second);
    return { ...state, ticked: state.ticked.length === free.length ? [] : free };
  },

  digit(state, { digit }) {
    const place = placeOfKey(state, digit);
    const naming = inHistogram(state) || !asksPercents(state) || state.top === null || state.filter;
    if (!naming && (state.field || state.second !== null)) return typeDigit(state, digit);
    if (continuesName(state, digit)) return ACTIONS.filter(state, { text: state.filter + digit });
    if (place === undefined) return null;
    if (asksOrder(state)) return rank(state, place);
    if (!naming && place === state.top) return withHint(state, `${state.labels[place]} is already picked`);
    return ACTIONS.pick(state, { place });
  },

  "shift-digit"(state, { digit }) {
    const place = placeOfKey(state, digit);
    if (place === undefined) return null;
    if (asksOrder(state)) return unrank(state, place);
    return inHistogram(state)
      ? ACTIONS.chip(state, { place, by: -percentStep(state) })
      : ACTIONS.tick({ ...state, filter: "" }, { place });
  },

  field(state, { who }) {
    if (state.top === null || !asksPercents(state) || inHistogram(state)) return null;
    const other = state.second === null || state.field === "second" ? "top" : "second";
    return { ...state, field: who ?? other, typed: "" };
  },

  percent(state, { who = "top", value }) {
    if (state.top === null || !asksPercents(state) || (who === "second" && state.second === null)) return null;
    const whole = Math.round(value);
    if (!(whole >= 1 && whole <= 100)) return withHint(state, "Enter a percent from 1 to 100");
    return setPercent({ ...state, field: who, typed: "" }, who, whole);
  },

  nudge(state, { by }) {
    if (inHistogram(state)) return state.touched === null ? null : ACTIONS.chip(state, { place: state.touched, by });
    if (state.top === null || !asksPercents(state)) return null;
    const start = percents(state).top ?? 50; // no split is set until a key is pressed
    const most = state.second === null ? 100 : 99;
    return setPercent({ ...state, field: "top", typed: "" }, "top", Math.min(most, Math.max(1, Math.round(start + by))));
  },

  abstain: (state) => toggleAside(state, "abstain"),
  none: (state) => toggleAside(state, "none"),

  histogram(state) {
    if (!asksPercents(state) || asksBars(state)) return null;
    return { ...state, ...EMPTY, bars: inHistogram(state) ? null : emptyBars(state.labels) };
  },

  bar: (state, { place, value }) => setBar(state, place, value),
  chip: (state, { place, by }) => setBar(state, place, state.bars[place] + by),
  rest: (state) => (state.touched === null ? null : setBar(state, state.touched, 100)),

  move: (state, { place, to }) => moveTo(state, place, to),
  shift: (state, { by }) => shiftRank(state, by),
  touch: (state, { place }) => touchRank(state, place),
  unrank: (state, { place }) => unrank(state, place),
};

function toggleAside(state, what) {
  const bars = state.bars && emptyBars(state.labels);
  return { ...state, ...EMPTY, bars, aside: state.aside === what ? null : what };
}

function typeDigit(state, digit) {
  const who = state.field ?? "top";
  const longer = state.typed + digit;
  const text = Number(longer) <= 100 ? longer : digit; // a value above 100 starts over with this digit
  if (Number(text) === 0) return withHint(state, "Enter a percent from 1 to 100");
  return setPercent({ ...state, field: who, typed: text }, who, Number(text));
}

function setPercent(state, who, value) {
  // Set the percent of one label; the other keeps its own only while both fit into 100.
  const other = who === "top" ? state.secondPercent : state.topPercent;
  const kept = other !== null && other + value <= 100 ? other : null;
  return who === "top"
    ? { ...state, topPercent: value, secondPercent: kept }
    : { ...state, topPercent: kept, secondPercent: value };
}
