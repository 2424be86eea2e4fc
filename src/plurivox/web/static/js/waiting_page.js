// The waiting page: all remaining tasks are leased to other workers. It polls until a task is available.
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
        ? make("p", { class: "quiet" }, "All your answers are saved. You can also finish now.")
        : make("p", { class: "quiet" }, "You have not answered any task yet. You can also leave and come back later."),
      make("div", { class: "row" }, button("Check now", () => this.ask(), { class: "button main" }), waiting.answered ? over : null),
    );
    this.tell(waiting);
  }

  tell({ until, again_seconds: again }) {
    const time = new Date(until * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    const text = `A task may become available by ${time}.`;
    if (this.line.textContent !== text) put(this.line, text); // announced only if it has changed
    this.later(again);
  }

  later(seconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), 1000 * seconds * (1 + Math.random() / 4)); // jitter: workers do not all poll at the same time
  }

  async ask() {
    clearTimeout(this.timer);
    try {
      const news = await this.session.call("GET", "tasks?n=1");
      if (news.waiting) this.tell(news.waiting);
      else this.leave();
    } catch (failure) {
      if (failure.retry) this.later(30);
      else this.leave(); // the study was closed or the worker is at another stage: ask the server
    }
  }

  stop() {
    clearTimeout(this.timer);
  }
}
