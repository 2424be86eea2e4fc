// State of a ranking: labels in order, the most probable first; not every label needs a rank. Pure functions.
// `state.order` holds label indices, `state.touched` the label that the arrow keys move. There are no ties.

const ENDS = { 1: "st", 2: "nd", 3: "rd" };

export function ordinal(n) {
  const teen = n % 100 > 10 && n % 100 < 14;
  return `${n}${teen ? "th" : (ENDS[n % 10] ?? "th")}`;
}

export const ranked = (state, place) => state.order.indexOf(place);

export function rank(state, place) {
  // Add a label at the end; a label that is ranked already stays and becomes the one that the arrow keys move.
  const at = ranked(state, place);
  if (at < 0) return { ...state, aside: null, filter: "", order: [...state.order, place], touched: place };
  const how = state.keys ? ": the arrow keys move it, Shift and its key take it out" : "";
  const hint = `${state.labels[place]} is ${ordinal(at + 1)}${how}`;
  return { ...state, filter: "", touched: place, hint };
}

export function unrank(state, place) {
  if (ranked(state, place) < 0) return null;
  const order = state.order.filter((other) => other !== place);
  return { ...state, filter: "", order, touched: order.at(-1) ?? null };
}

export function moveTo(state, place, to) {
  const at = ranked(state, place);
  const end = Math.max(0, Math.min(state.order.length - 1, to));
  if (at < 0 || at === end) return null;
  const order = state.order.filter((other) => other !== place);
  order.splice(end, 0, place);
  return { ...state, order, touched: place };
}

export const touchRank = (state, place) => (ranked(state, place) < 0 ? null : { ...state, touched: place });
export const toggleRank = (state, place) => unrank(state, place) ?? rank(state, place);
export const shiftRank = (state, by) => moveTo(state, state.touched, ranked(state, state.touched) + by);
export const rankMarks = (state) =>
  state.order.map((place) => ({ kind: "named", label: state.labels[place], typed: "" }));

export function nearestOf(boxes, x, y) {
  // The rank at which a dragged label is dropped: the box with the nearest centre.
  const far = ({ left, top, width, height }) => (left + width / 2 - x) ** 2 + (top + height / 2 - y) ** 2;
  return boxes.reduce((best, box, at) => (far(box) < far(boxes[best]) ? at : best), 0);
}
