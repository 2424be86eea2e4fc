// Entry of the owner's pages: sign-in, then the page named after # in the address.
import { Failure, call } from "./api.js";
import { button, make, put } from "./dom.js";
import { keepStudy, studyName } from "./known_studies.js";
import { auditPage, invitesPage } from "./owner_invites_audit.js";
import { formsPage } from "./owner_forms.js";
import { flaggedPage, overviewPage, taskPage, tasksPage, timesPage } from "./owner_pages.js";
import { reportPage } from "./owner_report.js";
import { alertNotes } from "./owner_widgets.js";
import { excludedPage, payPage, workersPage } from "./owner_workers.js";

const PAGES = {
  "": ["Overview", overviewPage],
  tasks: ["Tasks", tasksPage],
  workers: ["Workers", workersPage],
  times: ["Times", timesPage],
  flagged: ["Flagged", flaggedPage],
  excluded: ["Excluded", excludedPage],
  pay: ["Pay", payPage],
  report: ["Report", reportPage],
  invites: ["Invitations", invitesPage],
  audit: ["Audit", auditPage],
};
const INNER = { task: ["Task", taskPage, "tasks"], forms: ["Forms compared", formsPage, ""] }; // linked from other pages, not in the navigation
const LIVE = ["", "times", "workers", "forms"]; // pages that refresh themselves
const REFRESH_MS = 5000;
const NAME = { pattern: "[A-Za-z0-9_.@\\-]+", title: "Letters, digits and . _ @ - without spaces", maxlength: "80" };
const setupToken = () => new URLSearchParams(location.hash.slice(1)).get("setup");

export class Owner {
  constructor(app) {
    this.app = app;
    this.studies = app.dataset.studies; // address of the list of studies, if this server has several
    addEventListener("hashchange", () => (this.csrf ? this.show(true) : setupToken() && this.signIn(setupToken())));
    setInterval(() => this.renew(), REFRESH_MS);
  }

  read(path) {
    return call("GET", `owner/${path}`);
  }

  write(path, body) {
    return call("POST", `owner/${path}`, body, { "X-Plurivox-Token": this.csrf ?? "" }).catch((failure) =>
      this.fail(failure),
    );
  }

  async begin() {
    if (setupToken()) return this.signIn(setupToken());
    try {
      this.came(await this.read("session"));
    } catch (failure) {
      if (failure.status !== 401) return this.fail(failure);
      if (!setupToken()) this.signIn(); // the setup link may have been opened meanwhile
    }
    return undefined;
  }

  came({ name, csrf }) {
    Object.assign(this, { name, csrf });
    this.main = make("main", { class: "owner" });
    const link = ([key, [text]]) => make("a", { href: `#/${key}`, data: { key } }, text);
    this.nav = make("nav", { "aria-label": "Pages" }, Object.entries(PAGES).map(link));
    if (this.studies) keepStudy(studyName(), true, this.studies);
    const signOut = () => {
      if (this.studies) keepStudy(studyName(), false, this.studies);
      return call("POST", "owner/logout", {}, { "X-Plurivox-Token": csrf }).finally(() => location.reload());
    };
    const out = button("Sign out", signOut, { class: "button plain" });
    put(
      this.app,
      make(
        "header",
        { class: "top" },
        make("strong", { class: "brand" }, this.studies ? studyName() : "plurivox studio"),
        this.nav,
        this.studies && make("a", { href: this.studies }, "All studies"),
        make("span", { class: "quiet small" }, name),
        out,
      ),
      this.main,
    );
    if (!location.hash.startsWith("#/")) history.replaceState(null, "", "#/");
    this.show(true);
  }

  place() {
    const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
    const [key, id] = path.split("/");
    return { key, id, ...Object.fromEntries(new URLSearchParams(query)) };
  }

  async show(arrived = false, unasked = false) {
    const at = this.place();
    const pages = [INNER, PAGES].find((some) => Object.hasOwn(some, at.key));
    const [title, make, home = at.key] = pages ? pages[at.key] : PAGES[""];
    for (const link of this.nav.children) link.toggleAttribute("aria-current", link.dataset.key === home);
    document.title = `${title} · plurivox studio`;
    try {
      const [[head, ...parts], snapshot] = await Promise.all([make(this, at), this.read("snapshot")]);
      if (JSON.stringify(at) !== JSON.stringify(this.place())) return; // the owner opened another page meanwhile
      if (unasked && this.isBusy()) return; // or started typing: do not replace the page
      const open = [...this.main.querySelectorAll("details")].map((one) => one.open);
      put(this.main, [head, alertNotes(snapshot), parts]);
      this.main.dataset.shows = at.key;
      if (!arrived) this.main.querySelectorAll("details").forEach((one, place) => (one.open = open[place] ?? false));
      if (!arrived) return;
      this.main.querySelector("h1")?.focus();
      this.nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }); // a phone shows a part of the navigation
    } catch (failure) {
      this.fail(failure);
    }
  }

  isBusy() {
    return document.hidden || !this.csrf || this.main.contains(document.activeElement?.closest("button, input, summary, a"));
  }

  renew() {
    // Refresh the page unless it is hidden, in use, or shows a later part of a list.
    if (!this.isBusy() && LIVE.includes(this.place().key) && !this.place().after) this.show(false, true); // later part of a list
  }

  fail(failure) {
    if (!(failure instanceof Failure)) throw failure;
    if (failure.status === 401) return this.signIn();
    const note = make("p", { class: "note bad", role: "alert" }, failure.detail);
    if (this.main) this.main.prepend(note);
    else put(this.app, make("main", { class: "owner" }, note));
    return undefined;
  }

  signIn(token = null) {
    this.csrf = null;
    const told = make("p", { class: "note bad", role: "alert", hidden: true });
    const field = (name, label, props) =>
      make(
        "div",
        { class: "field" },
        make("label", { for: name }, label),
        make("input", { id: name, name, required: true, ...props }),
      );
    const first = token !== null;
    const fields = [
      first && field("token", "Setup token (printed in the terminal)", { value: token, autocomplete: "off" }),
      field("name", first ? "Name (no spaces)" : "Name", { autocomplete: "username", ...(first && NAME) }),
      field("password", first ? "New password (10 characters or more)" : "Password", {
        type: "password",
        minlength: first ? 10 : null,
        autocomplete: first ? "new-password" : "current-password",
      }),
    ];
    const send = async (event) => {
      event.preventDefault();
      const body = Object.fromEntries(new FormData(event.target));
      try {
        this.came(await call("POST", first ? "owner/setup" : "owner/login", body));
      } catch (failure) {
        told.hidden = false;
        put(told, failure.detail);
      }
    };
    const other = button(
      first ? "I already have a password" : "First time here? Use the setup token",
      () => this.signIn(first ? null : ""),
      { class: "button plain small" },
    );
    const form = make(
      "form",
      { class: "card door", onsubmit: send },
      make("h1", {}, first ? "Set up the studio" : "Sign in"),
      told,
      fields,
      make("button", { class: "button main" }, first ? "Set the password" : "Sign in"),
      other,
    );
    document.title = `${first ? "Set up" : "Sign in"} · plurivox studio`;
    put(this.app, make("main", { class: "doorway" }, make("strong", { class: "brand" }, this.studies ? studyName() : "plurivox studio"), form));
    form.querySelector(first && token ? "#name" : "input").focus();
  }
}

new Owner(document.getElementById("app")).begin();
