// The player of a sound task: preloaded, played by key or button; playing and pausing are recorded as events.
import { change, make } from "./dom.js";

const fetched = new Map(); // address -> audio element, preloaded and then played

export function loadSound(task) {
  const src = task.media.replace(/^\//, "");
  if (!fetched.has(src)) fetched.set(src, Object.assign(new Audio(), { preload: "auto", src }));
  return fetched.get(src);
}

export class SoundPlayer {
  constructor(task, many) {
    // `many`: more than ten labels; letters then search labels, and shortcuts need Alt.
    this.audio = loadSound(task);
    this.audio.currentTime = 0;
    Object.assign(this, { task, many, heard: false, broken: false, closed: false, played: 0, from: null });
    this.note = () => {};
    this.whenHeard = () => {};
    this.toggle = make("button", { type: "button", class: "button main sound", onclick: (event) => this.turn(event) });
    this.again = make(
      "button",
      { type: "button", class: "button", onclick: (event) => this.restart(event) },
      make("kbd", { "aria-hidden": "true" }, many ? "Alt R" : "R"),
      "Again",
    );
    this.fill = make("span", {});
    this.meter = make(
      "div",
      {
        class: "meter",
        role: "progressbar",
        "aria-label": "Playback position",
        "aria-valuemin": "0",
        "aria-valuemax": "100",
      },
      this.fill,
    );
    this.clock = make("span", { class: "quiet number small" });
    this.told = make("p", { class: "small", role: "status" });
    const deeds = make("div", { class: "row" }, this.toggle, this.again);
    this.root = make(
      "div",
      { class: "scene sounds card", role: "group", "aria-label": "Sound" },
      deeds,
      this.meter,
      this.clock,
      this.told,
    );
    this.events = { timeupdate: () => this.paint(), loadedmetadata: () => this.paint() };
    Object.assign(this.events, { play: () => this.paint(), pause: () => this.audio.paused && this.halt(), ended: () => this.end() });
    this.events.error = () => this.fail();
    for (const [name, act] of Object.entries(this.events)) this.audio.addEventListener(name, act);
    if (this.audio.error) this.fail();
    this.paint();
  }

  turn(event) {
    if (this.audio.paused) this.play("play", pressedBy(event));
    else this.pause();
  }

  restart(event) {
    this.pause();
    this.audio.currentTime = 0;
    this.play("again", pressedBy(event));
  }

  pause() {
    // The browser's event of a pause comes later, perhaps when the sound is played again.
    this.audio.pause();
    this.halt();
  }

  play(kind, how) {
    this.how = how;
    this.note(kind, how, this.at());
    this.from ??= performance.now();
    this.audio.play().catch(() => this.audio.paused && this.halt()); // refused, or paused before it began
  }

  halt() {
    // Playback has stopped: record the time played since it began.
    if (this.from === null) return;
    this.played += performance.now() - this.from;
    this.from = null;
    this.note("pause", this.how, this.at());
    this.paint();
  }

  end() {
    this.halt();
    this.heard = true;
    this.note("ended", "other", this.at());
    this.paint();
    this.whenHeard();
  }

  fail() {
    this.broken = true; // the worker can still answer
    this.halt();
    change(this.told, "This sound cannot be played in this browser. Answer “Can't tell” and go on.");
  }

  key({ key, altKey, repeat, target }) {
    // Play, pause or restart; returns whether the key was one of these.
    const plays = key === " " && !target.closest("button, input, textarea");
    const restarts = key.toLowerCase() === "r" && altKey === this.many;
    if (plays && !repeat) this.turn(null);
    if (restarts && !repeat) this.restart(null);
    return plays || restarts;
  }

  get waits() {
    return !this.heard && !this.broken;
  }

  close() {
    if (this.closed) return;
    this.closed = true;
    fetched.delete(this.task.media.replace(/^\//, ""));
    this.pause();
    for (const [name, act] of Object.entries(this.events)) this.audio.removeEventListener(name, act);
    this.note("heard", "other", (this.played / 1000).toFixed(2));
  }

  at() {
    return this.audio.currentTime.toFixed(2);
  }

  paint() {
    const { currentTime, duration, paused } = this.audio;
    const known = Number.isFinite(duration) && duration > 0;
    const share = known ? Math.min(100, Math.round((currentTime / duration) * 100)) : 0;
    const word = paused ? "Play" : "Pause";
    if (this.toggle.dataset.says !== word)
      this.toggle.replaceChildren(make("kbd", { "aria-hidden": "true" }, "Space"), word);
    this.toggle.dataset.says = word;
    this.fill.style.width = `${share}%`;
    this.meter.setAttribute("aria-valuenow", String(share));
    change(this.clock, known ? `${clockTime(currentTime, duration)} of ${clockTime(duration, duration)}` : "");
  }
}

function clockTime(seconds, whole) {
  if (whole < 10) return `${seconds.toFixed(1)} s`; // tenths of a second for short sounds
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}

function pressedBy(event) {
  if (!event || event.detail === 0) return "key";
  return ["mouse", "touch", "pen"].includes(event.pointerType) ? event.pointerType : "mouse";
}
