// Timing of one task on the screen: when it was shown, how long it was hidden, every input event, by a monotonic clock.

export class TaskTiming {
  constructor(seen = {}) {
    this.shown = null; // when the task could be seen: its image was decoded
    this.shownAt = null; // when it was shown, in seconds since 1970
    this.hidden = seen.hidden_ms ?? 0;
    this.before = seen.elapsed_ms ?? 0; // time on this task before a reload
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
    // Milliseconds the task has been hidden since the page lost visibility; 0 if it was not shown yet.
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

  get active() {
    // Milliseconds on the screen, without hidden time.
    return round(Math.max(0, this.elapsed - this.hidden - this.gone(performance.now())));
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
      submitted_ms: seen ? round(this.elapsed) : null, // null if answered before the picture was visible
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

export async function whenDecoded(image) {
  // Resolves when the image is decoded and about to be painted: true, or false if it did not load.
  const there = await image.decode().then(
    () => true,
    () => false,
  );
  await new Promise((resolve) => requestAnimationFrame(resolve));
  return there;
}
