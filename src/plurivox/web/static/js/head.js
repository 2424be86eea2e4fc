// The line above a task: how far one is, whether all is saved, and help.
import { make, put } from "./dom.js";
import { helpDialog } from "./help.js";

export function header(session) {
  const { me } = session;
  const count = make("span", { class: "number small quiet" });
  const fill = make("span", {});
  const meter = make(
    "div",
    { class: "meter", role: "progressbar", "aria-label": "Progress", "aria-valuemin": "0", "aria-valuemax": "100" },
    fill,
  );
  const saved = make("span", { class: "saved small quiet", role: "status" });
  const dialog = helpDialog(session);
  const help = () => dialog.showModal();
  const opener = make(
    "button",
    { type: "button", class: "button plain help", onclick: help, "aria-label": "Help and keys" },
    make("kbd", { "aria-hidden": "true" }, "?"),
    make("span", { "aria-hidden": "true" }, "Help"),
  );
  const root = make(
    "header",
    { class: "head" },
    make("span", { class: "title" }, me.title || me.study),
    make("div", { class: "way" }, meter, count),
    saved,
    opener,
    dialog,
  );
  const paint = (text, share) => {
    count.textContent = text;
    fill.style.width = `${Math.round(share * 100)}%`;
    meter.setAttribute("aria-valuenow", String(Math.round(share * 100)));
  };
  const say = (is, text, more = "") => {
    // `more` is left out where there is little room, and so is all while nothing is amiss.
    saved.dataset.is = is;
    const brief = make("span", { class: is !== "waiting" && "long" }, text);
    if (saved.textContent !== text + more) put(saved, brief, more && make("span", { class: "long" }, more));
  };
  return { root, paint, saved: say, help, dialog };
}
