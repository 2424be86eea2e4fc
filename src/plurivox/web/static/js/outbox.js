// Answers wait here until the server has said that it keeps them.
// One entry per key in the store, so that tabs never overwrite each other; the server takes a key once, so that a
// second sending does no harm. `send(entry)` gives "kept", "refused" (never try again) or "later".

export class Outbox {
  constructor({ space, ...rest }) {
    const { changed = () => {}, elsewhere = () => {}, soonest = 800, latest = 30000 } = rest;
    const { send, store = openStore() } = rest;
    Object.assign(this, { prefix: `plurivox.outbox.${space}.`, send, store, changed, elsewhere, soonest, latest });
    this.tries = 0;
    this.timer = null;
    this.running = null;
    globalThis.addEventListener?.("online", () => this.hurry());
    const hear = ({ key, newValue }) => key?.startsWith(this.prefix) && this.hear(newValue);
    globalThis.addEventListener?.("storage", hear);
  }

  hear(text) {
    // Another tab of this person has put something in, or taken it out.
    const entry = JSON.parse(text ?? "null");
    if (entry && !entry.refused) this.elsewhere(entry);
    this.changed(this);
  }

  put(entry) {
    const kept = { key: newKey(), at: Date.now(), ...entry };
    this.store.setItem(this.prefix + kept.key, JSON.stringify(kept));
    this.hurry();
    return kept.key;
  }

  waiting() {
    const keys = Array.from({ length: this.store.length }, (_, at) => this.store.key(at)).filter((key) =>
      key?.startsWith(this.prefix),
    );
    const entries = keys
      .map((key) => JSON.parse(this.store.getItem(key) ?? "null"))
      .filter((entry) => entry && !entry.refused);
    return entries.sort((a, b) => a.at - b.at);
  }

  hurry() {
    this.tries = 0;
    return this.flush();
  }

  flush() {
    clearTimeout(this.timer);
    this.changed(this);
    this.running ??= alone(this.prefix, () => this.sendAll()).finally(() => {
      this.running = null;
      this.changed(this);
      if (this.waiting().length) this.timer = setTimeout(() => this.flush(), this.pause());
    });
    return this.running;
  }

  pause() {
    // Twice as long after every failure, with chance in it so that a crowd does not come back at once.
    const longest = Math.min(this.latest, this.soonest * 2 ** this.tries);
    return longest * (0.5 + Math.random() / 2);
  }

  async sendAll() {
    for (let entry = this.waiting()[0]; entry; entry = this.waiting()[0]) {
      const fate = await this.send(entry).catch(() => "later");
      if (fate === "later") {
        this.tries += 1;
        return;
      }
      this.tries = 0;
      if (fate === "kept") this.store.removeItem(this.prefix + entry.key);
      else this.store.setItem(this.prefix + entry.key, JSON.stringify({ ...entry, refused: true })); // kept, to be looked at
      this.changed(this);
    }
  }

  async drained() {
    // Resolves when nothing waits any more: only then may the page leave.
    while (this.waiting().length) {
      await this.flush();
      if (this.waiting().length) await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // randomUUID is missing on plain http
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function openStore(disk = findDisk()) {
  // The browser's store; what it refuses (private mode, a frame, no room) is held in memory until the page is closed.
  const held = new Map();
  const keys = () => {
    const kept = disk ? Array.from({ length: disk.length }, (_, at) => disk.key(at)) : [];
    return [...kept.filter((key) => !held.has(key)), ...held.keys()];
  };
  return {
    get safe() {
      return disk !== null && !held.size;
    },
    get length() {
      return keys().length;
    },
    key: (at) => keys()[at] ?? null,
    getItem: (key) => held.get(key) ?? disk?.getItem(key) ?? null,
    setItem(key, value) {
      try {
        if (!disk) throw new Error("no store");
        disk.setItem(key, value);
        held.delete(key);
      } catch {
        held.set(key, value);
      }
    },
    removeItem(key) {
      held.delete(key);
      disk?.removeItem(key);
    },
  };
}

function findDisk() {
  try {
    localStorage.setItem("plurivox.try", "1");
    localStorage.removeItem("plurivox.try");
    return localStorage;
  } catch {
    return null;
  }
}

async function alone(name, work) {
  // One tab at a time; a frame of another site may be denied locks, and then has no other tab to share a store with.
  if (!globalThis.navigator?.locks) return work();
  let begun = false;
  const once = () => ((begun = true), work());
  return navigator.locks.request(name, once).catch((failure) => (begun ? Promise.reject(failure) : work()));
}
