// The worker's session: the token, kept in this browser, and the current stage.
import { call } from "./api.js";
import { newKey, openStore } from "./outbox.js";
import { platformEntry } from "./platform.js";

// Studies on one server share the browser's storage: keys contain the path of the study.
export const studySpace = (path = location.pathname) => path.slice(0, path.lastIndexOf("/") + 1).replace(/^\/$/, "");

export class Session {
  constructor(store = openStore()) {
    this.store = store;
    this.space = studySpace();
    this.kept = `plurivox.session${this.space}`;
    const kept = JSON.parse(store.getItem(this.kept) ?? "{}");
    Object.assign(this, { token: null, link: "", came: "", me: null, trying: null }, kept);
  }

  keep(news) {
    Object.assign(this, news);
    const { token, link, came, me, trying } = this;
    this.store.setItem(this.kept, JSON.stringify({ token, link, came, me, trying }));
  }

  call(method, path, body, more = {}) {
    const hear = (headers) =>
      headers.has("X-Plurivox-Bearer") && this.keep({ token: headers.get("X-Plurivox-Bearer") });
    return call(method, path, body, { Authorization: `Bearer ${this.token}` }, { ...more, hear });
  }

  async enter(address) {
    // Enter the study by the link the page was opened with. The same invitation again continues where the worker was.
    const way = entryOf(address);
    const came = way ? JSON.stringify(way) : "";
    const known = this.token && (!way || came === this.came);
    if (known && this.me?.asks && this.me.phrases?.sure && this.me.stage === "tasks") return; // GET tasks reports an outdated stage; version 0.1.0 stored no `asks` and fewer phrases
    if (known) {
      try {
        return this.keep({ me: await this.call("GET", "me") });
      } catch (failure) {
        if (failure.error !== "ended" || !way?.platform) throw failure; // a platform's link with an expired token: continue
      }
    }
    if (!way) throw new Error("no-link");
    if (this.trying?.came !== came) this.keep({ trying: { came, key: newKey() } }); // same key again if the response was lost
    const { token, personal_link: link, me } = await this.call("POST", "enter", {
      ...way,
      key: this.trying.key,
    }).catch((failure) => {
      throw Object.assign(failure, { arriving: true, entering: failure.error === "invalid" }); // entering: the link itself is wrong
    });
    return this.keep({ token, link, came, me, trying: null });
  }

  async refresh() {
    this.keep({ me: await this.call("GET", "me") });
  }

  forget() {
    this.store.removeItem(this.kept);
  }

  end() {
    // The token has expired: another person may be using this browser. The expired token alone gives no access.
    this.keep({ me: null, link: "" });
  }
}

export function entryOf({ hash, search }) {
  const secret = new URLSearchParams(hash.slice(1));
  if (secret.has("link")) return { link: secret.get("link") };
  if (secret.has("invite")) return { invite: secret.get("invite") };
  return platformEntry(search);
}
