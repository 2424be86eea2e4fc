// Percents of an answer, the segments of the bar that shows them, and the marks that are sent. Pure functions.
import { inHistogram } from "./answer.js";
import { asksOrder, asksPercents, tickMeaning } from "./question_type.js";
import { barMarks, placedPercent } from "./bars_state.js";
import { rankMarks } from "./ranking_state.js";

export function percents(state) {
  // Percents of the two selected labels and the rest; null if not entered yet.
  const { top, second, topPercent, secondPercent } = state;
  if (top === null) return { top: null, second: null, left: null };
  if (second === null) return { top: topPercent ?? 100, second: null, left: 100 - (topPercent ?? 100) };
  if (!asksPercents(state)) return { top: 50, second: 50, left: 0 };
  if (topPercent === null && secondPercent === null) return { top: null, second: null, left: null };
  const first = topPercent ?? 100 - secondPercent;
  const next = secondPercent ?? 100 - topPercent;
  return { top: first, second: next, left: 100 - first - next };
}

export function saidPercents(state) {
  // Percents as the worker has said them: a single label without a percent has none until the answer is sent.
  return withoutPercent(state) ? { top: null, second: null, left: null } : percents(state);
}

const withoutPercent = (state) =>
  asksPercents(state) && state.top !== null && state.second === null && state.topPercent === null && !state.aside;

export function openLabels(state) {
  // Labels that share the rest: those not ruled out, or those marked as possible.
  const named = [state.top, state.second];
  const free = state.labels.map((_, place) => place).filter((place) => !named.includes(place));
  const wanted = tickMeaning(state) === "possible";
  return tickMeaning(state) ? free.filter((place) => state.ticked.includes(place) === wanted) : [];
}

export const isSure = (state) =>
  state.top !== null &&
  state.second === null &&
  state.topPercent === null &&
  !state.ticked.length &&
  !state.aside &&
  !inHistogram(state);

export function barPieces(state) {
  // Segments of the bar that shows the answer, in percent; they always sum to 100.
  if (state.aside) return [{ kind: state.aside, share: 100 }];
  if (inHistogram(state)) {
    const pieces = state.bars.map((share, place) => ({ kind: "bar", place, share })).filter((piece) => piece.share > 0);
    const rest = 100 - placedPercent(state);
    return rest ? [...pieces, { kind: "unplaced", share: rest }] : pieces;
  }
  const { top, second, left } = percents(state);
  if (state.top === null) return [{ kind: "unplaced", share: 100 }];
  if (withoutPercent(state)) return [{ kind: "unsaid", place: state.top, share: 100 }];
  if (top === null) return [{ kind: "undecided", share: 100 }];
  const pieces = [{ kind: "top", place: state.top, share: top }];
  if (second) pieces.push({ kind: "second", place: state.second, share: second });
  if (left) pieces.push({ kind: "open", share: left, among: openLabels(state).length });
  return pieces;
}

export function marks(state) {
  // The marks that are sent, of kind named, never or possible, with the percent as typed.
  const mark = (kind, place, typed = "") => ({ kind, label: state.labels[place], typed });
  const answer = { abstain: state.aside === "abstain", none_of_these: state.aside === "none" };
  if (!state.aside && inHistogram(state)) return { ...answer, marks: barMarks(state) };
  if (!state.aside && asksOrder(state)) return { ...answer, marks: rankMarks(state) };
  if (state.aside || state.top === null) return { ...answer, marks: [] };
  const { top, second } = percents(state);
  const typed = (percent) => (percent === null || !asksPercents(state) ? "" : String(percent));
  const list = [mark("named", state.top, typed(top))];
  if (state.second !== null) list.push(mark("named", state.second, typed(second)));
  return { ...answer, marks: [...list, ...state.ticked.map((place) => mark(tickMeaning(state), place))] };
}
