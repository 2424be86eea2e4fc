// What the form of a study asks for, as the server says it in `me.asks`; no form is known by its name here. `labels`: how many
// may be named (null: any number). `percents`: whether they have percents. `ticks`: what a tick says of another label, "never"
// or "possible" (null: no ticks). `chips`: how many there are to place (0: percents are placed freely).
// These take whatever holds `asks`: `me`, or the state of an answer.

export const asksPercents = ({ asks }) => asks.percents;
export const asksOne = ({ asks }) => asks.labels === 1;
export const asksTwo = ({ asks }) => asks.labels === 2;
export const asksOrder = ({ asks }) => asks.labels === null && !asks.percents; // a ranking
export const asksBars = ({ asks }) => asks.labels === null && asks.percents; // a histogram, or chips
export const asksChips = ({ asks }) => asks.chips > 0;
export const ticksMean = ({ asks }) => asks.ticks;
export const stepOf = ({ asks }) => (asks.chips ? 100 / asks.chips : 5); // nine in ten typed percents are multiples of five
