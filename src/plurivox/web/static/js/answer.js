// The answer to one task as a pure state machine: no page, no clock, no network.
//   begin(setup) -> state;  readKey(state, key) -> action | null;  apply(state, action) -> state;  marks(state) -> what is sent
// A state is never changed; `apply` gives a new one. Labels are numbers: places in `state.labels`, the order shown.
import { barMarks, barWords, beginsWithBars, isChips, noBars, placed, setBar } from "./bars.js";
import { moveTo, rank, rankMarks, shiftRank, toggleRank, touchRank, unrank } from "./ranking.js";

export const KEYS = "1234567890"; // the keys of the labels, in the order shown
const STEP = 5; // nine in ten typed percents are multiples of five

const EMPTY = {
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
  const { labels, form = "top-two", ticks = "never", allowHistogram = true, guard = 300, now = 0, chips = 20 } = setup;
  const mean = { "top-two": ticks, "top-one": ticks, "also-possible": "possible" }[form] ?? null;
  const step = form === "chips" ? 100 / chips : STEP;
  const open = { ticks: mean, step, allowHistogram: allowHistogram && asksPercents({ form }), opened: now, guard };
  const flags = { hint: "", warned: false, sent: false, back: false };
  const state = { ...EMPTY, labels, form, ...open, ...flags, past: [] };
  return beginsWithBars(form) ? { ...state, bars: noBars(labels) } : state;
}

export const asksPercents = ({ form }) => !["one-label", "select-top-two", "ranking"].includes(form);

export function recall(setup, said) {
  // The state in which an earlier answer was given, so that it can be put right.
  const state = begin(setup);
  const place = (mark) => state.labels.indexOf(mark.label);
  const percent = (mark) => (mark?.typed ? Math.round(Number(mark.typed)) : null);
  const named = said.marks.filter((mark) => mark.kind === "named" && place(mark) >= 0);
  const ticked = said.marks
    .filter((mark) => mark.kind === state.ticks && place(mark) >= 0)
    .map(place)
    .sort((a, b) => a - b);
  if (said.abstain || said.none_of_these) return { ...state, aside: said.abstain ? "abstain" : "none" };
  if (state.form === "ranking") return { ...state, order: named.map(place) };
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

const isBars = (state, named) => beginsWithBars(state.form) || named.length > 2;

// ---- what the state says

export const ticksMean = (state) => state.ticks;
export const manyLabels = (state) => state.labels.length > KEYS.length;
const areDigits = (state) => !manyLabels(state) && state.labels.every((label) => /^\d$/.test(label));

export function keyOf(state, place) {
  // The key of a label: by its place among those shown, or the digit itself where all labels are digits.
  if (areDigits(state)) return state.labels[place];
  const key = KEYS[shown(state).indexOf(place)] ?? "";
  return key && seeks(state, key) ? "" : key;
}

function seeks(state, digit) {
  // Among many labels a digit goes on with a name where one goes on so; otherwise it picks.
  if (!manyLabels(state)) return false;
  const sought = fold(state.filter + digit);
  return state.labels.some((label) => (state.filter ? fold(label).includes(sought) : fold(label).startsWith(sought)));
}

const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase(); // without accents and case

function placeOf(state, digit) {
  if (!areDigits(state)) return shown(state)[KEYS.indexOf(digit)];
  const place = state.labels.indexOf(digit);
  return place < 0 ? undefined : place;
}

export const inHistogram = (state) => state.bars !== null;
export const isEmpty = (state) =>
  state.top === null &&
  state.aside === null &&
  !state.order.length &&
  !state.ticked.length &&
  !(state.bars ?? []).some((value) => value > 0) &&
  !state.filter;

export function shown(state) {
  // Places of the labels on the page: all, or those that match what was typed: the very name, beginnings, the rest.
  const places = state.labels.map((_, place) => place);
  const sought = fold(state.filter.trim());
  if (!sought) return places;
  const rank = places.map((place) => {
    const label = fold(state.labels[place]);
    return label === sought ? 0 : label.startsWith(sought) ? 1 : label.includes(sought) ? 2 : 3;
  });
  return places.filter((place) => rank[place] < 3).sort((a, b) => rank[a] - rank[b] || a - b);
}

function found(state) {
  // The label that Enter picks: the only one left, or the one that was typed out.
  if (!state.filter.trim()) return undefined;
  const [first, ...others] = shown(state);
  if (first === undefined) return undefined;
  return !others.length || fold(state.labels[first]) === fold(state.filter.trim()) ? first : undefined;
}

export function percents(state) {
  // Percents of the two named labels and what is left over; null where the person has not said yet.
  const { top, second, topPercent, secondPercent } = state;
  if (top === null) return { top: null, second: null, left: null };
  if (second === null) return { top: topPercent ?? 100, second: null, left: 100 - (topPercent ?? 100) };
  if (!asksPercents(state)) return { top: 50, second: 50, left: 0 };
  if (topPercent === null && secondPercent === null) return { top: null, second: null, left: null };
  const first = topPercent ?? 100 - secondPercent;
  const next = secondPercent ?? 100 - topPercent;
  return { top: first, second: next, left: 100 - first - next };
}

export function openLabels(state) {
  // Where a rest may go: what was not ruled out, or what was marked as possible too.
  const named = [state.top, state.second];
  const free = state.labels.map((_, place) => place).filter((place) => !named.includes(place));
  const wanted = ticksMean(state) === "possible";
  return ticksMean(state) ? free.filter((place) => state.ticked.includes(place) === wanted) : [];
}

export const isSure = (state) =>
  state.top !== null &&
  state.second === null &&
  state.topPercent === null &&
  !state.ticked.length &&
  !state.aside &&
  !inHistogram(state);

export function shares(state) {
  // Pieces of the live bar, in percent; they always sum to 100.
  if (state.aside) return [{ kind: state.aside, share: 100 }];
  if (inHistogram(state)) {
    const pieces = state.bars.map((share, place) => ({ kind: "bar", place, share })).filter((piece) => piece.share > 0);
    const rest = 100 - placed(state);
    return rest ? [...pieces, { kind: "unplaced", share: rest }] : pieces;
  }
  const { top, second, left } = percents(state);
  if (state.top === null) return [{ kind: "unplaced", share: 100 }];
  if (top === null) return [{ kind: "undecided", share: 100 }];
  const pieces = [{ kind: "top", place: state.top, share: top }];
  if (second) pieces.push({ kind: "second", place: state.second, share: second });
  if (left) pieces.push({ kind: "open", share: left, among: openLabels(state).length });
  return pieces;
}

export function problem(state) {
  // Why this cannot be sent yet, in words; "" when it can.
  const name = (place) => state.labels[place];
  if (state.aside) return "";
  if (inHistogram(state)) return placed(state) < 100 ? barWords(state) : "";
  if (state.form === "ranking" && state.order.length) return "";
  if (state.top === null) return "Pick a label first";
  const { top, second, left } = percents(state);
  if (top === null) return `How likely is ${name(state.top)}? Type its percent, or use the arrows`;
  if (state.second !== null && second <= 0) return `${top}% leaves nothing for ${name(state.second)}`;
  if (top <= 0) return `${name(state.top)} needs more than 0%`;
  if (left > 0 && !openLabels(state).length) return restNowhere(state, left);
  return "";
}

function restNowhere(state, left) {
  const ways =
    { possible: "mark what else is possible", never: "leave a label open" }[ticksMean(state)] ?? "use up all 100";
  return `${left}% left over: name a runner-up or ${ways}`;
}

export function warning(state) {
  // What looks odd but may be meant.
  if (problem(state) || state.aside || inHistogram(state)) return "";
  const { top, second, left } = percents(state);
  const name = (place) => state.labels[place];
  const each = left ? left / openLabels(state).length : 0;
  if (second > top) return `${name(state.second)} now has more than your top label`;
  if (each > top) return `Each open label now gets ${Math.round(each)}%, more than your top label`;
  return "";
}

export function marks(state) {
  // What is sent: marks of kind named, never or possible, with what was typed beside them.
  const mark = (kind, place, typed = "") => ({ kind, label: state.labels[place], typed });
  const answer = {
    form: inHistogram(state) ? "histogram" : state.form,
    abstain: state.aside === "abstain",
    none_of_these: state.aside === "none",
  };
  if (!state.aside && inHistogram(state)) return { ...answer, marks: barMarks(state) };
  if (!state.aside && state.form === "ranking") return { ...answer, marks: rankMarks(state) };
  if (state.aside || state.top === null) return { ...answer, marks: [] };
  const { top, second } = percents(state);
  if (!asksPercents(state)) {
    const pair = [state.top, state.second].filter((place) => place !== null);
    return { ...answer, marks: pair.map((place) => mark("named", place)) };
  }
  const list = [mark("named", state.top, top === null ? "" : String(top))];
  if (state.second !== null) list.push(mark("named", state.second, second === null ? "" : String(second)));
  return { ...answer, marks: [...list, ...state.ticked.map((place) => mark(ticksMean(state), place))] };
}

// ---- keys

export function readKey(state, { key, code = "", shift = false, alt = false }) {
  // The action a key stands for, or null. `code` tells Shift+3 from # on every keyboard layout.
  if (key === "Enter")
    return found(state) === undefined ? { do: "enter" } : { do: "pick", place: found(state) };
  if (key === "Escape") return { do: "clear" };
  if (key === "Backspace") return state.filter ? { do: "filter", text: state.filter.slice(0, -1) } : { do: "undo" };
  if (state.form === "ranking" && key.startsWith("Arrow"))
    return { do: "shift", by: key === "ArrowLeft" || key === "ArrowUp" ? -1 : 1 };
  if (key === "ArrowRight" || key === "ArrowUp") return { do: "nudge", by: shift && !isChips(state) ? 1 : state.step };
  if (key === "ArrowLeft" || key === "ArrowDown") return { do: "nudge", by: shift && !isChips(state) ? -1 : -state.step };
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(code)?.[1] ?? (/^\d$/.test(key) ? key : null);
  if (digit !== null) return { do: shift ? "shift-digit" : "digit", digit }; // before signs: Shift+5 may be %
  if (key === "." || key === "," || key === "%") return { do: inHistogram(state) ? "rest" : "field" };
  if ([...key].length !== 1) return null;
  if (manyLabels(state) && !alt)
    return key === " " && !state.filter ? null : { do: "filter", text: state.filter + key };
  const command = { u: "undo", s: "abstain", o: "none", h: "histogram", n: "others" }[key.toLowerCase()];
  return command ? { do: command } : null;
}

// ---- actions

export function apply(state, action) {
  const acts = ACTIONS[action.do];
  if (!acts || state.sent) return state;
  const next = acts({ ...state, hint: "", back: false }, action);
  if (next === null) return state;
  const kept = action.do === "enter" || action.do === "undo" || next.hint;
  const changed = Object.keys(EMPTY).some((name) => next[name] !== state[name]);
  if (!changed || kept) return next;
  return { ...next, warned: false, past: [...state.past, only(state)] };
}

const only = (state) => Object.fromEntries(Object.keys(EMPTY).map((name) => [name, state[name]]));
const say = (state, hint) => ({ ...state, hint });

const ACTIONS = {
  enter(state, { at = Infinity }) {
    if (at - state.opened < state.guard) return null; // a key still held from the page before
    const fault = problem(state);
    if (fault) return say(state, fault);
    const doubt = warning(state);
    if (doubt && !state.warned) return { ...say(state, `${doubt}. Press Enter again to keep it`), warned: true };
    return { ...state, sent: true };
  },

  undo(state) {
    if (!state.past.length) return { ...state, back: true };
    return { ...state, ...state.past.at(-1), warned: false, past: state.past.slice(0, -1) };
  },

  clear: (state) => (isEmpty(state) ? null : { ...state, ...EMPTY, bars: state.bars && noBars(state.labels) }),
  filter: (state, { text }) => ({ ...state, filter: text.slice(0, 60) }),

  pick(state, { place }) {
    if (place === undefined || place === null) return null;
    if (inHistogram(state)) return ACTIONS.chip({ ...state, filter: "" }, { place, by: state.step });
    if (state.form === "ranking") return toggleRank(state, place);
    const fresh = { ...state, aside: null, filter: "", ticked: state.ticked.filter((other) => other !== place) };
    if (state.form === "one-label") return { ...fresh, top: state.top === place ? null : place };
    const unset = { topPercent: null, secondPercent: null, field: null, typed: "" };
    if (state.form === "top-one" && place !== state.top) return { ...fresh, ...unset, top: place, field: "top" };
    if (place === state.top) return { ...fresh, ...unset, top: state.second, second: null };
    if (place === state.second) return { ...fresh, ...unset, second: null };
    if (state.top === null) return { ...fresh, ...unset, top: place };
    return { ...fresh, ...unset, second: place };
  },

  tick(state, { place }) {
    const what = ticksMean(state);
    if (what === null || inHistogram(state) || place === undefined) return null;
    if (place === state.top || place === state.second)
      return say(
        state,
        `${state.labels[place]} is named, so it cannot be ${what === "never" ? "ruled out" : "marked again"}`,
      );
    const has = state.ticked.includes(place);
    const ticked = has
      ? state.ticked.filter((other) => other !== place)
      : [...state.ticked, place].sort((a, b) => a - b);
    return { ...state, aside: null, ticked };
  },

  others(state) {
    // One key for "none of the others": rules out whatever is not named, or takes the ticks back.
    if (ticksMean(state) !== "never" || state.top === null || inHistogram(state)) return null;
    const free = state.labels.map((_, place) => place).filter((place) => place !== state.top && place !== state.second);
    return { ...state, ticked: state.ticked.length === free.length ? [] : free };
  },

  digit(state, { digit }) {
    const place = placeOf(state, digit);
    const naming = inHistogram(state) || !asksPercents(state) || state.top === null || state.filter;
    if (!naming && (state.field || state.second !== null)) return type(state, digit);
    if (seeks(state, digit)) return ACTIONS.filter(state, { text: state.filter + digit });
    if (place === undefined) return null;
    if (state.form === "ranking") return rank(state, place);
    if (!naming && place === state.top) return say(state, `${state.labels[place]} is your top label already`);
    return ACTIONS.pick(state, { place });
  },

  "shift-digit"(state, { digit }) {
    const place = placeOf(state, digit);
    if (place === undefined) return null;
    if (state.form === "ranking") return unrank(state, place);
    return inHistogram(state)
      ? ACTIONS.chip(state, { place, by: -state.step })
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
    if (!(whole >= 1 && whole <= 100)) return say(state, "Percents go from 1 to 100");
    return settle({ ...state, field: who, typed: "" }, who, whole);
  },

  nudge(state, { by }) {
    if (inHistogram(state)) return state.touched === null ? null : ACTIONS.chip(state, { place: state.touched, by });
    if (state.top === null || !asksPercents(state)) return null;
    const start = percents(state).top ?? (by > 0 ? 50 : 100); // no split is set before a key is pressed
    const most = state.second === null ? 100 : 99;
    return settle({ ...state, field: "top", typed: "" }, "top", Math.min(most, Math.max(1, Math.round(start + by))));
  },

  abstain: (state) => setAside(state, "abstain"),
  none: (state) => setAside(state, "none"),

  histogram(state) {
    if (!state.allowHistogram || beginsWithBars(state.form)) return null;
    return { ...state, ...EMPTY, bars: inHistogram(state) ? null : noBars(state.labels) };
  },

  bar: (state, { place, value }) => setBar(state, place, value),
  chip: (state, { place, by }) => setBar(state, place, state.bars[place] + by),
  rest: (state) => (state.touched === null ? null : setBar(state, state.touched, 100)),

  move: (state, { place, to }) => moveTo(state, place, to),
  shift: (state, { by }) => shiftRank(state, by),
  touch: (state, { place }) => touchRank(state, place),
  unrank: (state, { place }) => unrank(state, place),
};

function setAside(state, what) {
  const bars = state.bars && noBars(state.labels);
  return { ...state, ...EMPTY, bars, aside: state.aside === what ? null : what };
}

function type(state, digit) {
  const who = state.field ?? "top";
  const longer = state.typed + digit;
  const text = Number(longer) <= 100 ? longer : digit; // a fourth digit begins again
  if (Number(text) === 0) return say(state, "Percents go from 1 to 100");
  return settle({ ...state, field: who, typed: text }, who, Number(text));
}

function settle(state, who, value) {
  // Put a percent on one label; the other keeps its own only while both fit into 100.
  const other = who === "top" ? state.secondPercent : state.topPercent;
  const kept = other !== null && other + value <= 100 ? other : null;
  return who === "top"
    ? { ...state, topPercent: value, secondPercent: kept }
    : { ...state, topPercent: kept, secondPercent: value };
}
