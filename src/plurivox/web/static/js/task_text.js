// Text on the task page: a summary of the answer so far, and the questions of the form.
import { inHistogram } from "./answer.js";
import { asksChips, asksOne, asksOrder, asksPercents, asksTwo, tickMeaning } from "./question_type.js";
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
  const ask = (name, now) => ({ text: phrases[name], now });
  if (inHistogram(state)) return [ask(asksChips(state) ? "chips" : "histogram", true)].filter((one) => one.text);
  if (asksOrder(state)) return [ask("ranking", true)];
  const named = state.top !== null;
  const both = state.second !== null;
  const said = state.topPercent !== null || state.secondPercent !== null;
  const [percents, two] = [asksPercents(state), asksTwo(state)];
  return [
    ask("top", !named || (asksOne(state) && !percents)),
    percents && ask("top_percent", (named && state.field === "top" && !both) || (both && !said)),
    two && ask("second", named && !both && state.field !== "top"),
    two && percents && ask("second_percent", both && state.field === "second"),
    ask(tickMeaning(state), both && said && state.field !== "second"),
  ].filter((one) => one?.text);
}
