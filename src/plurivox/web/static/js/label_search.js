// Search in the list of labels, and the key of each label on the page. Pure functions.

export const KEYS = "1234567890"; // keys of the first ten labels, in the order shown

export const manyLabels = (state) => state.labels.length > KEYS.length;
const areDigits = (state) => !manyLabels(state) && state.labels.every((label) => /^\d$/.test(label));

export function keyOf(state, place) {
  // The key of a label: its position among the labels shown, or the digit itself if all labels are digits.
  if (areDigits(state)) return state.labels[place];
  const key = KEYS[visiblePlaces(state).indexOf(place)] ?? "";
  return key && continuesName(state, key) ? "" : key;
}

export function continuesName(state, digit) {
  // Whether a typed digit continues a label name (only with more than ten labels); otherwise it selects a label.
  if (!manyLabels(state)) return false;
  const sought = normalised(state.filter + digit);
  return state.labels.some((label) => (state.filter ? normalised(label).includes(sought) : normalised(label).startsWith(sought)));
}

const normalised = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase(); // without accents and case

export function placeOfKey(state, digit) {
  if (!areDigits(state)) return visiblePlaces(state)[KEYS.indexOf(digit)];
  const place = state.labels.indexOf(digit);
  return place < 0 ? undefined : place;
}

export function visiblePlaces(state) {
  // Indices of the labels on the page: all, or those that match the search text (exact name, then beginning, then anywhere).
  const places = state.labels.map((_, place) => place);
  const sought = normalised(state.filter.trim());
  if (!sought) return places;
  const rank = places.map((place) => {
    const label = normalised(state.labels[place]);
    return label === sought ? 0 : label.startsWith(sought) ? 1 : label.includes(sought) ? 2 : 3;
  });
  return places.filter((place) => rank[place] < 3).sort((a, b) => rank[a] - rank[b] || a - b);
}

export function enterMatch(state) {
  // The label that Enter selects: the only match, or the exact name; undefined if there is none.
  if (!state.filter.trim()) return undefined;
  const [first, ...others] = visiblePlaces(state);
  if (first === undefined) return undefined;
  return !others.length || normalised(state.labels[first]) === normalised(state.filter.trim()) ? first : undefined;
}
