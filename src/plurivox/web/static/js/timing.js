// What happened while one task was on the screen: a monotonic clock, hidden time, every input.

export class View {
  constructor(seen = {}) {
    this.shown = null; // when the task could be seen: its image was decoded
    this.shownAt = null; // the same in seconds since 1970
    this.hidden = seen.hidden_ms ?? 0;
    this.before = seen.elapsed_ms ?? 0; // time of the same view before a reload
    this.events = [...(seen.events ?? [])];
    this.away = document.hidden ? performance.now() : null;
    this.listen = () => this.turn(document.hidden);
    document.addEventListener("visibilitychange", this.listen);
  }

  turn(hidden) {
    const now = performance.now();
    if (hidden && this.away === null) {
      this.away = now;
      this.note("hide", "other");
    } else if (!hidden && this.away !== null) {
      this.hidden += this.gone(now);
      this.away = null;
      this.note("show", "other");
    }
  }

  gone(now) {
    // How long it has been out of sight by now; what was not shown yet cannot be hidden.
    if (this.away === null || this.shown === null) return 0;
    return now - Math.max(this.away, this.shown);
  }

  show() {
    if (this.shown !== null) return;
    this.shown = performance.now();
    this.shownAt = Date.now() / 1000;
  }

  get elapsed() {
    return this.shown === null ? this.before : this.before + performance.now() - this.shown;
  }

  note(kind, by, label = null, value = null) {
    const seq = (this.events.at(-1)?.seq ?? -1) + 1;
    this.events.push({ seq, ms: round(this.elapsed), kind, label, value, by });
  }

  record() {
    const first = this.events.find((event) => event.by !== "other");
    const seen = this.shown !== null || this.before > 0;
    return {
      shown_at: this.shownAt,
      first_input_ms: first && seen ? first.ms : null,
      submitted_ms: seen ? round(this.elapsed) : null, // answered before the picture was there: no time can be told
      hidden_ms: round(this.hidden + this.gone(performance.now())),
      events: this.events.slice(-1000),
    };
  }

  draft() {
    const hidden = this.hidden + this.gone(performance.now());
    return { elapsed_ms: round(this.elapsed), hidden_ms: round(hidden), events: this.events };
  }

  close() {
    document.removeEventListener("visibilitychange", this.listen);
  }
}

const round = (ms) => Math.round(ms);

export async function decoded(image) {
  // After this the pixels can be painted; whether there are any.
  const there = await image.decode().then(
    () => true,
    () => false,
  );
  await new Promise((resolve) => requestAnimationFrame(resolve));
  return there;
}
