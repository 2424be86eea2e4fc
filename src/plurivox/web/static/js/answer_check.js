// Checks of an answer before it is sent: problem() blocks sending, warning() asks for confirmation. Pure functions.
import { inHistogram } from "./answer.js";
import { asksOne, asksOrder, ticksToAsk } from "./question_type.js";
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
  if (top === null) return `${percentQuestion(state)} ${state.keys ? "Type it or use the arrow keys" : "Use the slider"}`;
  if (state.second !== null && second <= 0) return `${top}% leaves nothing for ${name(state.second)}`;
  if (top <= 0) return `${name(state.top)} needs more than 0%`;
  if (left > 0 && !openLabels(state).length) return unplacedRest(state, left);
  return "";
}

const percentQuestion = ({ phrases, labels, top }) =>
  (phrases.percent_missing ?? "What percent for {label}?").replace("{label}", () => labels[top]);

function unplacedRest(state, left) {
  const open = { possible: "mark what else is possible", never: "leave a label open" }[ticksToAsk(state)];
  const other = asksOne(state) ? "say 100%" : state.second === null ? "pick a second label" : "use up all 100%";
  return `${left}% is left over: ${[open, other].filter(Boolean).join(", or ")}`;
}

export function warning(state) {
  // What looks like a mistake but may be intended, as text for the worker; "" if nothing does.
  if (problem(state) || state.aside || inHistogram(state)) return "";
  const { top, second, left } = percents(state);
  const name = (place) => state.labels[place];
  const each = left ? left / openLabels(state).length : 0;
  if (second > top) return `${name(state.second)} now has more than ${name(state.top)}, which you picked first`;
  if (each > top) return `Each open label now gets ${Math.round(each)}%, more than ${name(state.top)}`;
  return "";
}
