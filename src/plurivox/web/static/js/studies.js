// The list of studies on this server that this browser is signed in to, and a form to open another one by its name.
import { button, make, put } from "./dom.js";
import { keepStudy, knownStudies } from "./known_studies.js";
import { count, meter, page, table } from "./owner_widgets.js";

const RENEWED_EVERY = 10000;
const STATES = { open: "Open", paused: "Paused", closed: "Closed" };

async function ask(name, path) {
  const address = `${encodeURIComponent(name)}/api/owner/${path}`;
  const reply = await fetch(address, { credentials: "same-origin" }).catch(() => null);
  return { status: reply?.status ?? 0, told: reply?.ok ? await reply.json() : null };
}

const studyLink = (name, text) => make("a", { href: `${encodeURIComponent(name)}/owner` }, text);

async function studyRow(name) {
  const [study, now] = await Promise.all(["studies", "progress"].map((path) => ask(name, path)));
  if (now.status === 404) {
    keepStudy(name, false); // no longer served here
    return null;
  }
  if (now.status === 401) return [studyLink(name, name), "signed out", studyLink(name, "Sign in"), "", ""];
  if (!study.told || !now.told) return [studyLink(name, name), "cannot be reached", "", "", ""];
  const { answers, wanted, workers, state } = now.told;
  const people = Object.values(workers).reduce((sum, one) => sum + one, 0);
  return [
    studyLink(name, study.told[0].title || name),
    make("span", { class: "state", data: { is: state } }, STATES[state]),
    `${count(answers)} of ${count(wanted)}`,
    meter(`answers of ${name}`, answers, wanted),
    count(people),
  ];
}

function signInForm() {
  const field = make("input", { id: "study", name: "study", required: true, autocomplete: "off" });
  const told = make("p", { class: "note bad", role: "alert", hidden: true });
  const send = async (event) => {
    event.preventDefault();
    const name = field.value.trim();
    const { status } = await ask(name, "session");
    if (status === 200 || status === 401) return location.assign(`${encodeURIComponent(name)}/owner`);
    told.hidden = false;
    return put(told, status === 404 ? "There is no study with this name on this server." : "The server cannot be reached.");
  };
  return make(
    "form",
    { class: "card form", onsubmit: send },
    make("div", { class: "field" }, make("label", { for: "study" }, "Open another study by its name"), field),
    make("button", { class: "button main" }, "Open"),
    told,
  );
}

async function showStudies(place) {
  const rows = (await Promise.all(knownStudies().map(studyRow))).filter(Boolean);
  const list = rows.length
    ? table("Studies", ["Study", "State", "Answers", "", "#People"], rows)
    : make("p", { class: "quiet" }, "This browser is not signed in to any study on this server. Enter the name of a study to open it.");
  put(place, page("Studies", button("Refresh", () => showStudies(place)), list));
}

const main = make("main", { class: "owner" });
const list = make("div", { class: "group" });
put(main, list, signInForm());
put(
  document.getElementById("app"),
  make("header", { class: "top" }, make("strong", { class: "brand" }, "plurivox studio")),
  main,
);
await showStudies(list);
main.dataset.shows = "studies";
setInterval(() => document.hidden || showStudies(list), RENEWED_EVERY);
