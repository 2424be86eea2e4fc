// The session of an owner who previews the study: answers the requests of the worker's pages from the data of the preview, in the
// memory of the page. Only answers are sent, to be checked; the server does not save them.
import { Failure, call } from "./api.js";
import { newKey } from "./outbox.js";

const WITH_TASKS = ["practice", "tasks"];
const never = () => new Promise(() => {});

export class PreviewSession {
  // `seen`: slot -> the answer and what it becomes, kept while the owner goes from stage to stage; `checks`: the requests that
  // find it out. `moved` is called with the stage.
  constructor({ data, csrf, stage, seen, checks, moved }) {
    Object.assign(this, { data, csrf, seen, checks, moved, link: "", outcome: "done", failed: 0, practised: false, closed: false });
    this.space = `preview.${newKey()}.`; // shared with no other page of this browser
    this.store = memoryStore();
    this.answered = new Set(); // slots answered since this stage was opened
    this.go(stage);
  }

  keep(news) {
    Object.assign(this, news);
  }

  async refresh() {
    this.me = { ...this.state(this.stage), practice_over: this.practised };
  }

  close() {
    this.closed = true; // what the pages still request gets no reply, so that they cannot replace the next page
  }

  async call(method, path, body) {
    if (this.closed) return never();
    const reply = await this.reply(method, path, body);
    return this.closed ? never() : reply;
  }

  reply(method, path, body) {
    const [name, query] = path.split("?");
    const replies = {
      "POST me/stage": () => this.finish(body),
      "GET tasks": () => this.tasks(Number(new URLSearchParams(query).get("n"))),
      "POST answers": () => this.remember(this.check(body)),
      "GET answers": () => ({ answers: [] }), // the sitting keeps them until the stage is left
      "PUT draft": () => ({ kept: true }),
      "POST done": () => this.data.endings[this.outcome],
    };
    return replies[`${method} ${name}`]();
  }

  // ---- stages

  state(stage) {
    return this.data.states.find((one) => one.stage === stage);
  }

  go(stage) {
    this.stage = stage;
    this.me = this.state(stage);
    this.moved(stage);
  }

  advance() {
    this.practised = this.stage === "practice"; // until the first task that counts is requested
    this.go(this.me.stages[this.me.stages.indexOf(this.stage) + 1]);
  }

  finish({ stage, quiz }) {
    const wrong = stage === "quiz" ? quiz.flatMap((choice, at) => (choice === this.data.quiz[at].right ? [] : [at])) : [];
    const { quiz_tries: tries } = this.data;
    if (!wrong.length) this.advance();
    else if (tries && (this.failed += 1) >= tries) {
      this.outcome = "failed";
      this.go("done");
      return { me: this.me, wrong: [], why: [] };
    }
    if (wrong.length && tries) this.me = { ...this.me, quiz_tries_left: tries - this.failed };
    return { me: this.me, wrong, why: wrong.map((at) => this.data.quiz[at].why) };
  }

  // ---- tasks

  left(stage) {
    return this.data[stage].map((one) => one.slot).filter(({ slot }) => !this.answered.has(slot));
  }

  progress(stage) {
    return { ...this.state(stage).progress, done: this.data[stage].length - this.left(stage).length };
  }

  tasks(n) {
    while (WITH_TASKS.includes(this.stage) && !this.left(this.stage).length) this.advance();
    if (!WITH_TASKS.includes(this.stage))
      throw new Failure({ status: 409, error: "wrong-stage", detail: "", retry: false, me: this.me });
    const slots = this.left(this.stage).slice(0, n);
    this.practised = false;
    return { slots, progress: this.progress(this.stage), enough: false, waiting: null, draft: null };
  }

  remember(check) {
    this.checks.add(check);
    check.catch(() => {}).finally(() => this.checks.delete(check)); // the sitting handles a failure
    return check;
  }

  async check(body) {
    const path = `owner/preview/answer?${new URLSearchParams({ arm: this.data.arm })}`;
    const becomes = await call("POST", path, body, { "X-Plurivox-Token": this.csrf }).catch((failure) => {
      throw [401, 403].includes(failure.status) ? new Failure({ ...failure, error: "ended", retry: false }) : failure;
    });
    const stage = WITH_TASKS.find((one) => this.data[one].some(({ slot }) => slot.slot === body.slot));
    const task = this.data[stage].find(({ slot }) => slot.slot === body.slot);
    this.answered.add(body.slot);
    this.seen.set(body.slot, { task, answer: body, becomes });
    if (this.stage === stage && !this.left(stage).length) this.advance();
    return {
      answer: body.key,
      again: false,
      extra: false,
      progress: this.progress(stage),
      stage: this.stage,
      enough: !WITH_TASKS.includes(this.stage),
      slots: this.left(stage).slice(0, body.ahead),
    };
  }
}

function memoryStore() {
  // A store like the browser's storage that keeps nothing after the page is closed.
  const held = new Map();
  return {
    safe: true, // nothing is to be kept
    get length() {
      return held.size;
    },
    key: (at) => [...held.keys()][at] ?? null,
    getItem: (key) => held.get(key) ?? null,
    setItem: (key, value) => void held.set(key, value),
    removeItem: (key) => void held.delete(key),
  };
}
