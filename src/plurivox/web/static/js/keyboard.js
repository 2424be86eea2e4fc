// Keyboard input: the action of a key in the current state. Pure functions.
import { inHistogram } from "./answer.js";
import { asksChips, asksOrder, percentStep } from "./question_type.js";
import { enterMatch, manyLabels } from "./label_search.js";

export function readKey(state, { key, code = "", shift = false, alt = false }) {
  // The action of a key, or null. `code` identifies Shift+3 on every keyboard layout.
  if (key === "Enter")
    return enterMatch(state) === undefined ? { do: "enter" } : { do: "pick", place: enterMatch(state) };
  if (key === "Escape") return { do: "clear" };
  if (key === "Backspace") return state.filter ? { do: "filter", text: state.filter.slice(0, -1) } : { do: "undo" };
  if (asksOrder(state) && key.startsWith("Arrow"))
    return { do: "shift", by: key === "ArrowLeft" || key === "ArrowUp" ? -1 : 1 };
  const step = shift && !asksChips(state) ? 1 : percentStep(state);
  if (key === "ArrowRight" || key === "ArrowUp") return { do: "nudge", by: step };
  if (key === "ArrowLeft" || key === "ArrowDown") return { do: "nudge", by: -step };
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(code)?.[1] ?? (/^\d$/.test(key) ? key : null);
  if (digit !== null) return { do: shift ? "shift-digit" : "digit", digit }; // before signs: Shift+5 may be %
  if (key === "." || key === "," || key === "%") return { do: inHistogram(state) ? "rest" : "field" };
  if ([...key].length !== 1) return null;
  if (manyLabels(state) && !alt)
    return key === " " && !state.filter ? null : { do: "filter", text: state.filter + key };
  const command = { u: "undo", s: "abstain", o: "none", h: "histogram", n: "others" }[key.toLowerCase()];
  return command ? { do: command } : null;
}
