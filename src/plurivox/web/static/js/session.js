// Who is here: the token of this person, kept in this browser, and where they stand.
import { call } from "./api.js";
import { newKey, openStore } from "./outbox.js";

const KEPT = "plurivox.session";

export class Session {
  constructor(store = openStore()) {
    this.store = store;
    const kept = JSON.parse(store.getItem(KEPT) ?? "{}");
    Object.assign(this, { token: null, link: "", came: "", me: null, trying: null }, kept);
  }

  keep(news) {
    Object.assign(this, news);
    const { token, link, came, me, trying } = this;
    this.store.setItem(KEPT, JSON.stringify({ token, link, came, me, trying }));
  }

  call(method, path, body, more) {
    return call(method, path, body, { Authorization: `Bearer ${this.token}` }, more);
  }

  async enter(address) {
    // By the address the page was opened with. The same invite again goes on where the person was.
    const way = wayIn(address);
    const came = way ? JSON.stringify(way) : "";
    const known = this.token && (!way || came === this.came);
    if (known && this.me && ["practice", "tasks"].includes(this.me.stage)) return; // tasks will tell if this is old
    if (known) return this.keep({ me: await this.call("GET", "me") });
    if (!way) throw new Error("nobody");
    if (this.trying?.came !== came) this.keep({ trying: { came, key: newKey() } }); // a lost reply: once more, same key
    const { token, personal_link: link, me } = await call("POST", "enter", { ...way, key: this.trying.key });
    this.keep({ token, link, came, me, trying: null });
  }

  async refresh() {
    this.keep({ me: await this.call("GET", "me") });
  }

  forget() {
    this.store.removeItem(KEPT);
  }
}

export function wayIn({ hash, search }) {
  const secret = new URLSearchParams(hash.slice(1));
  if (secret.has("link")) return { link: secret.get("link") };
  if (secret.has("invite")) return { invite: secret.get("invite") };
  const given = new URLSearchParams(search);
  if (!given.has("PROLIFIC_PID")) return null;
  const [pid, study, session] = ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID"].map((name) => given.get(name) ?? "");
  return { platform: { name: "prolific", pid, study, session } };
}
