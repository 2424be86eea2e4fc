// The unfinished answer: in this browser after every action, on the server a little later, so that a reload and another
// device find it. The server keeps one a person; it never counts, and the answer takes it away.

const PAUSE = 2000; // ms without an action before it is sent
const MOST = 8000; // characters the server takes

export class Drafts {
  constructor(session) {
    this.session = session;
    this.prefix = `plurivox.draft.${session.space}${session.me.worker}.`;
    this.of = digest([session.me.form, ...session.me.labels].join("\n")); // places mean nothing among other labels
    this.there = null; // what the server had when the page was opened
    this.unsent = null;
    this.sent = null; // the slot whose draft the server has
  }

  learn(draft) {
    this.there = draft;
    this.sent = draft?.slot ?? null;
  }

  find(slot) {
    // The newer of what this browser and the server have.
    const here = parsed(this.session.store.getItem(this.prefix + slot));
    const there = this.there?.slot === slot ? parsed(this.there.body) : null;
    const [newest] = [here, there].filter((one) => one?.of === this.of).sort((a, b) => b.at - a.at);
    return newest?.core ? newest : null;
  }

  keep(slot, draft) {
    // `draft` without a core: nothing is left of it.
    const whole = { at: Date.now(), of: this.of, ...draft };
    if (draft.core) this.session.store.setItem(this.prefix + slot, JSON.stringify(whole));
    else this.session.store.removeItem(this.prefix + slot);
    if (draft.replaces || (!draft.core && this.sent !== slot && this.unsent?.slot !== slot)) return;
    clearTimeout(this.timer);
    this.unsent = { slot, body: short(whole) };
    this.timer = setTimeout(() => this.send(), PAUSE);
  }

  send() {
    // Best effort: what fails here is still in this browser. keepalive lets it go out while the page is closed.
    clearTimeout(this.timer);
    const { unsent } = this;
    this.unsent = null;
    if (!unsent?.body) return;
    this.sent = unsent.slot;
    this.session.call("PUT", "draft", unsent, { keepalive: true }).catch(() => {});
  }

  drop(slot) {
    clearTimeout(this.timer);
    this.unsent = null;
    if (this.there?.slot === slot) this.there = null;
    this.session.store.removeItem(this.prefix + slot);
  }
}

function short(draft) {
  // The oldest inputs are left out where all of them are too much.
  for (let n = draft.view?.events.length ?? 0; ; n = Math.floor(n / 2)) {
    const view = draft.view && { ...draft.view, events: n ? draft.view.events.slice(-n) : [] };
    const body = JSON.stringify({ ...draft, view });
    if (body.length <= MOST) return body;
    if (!n) return "";
  }
}

function parsed(text) {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return null;
  }
}

function digest(text) {
  let sum = 0;
  for (const sign of text) sum = (Math.imul(sum, 31) + sign.codePointAt(0)) | 0;
  return sum;
}
