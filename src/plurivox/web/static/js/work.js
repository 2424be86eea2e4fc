// The worker's pages: shows the stage that the server reports, on one page.
import { call } from "./api.js";
import { isPreview, showPreview } from "./platform.js";
import { Session } from "./session.js";
import {
  onEnter,
  showClosed,
  showConsent,
  showDebrief,
  showDone,
  showInstructions,
  showPracticeOver,
  showQuiz,
  showError,
  showRetryNote,
} from "./stages.js";
import { Sitting } from "./sitting.js";
import { TaskTiming } from "./task_timing.js";
import { WaitingPage } from "./waiting_page.js";

const READ = { consent: showConsent, instructions: showInstructions, quiz: showQuiz, debrief: showDebrief };

export class Work {
  constructor(app, session = new Session()) {
    Object.assign(this, { app, session });
  }

  async begin() {
    try {
      if (isPreview(location)) return showPreview(this.app, await call("GET", "preview"));
      await this.session.enter(location);
      const { store, link } = this.session; // no secret in the address bar, unless storage is disabled
      history.replaceState(null, "", store.safe ? location.pathname : location.pathname + new URL(link, location).hash);
      await this.stage();
    } catch (failure) {
      this.fail(failure);
    }
    return undefined;
  }

  async stage() {
    const { me } = this.session;
    this.startTiming();
    onEnter(null);
    this.waiting?.stop();
    if (me.state !== "open" && me.stage !== "done") return showClosed(this.app, me, () => this.again());
    if (me.stage === "tasks" && me.practice_over) return showPracticeOver(this.app, me, () => this.begunTasks());
    if (me.stage === "practice" || me.stage === "tasks") return this.sit();
    if (me.stage === "done") return this.end();
    return READ[me.stage](this.app, me, (news) => this.finish(me.stage, news));
  }

  startTiming() {
    // The time of a page, without the time in which it is hidden.
    this.timing?.close();
    this.timing = new TaskTiming();
    this.timing.show();
  }

  begunTasks() {
    // Practice is over and the worker begins: only now are tasks leased.
    onEnter(null);
    this.session.keep({ me: { ...this.session.me, practice_over: false } });
    return this.sit().catch((failure) => this.fail(failure));
  }

  async sit() {
    this.sitting?.stop();
    this.sitting = new Sitting(this.app, this.session, (failure, waiting) => {
      if (waiting) this.wait(waiting);
      else if (failure) this.fail(failure);
      else this.again();
    });
    await this.sitting.start().catch((failure) => this.recover(failure));
  }

  wait(waiting) {
    const again = () => this.again();
    this.waiting = new WaitingPage(this.app, this.session, again, () => this.finish("tasks", {}));
    this.waiting.show(waiting);
  }

  async recover(failure) {
    // The stored stage is outdated: use the one in the server's response.
    this.sitting.stop();
    if (failure.status !== 409) throw failure;
    if (failure.me) this.session.keep({ me: failure.me });
    else await this.session.refresh();
    await this.stage();
  }

  async finish(stage, news) {
    if (this.busy) return {};
    this.busy = true;
    this.app.setAttribute("aria-busy", "true");
    try {
      const told = await this.session.call("POST", "me/stage", {
        stage,
        ms: this.timing.active,
        ...news,
      });
      this.session.keep({ me: told.me });
      if (told.wrong.length) this.startTiming(); // the next try has its own time
      else await this.stage();
      return told;
    } catch (failure) {
      if (failure.status === 409 && failure.me) {
        this.session.keep({ me: failure.me });
        await this.stage();
      } else if (failure.retry) showRetryNote(this.app, failure);
      else this.fail(failure);
      return {};
    } finally {
      this.busy = false;
      this.app.removeAttribute("aria-busy");
    }
  }

  async end() {
    this.sitting ??= new Sitting(this.app, this.session, () => {});
    await this.sitting.outbox.drained(); // completion only after every answer was sent, earlier visits included
    const done = await this.session.call("POST", "done", {});
    showDone(this.app, this.session.me, done);
    if (done.submit) setTimeout(() => document.querySelector("form[method=post]")?.requestSubmit(), 1500);
    else if (done.redirect) setTimeout(() => location.assign(done.redirect), 2500);
  }

  async again() {
    try {
      await this.session.refresh();
      await this.stage();
    } catch (failure) {
      this.fail(failure);
    }
  }

  fail(failure) {
    onEnter(null);
    if (failure.error === "ended") {
      this.sitting?.stop();
      this.session.end();
      return showError(this.app, failure);
    }
    if (failure.status === 401) this.session.forget();
    return showError(this.app, failure.status === 401 ? new Error("no-link") : failure, () => location.reload());
  }
}
