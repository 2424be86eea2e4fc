// What happened while one task was on the screen: a monotonic clock, hidden time, every input.

export class View {
  constructor(seen = {}) {
    this.begun = performance.now();
    this.shown = null; // when the task could be seen: its image was decoded
    this.hidden = seen.hidden_ms ?? 0;
    this.before = seen.elapsed_ms ?? 0; // time of the same view before a reload
    this.events = seen.events ?? [];
    this.away = document.hidden ? this.begun : null;
    this.listen = () => this.turn(document.hidden);
    document.addEventListener("visibilitychange", this.listen);
  }

  turn(hidden) {
    const now = performance.now();
    if (hidden) this.away ??= now;
    else if (this.away !== null) {
      this.hidden += now - Math.max(this.away, this.shown ?? this.away);
      this.away = null;
    }
  }

  show() {
    this.shown ??= performance.now();
  }

  get elapsed() {
    return this.shown === null ? this.before : this.before + performance.now() - this.shown;
  }

  note(kind, by, label = null, value = null) {
    this.events.push({ seq: this.events.length, ms: round(this.elapsed), kind, label, value, by });
  }

  record() {
    if (this.away !== null) this.turn(false);
    const first = this.events.find((event) => event.kind !== "resume");
    return {
      shown_ms: round(this.shown === null ? 0 : this.shown - this.begun),
      first_input_ms: first ? first.ms : null,
      submit_ms: round(this.elapsed),
      hidden_ms: round(this.hidden),
      events: this.events,
    };
  }

  draft() {
    return { elapsed_ms: round(this.elapsed), hidden_ms: round(this.hidden), events: this.events };
  }

  close() {
    document.removeEventListener("visibilitychange", this.listen);
  }
}

const round = (ms) => Math.round(ms);

export async function decoded(image) {
  // After this the pixels can be painted; a picture that cannot be read must not stop the person.
  await image.decode().catch(() => {});
  await new Promise((resolve) => requestAnimationFrame(resolve));
}
