// The last page of the owner's preview: where people would be sent, what the owner's answers become, and the other endings.
import { make, paragraphs } from "./dom.js";
import { badges, percent, said, shareBar, table } from "./owner_widgets.js";

const MAX_NAMED = 6; // labels of a soft label that are named
const MAX_CHARACTERS_SHOWN = 90; // of the text of a task
const NO_LABEL = {
  abstained: "No label: “Can't tell” gives no vote",
  "none-of-these": "No label: “None of these” gives no vote",
  unreadable: "No label: this answer gives no vote",
};
const ENDINGS = { done: "People who answered all tasks", full: "People who find no task left", failed: "People who are excluded" };

export function whereTo({ code, redirect }, platforms) {
  // What the page of a real person would do next, as text: the preview leads nowhere.
  const lines = [
    redirect && ["The page would now lead people to ", make("code", {}, redirect), "."],
    platforms.includes("mturk") && ["For people from MTurk it would submit the form of their assignment", code ? ` with the code ${code}.` : "."],
    !redirect && !platforms.includes("mturk") && [code ? "People copy this code; the page leads nowhere." : "The page leads nowhere: people just close it."],
  ];
  const shown = lines.filter(Boolean).map((line) => make("p", {}, line));
  return make("div", { class: "note calm where" }, make("div", {}, shown));
}

export function answersSection(seen, { tasks, states }) {
  // The owner's answers and the soft labels that they become.
  const rows = [...seen.values()].map(({ task, answer, becomes }) => [
    taskCell(task),
    said(answer),
    [softLabel(becomes), becomes.flags.map((text) => make("p", { class: "small" }, text))],
  ]);
  const { total, sittings } = states.find((one) => one.stage === "tasks").progress;
  const notes = [
    rows.length && "Each row shows what one answer becomes. The soft label of a task combines the answers of all people to it.",
    total > tasks.length && `A sitting has ${total} tasks; the preview shows the first ${tasks.length}.`,
    sittings > 1 && `One person can answer up to ${sittings} sittings; the preview shows one.`,
  ].filter(Boolean);
  return make(
    "section",
    { class: "card answers" },
    make("h2", {}, "Your answers in this preview"),
    table("Your answers", ["Task", "You entered", "It becomes"], rows, { empty: "You have not answered a task in this preview." }),
    notes.map((text) => make("p", { class: "quiet small" }, text)),
  );
}

function taskCell({ slot, name, repeat }) {
  const { kind, media, text } = slot.task;
  const picture = kind === "image" && make("img", { src: media.replace(/^\//, ""), alt: "", width: 40 });
  const words = text && make("span", { class: "quiet small" }, text.length > MAX_CHARACTERS_SHOWN ? `${text.slice(0, MAX_CHARACTERS_SHOWN)}…` : text);
  const tags = badges([slot.practice && "practice: does not count", repeat && "repeat"].filter(Boolean));
  return make("div", { class: "taskcell" }, picture, make("div", {}, make("strong", {}, name), " ", words), tags);
}

function softLabel({ outcome, soft }) {
  // Labels with equal shares at the end, such as those that nobody named, are summed up.
  if (!soft.length) return NO_LABEL[outcome];
  const least = soft.at(-1).p;
  const equal = soft.filter(({ p }) => p - least < 1e-9).length;
  const named = equal > 1 && equal < soft.length ? soft.length - equal : soft.length;
  const [top, rest] = [soft.slice(0, Math.min(named, MAX_NAMED)), soft.slice(Math.min(named, MAX_NAMED))];
  const sum = rest.reduce((total, { p }) => total + p, 0);
  const each = rest.length === equal ? `${Number((least * 100).toPrecision(2))}% each` : `${percent(sum)} in all`;
  return [shareBar(top), rest.length > 0 && make("span", { class: "small quiet" }, `${rest.length} other labels: ${each}`)];
}

export function otherEndings(endings, shown) {
  // The endings that this preview did not reach, as text.
  const one = ([how, { code, redirect, text }]) => [
    make("h3", {}, ENDINGS[how]),
    how === "done" ? make("p", {}, "They see “All done”.") : paragraphs(text),
    make("p", { class: "quiet small" }, code ? `Completion code: ${code}` : "No completion code", redirect && `, then ${redirect}`),
  ];
  const others = Object.entries(endings).filter(([how]) => how !== shown);
  return make("section", { class: "card" }, make("h2", {}, "Other endings of this study"), others.map(one));
}
