// What the form of a study asks for, from `me.asks`; the name of the form is not used. `labels`: how many labels can be selected
// (null: any number). `percents`: whether they have percents. `ticks`: what a tick means for another label, "never" or
// "possible" (null: no ticks). `chips`: how many chips there are to place (0: percents are placed freely).
// The functions take any object with `asks`: `me`, or the state of an answer.

export const asksPercents = ({ asks }) => asks.percents;
export const asksOne = ({ asks }) => asks.labels === 1;
export const asksTwo = ({ asks }) => asks.labels === 2;
export const asksOrder = ({ asks }) => asks.labels === null && !asks.percents; // a ranking
export const asksBars = ({ asks }) => asks.labels === null && asks.percents; // a histogram, or chips
export const asksChips = ({ asks }) => asks.chips > 0;
export const tickMeaning = ({ asks }) => asks.ticks;

export function ticksToAsk(one) {
  // The same if a label is left to tick, for an answer or the whole study. Possible labels are picked rather than ticked if all
  // can be picked; impossible ones are those that are not picked.
  const means = tickMeaning(one);
  const picked = [one.top, one.second].filter((place) => place !== null && place !== undefined).length;
  return one.labels.length > (means === "possible" ? one.asks.labels : picked) ? means : null;
}
export const percentStep = ({ asks }) => (asks.chips ? 100 / asks.chips : 5); // 90% of typed percents are multiples of five
