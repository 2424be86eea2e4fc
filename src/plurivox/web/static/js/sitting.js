// A sitting: shows one task after the other, handles keys and clicks, submits answers, and goes back to earlier ones.
import { applyAction } from "./answer_actions.js";
import { newAnswer, inHistogram, isEmpty, restoreAnswer } from "./answer.js";
import { asksChips } from "./question_type.js";
import { change, make, put } from "./dom.js";
import { Drafts } from "./drafts.js";
import { taskHeader } from "./task_header.js";
import { readKey } from "./keyboard.js";
import { marks } from "./answer_marks.js";
import { Outbox } from "./outbox.js";
import { makeImage } from "./task_content.js";
import { loadSound } from "./sound_player.js";
import { answerRefusal } from "./worker_refusals.js";
import { TaskView } from "./task_view.js";
import { inputEvent } from "./answer_events.js";
import { TaskTiming } from "./task_timing.js";
import { showsKeys } from "./key_hints.js";

const AHEAD = 3; // the task on the screen and the next two
const UNSAFE = "This browser does not store anything: an answer is lost if you leave before the page shows “All saved”";
const LISTEN_FIRST = "Please listen to the end first";
const IS_FIRST = "This is the first task: there is no earlier answer to go back to";
const NOT_LOADED = "The previous task could not be loaded; please try again when the connection is back";

export class Sitting {
  constructor(app, session, leave) {
    Object.assign(this, { app, session, leave, queue: [], before: [], others: new Set(), preloaded: new Map() });
    this.passed = new Map(); // slot -> its submitted answer, for slots the worker went back past; shown again unchanged
    this.current = null;
    this.practising = session.me.stage === "practice";
    const space = session.space + session.me.worker;
    this.drafts = new Drafts(session);
    this.news = `plurivox.progress.${space}`; // progress, shared between tabs
    this.acks = `plurivox.answer.${space}.`; // key -> the server's id of an answer, needed to change it later
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
    this.device = "mouse"; // the input device used last
    this.onleave = () => this.leaveDraft();
    this.onstore = (event) => event.key === this.news && this.catchUp(JSON.parse(event.newValue ?? "null"));
    this.onask = (event) => !session.store.safe && this.outbox.waiting().length && event.preventDefault();
  }

  async start() {
    const news = await this.session.call("GET", `tasks?n=${AHEAD}`);
    this.progress = news.progress;
    this.drafts.learn(news.draft);
    this.take(news.slots);
    this.head = taskHeader(this.session);
    this.head.dialog.addEventListener("close", () => this.device !== "key" && this.page?.root.focus({ preventScroll: true }));
    this.stage = make("div", { id: "stage" });
    put(this.app, this.head.root, this.stage);
    for (const [kind, does] of Object.entries(this.listens)) document.addEventListener(kind, does);
    globalThis.addEventListener("pagehide", this.onleave);
    globalThis.addEventListener("storage", this.onstore);
    globalThis.addEventListener("beforeunload", this.onask);
    this.outbox.sendNow();
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
    // The server repeats slots until they are answered: skip those answered here or waiting in the outbox.
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
          task.kind === "audio" ? loadSound(task) : makeImage(task, this.session.me.image_pixels),
        );
    }
  }

  async next() {
    this.current = this.queue.shift() ?? null;
    if (this.current) return this.show(this.current, this.passed.get(this.current.slot));
    if (this.waits) return undefined; // a request is running already
    this.waits = true;
    const news = await this.moreSlots().finally(() => (this.waits = false));
    if (this.current) return undefined; // slots arrived with an acknowledgement
    if (this.queue.length) return this.next();
    this.stop();
    return this.leave(news instanceof Error && news.retry ? news : null, news?.waiting);
  }

  async moreSlots() {
    this.wait();
    await this.outbox.drained();
    if (this.current || (await this.practiceIsOver())) return null;
    const news = await this.session.call("GET", `tasks?n=${AHEAD}`).catch((failure) => failure);
    if (news.slots?.length) {
      this.progress = news.progress;
      this.take(news.slots);
    }
    return news;
  }

  async practiceIsOver() {
    // Whether practice has just ended: no task that counts is leased before the worker begins.
    if (!this.practising) return false;
    await this.session.refresh().catch(() => {});
    return Boolean(this.session.me.practice_over);
  }

  wait() {
    this.why = make("p", { class: "quiet" });
    put(this.stage, make("main", { class: "empty", role: "status" }, make("h1", {}, "One moment"), this.why));
    this.paintSaved();
  }

  async show(slot, said = null) {
    // `said`: the answer submitted earlier to this slot, if any.
    const me = this.session.me;
    this.said = said;
    const draft = said ? null : this.drafts.find(slot.slot);
    this.page?.sound?.close();
    this.view?.close();
    const view = (this.view = new TaskTiming(draft?.view));
    const setup = { labels: me.labels, asks: me.asks, phrases: me.phrases, keys: showsKeys(), now: performance.now() };
    this.practising = slot.practice;
    this.state = said ? restoreAnswer(setup, said) : draft ? { ...newAnswer(setup), ...draft.core } : newAnswer(setup);
    if (draft) view.note("resume", "other");
    this.replaces = said?.key ?? draft?.replaces ?? null;
    this.page = new TaskView(me, slot, (action, event) => this.act(action, this.by(event)), Boolean(said));
    this.listen(said);
    put(this.stage, this.page.root);
    document.title = `${slot.practice ? "Practice " : ""}${slot.position} · ${me.title || me.study}`;
    this.paint({ ...this.state, hint: this.notice ?? "" });
    this.notice = null;
    this.page.root.focus({ preventScroll: true });
    const { page } = this;
    await page.scene.ready((what) => view.note(what, "other"));
    view.show();
    page.root.dataset.seen = ""; // timing starts here
  }

  // ---- other tabs of the same worker

  hear({ body, replacesKey }) {
    // A task was answered in another tab: remove it here.
    if (replacesKey || this.stopped) return;
    this.others.add(body.slot);
    this.queue = this.queue.filter((slot) => slot.slot !== body.slot);
    if (this.current?.slot !== body.slot || this.replaces) return;
    this.drafts.drop(body.slot);
    this.notice = "The previous task was answered in another tab; this is the next one";
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
    sound.whenHeard = () => {
      if (this.state.hint !== LISTEN_FIRST) return;
      this.state = { ...this.state, hint: "" };
      this.paint();
    };
  }

  // ---- input

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
    if (!this.state.keys) this.state = { ...this.state, keys: showsKeys() };
    if (key === "?") return this.head.help();
    if (this.page.sound?.key(event)) return event.preventDefault();
    if (event.repeat && key === "Enter") return event.preventDefault();
    if ((key === "Enter" || key === " ") && isPressed(event.target, key)) return undefined;
    if (event.target.matches(".barrow input") && key.startsWith("Arrow")) return undefined; // the browser moves the slider
    if (event.target.matches(".sought") && key !== "Enter" && !alt && !/^(?:Digit|Numpad)/.test(code)) return undefined;
    const action = readKey(this.state, { key, code, shift, alt });
    if (!action) return undefined;
    event.preventDefault();
    return this.act({ ...action, key }, "key");
  }

  by(event) {
    // The input device: key, mouse, touch or pen. A click by Space or Enter has detail 0; slider events have no device.
    if (event?.type === "click" && event.detail === 0) return "key";
    const by = event?.pointerType || this.device;
    return ["key", "mouse", "touch", "pen"].includes(by) ? by : "other";
  }

  act(action, by) {
    if (!this.current) return;
    const old = this.state;
    this.state = applyAction(old, { ...action, at: performance.now() });
    if (this.state === old) return;
    const told = inputEvent(old, this.state, action);
    if (told) this.view.note(told[0], by, told[1], told[2]);
    if (this.state.back) return void this.goBack();
    if (this.state.sent && this.page.sound?.waits) this.state = { ...old, hint: LISTEN_FIRST };
    if (this.state.sent) return void this.submit(by);
    this.paint();
    this.saveDraft();
  }

  freeKeys(event) {
    // A clicked button would keep the focus, and Enter would press it again instead of sending the answer.
    const pointed = event.detail > 0 && event.target.closest("main.task button, .head button");
    if (pointed && !document.querySelector("dialog[open]")) this.page?.root.focus({ preventScroll: true });
  }

  submit(by) {
    const slot = this.current;
    this.page.sound?.close();
    const said = marks(this.state);
    this.passed.delete(slot.slot);
    if (this.said && same(this.said, said)) return this.pass(this.said); // unchanged: not sent again
    const bars = inHistogram(this.state) && !asksChips(this.state); // chips are a form, not a mode
    const mode = bars ? "histogram" : by === "key" ? "keyboard" : by;
    const body = { slot: slot.slot, ...said, mode, label_order: this.session.me.labels, ...this.view.record() };
    const key = this.outbox.put({ body, replacesKey: this.replaces, counts: !this.replaces && !slot.practice }); // stored in the browser before anything else happens
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
    let hint = IS_FIRST;
    const last = this.before.pop() ?? (await this.earlier().catch(() => void (hint = NOT_LOADED)));
    if (this.current !== here) return; // the worker has moved on meanwhile
    if (!last) return void this.paint({ ...this.state, hint });
    this.saveDraft();
    if (this.said) this.passed.set(here.slot, this.said);
    this.queue.unshift(here);
    this.current = last.slot;
    await this.show(last.slot, last);
  }

  async earlier() {
    // The previous answer from the server: after a reload, this page does not have it. Answers that were not sent before the
    // reload are sent first, or the one before them would be taken for the previous one.
    const { practice, position } = this.current;
    await this.outbox.flush();
    if (this.outbox.waiting().length) throw new Error("answers are not sent yet");
    const known = await this.session.call("GET", "answers?n=100");
    const last = known.answers.find(({ slot }) => slot.practice === practice && slot.position < position);
    if (!last) return null;
    this.session.store.setItem(this.acks + last.answer, last.answer);
    return { ...last, key: last.answer };
  }

  // ---- saving

  saveDraft() {
    if (!this.current || this.state.sent) return;
    const { labels, asks, phrases, keys, opened, inputDelay, past, ...state } = this.state;
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
    if (this.over) return "later"; // sent when the worker enters again
    const replaces = replacesKey ? this.session.store.getItem(this.acks + replacesKey) : null;
    try {
      const ahead = Math.min(10, AHEAD + this.outbox.waiting().length - 1); // the server repeats slots in the outbox
      const taken = await this.session.call("POST", "answers", { ...body, key, replaces, ahead });
      this.session.store.setItem(this.acks + key, taken.answer);
      this.rejection = "";
      this.taken(taken);
      return "kept";
    } catch (failure) {
      if (failure.error === "ended") this.end(failure);
      this.rejection = failure.retry || failure.status === 401 ? "" : answerRefusal(failure);
      return failure.retry || failure.status === 401 ? "later" : "refused";
    }
  }

  taken(taken) {
    this.take(taken.slots);
    if (taken.enough) this.queue.length = 0; // the study is over for this worker: drop preloaded slots
    this.progress = taken.progress;
    this.session.store.setItem(this.news, JSON.stringify(taken.progress));
    const { me } = this.session;
    const over = me.practice_over || (me.stage === "practice" && taken.stage === "tasks");
    this.session.keep({ me: { ...me, stage: taken.stage, practice_over: over } });
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
    const practice = this.current?.practice ? "Practice " : "";
    const at = practice ? this.current.position : place;
    const words = total ? `${practice}${at} of ${total}` : practice;
    if (this.current) this.page?.root.setAttribute("aria-label", `Task, ${words}`); // announced when the task gets the focus
    this.head.paint(words, total ? done / total : 0);
    this.paintSaved();
  }

  paintSaved() {
    const count = this.outbox?.waiting().length ?? 0;
    const slow = !navigator.onLine || this.outbox?.tries > 0;
    const kept = this.session.store.safe ? "Your answers are kept in this browser and will be sent" : "Please keep this page open: your answers will be sent";
    const lost = navigator.onLine ? "The server cannot be reached." : "You are offline.";
    if (this.why) change(this.why, slow ? `${lost} ${kept} as soon as the connection is back.` : "Saving your answers…");
    if (this.rejection) this.head?.saved("waiting", this.rejection);
    else if (!count) this.head?.saved("kept", "All saved");
    else if (slow && !this.session.store.safe) this.head?.saved("waiting", `${count} not saved: keep this page open`);
    else if (slow) this.head?.saved("waiting", `${count} not sent yet`, "· sent when back online");
    else this.head?.saved("sending", "Saving…");
  }
}

function isPressed(target, key) {
  // Whether the key presses the focused button. Enter on a label that is already picked sends the answer instead.
  const one = target.closest("button");
  return Boolean(one) && !(key === "Enter" && one.matches(".pick[aria-pressed=true]"));
}

function same(before, now) {
  const told = ({ marks: list, abstain, none_of_these }) =>
    JSON.stringify([abstain, none_of_these, list.map(({ kind, label, typed }) => [kind, label, typed])]);
  return told(before) === told(now);
}
