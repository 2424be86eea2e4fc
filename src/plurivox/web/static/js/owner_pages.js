// The owner's pages Overview, Tasks, Task, Times and Flagged: each function fetches data and returns the page's elements.
import { columnChart, lineChart, pairChart, rowChart } from "./charts.js";
import { button, make } from "./dom.js";
import { answerRows, labelTable, softLabelNotes } from "./owner_task.js";
import {
  count,
  figureCard,
  flagList,
  searchForm,
  fixed,
  meter,
  more,
  page,
  percent,
  query,
  seconds,
  table,
  titled,
  truthAndPeople,
  when,
} from "./owner_widgets.js";

const LINK = (to, text) => make("a", { href: `#/${to}` }, text);
const MAX_LABELS = 12; // labels in a chart
const MIN_ANSWERS = 5; // answers in an hour below which its agreement is not shown
// Kinds of answers: field of `progress` -> name and what it means. They add up to all answers.
const KINDS = {
  answers: ["Answers that count", "they fill the quotas"],
  late: ["Late answers", "beyond the quota: their task was full when they came, or their person was excluded and then reinstated; they are part of the soft labels"],
  repeats: ["Repeats", "the same task asked again; only for the check whether people stay with their label"],
  practice: ["Practice answers", "not used"],
  replaced: ["Replaced answers", "changed by the person later; not used"],
  excluded: ["Answers of excluded people", "kept, but not used; practice is counted above"],
};
const PEOPLE = { consent: "at consent", instructions: "at the instructions", quiz: "at the check", practice: "practising", tasks: "answering", debrief: "at the debriefing" };
function hourNames(hours) {
  // A formatter of hours: with the day, unless all hours are on one day.
  const iso = (hour) => new Date(hour * 1000).toISOString();
  const oneDay = new Set(hours.map((hour) => iso(hour).slice(0, 10))).size < 2;
  return (hour) => `${oneDay ? "" : `${iso(hour).slice(5, 10)} `}${iso(hour).slice(11, 13)}h`;
}
const tenths = (most, unit) => (value, at) => [`${Number(((at * most) / 10).toPrecision(2))}${unit}`, value];

export async function overviewPage(owner) {
  const [lines, now, snapshot, agreement] = await Promise.all(
    ["studies", "progress", "snapshot", "agreement"].map((name) => owner.read(name)),
  );
  const study = lines[0];
  const people = Object.values(now.workers).reduce((sum, one) => sum + one, 0);
  const [name, score] = Object.entries(agreement.scores)[0] ?? ["agreement", null];
  const figures = make("section", { class: "figures", "aria-label": "Key figures" }, [
    figureCard(`${count(now.answers)} / ${count(now.wanted)}`, "answers that count", meter("answers", now.answers, now.wanted)),
    figureCard(
      count(people),
      people
        ? `people, ${count(now.workers_with_answers)} of them with answers: ${Object.entries(now.workers)
            .map(([what, n]) => `${count(n)} ${PEOPLE[what] ?? what}`)
            .join(", ")}`
        : "people: none yet",
    ),
    figureCard(
      fixed(score),
      `${titled(name)}: 1 if all people name the same label first, 0 if they agree as often as by chance${agreement.repeats ? `; ${count(agreement.repeats)} repeats are left out` : ""}`,
    ),
    figureCard(
      percent(agreement.repeats_same_top),
      agreement.repeats_compared ? `of ${count(agreement.repeats_compared)} repeats kept their top label` : agreement.repeats ? "no repeat in which both answers name a label" : "no repeats so far",
    ),
    now.settled &&
      figureCard(
        count(now.settled.tasks),
        `tasks need no more answers: ${count(now.settled.spared)} answers saved, each with an expected gain below ${now.settled.least} nats`,
      ),
  ]);
  const hourName = hourNames(now.per_hour.map(([hour]) => hour));
  const hours = now.per_hour.map(([hour, n]) => [`${new Date(hour * 1000).toISOString().slice(0, 13).replace("T", " ")}h`, n, hourName(hour)]);
  const agreed = agreement.by_hour.filter(([, , n]) => n >= MIN_ANSWERS).map(([hour, share]) => [hour, 100 * share]);
  const shares = Object.entries(snapshot.label_shares)
    .map(([label, people]) => ({ name: label, people, truth: snapshot.truth_label_shares[label] ?? null }))
    .sort((a, b) => b.people - a.people)
    .slice(0, MAX_LABELS);
  const most = Math.log(study.labels.length);
  const charts = make("section", { class: "charts", "aria-label": "Charts" }, [
    columnChart({
      title: "Answers per hour",
      note: `Answers that count, late ones and repeats${hours.length > 1 ? "; hours without answers are left out" : ""}`,
      bars: hours,
      x: "hour (UTC)",
      y: "answers",
    }),
    lineChart({
      title: "Agreement over time",
      note: `Answers whose top label is now the most probable label of the task, in hours with at least ${MIN_ANSWERS} answers; without repeats`,
      points: agreed,
      x: "hour (UTC)",
      y: "% of answers",
      most: 100,
      name: hourNames(agreed.map(([hour]) => hour)),
    }),
    columnChart({
      title: "Entropy of the tasks",
      note: "Entropy of what people would say of each task: 0 if all would give the same label",
      bars: snapshot.entropy.map(tenths(most, "")),
      x: "entropy from (nats)",
      y: "tasks",
    }),
    pairChart({
      title: "Label distribution",
      note: `Mean over all tasks. ${snapshot.difference}${study.labels.length > MAX_LABELS ? ` The ${MAX_LABELS} largest of ${study.labels.length} labels.` : ""}`,
      rows: shares,
      x: "mean over all tasks",
    }),
    columnChart({
      title: "Confidence: truth",
      note: "Probability of the label of each task that is most probably right",
      bars: snapshot.truth_confidence.map(tenths(100, "%")),
      x: "probability from",
      y: "tasks",
    }),
    columnChart({
      title: "Confidence: people",
      note: "Share of the people who would give the most frequent label of each task",
      bars: snapshot.confidence.map(tenths(100, "%")),
      x: "share from",
      y: "tasks",
    }),
  ]);
  const quotas = table(
    "Quotas",
    ["Stratum", "#Tasks", "#Given", "#Being answered", "#Wanted", "Filled"],
    now.quotas.map((one) => [
      one.stratum || "all",
      count(one.tasks),
      count(one.given),
      count(one.leased),
      count(one.wanted),
      meter(`stratum ${one.stratum || "all"}`, one.given, one.wanted),
    ]),
  );
  const fresh = make(
    "p",
    { class: "quiet small" },
    snapshot.at
      ? `Soft labels of ${when(snapshot.at)}${snapshot.truth_by ? `, truth by ${snapshot.truth_by}` : ""}${snapshot.by ? `, people by ${snapshot.by}` : ""}${snapshot.recomputing ? "; being recomputed" : snapshot.pending ? "; newer answers are being added" : ""}.`
      : now.answers
        ? "Soft labels are being computed."
        : "Soft labels and scores appear here after the first answers.",
  );
  const kinds = table("All answers", ["Answers", "#Number", "What they are"], [
    ...Object.entries(KINDS).map(([key, [text, means]]) => [text, count(now[key]), make("span", { class: "small quiet" }, means)]),
    [
      make("strong", {}, "All answers"),
      make("strong", {}, count(now.all_answers)),
      make("span", { class: "small quiet" }, `in the export: ${count(now.all_answers)} views; ${count(now.answers + now.late + now.repeats)} answers, which are those that count, late ones and repeats`),
    ],
  ]);
  return page(
    study.title || study.name,
    [study.arms.length > 0 && make("a", { class: "button", href: "#/forms" }, "Forms compared"), stateTools(owner, now.state)],
    people
      ? null
      : make(
          "p",
          { class: "note calm" },
          make("span", {}, "No one has joined yet. ", LINK("invites", "Create an invitation"), " and send people its link."),
        ),
    figures,
    make("p", { class: "quiet small" }, "Agreement and charts leave out practice, replaced answers and answers of excluded people."),
    charts,
    make("h2", {}, "All answers"),
    make("div", { class: "tight" }, kinds),
    make("h2", {}, "Quotas"),
    quotas,
    fresh,
  );
}

function stateTools(owner, state) {
  const turn = (to, text, sure) =>
    button(text, () => (!sure || confirm(sure)) && owner.write("state", { state: to }).then(() => owner.show()));
  const word = { open: "Open", paused: "Paused", closed: "Closed" }[state];
  return [
    make("span", { class: "state", data: { is: state } }, word),
    make("a", { class: "button", href: "owner-preview" }, "Preview"),
    state === "open" ? turn("paused", "Pause") : turn("open", "Open"),
    state !== "closed" && turn("closed", "Close", "Close the study? Nobody can answer until you open it again."),
    make("a", { class: "button", href: "#/report" }, "Report"),
    make("a", { class: "button main", href: "api/owner/export", download: "" }, "Export"),
  ];
}

export async function tasksPage(owner, { after, order = "entropy", prefix = "" }) {
  const [{ tasks, next }, snapshot] = await Promise.all([
    owner.read(`tasks?${query({ order, limit: 50, after, prefix })}`),
    owner.read("snapshot"),
  ]);
  const strata = tasks.some((one) => one.stratum); // many studies have no strata
  const rows = tasks.map((one) => [
    LINK(`task/${one.task}`, one.name),
    truthAndPeople(one.truth, one.top),
    ...(strata ? [one.stratum || "–"] : []),
    `${one.answers} / ${one.quota}`,
    fixed(one.entropy),
  ]);
  const head = ["Task", "Truth and people", ...(strata ? ["Stratum"] : []), "#Answers", "#Entropy (nats)"];
  const names = { entropy: "highest entropy first", name: "by name", given: "by answers" };
  const orders = make(
    "nav",
    { class: "row", "aria-label": "Order" },
    Object.entries(names).map(([key, text]) =>
      make(
        "a",
        { class: "button", href: `#/tasks?order=${key}`, "aria-current": !prefix && key === order && "true" },
        text,
      ),
    ),
  );
  const find = searchForm("Name begins with", prefix, (text) => {
    location.hash = `#/tasks?${query({ order: text ? "name" : order, prefix: text })}`;
  });
  return page(
    "Tasks",
    [find, orders],
    make("p", { class: "quiet small" }, `Answers: those that count, of the number wanted. Entropy: of what people would say. Open a task to see what each answer became.`),
    make("p", { class: "difference" }, snapshot.difference),
    make("details", { class: "small" }, make("summary", {}, "How both are computed"), make("p", { class: "quiet" }, snapshot.how)),
    table("Tasks", head, rows, {
      empty: prefix ? `No task begins with “${prefix}”.` : "There are no tasks.",
    }),
    more(next, `tasks?${query({ order, prefix })}&after=`),
  );
}

export async function taskPage(owner, { id, answer }) {
  const detail = await owner.read(`tasks/${encodeURIComponent(id)}`);
  const { line, task, soft, truth, answers } = detail;
  const right = Object.fromEntries(truth.map(({ label, p }) => [label, p]));
  const shown =
    task.kind === "image"
      ? make("img", { src: task.media.replace(/^\//, ""), alt: `Task ${line.name}`, width: 160 })
      : task.kind === "audio"
        ? make("audio", { src: task.media.replace(/^\//, ""), controls: true, "aria-label": `Task ${line.name}` })
        : [make("p", {}, task.text ?? ""), task.text2 && make("p", {}, task.text2)];
  const labels = [...soft]
    .sort((a, b) => b.p - a.p)
    .slice(0, MAX_LABELS)
    .map(({ label, p, low, high }) => ({ name: label, people: p, low: low ?? undefined, high: high ?? undefined, truth: right[label] ?? null }));
  const pair = make(
    "section",
    { class: "charts" },
    make("figure", { class: "card chart seen" }, make("figcaption", {}, make("h2", {}, task.kind === "audio" ? "What people hear" : "What people see")), shown),
    pairChart({
      title: "Truth and people",
      note: `${detail.difference}${soft.length > MAX_LABELS ? ` The ${MAX_LABELS} labels that most people would give.` : ""}`,
      rows: labels,
      x: "probability (truth), share (people)",
    }),
  );
  return page(
    line.name,
    LINK("tasks", "All tasks"),
    pair,
    make("h2", {}, "How the soft labels were made"),
    softLabelNotes(detail),
    answers.length > 0 && labelTable(detail),
    make("h2", {}, `${answers.length} ${answers.length === 1 ? "answer" : "answers"}`),
    table("Answers", ["Worker", "Entered", "Became", "#Time", "#Position", "When", "Notes"], answerRows(answers, detail.meanings), {
      here: answers.findIndex((one) => one.answer === answer),
      empty: "Nobody has answered this task yet.",
    }),
  );
}

export async function timesPage(owner) {
  const times = await owner.read("times");
  const figures = make("section", { class: "figures", "aria-label": "Medians" }, [
    figureCard(seconds(times.active), "median per answer, without hidden time"),
    figureCard(seconds(times.first_input), "median until the first input"),
    figureCard(seconds(times.top_label), "median until the first label"),
    figureCard(seconds(times.hidden), "median hidden time per answer"),
  ]);
  const charts = make("section", { class: "charts" }, [
    lineChart({
      title: "Learning curve",
      note: "Median time per answer, without hidden time",
      points: times.by_position.map(([place, value]) => [place, value]),
      x: "position in the sitting",
      y: "seconds",
    }),
    rowChart({
      title: "Time per stage",
      note: "Median time in a stage: of pages without hidden time, of practice and tasks from entering to leaving by the server's clock",
      bars: Object.entries(times.stages),
      x: "stage",
      y: "seconds",
    }),
  ]);
  const left = times.impossible > 0 &&
    make(
      "p",
      { class: "note calm impossible" },
      make(
        "span",
        {},
        `${count(times.impossible)} ${times.impossible === 1 ? "answer is" : "answers are"} left out here for impossible times: more time claimed than the server saw between sending the task and receiving the answer, or more hidden than shown. See the page `,
        LINK("flagged", "Flagged"),
        ".",
      ),
    );
  return page("Times", null, left, figures, charts, make("p", { class: "quiet small" }, times.at ? `As of ${when(times.at)}. Answers that count, late ones and repeats; practice, replaced answers and excluded people are left out.` : "Times appear here after the first answers."));
}

export async function flaggedPage(owner, { after }) {
  const { flagged, counts, meanings, next } = await owner.read(`flagged?${query({ limit: 50, after })}`);
  const kinds = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  const summary = table(
    "What is odd",
    ["What is odd", "#Answers"],
    kinds.map(([name, n]) => [meanings[name], count(n)]),
  );
  const rows = flagged.map((one) => [
    flagList(one.flags, meanings),
    LINK(`task/${one.task}?answer=${one.answer}`, one.name),
    LINK(`workers?prefix=${one.worker}`, one.worker),
    when(one.when),
  ]);
  return page(
    "Flagged answers",
    null,
    make("p", { class: "quiet small" }, "Answers with something odd. A flag alone does not remove an answer."),
    kinds.length > 0 && summary,
    kinds.length > 0 && make("h2", {}, "Answers, the newest first"),
    table("Flagged answers", ["What is odd", "Task", "Worker", "When"], rows, { empty: "No flagged answers yet." }),
    more(next, "flagged?after="),
  );
}
