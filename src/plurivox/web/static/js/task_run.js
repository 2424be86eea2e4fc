// The sitting: which task is shown, what a key or a click does to it, where its answer goes, and the way back.
import { apply, begin, isEmpty, marks, readKey, recall } from "./answer.js";
import { make, put } from "./dom.js";
import { helpDialog } from "./help.js";
import { Outbox } from "./outbox.js";
import { TaskView, showImage } from "./task_view.js";
import { View } from "./timing.js";

const AHEAD = 3; // the task on the screen and the next two

export class Sitting {
  constructor(app, session, leave) {
    Object.assign(this, { app, session, leave, queue: [], before: [], preloaded: new Map(), current: null });
    const space = session.me.worker;
    this.drafts = `plurivox.draft.${space}.`;
    this.acks = `plurivox.answer.${space}.`; // key -> the server's name of an answer, to put it right later
    this.outbox = new Outbox({
      space,
      store: session.store,
      send: (entry) => this.send(entry),
      changed: () => this.head && this.paintHead(),
    });
    this.onkey = (event) => this.key(event);
    this.onhide = () => this.saveDraft();
  }

  async start() {
    const news = await this.session.call("GET", `tasks?n=${AHEAD}`);
    this.progress = news.progress;
    this.take(news.slots);
    this.head = header(this.session);
    this.stage = make("div", { id: "stage" });
    put(this.app, this.head.root, this.stage);
    document.addEventListener("keydown", this.onkey);
    document.addEventListener("visibilitychange", this.onhide);
    this.outbox.hurry();
    await this.next();
  }

  stop() {
    document.removeEventListener("keydown", this.onkey);
    document.removeEventListener("visibilitychange", this.onhide);
    this.view?.close();
  }

  // ---- which task

  take(slots) {
    // Slots come again until they are answered: leave out those answered here or on the way.
    const gone = new Set([
      ...this.outbox.waiting().map((entry) => entry.body.slot),
      ...this.before.map((one) => one.slot.slot),
    ]);
    const here = new Set([...this.queue, this.current].filter(Boolean).map((slot) => slot.slot));
    for (const slot of slots) if (!gone.has(slot.slot) && !here.has(slot.slot)) this.queue.push(slot);
    for (const { task } of this.queue.slice(0, AHEAD)) {
      if (task.media && !this.preloaded.has(task.media))
        this.preloaded.set(task.media, showImage(task, this.session.me.image_pixels));
    }
  }

  async next() {
    this.current = this.queue.shift() ?? null;
    if (this.current) return this.show(this.current);
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
    const text = navigator.onLine
      ? "Saving your answers…"
      : "You are offline. Your answers are kept here and sent when you are back.";
    put(
      this.stage,
      make(
        "main",
        { class: "empty", role: "status" },
        make("h1", {}, "One moment"),
        make("p", { class: "quiet" }, text),
      ),
    );
  }

  async show(slot, said = null) {
    const me = this.session.me;
    const draft = said ? null : JSON.parse(this.session.store.getItem(this.drafts + slot.slot) ?? "null");
    this.view?.close();
    this.view = new View(draft?.view);
    this.shownAt = null;
    const setup = { labels: me.labels, form: me.form, ticks: me.exclude_by, chips: me.chips, now: performance.now() };
    this.state = said ? recall(setup, said) : draft ? { ...begin(setup), ...draft.core } : begin(setup);
    if (draft) this.view.note("resume", "other");
    this.replaces = said?.key ?? draft?.replaces ?? null;
    this.page = new TaskView(me, slot, (action, event) => this.act(action, byPointer(event)));
    put(this.stage, this.page.root);
    document.title = `${slot.practice ? "Practice" : slot.position} · ${me.title || me.study}`;
    this.paint();
    this.page.root.focus({ preventScroll: true });
    await this.page.ready();
    this.view.show();
    this.shownAt ??= Date.now() / 1000;
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
    if (key === "?") return this.head.help();
    if (event.repeat && key === "Enter") return event.preventDefault();
    if (
      (key === "Enter" || key === " ") &&
      event.target.closest(".deeds button, .head button, .barrow button, .split button, .ranking button")
    )
      return undefined;
    if (key === " " && event.target.closest("button")) return undefined;
    if (event.target.matches(".barrow input") && key.startsWith("Arrow")) return undefined; // the slider moves itself
    if (event.target.matches(".sought") && key !== "Enter" && !alt && !/^(?:Digit|Numpad)/.test(code)) return undefined;
    const action = readKey(this.state, { key, code, shift, alt });
    if (!action) return undefined;
    event.preventDefault();
    return this.act({ ...action, key }, "key");
  }

  act(action, by) {
    if (!this.current) return;
    const old = this.state;
    const place = action.place ?? null;
    this.state = apply(old, { ...action, at: performance.now() });
    if (this.state === old) return;
    this.view.note(action.do, by, place === null ? null : old.labels[place], told(action));
    if (this.state.back) return void this.goBack();
    if (this.state.sent) return void this.submit(by);
    this.paint();
    this.saveDraft();
    if (by !== "key") this.page.root.focus({ preventScroll: true });
  }

  submit(by) {
    const slot = this.current;
    const { form, ...said } = marks(this.state);
    const { first_input_ms, submit_ms, hidden_ms, events } = this.view.record();
    const mode = form === "histogram" && this.session.me.form !== "chips" ? "histogram" : by === "key" ? "keyboard" : by;
    const times = {
      shown_at: this.shownAt,
      first_input_ms,
      submitted_ms: submit_ms,
      hidden_ms,
      events: events.slice(-1000),
    };
    const body = { slot: slot.slot, ...said, mode, label_order: this.session.me.labels, ...times, ahead: AHEAD };
    const key = this.outbox.put({ body, replacesKey: this.replaces, counts: !this.replaces && !slot.practice }); // on disk here before anything else happens
    this.session.store.removeItem(this.drafts + slot.slot);
    this.before.push({ slot, key, mode, ...said });
    this.current = null;
    this.paintHead();
    this.next();
  }

  async goBack() {
    const last = this.before.pop() ?? (await this.earlier());
    if (!last) return void this.paint({ ...this.state, hint: "This is the first task" });
    this.saveDraft();
    this.queue.unshift(this.current);
    this.current = last.slot;
    await this.show(last.slot, last);
  }

  async earlier() {
    // After a reload, the server knows what was answered.
    const known = await this.session.call("GET", "answers?n=1").catch(() => ({ answers: [] }));
    const [last] = known.answers;
    if (!last || this.queue.some((slot) => slot.slot === last.slot.slot) || last.slot.slot === this.current?.slot)
      return null;
    this.session.store.setItem(this.acks + last.answer, last.answer);
    return { ...last, key: last.answer };
  }

  // ---- keeping

  saveDraft() {
    if (!this.current || this.state.sent) return;
    const name = this.drafts + this.current.slot;
    if (isEmpty(this.state) && !this.replaces) return void this.session.store.removeItem(name);
    const { labels, opened, guard, past, ...core } = this.state;
    this.session.store.setItem(name, JSON.stringify({ core, replaces: this.replaces, view: this.view.draft() }));
  }

  async send({ key, body, replacesKey }) {
    const replaces = replacesKey ? this.session.store.getItem(this.acks + replacesKey) : null;
    try {
      const taken = await this.session.call("POST", "answers", { ...body, key, replaces });
      this.session.store.setItem(this.acks + key, taken.answer);
      this.taken(taken);
      return "kept";
    } catch (failure) {
      this.trouble = failure.retry || failure.status === 401 ? "" : failure.detail;
      return failure.retry || failure.status === 401 ? "later" : "refused";
    }
  }

  taken(taken) {
    this.take(taken.slots);
    this.progress = taken.progress;
    this.session.keep({ me: { ...this.session.me, stage: taken.stage } });
    if (!this.current && this.queue.length) this.next();
  }

  // ---- painting

  paint(state = this.state) {
    this.page.paint(state);
    this.paintHead();
  }

  paintHead() {
    const { practice } = this.current ?? {};
    const { total } = this.progress;
    const done = this.progress.done + this.outbox.waiting().filter((entry) => entry.counts).length;
    this.head.paint(
      practice ? "Practice" : total ? `${Math.min(done + (this.current ? 1 : 0), total)} of ${total}` : "",
      total ? done / total : 0,
    );
    this.paintSaved();
  }

  paintSaved() {
    const count = this.outbox?.waiting().length ?? 0;
    const slow = !navigator.onLine || this.outbox?.tries > 0;
    if (this.trouble) this.head?.saved("waiting", `Not taken: ${this.trouble}`);
    else if (!count) this.head?.saved("kept", "All saved");
    else this.head?.saved(slow ? "waiting" : "sending", slow ? `${count} kept here, sent when back online` : "Saving…");
  }
}

const told = ({ key, by, value, text, who }) => {
  const said = value ?? by ?? text ?? who ?? key ?? null;
  return said === null ? null : String(said).slice(0, 40);
};

function byPointer(event) {
  if (event?.detail === 0 && event.type === "click") return "key"; // a button pressed by Space or Enter
  return ["mouse", "touch", "pen"].includes(event?.pointerType) ? event.pointerType : "mouse";
}

function header(session) {
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
  const say = (is, text) => {
    saved.dataset.is = is;
    const long = make("span", { class: is === "waiting" ? "" : "long" }, text);
    if (saved.textContent !== text) put(saved, long);
  };
  return { root, paint, saved: say, help };
}
