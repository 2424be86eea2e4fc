// The help over the task page: how to answer, and the way to go on elsewhere.
import { button, make } from "./dom.js";
import { howTo } from "./hands.js";

export function helpDialog(session) {
  const link = make("input", {
    readonly: true,
    value: session.link,
    "aria-label": "Your personal link",
    onfocus: (event) => event.target.select(),
  });
  const elsewhere = session.link
    ? make(
        "div",
        { class: "field small" },
        make("h2", {}, "Go on with another device"),
        make("p", { class: "quiet" }, "Open your personal link there. Share it with nobody."),
        link,
      )
    : null;
  const close = button(["Close ", make("kbd", { "aria-hidden": "true" }, "Esc")], () => dialog.close(), {
    autofocus: true,
  });
  const top = make("div", { class: "top" }, make("h1", {}, "Help"), close);
  const dialog = make("dialog", { class: "helpbox", "aria-label": "Help" }, top, howTo(session.me), elsewhere);
  return dialog;
}
