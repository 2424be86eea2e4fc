// The pages of the stages without tasks: consent, instructions, check, debrief, completion; and the error page.
import { button, change, make, paragraphs, put } from "./dom.js";
import { controlsHelp } from "./controls_help.js";
import { endForm } from "./platform.js";
import { entryRefusal, staysRefused, storeRefusal } from "./worker_refusals.js";

const NAMES = {
  consent: "Consent",
  instructions: "Instructions",
  quiz: "Check",
  practice: "Practice",
  tasks: "Tasks",
  debrief: "Comments",
  done: "Done",
};

const PRACTICE_FIRST = "You begin with practice tasks, whose answers do not count. We will tell you when practice is over.";
const CLOSED = { // state of the study -> title and default text of the page shown instead of a stage
  paused: ["Not open at the moment", "This study does not accept answers at the moment."],
  closed: ["This study is closed", "This study accepts no more answers."],
};

export function stageName(stage) {
  return NAMES[stage] ?? stage;
}

function stepList(me) {
  const now = me.stages.indexOf(me.stage);
  const step = (stage, at) =>
    make("li", { "aria-current": at === now && "step", data: at < now ? { done: "" } : {} }, stageName(stage));
  const of = `Step ${now + 1} of ${me.stages.length}`; // replaces the list of steps on small screens
  return make("ol", { class: "steps", "aria-label": "Steps", "data-of": of }, me.stages.map(step));
}

export function readingPage(app, me, title, ...content) {
  const heading = make("h1", { tabindex: "-1" }, title);
  const page = make(
    "main",
    { class: "read" },
    me ? [make("p", { class: "quiet" }, me.title || me.study), me.stages.length > 0 && stepList(me)] : null,
    make("section", { class: "card" }, heading, ...content),
  );
  put(app, page);
  document.title = me ? `${title} · ${me.title || me.study}` : title;
  heading.focus();
  return page;
}

const FIRST_MOMENT = 800; // ms in which a page that follows a task ignores keys and clicks
const enterKey = () => make("kbd", { "aria-hidden": "true" }, "↵");

export function showConsent(app, me, finish) {
  const agree = make("input", { type: "checkbox", name: "agree" });
  const go = button(["Take part ", enterKey()], () => agree.checked && finish({ agreed: true }), {
    class: "button main",
    disabled: true,
  });
  agree.addEventListener("change", () => (go.disabled = !agree.checked));
  const row = make("label", { class: "choice" }, agree, make("span", {}, "I have read this and agree to take part."));
  readingPage(app, me, "Before you begin", paragraphs(me.text), row, make("div", { class: "row" }, go));
  onEnter(() => agree.checked && !go.disabled && go.click());
  agree.focus();
}

export function showInstructions(app, me, finish) {
  const go = button(["Continue ", enterKey()], () => finish({}), { class: "button main" });
  const practice = me.stages.includes("practice") ? make("p", {}, PRACTICE_FIRST) : null;
  readingPage(app, me, "How it works", paragraphs(me.text), practice, controlsHelp(me), make("div", { class: "row" }, go));
  onEnter(() => go.click());
}

export function showQuiz(app, me, finish) {
  const told = make("div", { role: "status" });
  const sets = me.quiz.map((one, at) => {
    const choices = one.choices.map((choice, place) =>
      make(
        "label",
        { class: "choice" },
        make("input", { type: "radio", name: `q${at}`, value: String(place), required: true }),
        make("span", {}, choice),
      ),
    );
    return make("fieldset", { class: "question" }, make("legend", {}, one.question), choices);
  });
  const chosen = () => sets.map((set) => Number(set.querySelector(":checked")?.value ?? -1));
  const go = button(["Check my answers ", enterKey()], send, { class: "button main" });
  async function send() {
    if (chosen().includes(-1)) {
      put(told, make("p", { class: "note" }, "Please answer every question."));
      return told.scrollIntoView({ block: "nearest" });
    }
    const { wrong, why, me: now } = await finish({ quiz: chosen() });
    if (!wrong?.length) return undefined;
    const lines = wrong.map((at, place) => make("p", {}, `Question ${at + 1}: ${why[place] || "please read the instructions again."}`));
    put(told, make("div", { class: "note" }, make("div", {}, make("strong", {}, "Not quite. "), lines, make("p", {}, triesText(now, true)))));
    change(tries, triesText(now, false, " left"));
    return told.scrollIntoView({ block: "nearest" });
  }
  const tries = make("p", { class: "quiet" }, triesText(me));
  const again = me.text && make("details", { class: "ways" }, make("summary", {}, "Read the instructions again"), paragraphs(me.text));
  readingPage(
    app,
    me,
    "A short check",
    make("p", { class: "quiet" }, "These questions check whether the instructions are clear."),
    tries,
    sets,
    again,
    told,
    make("div", { class: "row" }, go),
  );
  onEnter(() => go.click());
}

function triesText({ quiz_tries_left: left }, failed = false, more = "") {
  // How many tries of the check are left, and what happens after the last one.
  if (left === null || left === undefined) return failed ? "Please try again." : "If an answer is wrong, you can try again.";
  const ends = "if an answer is wrong, the study ends here for you.";
  if (left === 1) return failed ? `This is your last try: ${ends}` : `You have one try${more}: ${ends}`;
  return failed ? `Please try again. You have ${left} tries left.` : `You have ${left} tries${more}. In the last one, ${ends}`;
}

export function showPracticeOver(app, me, begin) {
  const since = performance.now();
  const start = () => performance.now() - since >= FIRST_MOMENT && begin(); // a key or tap meant for the last practice task
  const go = button(["Begin ", enterKey()], start, { class: "button main" });
  readingPage(
    app,
    me,
    "Practice is over",
    make("p", {}, make("strong", {}, "From now on your answers count.")),
    make("p", {}, "The tasks are of the same kind. You can change an answer by going back to it."),
    make("div", { class: "row" }, go),
  );
  onEnter(start);
}

export function showDebrief(app, me, finish) {
  const words = make("textarea", { id: "comment", maxlength: "5000" });
  const go = button("Finish", () => finish({ comment: words.value.trim() || null }), { class: "button main" });
  const field = make(
    "div",
    { class: "field" },
    make("label", { for: "comment" }, "Anything you want to tell us? (optional)"),
    words,
  );
  readingPage(app, me, "Thank you", paragraphs(me.text), field, make("div", { class: "row" }, go));
}

export function showDone(app, me, done) {
  const code = done.code
    ? [make("p", {}, "Your completion code:"), make("p", { class: "code", tabindex: "0" }, done.code)]
    : [];
  const copy =
    done.code && navigator.clipboard
      ? button("Copy the code", (event) =>
          navigator.clipboard.writeText(done.code).then(() => (event.target.textContent = "Copied")),
        )
      : null;
  const go = done.redirect
    ? make("a", { class: "button main", href: done.redirect, rel: "noreferrer" }, "Back to the platform")
    : null;
  const usual = done.how === "done";
  const close = done.code && !done.submit ? "Please copy your completion code before you close this page." : "You can close this page.";
  const told = usual ? make("p", {}, `All your answers are saved. ${close}`) : paragraphs(done.text);
  const send = done.submit ? endForm(done.submit) : null;
  const title = { done: "All done", full: "No task is left", failed: "The study ends here for you" }[done.how];
  const shown = usual ? me : { ...me, stages: [] }; // not all steps were taken
  readingPage(app, shown, title, told, code, make("div", { class: "row" }, copy, send ?? go));
}

export function showClosed(app, me, retry) {
  const [title, text] = CLOSED[me.state];
  const again = me.state === "closed" ? null : button("Try again", retry, { class: "button main" });
  readingPage(app, me, title, paragraphs(me.text || `${text} All answers you have given are saved.`), make("div", { class: "row" }, again));
}

export function showRetryNote(app, failure) {
  // Show a note on the current page, which keeps what was filled in, to be sent again.
  app.querySelector(".failed")?.remove();
  const words = `${storeRefusal(failure)} Nothing is lost: please try again in a moment.`;
  app.querySelector(".read .card > .row")?.before(make("p", { class: "note failed", role: "alert" }, words));
}

export function showError(app, failure, retry) {
  const noLink = failure.message === "no-link";
  const ended = failure.error === "ended";
  const title = noLink
    ? "Please open your invitation link"
    : failure.error === "begun-elsewhere"
      ? "You began in another browser"
    : CLOSED[failure.error]
      ? CLOSED[failure.error][0]
      : ended
        ? "Your session has expired"
        : failure.retry
          ? "Please wait a moment"
          : failure.status === 403 || failure.entering || failure.error === "incomplete-link"
            ? "This link does not open the study"
            : "Something went wrong";
  const text = noLink
    ? "Open this page with the link you were sent. If you started in another browser, use your personal link."
    : entryRefusal(failure);
  const kept = failure.retry && !failure.arriving
    ? make("p", { class: "quiet" }, "Your answers are kept in this browser and will be sent when the server can be reached.")
    : null;
  const hopeless = noLink || ended || staysRefused(failure);
  const again = hopeless ? null : button("Try again", retry, { class: "button main" });
  readingPage(app, null, title, make("p", {}, text), kept, make("div", { class: "row" }, again));
}

let listening = null;

export function onEnter(act) {
  // Set the action of the Enter key, replacing the previous one; a focused button, link or text field keeps its own.
  if (listening) document.removeEventListener("keydown", listening);
  listening =
    act &&
    ((event) => {
      if (event.key !== "Enter" || event.repeat || event.target.closest("button, a, textarea")) return;
      event.preventDefault();
      act();
    });
  if (listening) document.addEventListener("keydown", listening);
}
