// The owner's pages Invitations and Audit (the log of owners' actions).
import { button, make } from "./dom.js";
import { count, page, people, table, when } from "./owner_widgets.js";

export async function invitesPage(owner) {
  const { invites, platforms } = await owner.read("invites");
  const note = make("input", { id: "note", maxlength: "200" });
  const uses = make("input", { id: "uses", type: "number", min: "1", max: "100000", value: "1" });
  const add = () =>
    owner.write("invites", { note: note.value, uses: Number(uses.value) || 1 }).then(() => owner.show());
  const fields = make(
    "form",
    { class: "card form", onsubmit: (event) => (event.preventDefault(), add()) },
    make("div", { class: "field" }, make("label", { for: "note" }, "Note"), note),
    make("div", { class: "field few" }, make("label", { for: "uses" }, "People"), uses),
    make("button", { class: "button main" }, "Create link"),
  );
  const link = (address) =>
    make("input", {
      class: "link",
      readonly: true,
      value: address,
      "aria-label": "Link",
      onfocus: (event) => event.target.select(),
    });
  const rows = invites.map((one) => [
    one.note || "–",
    link(one.address),
    `${one.used} / ${one.uses}`,
    one.open
      ? button("Close", () => owner.write(`invites/${one.invite}/close`, {}).then(() => owner.show()))
      : "closed",
  ]);
  return page(
    "Invitations",
    make("a", { class: "button", href: "owner-preview" }, "See what people see"),
    fields,
    table("Invitations", ["Note", "Link", "#Used", ""], rows, { empty: "No invitations yet." }),
    platforms.map((one) => platformCard(owner, one)),
    !platforms.length &&
      make("p", { class: "quiet" }, "This study is by invitation only. To recruit at Prolific or MTurk, write ", make("code", {}, 'platforms = ["prolific"]'), " or ", make("code", {}, '["mturk"]'), " in study.toml and restart the server."),
  );
}

const PLATFORM_WORDS = {
  prolific: {
    address: "Study address for Prolific",
    unit: "study",
    hint: "Open your draft at Prolific and copy its ID from the address of that page: it is the part after /studies/.",
  },
  mturk: {
    address: "ExternalURL for MTurk",
    unit: "HIT",
    hint: "Create the HIT at MTurk first, then copy its HIT ID.",
  },
};

function platformCard(owner, { name, title, address, studies, admits_everyone: everyone }) {
  // A platform that is switched on: the address to enter there, the admitted studies, and a form to admit another one.
  const { address: label, unit, hint } = PLATFORM_WORDS[name];
  const write = (path, study) =>
    owner.write(`platform-studies${path}`, { platform: name, study }).then((done) => done && owner.show());
  const input = make("input", { id: `${name}-study`, maxlength: "200", required: true, autocomplete: "off", spellcheck: "false" });
  const idOf = (text) => /\/studies\/([A-Za-z0-9]+)/.exec(text)?.[1] ?? text.trim(); // a pasted address contains the ID
  const rows = studies.map(({ study, in_study_toml: fixed }) => [
    study,
    fixed ? "in study.toml" : button("Remove", () => write("/remove", study), { "aria-label": `Remove ${study}` }),
  ]);
  const none = everyone
    ? `Everyone with a link of ${title} can enter, with an invented ID too. Add the ID of your ${unit} to admit only its people. ${hint}`
    : `Nobody from ${title} can enter yet. Add the ID of your ${unit}. ${hint}`;
  return make(
    "section",
    { class: "card pad group", "aria-label": title },
    make("h2", {}, title),
    make("div", { class: "field" }, make("label", { for: name }, label), make("input", { id: name, readonly: true, value: address })),
    rows.length
      ? table(`Admitted at ${title}`, [`Admitted ${unit}`, ""], rows)
      : make("p", { class: "note bad", role: "status" }, make("span", {}, none)),
    make(
      "form",
      { class: "form flat", onsubmit: (event) => (event.preventDefault(), write("", idOf(input.value))) },
      make("div", { class: "field" }, make("label", { for: `${name}-study` }, `ID of a ${unit} at ${title}`), input),
      make("button", { class: "button main" }, "Admit"),
    ),
    rows.length ? make("p", { class: "quiet small" }, `Only people whom ${title} sends from an admitted ${unit} can enter. ${hint}`) : null,
  );
}

const times = (n) => (n > 1 ? `, ${count(n)} times` : "");
const from = (network) => `, from ${network || "an unknown address"}`;

function refused({ why, times: n, network, known, names, networks }) {
  // Refused sign-ins as text.
  const reasons = {
    "wrong password": "wrong password",
    "unknown name": "unknown name",
    "wrong setup link": "wrong or used set-up link",
    "too many attempts": "too many attempts, refused",
    "busy server": "refused, as many people were signing in at that moment",
  };
  const what = `${reasons[why] || "refused sign-ins"}${times(n)}`;
  if (names) return `${what}, with ${count(names)} or more names, from ${count(networks)} or more networks`;
  return `${what}${from(network)}${known ? " (an address this owner has used)" : ""}`;
}

const platformUnit = (platform) => ({ prolific: "Prolific study", mturk: "MTurk HIT" })[platform] ?? `${platform} study`;

const reportQuestion = (question) => ({ truth: "what is true", people: "what people say" })[question] ?? question;

// Sentences of the audit log by action; each gets the details of the line.
const actions = {
  "owner set up": ({ network }) => `became the first owner${network ? from(network) : ""}`,
  "sign-in": ({ network, known }) => `signed in${from(network)}${known ? "" : " (a new address)"}`,
  "sign-out": ({ network }) => `signed out${from(network)}`,
  "sign-in refused": refused,
  state: ({ state }) => ({ open: "opened the study", paused: "paused the study", closed: "closed the study" })[state],
  invite: ({ note, uses }) => `created an invitation for ${people(uses)}${note ? `: ${note}` : ""}`,
  "invite closed": ({ note }) => `closed an invitation${note ? `: ${note}` : ""}`,
  "platform study admitted": ({ platform, study }) => `admitted people of the ${platformUnit(platform)} ${study}`,
  "platform study removed": ({ platform, study }) => `no longer admits new people of the ${platformUnit(platform)} ${study}`,
  report: ({ question }) => `asked for the report on ${reportQuestion(question)}`,
  "report downloaded": ({ question }) => `downloaded the report on ${reportQuestion(question)}`,
  export: ({ form }) => `downloaded the export (${form})`,
  exclude: ({ worker, rule, reason }) => `excluded ${worker} by the rule ${rule}: ${reason}`,
  "exclusion lifted": ({ worker }) => `lifted the exclusion of ${worker}`,
  erase: ({ worker }) => `erased the data of ${worker}`,
};

function auditSentence({ what, detail }) {
  // What a line of the audit log says; an action without a sentence is shown with its details.
  const rest = Object.entries(detail)
    .map(([name, value]) => `${name}: ${value}`)
    .join(", ");
  return (Object.hasOwn(actions, what) && actions[what](detail)) || (rest ? `${what} (${rest})` : what);
}

export async function auditPage(owner) {
  const { lines } = await owner.read("audit");
  const rows = lines.map((one) => [
    when(one.at),
    make("bdi", {}, one.who || "several names"),
    make("span", { class: one.what === "sign-in refused" && "warn" }, auditSentence(one)),
  ]);
  return page(
    "Audit",
    null,
    make("p", { class: "quiet small" }, "What owners did, sign-ins, and refused sign-ins. The network of an address is shown, not the address."),
    make("div", { class: "log" }, table("Audit", ["When", "Who", "What"], rows)),
  );
}
