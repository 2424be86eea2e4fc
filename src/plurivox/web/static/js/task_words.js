// The words beside a task: what was said so far, and the questions of the form.
import { asksPercents, inHistogram } from "./answer.js";
import { barAmount, barWords, isChips } from "./bars.js";
import { shares } from "./meaning.js";

const FEW = { "one-label": ["top"], "select-top-two": ["top", "second"], "top-one": ["top", "top_percent", "never"] };

export function summary(state) {
  const name = (place) => state.labels[place];
  if (state.aside) return state.aside === "abstain" ? "Can't tell" : "None of these";
  if (state.form === "ranking") return state.order.map(name).join(" › ");
  if (!asksPercents(state)) return [state.top, state.second].filter((place) => place !== null).map(name).join(" · ");
  if (inHistogram(state)) {
    const moved = state.touched === null ? "" : `${name(state.touched)} ${barAmount(state, state.bars[state.touched])} · `;
    return moved + barWords(state);
  }
  const words = {
    undecided: () => `${name(state.top)} and ${name(state.second)}: no percent yet`,
    top: (one) => `${name(one.place)} ${one.share}%`,
    second: (one) => `${name(one.place)} ${one.share}%`,
    open: (one) => `${one.share}% left for ${one.among} other label${one.among === 1 ? "" : "s"}`,
  };
  return shares(state)
    .map((one) => words[one.kind]?.(one))
    .filter(Boolean)
    .join(" · ");
}

export function questions(state, phrases) {
  // The questions of this form in order, with the one that is being answered.
  const ask = (name, now) => ({ text: phrases[name], now });
  if (inHistogram(state)) return [ask(isChips(state) ? "chips" : "histogram", true)].filter((one) => one.text);
  if (state.form === "ranking") return [ask("ranking", true)];
  const named = state.top !== null;
  const both = state.second !== null;
  const said = state.topPercent !== null || state.secondPercent !== null;
  const list = {
    top: ask("top", !named || state.form === "one-label"),
    top_percent: ask("top_percent", (named && state.field === "top" && !both) || (both && !said)),
    second: ask("second", named && !both && state.field !== "top"),
    second_percent: ask("second_percent", both && state.field === "second"),
    never: ask(state.ticks, both && said && state.field !== "second"),
  };
  const wanted = FEW[state.form] ?? Object.keys(list);
  return wanted.map((name) => list[name]).filter((one) => one.text);
}
