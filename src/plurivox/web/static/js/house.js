// The house: the studies in which this browser is signed in, and the door to a further one.
import { button, make, put } from "./dom.js";
import { keepStudy, knownStudies } from "./known_studies.js";
import { count, meter, page, table } from "./owner_parts.js";

const RENEWED_EVERY = 10000;
const WORDS = { open: "Open", paused: "Paused", closed: "Closed" };

async function ask(name, path) {
  const address = `${encodeURIComponent(name)}/api/owner/${path}`;
  const reply = await fetch(address, { credentials: "same-origin" }).catch(() => null);
  return { status: reply?.status ?? 0, told: reply?.ok ? await reply.json() : null };
}

const into = (name, text) => make("a", { href: `${encodeURIComponent(name)}/owner` }, text);

async function studyRow(name) {
  const [study, now] = await Promise.all(["studies", "progress"].map((path) => ask(name, path)));
  if (now.status === 404) {
    keepStudy(name, false); // it is served here no more
    return null;
  }
  if (now.status === 401) return [into(name, name), "signed out", into(name, "Sign in"), "", ""];
  if (!study.told || !now.told) return [into(name, name), "cannot be reached", "", "", ""];
  const { answers, wanted, workers, state } = now.told;
  const people = Object.values(workers).reduce((sum, one) => sum + one, 0);
  return [
    into(name, study.told[0].title || name),
    make("span", { class: "state", data: { is: state } }, WORDS[state]),
    `${count(answers)} of ${count(wanted)}`,
    meter(`answers of ${name}`, answers, wanted),
    count(people),
  ];
}

function doorForm() {
  const field = make("input", { id: "study", name: "study", required: true, autocomplete: "off" });
  const told = make("p", { class: "note bad", role: "alert", hidden: true });
  const send = async (event) => {
    event.preventDefault();
    const name = field.value.trim();
    const { status } = await ask(name, "session");
    if (status === 200 || status === 401) return location.assign(`${encodeURIComponent(name)}/owner`);
    told.hidden = false;
    return put(told, status === 404 ? "There is no study of this name here." : "The server cannot be reached.");
  };
  return make(
    "form",
    { class: "card form", onsubmit: send },
    make("div", { class: "field" }, make("label", { for: "study" }, "Sign in to a further study, by its name"), field),
    make("button", { class: "button main" }, "Go there"),
    told,
  );
}

async function showHouse(place) {
  const rows = (await Promise.all(knownStudies().map(studyRow))).filter(Boolean);
  const list = rows.length
    ? table("Studies", ["Study", "State", "Answers", "", "#People"], rows)
    : make("p", { class: "quiet" }, "This browser is signed in to none of the studies here. Name one to go there.");
  put(place, page("Studies", button("Renew", () => showHouse(place)), list));
}

const main = make("main", { class: "owner" });
const rooms = make("div", { class: "group" });
put(main, rooms, doorForm());
put(
  document.getElementById("app"),
  make("header", { class: "top" }, make("strong", { class: "brand" }, "plurivox studio")),
  main,
);
await showHouse(rooms);
main.dataset.shows = "studies";
setInterval(() => document.hidden || showHouse(rooms), RENEWED_EVERY);
