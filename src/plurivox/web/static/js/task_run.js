// The sitting: which task is shown, what a key or a click does to it, where its answer goes, and the way back.
import { apply } from "./acts.js";
import { begin, inHistogram, isEmpty, recall } from "./answer.js";
import { asksChips } from "./asks.js";
import { change, make, put } from "./dom.js";
import { Drafts } from "./drafts.js";
import { header } from "./head.js";
import { readKey } from "./keys.js";
import { marks } from "./meaning.js";
import { Outbox } from "./outbox.js";
import { showImage } from "./scene.js";
import { loadSound } from "./sound.js";
import { TaskView } from "./task_view.js";
import { tell } from "./telling.js";
import { View } from "./timing.js";

const AHEAD = 3; // the task on the screen and the next two
const UNSAFE = "This browser keeps nothing: an answer is lost if you leave before the page says “All saved”";

export class Sitting {
  constructor(app, session, leave) {
    Object.assign(this, { app, session, leave, queue: [], before: [], others: new Set(), preloaded: new Map() });
    this.passed = new Map(); // slot -> its answer, where the person went back further: it comes again as it was
    this.current = null;
    const space = session.space + session.me.worker;
    this.drafts = new Drafts(session);
    this.news = `plurivox.progress.${space}`; // how far other tabs have come
    this.acks = `plurivox.answer.${space}.`; // key -> the server's name of an answer, to put it right later
    this.outbox = new Outbox({
      space,
      store: session.store,
      send: (entry) => this.send(entry),
      changed: () => this.head && this.paintHead(),
      elsewhere: (entry) => this.hear(entry),
    });
    this.listens = {
      keydown: (event) => this.key(event),
      pointerdown: (event) => (this.device = event.pointerType),
      click: (event) => this.freeKeys(event),
      visibilitychange: () => document.hidden && this.leaveDraft(),
    };
    this.device = "mouse"; // what was used last
    this.onleave = () => this.leaveDraft();
    this.onstore = (event) => event.key === this.news && this.catchUp(JSON.parse(event.newValue ?? "null"));
    this.onask = (event) => !session.store.safe && this.outbox.waiting().length && event.preventDefault();
  }

  async start() {
    const news = await this.session.call("GET", `tasks?n=${AHEAD}`);
    this.progress = news.progress;
    this.drafts.learn(news.draft);
    this.take(news.slots);
    this.head = header(this.session);
    this.head.dialog.addEventListener("close", () => this.device !== "key" && this.page?.root.focus({ preventScroll: true }));
    this.stage = make("div", { id: "stage" });
    put(this.app, this.head.root, this.stage);
    for (const [kind, does] of Object.entries(this.listens)) document.addEventListener(kind, does);
    globalThis.addEventListener("pagehide", this.onleave);
    globalThis.addEventListener("storage", this.onstore);
    globalThis.addEventListener("beforeunload", this.onask);
    this.outbox.hurry();
    if (!this.session.store.safe) this.notice = UNSAFE;
    await this.next();
  }

  stop() {
    this.page?.sound?.close();
    this.stopped = true;
    for (const [kind, does] of Object.entries(this.listens)) document.removeEventListener(kind, does);
    globalThis.removeEventListener("pagehide", this.onleave);
    globalThis.removeEventListener("storage", this.onstore);
    globalThis.removeEventListener("beforeunload", this.onask);
    this.view?.close();
  }

  // ---- which task

  take(slots) {
    // Slots come again until they are answered: leave out those answered here or on the way.
    const gone = new Set([
      ...this.outbox.waiting().map((entry) => entry.body.slot),
      ...this.before.map((one) => one.slot.slot),
      ...this.others,
    ]);
    const here = new Set([...this.queue, this.current].filter(Boolean).map((slot) => slot.slot));
    for (const slot of slots) if (!gone.has(slot.slot) && !here.has(slot.slot)) this.queue.push(slot);
    for (const { task } of this.queue.slice(0, AHEAD)) {
      if (task.media && !this.preloaded.has(task.media))
        this.preloaded.set(
          task.media,
          task.kind === "audio" ? loadSound(task) : showImage(task, this.session.me.image_pixels),
        );
    }
  }

  async next() {
    this.current = this.queue.shift() ?? null;
    if (this.current) return this.show(this.current, this.passed.get(this.current.slot));
    if (this.waits) return undefined; // one wait at a time
    this.waits = true;
    const news = await this.moreSlots().finally(() => (this.waits = false));
    if (this.current) return undefined; // they came with an acknowledgement
    if (this.queue.length) return this.next();
    this.stop();
    return this.leave(news instanceof Error && news.retry ? news : null, news?.waiting);
  }

  async moreSlots() {
    this.wait();
    await this.outbox.drained();
    if (this.current) return null;
    const news = await this.session.call("GET", `tasks?n=${AHEAD}`).catch((failure) => failure);
    if (news.slots?.length) {
      this.progress = news.progress;
      this.take(news.slots);
    }
    return news;
  }

  wait() {
    this.why = make("p", { class: "quiet" });
    put(this.stage, make("main", { class: "empty", role: "status" }, make("h1", {}, "One moment"), this.why));
    this.paintSaved();
  }

  async show(slot, said = null) {
    // `said`: the answer that was given here before.
    const me = this.session.me;
    this.said = said;
    const draft = said ? null : this.drafts.find(slot.slot);
    this.page?.sound?.close();
    this.view?.close();
    const view = (this.view = new View(draft?.view));
    const setup = { labels: me.labels, asks: me.asks, now: performance.now() };
    this.state = said ? recall(setup, said) : draft ? { ...begin(setup), ...draft.core } : begin(setup);
    if (draft) view.note("resume", "other");
    this.replaces = said?.key ?? draft?.replaces ?? null;
    this.page = new TaskView(me, slot, (action, event) => this.act(action, this.by(event)), Boolean(said));
    this.listen(said);
    put(this.stage, this.page.root);
    document.title = `${slot.practice ? "Practice" : slot.position} · ${me.title || me.study}`;
    this.paint({ ...this.state, hint: this.notice ?? "" });
    this.notice = null;
    this.page.root.focus({ preventScroll: true });
    const { page } = this;
    await page.scene.ready((what) => view.note(what, "other"));
    view.show();
    page.root.dataset.seen = ""; // from here on time counts
  }

  // ---- other tabs of the same person

  hear({ body, replacesKey }) {
    // Answered there: not asked again here.
    if (replacesKey || this.stopped) return;
    this.others.add(body.slot);
    this.queue = this.queue.filter((slot) => slot.slot !== body.slot);
    if (this.current?.slot !== body.slot || this.replaces) return;
    this.drafts.drop(body.slot);
    this.notice = "The last task was answered in another tab; this is the next one";
    this.current = null;
    this.next();
  }

  catchUp(progress) {
    if (progress?.sitting !== this.progress.sitting || progress.done <= this.progress.done) return;
    this.progress = progress;
    this.paintHead();
  }

  listen(said) {
    const { sound } = this.page;
    if (!sound) return;
    sound.note = (kind, by, value) => this.view.note(kind, by, null, value);
    const before = this.view.events.some((event) => event.kind === "ended");
    sound.heard = this.session.me.submit_early || said !== null || before;
  }

  // ---- what people do

  key(event) {
    if (
      !this.current ||
      event.ctrlKey ||
      event.metaKey ||
      event.defaultPrevented ||
      document.querySelector("dialog[open]")
    )
      return;
    const { key, code, shiftKey: shift, altKey: alt } = event;
    this.device = "key";
    if (key === "?") return this.head.help();
    if (this.page.sound?.key(event)) return event.preventDefault();
    if (event.repeat && key === "Enter") return event.preventDefault();
    if ((key === "Enter" || key === " ") && isPressed(event.target, key)) return undefined;
    if (event.target.matches(".barrow input") && key.startsWith("Arrow")) return undefined; // the slider moves itself
    if (event.target.matches(".sought") && key !== "Enter" && !alt && !/^(?:Digit|Numpad)/.test(code)) return undefined;
    const action = readKey(this.state, { key, code, shift, alt });
    if (!action) return undefined;
    event.preventDefault();
    return this.act({ ...action, key }, "key");
  }

  by(event) {
    // Key, mouse, touch or pen. A button pressed by Space or Enter is clicked without a pointer; sliders do not tell.
    if (event?.type === "click" && event.detail === 0) return "key";
    const by = event?.pointerType || this.device;
    return ["key", "mouse", "touch", "pen"].includes(by) ? by : "other";
  }

  act(action, by) {
    if (!this.current) return;
    const old = this.state;
    this.state = apply(old, { ...action, at: performance.now() });
    if (this.state === old) return;
    const told = tell(old, this.state, action);
    if (told) this.view.note(told[0], by, told[1], told[2]);
    if (this.state.back) return void this.goBack();
    if (this.state.sent && this.page.sound?.waits) this.state = { ...old, hint: "Please listen to the end first" };
    if (this.state.sent) return void this.submit(by);
    this.paint();
    this.saveDraft();
  }

  freeKeys(event) {
    // A button that was clicked would keep the focus, and take the Enter that is meant to send.
    const pointed = event.detail > 0 && event.target.closest("main.task button, .head button");
    if (pointed && !document.querySelector("dialog[open]")) this.page?.root.focus({ preventScroll: true });
  }

  submit(by) {
    const slot = this.current;
    this.page.sound?.close();
    const said = marks(this.state);
    this.passed.delete(slot.slot);
    if (this.said && same(this.said, said)) return this.pass(this.said); // looked at, not changed
    const bars = inHistogram(this.state) && !asksChips(this.state); // chips are a form of their own here
    const mode = bars ? "histogram" : by === "key" ? "keyboard" : by;
    const body = { slot: slot.slot, ...said, mode, label_order: this.session.me.labels, ...this.view.record() };
    const key = this.outbox.put({ body, replacesKey: this.replaces, counts: !this.replaces && !slot.practice }); // on disk here before anything else happens
    this.drafts.drop(slot.slot);
    this.preloaded.delete(slot.task.media);
    this.before.push({ slot, key, mode, ...said });
    this.current = null;
    this.paintHead();
    this.next();
  }

  pass(said) {
    this.drafts.drop(said.slot.slot);
    this.before.push(said);
    this.current = null;
    this.next();
  }

  async goBack() {
    const here = this.current;
    const last = this.before.pop() ?? (await this.earlier());
    if (this.current !== here) return; // the person has gone on meanwhile
    if (!last) return void this.paint({ ...this.state, hint: "This is the first task" });
    this.saveDraft();
    if (this.said) this.passed.set(here.slot, this.said);
    this.queue.unshift(here);
    this.current = last.slot;
    await this.show(last.slot, last);
  }

  async earlier() {
    // After a reload, the server knows what was answered.
    const { practice, position } = this.current;
    const known = await this.session.call("GET", "answers?n=100").catch(() => ({ answers: [] }));
    const last = known.answers.find(({ slot }) => slot.practice === practice && slot.position < position);
    if (!last) return null;
    this.session.store.setItem(this.acks + last.answer, last.answer);
    return { ...last, key: last.answer };
  }

  // ---- keeping

  saveDraft() {
    if (!this.current || this.state.sent) return;
    const { labels, asks, opened, guard, past, ...state } = this.state;
    const core = isEmpty(this.state) && !this.replaces ? null : state;
    this.drafts.keep(this.current.slot, { core, replaces: this.replaces, view: this.view.draft() });
  }

  leaveDraft() {
    this.saveDraft();
    this.drafts.send();
  }

  end(failure) {
    if (!this.over) this.leave(failure);
    this.over = true;
  }

  async send({ key, body, replacesKey }) {
    if (this.over) return "later"; // when the person is back
    const replaces = replacesKey ? this.session.store.getItem(this.acks + replacesKey) : null;
    try {
      const ahead = Math.min(10, AHEAD + this.outbox.waiting().length - 1); // those on the way come again
      const taken = await this.session.call("POST", "answers", { ...body, key, replaces, ahead });
      this.session.store.setItem(this.acks + key, taken.answer);
      this.taken(taken);
      return "kept";
    } catch (failure) {
      if (failure.error === "ended") this.end(failure);
      this.trouble = failure.retry || failure.status === 401 ? "" : failure.detail;
      return failure.retry || failure.status === 401 ? "later" : "refused";
    }
  }

  taken(taken) {
    this.take(taken.slots);
    if (taken.enough) this.queue.length = 0; // the study ends here for this person, whatever was fetched ahead
    this.progress = taken.progress;
    this.session.store.setItem(this.news, JSON.stringify(taken.progress));
    this.session.keep({ me: { ...this.session.me, stage: taken.stage } });
    if (!this.current && this.queue.length) this.next();
  }

  // ---- painting

  paint(state = this.state) {
    this.page.paint(state);
    this.paintHead();
  }

  paintHead() {
    const { total } = this.progress;
    const done = this.progress.done + this.outbox.waiting().filter((entry) => entry.counts).length;
    const next = Math.min(done + (this.current ? 1 : 0), total);
    const place = this.current && this.said ? this.said.slot.position : next;
    const words = this.current?.practice ? "Practice" : total ? `${place} of ${total}` : "";
    if (this.current) this.page?.root.setAttribute("aria-label", `Task, ${words}`); // heard when the focus comes to it
    this.head.paint(words, total ? done / total : 0);
    this.paintSaved();
  }

  paintSaved() {
    const count = this.outbox?.waiting().length ?? 0;
    const slow = !navigator.onLine || this.outbox?.tries > 0;
    const kept = this.session.store.safe ? "Your answers are kept here and sent" : "Please stay: your answers are sent";
    const lost = navigator.onLine ? "The server does not answer." : "You are offline.";
    if (this.why) change(this.why, slow ? `${lost} ${kept} as soon as it works again.` : "Saving your answers…");
    if (this.trouble) this.head?.saved("waiting", `Not taken: ${this.trouble}`);
    else if (!count) this.head?.saved("kept", "All saved");
    else if (slow && !this.session.store.safe) this.head?.saved("waiting", `${count} not saved: keep this page open`);
    else if (slow) this.head?.saved("waiting", `${count} kept here`, "· sent when back online");
    else this.head?.saved("sending", "Saving…");
  }
}

function isPressed(target, key) {
  // Enter and Space press the button that has the focus, as everywhere; on a label that is picked, Enter sends.
  const one = target.closest("button");
  return Boolean(one) && !(key === "Enter" && one.matches(".pick[aria-pressed=true]"));
}

function same(before, now) {
  const told = ({ marks: list, abstain, none_of_these }) =>
    JSON.stringify([abstain, none_of_these, list.map(({ kind, label, typed }) => [kind, label, typed])]);
  return told(before) === told(now);
}
