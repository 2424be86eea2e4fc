// Who is here: the token of this person, kept in this browser, and where they stand.
import { call } from "./api.js";
import { newKey, openStore } from "./outbox.js";
import { platformWay } from "./platform.js";

// Studies on one server share the browser's store: what one keeps there carries its address, if that has a path.
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
    // By the address the page was opened with. The same invite again goes on where the person was.
    const way = wayIn(address);
    const came = way ? JSON.stringify(way) : "";
    const known = this.token && (!way || came === this.came);
    if (known && this.me?.asks && ["practice", "tasks"].includes(this.me.stage)) return; // tasks will tell if this is old; an earlier version kept no `asks`
    if (known) {
      try {
        return this.keep({ me: await this.call("GET", "me") });
      } catch (failure) {
        if (failure.error !== "ended" || !way?.platform) throw failure; // a platform's link and the old token: go on
      }
    }
    if (!way) throw new Error("nobody");
    if (this.trying?.came !== came) this.keep({ trying: { came, key: newKey() } }); // a lost reply: once more, same key
    const { token, personal_link: link, me } = await this.call("POST", "enter", {
      ...way,
      key: this.trying.key,
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
    // Away too long: who sits here now may be somebody else. The old token alone opens nothing.
    this.keep({ me: null, link: "" });
  }
}

export function wayIn({ hash, search }) {
  const secret = new URLSearchParams(hash.slice(1));
  if (secret.has("link")) return { link: secret.get("link") };
  if (secret.has("invite")) return { invite: secret.get("invite") };
  return platformWay(search);
}
