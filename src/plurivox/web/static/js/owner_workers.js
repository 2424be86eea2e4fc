// The owner's pages Workers, Excluded and Pay.
import { button, make } from "./dom.js";
import { count, figureCard, searchForm, fixed, more, page, query, seconds, table, when } from "./owner_widgets.js";

// Names of the scores in the API -> titles.
const SCORES = {
  "agreement-with-rest": "Agreement with others",
  "repeat-consistency": "Changed repeats",
  "too-fast": "Too fast",
};
const LOW_IS_BAD = ["agreement-with-rest"]; // sorted by the server from the worst to the best, that is, ascending

export async function workersPage(owner, { after, order = "worker", prefix = "" }) {
  const { workers, next } = await owner.read(`workers?${query({ order, limit: 50, after, prefix })}`);
  const names = Object.keys(SCORES);
  const sort = (text, key, way = "descending") => [
    text,
    { key, way, to: `#/workers?${query({ order: key, prefix })}` },
  ];
  const sorts = Object.fromEntries([
    sort("Worker", "worker", "ascending"),
    sort("Answers", "answers"),
    sort("Median time", "seconds"),
    ...names.map((name) => sort(SCORES[name], name, LOW_IS_BAD.includes(name) ? "ascending" : "descending")),
    sort("Flags", "flags"),
    sort("Last seen", "seen"),
  ]);
  const find = searchForm("Pseudonym begins with", prefix, (text) => {
    location.hash = `#/workers?${query({ order, prefix: text })}`;
  });
  const head = [
    "Worker",
    "Stage",
    "#Answers",
    "#Median time",
    ...names.map((name) => `#${SCORES[name]}`),
    "#Flags",
    "Last seen",
  ];
  const rows = workers.map((one) => [
    one.worker,
    one.status === "active" ? one.stage : one.status,
    count(one.answers),
    seconds(one.median_seconds),
    ...names.map((name) => fixed(one.scores[name])),
    String(one.flags),
    when(one.last_seen),
  ]);
  return page(
    "Workers",
    find,
    make("p", { class: "quiet small" }, "Agreement, changed repeats and too fast are shares from 0 to 1. Click a column name to sort by it, the worst first: low agreement, many changed repeats, many fast answers."),
    table("Workers", head, rows, {
      sorts,
      order,
      empty: prefix ? `No pseudonym begins with “${prefix}”.` : "No one has joined yet.",
    }),
    more(next, `workers?${query({ order, prefix })}&after=`),
  );
}

export async function excludedPage(owner, { after }) {
  const { exclusions, rules, next } = await owner.read(`exclusions?${query({ limit: 50, after })}`);
  const back = (one) =>
    button(
      "Lift",
      () =>
        confirm(`Lift the exclusion of ${one.worker}? Their answers count again as extras, and the rules no longer apply to them.`) &&
        owner.write(`exclusions/${one.worker}/lift`, {}).then(() => owner.show()),
      { "aria-label": `Lift the exclusion: ${one.worker}` },
    );
  const rows = exclusions.map((one) => [
    one.worker,
    make("span", { class: "badge" }, one.rule),
    one.reason,
    when(one.at),
    one.lifted ? `lifted ${when(one.lifted)}` : back(one),
  ]);
  const told = rules.length
    ? `Rules of this study: ${rules.join(", ")}. Answers of excluded workers are kept but not counted; other workers get their tasks.`
    : "This study has no exclusion rules; add some to [exclude] in its study.toml.";
  return page(
    "Excluded",
    null,
    make("p", { class: "quiet small" }, told),
    table("Excluded", ["Worker", "Rule", "Why", "When", ""], rows, { empty: "No worker is excluded." }),
    more(next, "excluded?after="),
  );
}

export async function payPage(owner, { after }) {
  const { lines, currency, total, people, next } = await owner.read(`pay?${query({ limit: 50, after })}`);
  const rows = lines.map((one) => [
    one.worker,
    count(one.answers),
    one.active_minutes,
    one.total_minutes,
    `${one.matched} / ${one.compared}`,
    one.base,
    one.bonus,
    one.total,
    make("span", { class: "small" }, one.reasons.join("; ")),
  ]);
  const figures = make("section", { class: "figures", "aria-label": "Key figures" }, [
    figureCard(`${total} ${currency}`.trim(), "in total, with bonuses"),
    figureCard(count(people), "people with answers"),
  ]);
  const head = ["Worker", "#Answers", "#Active min", "#Total min", "#Matched", "#Base", "#Bonus", "#Total", "Why"];
  return page(
    "Pay",
    null,
    people > 0 && figures,
    table("Pay", head, rows, { empty: "No pay sheet yet: it appears after the first answers if [pay] in study.toml sets what is paid." }),
    more(next, "pay?after="),
    make("p", { class: "quiet small" }, "The rules are in [pay] of study.toml; the command plurivox studio pay writes this table to a file."),
  );
}
