// Nothing is open at the moment: others hold the last tasks. The page looks by itself whether some have come back.
import { button, make, paragraphs, put } from "./dom.js";
import { readingPage } from "./stages.js";

export class WaitingPage {
  constructor(app, session, leave, finish) {
    Object.assign(this, { app, session, leave, finish, timer: null });
  }

  show(waiting) {
    this.line = make("p", { role: "status" });
    const over = button("Finish now", () => this.finish(), { class: "button" });
    readingPage(
      this.app,
      this.session.me,
      "Please wait a moment",
      paragraphs(waiting.text),
      this.line,
      waiting.answered
        ? make("p", { class: "quiet" }, "Every answer of yours is saved. You may also finish now.")
        : make("p", { class: "quiet" }, "You have not answered anything yet: you may also leave, and come back later."),
      make("div", { class: "row" }, button("Look again", () => this.ask(), { class: "button main" }), waiting.answered ? over : null),
    );
    this.tell(waiting);
  }

  tell({ until, again_seconds: again }) {
    const time = new Date(until * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    const text = `Some tasks may come back by ${time}.`;
    if (this.line.textContent !== text) put(this.line, text); // said anew only where it has changed
    this.later(again);
  }

  later(seconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), 1000 * seconds * (1 + Math.random() / 4)); // not all at once
  }

  async ask() {
    clearTimeout(this.timer);
    try {
      const news = await this.session.call("GET", "tasks?n=1");
      if (news.waiting) this.tell(news.waiting);
      else this.leave();
    } catch (failure) {
      if (failure.retry) this.later(30);
      else this.leave(); // the study was closed, or the person has gone on elsewhere: the server tells
    }
  }

  stop() {
    clearTimeout(this.timer);
  }
}
