// The help dialog of the task page: how to answer, and the personal link for another device.
import { button, make } from "./dom.js";
import { controlsHelp } from "./controls_help.js";
import { newAnswer } from "./answer.js";
import { questions } from "./task_text.js";

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
        make("h2", {}, "Continue on another device"),
        make("p", { class: "quiet" }, "Open your personal link there. Do not share it with anyone."),
        link,
      )
    : null;
  const close = button(["Close ", make("kbd", { "aria-hidden": "true" }, "Esc")], () => dialog.close(), {
    autofocus: true,
  });
  const top = make("div", { class: "top" }, make("h1", {}, "Help"), close);
  const dialog = make(
    "dialog",
    { class: "helpbox", "aria-label": "Help" },
    top,
    allQuestions(session.me),
    controlsHelp(session.me),
    elsewhere,
  );
  return dialog;
}

function allQuestions(me) {
  // Every question of the form: the task page of a small screen shows one at a time.
  const asked = questions(newAnswer(me), me.phrases).map(({ text }) => make("li", {}, text));
  return make("div", { class: "field small" }, make("h2", {}, "Questions"), me.phrases.opening && make("p", {}, me.phrases.opening), make("ol", {}, asked));
}
