// The outbox: answers stay here until the server has acknowledged them.
// Each answer has its own key in the browser's storage, so that tabs never overwrite each other; the server counts a key once,
// so that sending twice is harmless. `send(entry)` resolves to "kept", "refused" (do not retry) or "later" (retry).

export class Outbox {
  constructor({ space, ...rest }) {
    const { changed = () => {}, elsewhere = () => {}, soonest = 800, latest = 30000 } = rest;
    const { send, store = openStore() } = rest;
    Object.assign(this, { prefix: `plurivox.outbox.${space}.`, send, store, changed, elsewhere, soonest, latest });
    this.tries = 0;
    this.timer = null;
    this.running = null;
    globalThis.addEventListener?.("online", () => this.sendNow());
    const hear = ({ key, newValue }) => key?.startsWith(this.prefix) && this.hear(newValue);
    globalThis.addEventListener?.("storage", hear);
  }

  hear(text) {
    // Another tab of this worker has added or removed an answer.
    const entry = JSON.parse(text ?? "null");
    if (entry && !entry.refused) this.elsewhere(entry);
    this.changed(this);
  }

  put(entry) {
    const kept = { key: newKey(), at: Date.now(), ...entry };
    this.store.setItem(this.prefix + kept.key, JSON.stringify(kept));
    this.sendNow();
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

  sendNow() {
    this.tries = 0;
    return this.flush();
  }

  flush() {
    clearTimeout(this.timer);
    this.changed(this);
    this.running ??= withTabLock(this.prefix, () => this.sendAll()).finally(() => {
      this.running = null;
      this.changed(this);
      if (this.waiting().length) this.timer = setTimeout(() => this.flush(), this.pause());
    });
    return this.running;
  }

  pause() {
    // Exponential backoff with jitter, so that many workers do not retry at the same time.
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
      else this.store.setItem(this.prefix + entry.key, JSON.stringify({ ...entry, refused: true })); // kept in the browser for inspection
      this.changed(this);
    }
  }

  async drained() {
    // Resolves when the outbox is empty.
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

export function openStore(disk = browserStore()) {
  // The browser's storage; what it rejects (private mode, a frame, quota exceeded) is held in memory until the page is closed.
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

function browserStore() {
  try {
    localStorage.setItem("plurivox.try", "1");
    localStorage.removeItem("plurivox.try");
    return localStorage;
  } catch {
    return null;
  }
}

async function withTabLock(name, work) {
  // Run `work` in one tab at a time. A frame of another site may be denied locks; it then has no storage to share either.
  if (!globalThis.navigator?.locks) return work();
  let begun = false;
  const once = () => ((begun = true), work());
  return navigator.locks.request(name, once).catch((failure) => (begun ? Promise.reject(failure) : work()));
}
