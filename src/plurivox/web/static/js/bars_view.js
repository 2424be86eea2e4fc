// Rows of histogram bars or chips: each has a slider, buttons to add and take away, and a key.
import { asksChips, percentStep } from "./question_type.js";
import { amountText, chipCount, isUnset } from "./bars_state.js";
import { button, change, make, put } from "./dom.js";
import { KEYS, keyOf, manyLabels, visiblePlaces } from "./label_search.js";
import { onTouchSlide } from "./touch_slider.js";

export class BarRows {
  constructor(me, act) {
    this.act = act;
    this.chips = me.asks.chips;
    this.step = percentStep(me);
    this.root = make("ul", { class: "bars", hidden: true, "data-chips": this.chips > 0 && this.chips <= 25 });
    this.root.style.setProperty("--chips", String(this.chips || 20));
    this.rowOf = me.labels.map((label, place) => this.row(label, place));
    put(
      this.root,
      this.rowOf.map((row) => row.root),
    );
  }

  row(label, place) {
    const { step, act } = this;
    const input = make("input", { type: "range", min: "0", max: "100", value: "0", "aria-label": label });
    if (this.chips) input.step = String(step);
    const snap = () => Math.round(Number(input.value) / step) * step;
    onTouchSlide(input, (event) => act({ do: "bar", place, value: snap() }, event));
    const out = make("output", {}, "–");
    const chip = (by, sign) =>
      button(sign, (event) => act({ do: "chip", place, by }, event), {
        "aria-label": `${label}: ${by > 0 ? "add" : "take away"} ${this.chips ? "a chip" : `${step}%`}`,
      });
    const key = make("kbd", { "aria-hidden": "true" });
    const name = make("span", { class: "name", dir: "auto" }, label);
    const root = make("li", { class: "barrow" }, key, name, input, out, chip(-step, "−"), chip(step, "+"));
    return { root, input, out, key };
  }

  paint(state) {
    const places = visiblePlaces(state);
    this.rowOf.forEach(({ root, input, out, key }, place) => {
      const value = state.bars[place];
      root.hidden = !places.includes(place) || (manyLabels(state) && places.indexOf(place) >= KEYS.length && !value);
      input.value = String(value);
      input.style.setProperty("--fill", `${value}%`);
      const n = chipCount(state, value);
      const unset = isUnset(state, value);
      input.toggleAttribute("data-unset", unset);
      const amount = asksChips(state) ? `${n} ${n === 1 ? "chip" : "chips"}, ${value}%` : `${value}%`;
      input.setAttribute("aria-valuetext", unset ? "not set" : amount);
      change(out, unset ? "–" : amountText(state, value));
      change(key, keyOf(state, place) || "·");
    });
  }
}
