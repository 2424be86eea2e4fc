// The ranked labels in order: drag a label to another place, or pick it and use the buttons or the arrow keys.
import { button, change, make, put } from "./dom.js";
import { nearestOf, ordinal } from "./ranking_state.js";

const FAR = 6; // pixels a pointer moves before it drags

export class RankView {
  constructor(me, act) {
    this.act = act;
    this.list = make("ol", { class: "ranks" });
    this.rankOf = me.labels.map((label, place) => this.one(label, place));
    const tool = (text, name, action) =>
      button(text, (event) => act(action(), event), { "aria-label": name, class: "button" });
    this.tools = [
      tool("‹ Earlier", "Earlier: move the picked label one place up", () => ({ do: "shift", by: -1 })),
      tool("Later ›", "Later: move the picked label one place down", () => ({ do: "shift", by: 1 })),
      tool("Take out", "Take out the picked label from the ranking", () => ({ do: "unrank", place: this.touched })),
    ];
    this.root = make(
      "div",
      { class: "ranking", role: "group", "aria-label": "Your ranking" },
      this.list,
      make("div", { class: "rankdeeds" }, this.tools),
    );
  }

  one(label, place) {
    const number = make("b", { class: "number" });
    const handle = make("button", { type: "button", class: "rank" }, number, make("span", { class: "name", dir: "auto" }, label));
    handle.addEventListener("click", (event) => {
      if (!this.dragged) this.act({ do: "touch", place }, event);
    });
    handle.addEventListener("pointerdown", (event) => this.drag(event, place));
    return { root: make("li", {}, handle), handle, number };
  }

  drag(down, place) {
    // The order changes when the label is dropped, so that undo is one step.
    const { handle, root } = this.rankOf[place];
    this.dragged = false;
    handle.setPointerCapture(down.pointerId);
    const placeAt = (event) => nearestOf(this.boxes, event.clientX, event.clientY);
    const move = (event) => {
      const [x, y] = [event.clientX - down.clientX, event.clientY - down.clientY];
      if (!this.dragged && Math.hypot(x, y) < FAR) return;
      if (!this.dragged) this.boxes = [...this.list.children].map((one) => one.getBoundingClientRect());
      this.dragged = true;
      handle.style.transform = `translate(${x}px, ${y}px)`;
      root.toggleAttribute("data-dragged", true);
      [...this.list.children].forEach((one, at) => one.toggleAttribute("data-over", at === placeAt(event)));
    };
    const end = (event) => {
      handle.removeEventListener("pointermove", move);
      handle.style.transform = "";
      root.removeAttribute("data-dragged");
      for (const one of this.list.children) one.removeAttribute("data-over");
      if (this.dragged && event.type === "pointerup") this.act({ do: "move", place, to: placeAt(event) }, event);
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", end, { once: true });
    handle.addEventListener("pointercancel", end, { once: true });
  }

  paint(state) {
    this.touched = state.touched;
    const wanted = state.order.map((place) => this.rankOf[place].root);
    if (wanted.length !== this.list.children.length || wanted.some((node, at) => this.list.children[at] !== node)) {
      const focused = this.list.contains(document.activeElement) ? document.activeElement : null;
      put(this.list, wanted);
      if (focused?.isConnected) focused.focus({ preventScroll: true }); // moving a node removes its focus
    }
    state.order.forEach((place, at) => {
      const { handle, number } = this.rankOf[place];
      change(number, ordinal(at + 1));
      handle.setAttribute("aria-pressed", String(place === state.touched));
    });
    const at = state.order.indexOf(state.touched);
    const last = state.order.length - 1;
    [at <= 0, at < 0 || at === last, at < 0].forEach((off, which) => (this.tools[which].disabled = off));
  }
}
