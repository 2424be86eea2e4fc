// Whether an answer may be sent: what is missing, and what looks odd but may be meant. Pure.
import { inHistogram } from "./answer.js";
import { asksOrder, ticksMean } from "./asks.js";
import { barWords, placed } from "./bars.js";
import { openLabels, percents } from "./meaning.js";

export function problem(state) {
  // Why this cannot be sent yet, in words; "" when it can.
  const name = (place) => state.labels[place];
  if (state.aside) return "";
  if (inHistogram(state)) return placed(state) < 100 ? barWords(state) : "";
  if (asksOrder(state) && state.order.length) return "";
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
