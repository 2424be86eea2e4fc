// The header above a task: progress, whether all answers are saved, and the help button.
import { make, put } from "./dom.js";
import { helpDialog } from "./help.js";

export function taskHeader(session) {
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
    { type: "button", class: "button plain help", onclick: help, "aria-label": "Help" },
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
    // `more` is hidden on small screens, and so is the whole text while there is no problem.
    saved.dataset.is = is;
    const brief = make("span", { class: is !== "waiting" && "long" }, text);
    if (saved.textContent !== text + more) put(saved, brief, more && make("span", { class: "long" }, more));
  };
  return { root, paint, saved: say, help, dialog };
}
