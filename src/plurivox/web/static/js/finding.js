// Which labels are on the page and which keys they have: typing narrows a long list. Pure.

export const KEYS = "1234567890"; // the keys of the labels, in the order shown

export const manyLabels = (state) => state.labels.length > KEYS.length;
const areDigits = (state) => !manyLabels(state) && state.labels.every((label) => /^\d$/.test(label));

export function keyOf(state, place) {
  // The key of a label: by its place among those shown, or the digit itself where all labels are digits.
  if (areDigits(state)) return state.labels[place];
  const key = KEYS[shown(state).indexOf(place)] ?? "";
  return key && seeks(state, key) ? "" : key;
}

export function seeks(state, digit) {
  // Among many labels a digit goes on with a name where one goes on so; otherwise it picks.
  if (!manyLabels(state)) return false;
  const sought = fold(state.filter + digit);
  return state.labels.some((label) => (state.filter ? fold(label).includes(sought) : fold(label).startsWith(sought)));
}

const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase(); // without accents and case

export function placeOf(state, digit) {
  if (!areDigits(state)) return shown(state)[KEYS.indexOf(digit)];
  const place = state.labels.indexOf(digit);
  return place < 0 ? undefined : place;
}

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

export function found(state) {
  // The label that Enter picks: the only one left, or the one that was typed out.
  if (!state.filter.trim()) return undefined;
  const [first, ...others] = shown(state);
  if (first === undefined) return undefined;
  return !others.length || fold(state.labels[first]) === fold(state.filter.trim()) ? first : undefined;
}
