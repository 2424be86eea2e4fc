// The owner's pages Workers, Excluded and Pay.
import { button, make } from "./dom.js";
import {
  badges,
  count,
  explained,
  figureCard,
  searchForm,
  fixed,
  more,
  page,
  percent,
  query,
  seconds,
  table,
  when,
} from "./owner_widgets.js";

// Scores in the API -> column, doubt as a word before the number, doubt as a badge below the pseudonym.
const SCORES = {
  "agreement-with-rest": ["Agreement with others", "low", "low agreement"],
  "repeat-consistency": ["Same label on repeats", "low", "changes on repeats"],
  "too-fast": ["Too fast", "high", "too fast"],
};
const [AGREEMENT, REPEATS, TOO_FAST] = Object.keys(SCORES);
const LOW_IS_BAD = [AGREEMENT, REPEATS]; // sorted by the server from the worst to the best, that is, ascending

function columnHelp(limits, tooFastSeconds) {
  // Column -> what it means and when it is doubtful.
  const under = `less than ${tooFastSeconds} ${tooFastSeconds === 1 ? "second" : "seconds"}`;
  const median = limits.agreement_below === null
    ? "It is marked once people have enough answers."
    : `Doubtful below ${fixed(limits.agreement_below)}: two thirds of the median person's ${fixed(limits.agreement_median)}.`;
  return {
    [SCORES[AGREEMENT][0]]: `The share of the other people who named the same label first for the same task, on average: 1.00 if all did, 0.00 if nobody did. Repeats are left out. ${median}`,
    [SCORES[REPEATS][0]]: `When a task was shown again, how often the same label came first, and of how many repeats. Doubtful below ${percent(limits.same_on_repeats_below)}, from ${limits.repeats} repeats on.`,
    [SCORES[TOO_FAST][0]]: `The share of answers that took ${under} (too_fast_seconds in study.toml). Doubtful above ${percent(limits.too_fast_above)}.`,
    "Median time": "Half of the person's answers took longer, half took less. Time in which the page was hidden does not count.",
    Flagged: "Answers with something odd: open the number to see what. The page Flagged lists the answers.",
    Answers: "Answers to tasks, with repeats and without practice.",
  };
}

function scoreCell(one, name) {
  const value = one.scores[name];
  if (value === null || value === undefined) return "–";
  const of = name === REPEATS ? ` of ${one.repeats}` : "";
  const text = name === AGREEMENT ? fixed(value) : `${percent(value)}${of}`;
  return one.doubts.includes(name) ? make("span", { class: "doubt" }, `⚠ ${SCORES[name][1]} ${text}`) : text;
}

const flagCell = (one, meanings) =>
  one.flags
    ? make(
        "details",
        { class: "flagged" },
        make("summary", {}, count(one.flags)),
        make("ul", { class: "flags small" }, Object.entries(one.flag_counts).map(([name, n]) => make("li", {}, `${meanings[name]}: ${count(n)}`))),
      )
    : "0";

export async function workersPage(owner, { after, order = "doubts", prefix = "" }) {
  const { workers, limits, meanings, next, too_fast_seconds: tooFast } = await owner.read(`workers?${query({ order, limit: 50, after, prefix })}`);
  const names = Object.keys(SCORES);
  const help = columnHelp(limits, tooFast);
  const sort = (text, key, way = "descending") => [
    text,
    { key, way, to: `#/workers?${query({ order: key, prefix })}` },
  ];
  const sorts = Object.fromEntries([
    sort("Worker", "worker", "ascending"),
    ...names.map((name) => sort(SCORES[name][0], name, LOW_IS_BAD.includes(name) ? "ascending" : "descending")),
    sort("Median time", "seconds"),
    sort("Flagged", "flags"),
    sort("Answers", "answers"),
    sort("Last seen", "seen"),
  ]);
  const find = searchForm("Pseudonym begins with", prefix, (text) => {
    location.hash = `#/workers?${query({ order, prefix: text })}`;
  });
  const doubtful = make(
    "a",
    { class: "button", href: `#/workers?${query({ order: "doubts", prefix })}`, "aria-current": order === "doubts" && "true" },
    "most doubtful first",
  );
  const head = ["Worker", ...names.map((name) => `#${SCORES[name][0]}`), "#Median time", "#Flagged", "#Answers", "Stage", "Last seen"];
  const rows = workers.map((one) => [
    [one.worker, one.doubts.length > 0 && make("div", {}, badges(one.doubts.map((name) => `⚠ ${SCORES[name][2]}`)))],
    ...names.map((name) => scoreCell(one, name)),
    seconds(one.median_seconds),
    flagCell(one, meanings),
    count(one.answers),
    one.status !== "active" ? one.status : one.turned_away ? "turned away" : one.stage,
    when(one.last_seen),
  ]);
  const lead = `⚠ marks what is doubtful; people with fewer than ${limits.answers} answers are not marked. A doubt is a reason to look, not a proof. Click a column name to sort by it, the worst first.`;
  return page(
    "Workers",
    [find, doubtful],
    make("p", { class: "quiet small" }, lead),
    explained("What the columns mean, and what is doubtful", help),
    table("Workers", head, rows, {
      sorts,
      order,
      help,
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
        confirm(`Lift the exclusion of ${one.worker}? Their answers are used again as late answers, beyond the quota, and the rules no longer apply to them.`) &&
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
  const { lines, currency, total, people, next, without_limit: endless } = await owner.read(`pay?${query({ limit: 50, after })}`);
  const rows = lines.map((one) => [
    one.worker,
    count(one.answers),
    make("span", { title: one.impossible_answers + one.impossible_pages ? `The browser claimed ${one.claimed_minutes} minutes` : ACTIVE }, one.active_minutes),
    make("span", { title: "From entering to the last answer or page, with pauses; long after the tasks nothing counts" }, one.total_minutes),
    `${one.matched} / ${one.compared}`,
    make("span", { title: sentenceAbout("base", one) }, one.base),
    make("span", { title: sentenceAbout("bonus", one) }, one.bonus),
    one.total,
    payDetails(one),
  ]);
  const figures = make("section", { class: "figures", "aria-label": "Key figures" }, [
    figureCard(`${total} ${currency}`.trim(), "in total, with bonuses"),
    figureCard(count(people), "people with answers"),
  ]);
  const head = ["Worker", "#Answers", "#Active min", "#Total min", "#Matched", "#Base", "#Bonus", "#Total", "Why"];
  return page(
    "Pay",
    null,
    endless &&
      make("p", { class: "note endless" }, make("span", {}, "Time is paid without limit: most_minutes is 0 in [pay] of study.toml. Set the minutes that one person is paid at most, for example 120.")),
    people > 0 && figures,
    table("Pay", head, rows, { empty: "No pay sheet yet: it appears after the first answers if [pay] in study.toml sets what is paid." }),
    more(next, "pay?after="),
    make("p", { class: "quiet small" }, "The rules are in [pay] of study.toml; the command plurivox studio pay writes this table to a file. Active minutes are the times of answers and pages without hidden time, and at most what the server saw between sending a task and receiving its answer."),
  );
}

const ACTIVE = "Time on tasks and pages without hidden time, at most what the server saw";

// The sentence of a pay line that begins with a word, for the number it explains.
const sentenceAbout = (word, line) => line.explanation.find((sentence) => sentence.startsWith(`${word} `)) ?? null;

function payDetails(line) {
  // The reasons of a pay line; opened, the sentences that say how its sums came about.
  const flag = line.impossible_answers + line.impossible_pages > 0 && make("span", { class: "badge" }, "impossible time");
  const reasons = line.reasons.join("; ");
  if (!line.explanation.length) return make("span", { class: "small" }, reasons, flag);
  const sentences = line.explanation.map((sentence) => make("li", {}, sentence));
  return make("details", { class: "small how" }, make("summary", {}, reasons, " ", flag), make("ul", {}, sentences));
}
