// The owner's pages about people: their scores, who was left out and why, and what everybody is paid.
import { button, make } from "./dom.js";
import { count, figureOf, finder, fixed, more, page, query, seconds, table, titled, when } from "./owner_parts.js";

const SCORES = ["agreement-with-rest", "repeat-consistency", "too-fast"];

export async function workersPage(owner, { after, order = "worker", prefix = "" }) {
  const { workers, next } = await owner.read(`workers?${query({ order, limit: 50, after, prefix })}`);
  const names = SCORES;
  const sort = (text, key, way = "descending") => [
    text,
    { key, way, to: `#/workers?${query({ order: key, prefix })}` },
  ];
  const sorts = Object.fromEntries([
    sort("Worker", "worker", "ascending"),
    sort("Answers", "answers"),
    sort("Median time", "seconds"),
    ...names.map((name) => sort(titled(name), name)),
    sort("Flags", "flags"),
    sort("Last seen", "seen"),
  ]);
  const find = finder("Pseudonym begins with", prefix, (text) => {
    location.hash = `#/workers?${query({ order, prefix: text })}`;
  });
  const head = [
    "Worker",
    "Stage",
    "#Answers",
    "#Median time",
    ...names.map((name) => `#${titled(name)}`),
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
    make("p", { class: "quiet small" }, "Scores lie between 0 and 1; higher is worse. A name at the top of a column sorts by it."),
    table("Workers", head, rows, {
      sorts,
      order,
      empty: prefix ? `No pseudonym begins with “${prefix}”.` : "Nobody has come yet.",
    }),
    more(next, `workers?${query({ order, prefix })}&after=`),
  );
}

export async function excludedPage(owner, { after }) {
  const { exclusions, rules, next } = await owner.read(`exclusions?${query({ limit: 50, after })}`);
  const back = (one) =>
    button(
      "Take back",
      () =>
        confirm(`Let ${one.worker} count again? The answers become extras, and no rule applies any more.`) &&
        owner.write(`exclusions/${one.worker}/lift`, {}).then(() => owner.show()),
      { "aria-label": `Take back: ${one.worker}` },
    );
  const rows = exclusions.map((one) => [
    one.worker,
    make("span", { class: "badge" }, one.rule),
    one.reason,
    when(one.at),
    one.lifted ? `taken back ${when(one.lifted)}` : back(one),
  ]);
  const told = rules.length
    ? `Rules of this study: ${rules.join(", ")}. Answers stay, marked; their slots go to others.`
    : "This study has no rules; name some in [exclude] of its study.toml.";
  return page(
    "Excluded",
    null,
    make("p", { class: "quiet small" }, told),
    table("Excluded", ["Worker", "Rule", "Why", "When", ""], rows, { empty: "Nobody is left out." }),
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
  const figures = make("section", { class: "figures", "aria-label": "In short" }, [
    figureOf(`${total} ${currency}`.trim(), "in all, bonuses too"),
    figureOf(count(people), "people with answers"),
  ]);
  const head = ["Worker", "#Answers", "#Active min", "#Total min", "#Matched", "#Base", "#Bonus", "#Total", "Why"];
  return page(
    "Pay",
    null,
    people > 0 && figures,
    table("Pay", head, rows, { empty: "No pay sheet so far: it appears after the first answers, once [pay] says what is paid." }),
    more(next, "pay?after="),
    make("p", { class: "quiet small" }, "The rules are in [pay] of study.toml; plurivox studio pay writes the file."),
  );
}
