// Checks of an answer before it is sent: problem() blocks sending, warning() asks for confirmation. Pure functions.
import { inHistogram } from "./answer.js";
import { asksOrder, tickMeaning } from "./question_type.js";
import { placedText, placedPercent } from "./bars_state.js";
import { openLabels, percents } from "./answer_marks.js";

export function problem(state) {
  // Why the answer cannot be sent yet, as text for the worker; "" if it can.
  const name = (place) => state.labels[place];
  if (state.aside) return "";
  if (inHistogram(state)) return placedPercent(state) < 100 ? placedText(state) : "";
  if (asksOrder(state) && state.order.length) return "";
  if (state.top === null) return "Pick a label first";
  const { top, second, left } = percents(state);
  if (top === null) return `How likely is ${name(state.top)}? Type its percent or use the arrow keys`;
  if (state.second !== null && second <= 0) return `${top}% leaves nothing for ${name(state.second)}`;
  if (top <= 0) return `${name(state.top)} needs more than 0%`;
  if (left > 0 && !openLabels(state).length) return unplacedRest(state, left);
  return "";
}

function unplacedRest(state, left) {
  const ways =
    { possible: "mark what else is possible", never: "leave a label open" }[tickMeaning(state)] ?? "use up all 100";
  return `${left}% is left over: pick a second label or ${ways}`;
}

export function warning(state) {
  // What looks like a mistake but may be intended, as text for the worker; "" if nothing does.
  if (problem(state) || state.aside || inHistogram(state)) return "";
  const { top, second, left } = percents(state);
  const name = (place) => state.labels[place];
  const each = left ? left / openLabels(state).length : 0;
  if (second > top) return `${name(state.second)} now has more than your top label`;
  if (each > top) return `Each open label now gets ${Math.round(each)}%, more than your top label`;
  return "";
}
