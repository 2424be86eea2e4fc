// Drafts of unfinished answers: stored in this browser after every action and on the server shortly after, so that they survive
// a reload and a change of device. The server keeps one draft per worker and deletes it when the answer is submitted.

const PAUSE = 2000; // ms without an action before it is sent
const MAX_CHARACTERS = 8000; // characters that the server accepts

export class Drafts {
  constructor(session) {
    this.session = session;
    this.prefix = `plurivox.draft.${session.space}${session.me.worker}.`;
    this.of = digest([session.me.form, ...session.me.labels].join("\n")); // a draft is valid only for the same form and labels
    this.there = null; // the server's draft when the page was opened
    this.unsent = null;
    this.sent = null; // the slot of the draft on the server
  }

  learn(draft) {
    this.there = draft;
    this.sent = draft?.slot ?? null;
  }

  find(slot) {
    // The newer of the drafts in this browser and on the server.
    const here = parsed(this.session.store.getItem(this.prefix + slot));
    const there = this.there?.slot === slot ? parsed(this.there.body) : null;
    const [newest] = [here, there].filter((one) => one?.of === this.of).sort((a, b) => b.at - a.at);
    return newest?.core ? newest : null;
  }

  keep(slot, draft) {
    // A `draft` without a core is empty and is deleted.
    const whole = { at: Date.now(), of: this.of, ...draft };
    if (draft.core) this.session.store.setItem(this.prefix + slot, JSON.stringify(whole));
    else this.session.store.removeItem(this.prefix + slot);
    if (draft.replaces || (!draft.core && this.sent !== slot && this.unsent?.slot !== slot)) return;
    clearTimeout(this.timer);
    this.unsent = { slot, body: short(whole) };
    this.timer = setTimeout(() => this.send(), PAUSE);
  }

  send() {
    // Best effort: a failed request is ignored, the draft stays in this browser. keepalive sends it while the page closes.
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
  // The draft as JSON; the oldest events are left out if it would be too long.
  for (let n = draft.view?.events.length ?? 0; ; n = Math.floor(n / 2)) {
    const view = draft.view && { ...draft.view, events: n ? draft.view.events.slice(-n) : [] };
    const body = JSON.stringify({ ...draft, view });
    if (body.length <= MAX_CHARACTERS) return body;
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
