// Text on the task page: a summary of the answer so far, and the questions of the form.
import { inHistogram } from "./answer.js";
import { asksChips, asksOne, asksOrder, asksPercents, asksTwo, tickMeaning, ticksToAsk } from "./question_type.js";
import { amountText, placedText } from "./bars_state.js";
import { barPieces } from "./answer_marks.js";

export function summary(state) {
  const name = (place) => state.labels[place];
  if (state.aside) return state.aside === "abstain" ? "Can't tell" : "None of these";
  if (asksOrder(state)) return state.order.map(name).join(" › ");
  if (!asksPercents(state)) return [state.top, state.second].filter((place) => place !== null).map(name).join(" · ");
  if (inHistogram(state)) {
    const moved = state.touched === null ? "" : `${name(state.touched)} ${amountText(state, state.bars[state.touched])} · `;
    return moved + placedText(state);
  }
  const words = {
    unsaid: (one) => `${name(one.place)}: ${state.phrases.sure_means ?? "no percent given"}`,
    undecided: () => `${name(state.top)} and ${name(state.second)}: no percents yet`,
    top: (one) => `${name(one.place)} ${one.share}%`,
    second: (one) => `${name(one.place)} ${one.share}%`,
    open: (one) => `${one.share}% left for ${one.among} other label${one.among === 1 ? "" : "s"}`,
  };
  return barPieces(state)
    .map((one) => words[one.kind]?.(one))
    .filter(Boolean)
    .join(" · ");
}

export function questions(state, phrases) {
  // The questions of the form in order; `now` marks the one being answered.
  const names = questionNames(state).filter((name) => phrases[name]);
  const now = currentQuestion(state);
  const current = names.includes(now) ? now : names.at(-1);
  return names.map((name) => ({ text: phrases[name], now: name === current }));
}

function questionNames(state) {
  if (inHistogram(state)) return [asksChips(state) ? "chips" : "histogram"];
  if (asksOrder(state)) return ["ranking"];
  const [percents, two] = [asksPercents(state), asksTwo(state)];
  return ["top", percents && "top_percent", two && "second", two && percents && "second_percent", ticksToAsk(state)].filter(Boolean);
}

function currentQuestion(state) {
  // The question that the next input answers. With keys, a digit after the first label picks the second; by touch, the
  // questions are asked in their order.
  const { top, second, field, keys, ticked } = state;
  const said = state.topPercent !== null || state.secondPercent !== null;
  if (top === null) return "top";
  if (!asksPercents(state)) return asksTwo(state) ? "second" : "top";
  if (field === "second") return "second_percent";
  const beforePercent = !said && (second !== null || field === "top" || !keys || asksOne(state));
  if (beforePercent || state.typed.length === 1) return "top_percent";
  if (second === null && !ticked.length && (!said || !keys)) return "second";
  if (second !== null && !ticked.length && !keys && state.secondPercent === null) return "second_percent";
  return tickMeaning(state);
}
