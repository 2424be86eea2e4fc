// Entry of the owner's preview: the worker's pages in the owner's browser, below a bar that leads to every stage. Nothing is saved.
import { call } from "./api.js";
import { button, make, put } from "./dom.js";
import { watchKeys } from "./key_hints.js";
import { answersSection, otherEndings, whereTo } from "./preview_answers.js";
import { PreviewSession } from "./preview_session.js";
import { onEnter, readingPage, showDone, showError, stageName } from "./stages.js";
import { applySheet } from "./stylesheet.js";
import { Work } from "./work.js";

class PreviewWork extends Work {
  async end() {
    const { session, app } = this;
    await this.sitting?.outbox.drained();
    await Promise.allSettled(session.checks); // until the server has said what every answer becomes
    const done = await session.call("POST", "done", {});
    showDone(app, session.me, { ...done, redirect: "", submit: null }); // the preview leads to no platform
    const { endings, platforms } = session.data;
    const page = app.querySelector("main");
    page.classList.add("ended");
    page.append(whereTo(done, platforms), answersSection(session.seen, session.data), otherEndings(endings, done.how));
  }

  async sit() {
    await super.sit();
    this.app.scrollIntoView(); // on a phone, the bar is above the screen
  }

  fail(failure) {
    onEnter(null);
    this.close();
    showFailure(this.app, failure);
  }

  close() {
    this.sitting?.stop();
    this.session.close();
  }
}

function showFailure(app, failure) {
  if (failure.status !== 401 && failure.error !== "ended") return showError(app, failure, () => location.reload());
  const link = make("a", { class: "button main", href: "owner" }, "Sign in");
  const text = "The preview is for the owners of this study. Sign in, then open the preview again.";
  return readingPage(app, null, "Please sign in", make("p", {}, text), make("div", { class: "row" }, link));
}

class PreviewPage {
  constructor(app) {
    Object.assign(this, { app, work: null });
  }

  async begin() {
    try {
      this.csrf = (await call("GET", "owner/session")).csrf;
      await this.restart();
    } catch (failure) {
      this.work?.close();
      showFailure(this.app, failure);
    }
  }

  async restart(arm = this.data?.arm) {
    // New tasks and a new order of the labels, as for another person.
    this.data = await call("GET", `owner/preview${arm ? `?${new URLSearchParams({ arm })}` : ""}`);
    Object.assign(this, { seen: new Map(), checks: new Set() });
    this.place = make("div", { class: "previewed" });
    put(this.app, this.bar(), this.place);
    this.open(this.data.states[0].stage);
  }

  open(stage) {
    this.work?.close();
    const place = make("div", { class: "previewed" });
    this.place.replaceWith(place);
    this.place = place;
    const { data, csrf, seen, checks } = this;
    const session = new PreviewSession({ data, csrf, stage, seen, checks, moved: (now) => this.mark(now) });
    this.work = new PreviewWork(place, session);
    this.work.stage().catch((failure) => this.work.fail(failure));
  }

  bar() {
    const again = (arm) => this.restart(arm).catch((failure) => this.work.fail(failure));
    this.links = this.data.states.map(({ stage }) =>
      button(stageName(stage), () => this.open(stage), { class: "button plain", data: { stage } }),
    );
    const choose = make(
      "select",
      { "aria-label": "Arm of the study", onchange: (event) => again(event.target.value) },
      this.data.arms.map((name) => make("option", { selected: name === this.data.arm }, name)),
    );
    return make(
      "aside",
      { class: "previewbar", "aria-label": "Preview", onkeydown: (event) => event.stopPropagation() }, // keys of the task page
      make("p", {}, make("strong", {}, "Preview: "), "nothing is saved or counted"),
      make("nav", { "aria-label": "Go to" }, this.links),
      this.data.arms.length > 0 && choose,
      button("Restart", () => again()),
      make("a", { class: "button", href: "owner" }, "Close"),
    );
  }

  mark(stage) {
    for (const link of this.links) {
      if (link.dataset.stage === stage) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    }
    this.links.find((link) => link.dataset.stage === stage)?.scrollIntoView({ block: "nearest", inline: "center" }); // a phone shows a part of the links
  }
}

applySheet();
watchKeys();
new PreviewPage(document.getElementById("app")).begin();
