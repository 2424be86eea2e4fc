// The help over the task page: the keys, the instructions' essence, and the way to go on elsewhere.
import { button, make } from "./dom.js";
import { keyTable } from "./stages.js";

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
        make("span", {}, "Go on with another device: your personal link (share it with nobody)"),
        link,
      )
    : null;
  const close = button("Close", () => dialog.close(), { class: "button main", autofocus: true });
  const dialog = make(
    "dialog",
    { class: "helpbox", "aria-label": "Help" },
    make("h2", {}, "Keys"),
    keyTable(session.me),
    elsewhere,
    make("div", { class: "row" }, close),
  );
  return dialog;
}
