// The task page: built once per task and updated after every action.
import { inHistogram } from "./answer.js";
import { asksBars, asksOne, asksOrder, asksPercents, tickMeaning, ticksToAsk } from "./question_type.js";
import { amountText } from "./bars_state.js";
import { BarRows } from "./bars_view.js";
import { button, change, make, put } from "./dom.js";
import { KEYS, keyOf, manyLabels, visiblePlaces } from "./label_search.js";
import { problem, warning } from "./answer_check.js";
import { barPieces, isSure, saidPercents } from "./answer_marks.js";
import { ordinal, ranked } from "./ranking_state.js";
import { RankView } from "./ranking_view.js";
import { TaskContent } from "./task_content.js";
import { onTouchSlide } from "./touch_slider.js";
import { questions, summary } from "./task_text.js";
import { showsKeys } from "./key_hints.js";

const TICK = { never: ["✕", "not"], possible: ["+", "also"] };
const FEW = 5; // so few labels are all visible on a small screen, and the task gets the space that they leave
const MAX_TILES = 40; // most tiles shown of a long list of labels

export class TaskView {
  constructor(me, slot, act, changing = false) {
    const scene = new TaskContent(slot.task, me.image_pixels, me.labels.length > KEYS.length);
    Object.assign(this, { me, slot, act, changing, scene, sound: scene.sound });
    this.tiles = make("ul", { class: "grid", "data-few": me.labels.length <= FEW });
    this.more = make("p", { class: "more quiet small", role: "status", hidden: true });
    this.bars = asksPercents(me) ? new BarRows(me, act) : null;
    this.ranks = asksOrder(me) ? new RankView(me, act) : null;
    this.sought = me.labels.length > KEYS.length ? this.search() : null;
    this.asks = make("ol", { class: "small", onclick: () => this.showNextQuestion() });
    this.hint = make("span", { class: "hint", role: "alert" });
    const said = asksPercents(me) ? "quiet number" : "unseen"; // without percents the tiles show the whole answer
    this.summary = make("span", { class: said, "aria-live": "polite" });
    this.bar = make("div", { class: "bar", "aria-hidden": "true" });
    this.split = this.slider();
    this.deeds = this.buttons();
    const long = Object.values(me.phrases).some((text) => text.length > 120);
    this.root = make(
      "main",
      {
        class: "task",
        tabindex: "-1",
        "data-long": long,
        "data-many": me.labels.length > KEYS.length,
        "data-few": me.labels.length <= FEW,
        "data-words": slot.task.kind !== "image",
        "data-ranks": asksOrder(me),
      },
      this.look(),
      this.choose(),
      this.live(),
      this.deeds.root,
    );
  }

  look() {
    const { opening } = this.me.phrases;
    const again = this.changing ? "You are changing an earlier answer" : "";
    const says = this.slot.practice ? "Practice: this answer does not count" : again;
    const tag = says && make("p", { class: "tag" }, says);
    const look = make(
      "section",
      { class: "look", "aria-label": "Task" },
      tag || null,
      opening && make("p", { class: "opening" }, opening),
      this.scene.root,
      make("div", { class: "asks" }, this.asks),
    );
    return focusableWhileItScrolls(look);
  }

  choose() {
    this.tileOf = this.me.labels.map((label, place) => this.tile(label, place));
    return make(
      "fieldset",
      { class: "tiles" },
      make("legend", { class: "unseen" }, "Labels"),
      this.sought,
      this.tiles,
      this.more,
      this.bars?.root,
    );
  }

  search() {
    const oninput = (event) => this.act({ do: "filter", text: event.target.value }, event);
    return make("input", {
      class: "sought",
      type: "search",
      placeholder: "Type to find a label",
      "aria-label": "Find a label",
      autocomplete: "off",
      oninput,
    });
  }

  tile(label, place) {
    const says = make("span", { class: "says" });
    const key = make("kbd", { "aria-hidden": "true" });
    const pick = make(
      "button",
      { type: "button", class: "pick", onclick: (event) => this.act({ do: "pick", place }, event) },
      key,
      make("span", { class: "name", dir: "auto" }, label),
      says,
    );
    const tick = make("button", {
      type: "button",
      class: "tick",
      onclick: (event) => this.act({ do: "tick", place }, event),
    });
    return { root: make("li", { class: "tile" }, pick, tick), pick, tick, says, key };
  }

  slider() {
    const input = make("input", {
      type: "range",
      min: "1",
      max: "100",
      value: "50",
      "aria-label": this.me.phrases.slider,
    });
    onTouchSlide(input, (event) => this.act({ do: "percent", who: "top", value: Math.max(1, snap(input.value)) }, event));
    const less = button("−5", (event) => this.act({ do: "nudge", by: -5 }, event), {
      "aria-label": "Top label: 5% less",
    });
    const more = button("+5", (event) => this.act({ do: "nudge", by: 5 }, event), {
      "aria-label": "Top label: 5% more",
    });
    return { root: make("div", { class: "split" }, less, input, more), input };
  }

  live() {
    return make(
      "section",
      { class: "live", "aria-label": "Your answer" },
      this.bar,
      this.split.root,
      this.ranks?.root,
      make("p", { class: "said" }, this.summary, this.hint),
    );
  }

  buttons() {
    const alt = this.sought ? "Alt " : ""; // letters search labels there
    const deed = (key, text, action) =>
      button([make("kbd", { "aria-hidden": "true" }, alt + key), text], (event) => this.act(action, event));
    const undo = deed("U", "Undo", { do: "undo" });
    const abstain = deed("S", "Can't tell", { do: "abstain" });
    const none = deed("O", "None of these", { do: "none" });
    const histogram = deed("H", "Bars", { do: "histogram" });
    const others = deed("N", "Rule out rest", { do: "others" });
    const next = button("Next", (event) => this.act({ do: "enter" }, event), { class: "button main next" });
    const deeds = { undo, abstain, none, histogram, others, next };
    const about = { class: "deeds", role: "group", "aria-label": "Actions" };
    return { root: make("div", about, Object.values(deeds)), ...deeds };
  }

  // ---- painting

  paint(state) {
    const open = inHistogram(state);
    this.root.toggleAttribute("data-bars", open);
    this.tiles.hidden = open;
    if (open) this.more.hidden = true;
    if (this.bars) this.bars.root.hidden = !open;
    if (this.sought && this.sought.value !== state.filter) this.sought.value = state.filter;
    if (open) this.bars.paint(state);
    else this.paintTiles(state);
    this.ranks?.paint(state);
    this.paintBar(state);
    this.paintSplit(state);
    this.paintDeeds(state);
    this.paintAsks(state);
    const hint = state.hint || warning(state);
    const told = summary(state);
    if (this.hint.textContent !== hint) {
      change(this.hint, hint);
      if (hint) this.hint.scrollIntoView({ block: "nearest" }); // a small screen may have it behind the buttons
    }
    change(this.summary, hint && told.endsWith(hint) ? told.slice(0, -hint.length).replace(/ · $/, "") : told); // said once
  }

  paintTiles(state) {
    const places = visiblePlaces(state);
    const few = manyLabels(state) ? places.slice(0, MAX_TILES) : places;
    const marked = [state.top, state.second, ...state.ticked].filter((place) => place !== null && !few.includes(place));
    if (manyLabels(state)) few.unshift(...marked); // marked labels stay visible
    const wanted = few.map((place) => this.tileOf[place].root);
    if (wanted.length !== this.tiles.children.length || wanted.some((node, at) => this.tiles.children[at] !== node))
      put(this.tiles, wanted);
    few.forEach((place) => this.paintTile(state, place, keyOf(state, place)));
    const rest = places.filter((place) => !few.includes(place)).length;
    this.more.hidden = Boolean(few.length && !rest);
    change(this.more, few.length ? `${rest} more labels: type to find them` : `No label contains “${state.filter}”`);
  }

  paintTile(state, place, key) {
    const { root, pick, tick, says, key: cap } = this.tileOf[place];
    const { top, second } = saidPercents(state);
    const at = ranked(state, place);
    const [first, next] = this.ranks ? [at === 0, at > 0] : [place === state.top, place === state.second];
    const role = first ? "top" : next ? "second" : state.ticked.includes(place) ? tickMeaning(state) : "";
    root.dataset.is = role;
    const percent = { top, second }[role] ?? null;
    const standing = at >= 0 ? ordinal(at + 1) : { top: asksOne(state) ? "✓" : "1st", second: "2nd" }[role];
    change(says, standing ? `${standing}${percent === null || !asksPercents(state) ? "" : ` ${percent}%`}` : "");
    change(cap, key);
    cap.hidden = !key;
    pick.setAttribute("aria-pressed", String(role === "top" || role === "second"));
    const means = ticksToAsk(state);
    tick.hidden = means === null;
    if (means === null) return;
    const [sign, word] = TICK[means];
    if (!tick.firstChild) put(tick, make("b", { "aria-hidden": "true" }, sign), make("span", {}, word));
    tick.setAttribute("aria-label", `${state.labels[place]}: ${this.me.phrases[`${means}_mark`]}`);
    tick.setAttribute("aria-pressed", String(state.ticked.includes(place)));
    tick.disabled = role === "top" || role === "second";
  }

  paintBar(state) {
    const words = {
      unplaced: state.bars ? "to place" : "nothing picked yet",
      undecided: showsKeys() ? "type a percent" : "set a percent",
      open: "open",
      abstain: "Can't tell",
      none: "None of these",
    };
    const piece = ({ kind, place, share }) => {
      const name = make("span", { class: "name" }, place === undefined ? words[kind] : state.labels[place]);
      const told = !["undecided", "unsaid", "abstain", "none"].includes(kind) && (kind !== "unplaced" || state.bars);
      const number = told && make("span", {}, amountText(state, share));
      const both = kind === "unplaced" ? [number, name] : [name, number];
      const node = make("span", { data: { is: kind }, "data-small": share < 22 }, share >= 14 ? both : share >= 6 ? number : null);
      node.style.width = `${share}%`;
      return node;
    };
    this.bar.hidden = !asksPercents(state); // the form does not ask for percents
    put(this.bar, barPieces(state).map(piece));
  }

  paintSplit(state) {
    const { root, input } = this.split;
    const { top } = saidPercents(state);
    root.hidden = inHistogram(state) || !asksPercents(state);
    const off = state.top === null || state.aside !== null;
    for (const part of root.children) part.disabled = off;
    input.toggleAttribute("data-unset", top === null);
    input.value = String(top ?? 50);
    input.style.setProperty("--fill", top === null ? "0%" : `${top}%`);
    input.setAttribute("aria-valuetext", top === null ? "not set" : `${top} percent`);
  }

  paintDeeds(state) {
    const { abstain, none, histogram, others, next, undo } = this.deeds;
    abstain.setAttribute("aria-pressed", String(state.aside === "abstain"));
    none.setAttribute("aria-pressed", String(state.aside === "none"));
    histogram.setAttribute("aria-pressed", String(inHistogram(state)));
    histogram.hidden = asksBars(state) || !asksPercents(state);
    others.hidden = ticksToAsk(state) !== "never" || inHistogram(state);
    change(undo.lastChild, state.past.length ? "Undo" : "Back");
    next.setAttribute("aria-disabled", String(Boolean(problem(state))));
    const words = isSure(state) && asksPercents(state) ? this.me.phrases.sure : "Next";
    if (next.dataset.says !== words) put(next, words, make("kbd", { "aria-hidden": "true" }, "↵"));
    next.dataset.says = words;
  }

  paintAsks(state) {
    const asked = questions(state, this.me.phrases);
    if (this.asked === JSON.stringify(asked)) return;
    const was = this.asked;
    this.asked = JSON.stringify(asked);
    const of = (at) => (asked.length > 1 ? `${at + 1}/${asked.length}` : null); // small screens show the current question only
    const items = asked.map(({ text, now }, at) => make("li", { "aria-current": now && "step", "data-of": of(at) }, text));
    put(this.asks, items);
    const now = asked.findIndex((one) => one.now);
    if (items[now] && (was || now > 0)) showWithin(this.asks.closest(".look"), items[now]); // at first, the task is shown from its beginning
  }

  showNextQuestion() {
    // Where a small screen shows one question at a time, a tap on it shows the next.
    const items = [...this.asks.children];
    const at = items.findIndex((one) => one.hasAttribute("aria-current"));
    if (items.every((one) => one.checkVisibility())) return;
    items[at].removeAttribute("aria-current");
    items[(at + 1) % items.length].setAttribute("aria-current", "step");
  }
}

function focusableWhileItScrolls(element) {
  // In a low window its content scrolls, and the arrow keys scroll only what has the focus.
  const observer = new ResizeObserver(() => {
    if (element.scrollHeight > element.clientHeight + 1) element.tabIndex = 0;
    else element.removeAttribute("tabindex");
  });
  for (const one of [element, ...element.children]) observer.observe(one);
  return element;
}

function showWithin(box, element) {
  // Scroll the box, and nothing around it, so that the element is visible, its beginning at least.
  const [outer, inner] = [box.getBoundingClientRect(), element.getBoundingClientRect()];
  const below = Math.min(inner.bottom - outer.bottom, inner.top - outer.top);
  box.scrollTop += Math.max(0, below) || Math.min(0, inner.top - outer.top);
}

const snap = (value) => Math.round(Number(value) / 5) * 5;
