// The owner's pages: each fetches what it shows and gives back its parts.
import { columnChart, lineChart, rangeChart, rowChart } from "./charts.js";
import { button, make } from "./dom.js";
import {
  badges,
  count,
  figureOf,
  finder,
  fixed,
  meter,
  more,
  page,
  percent,
  query,
  said,
  seconds,
  shareBar,
  table,
  trouble,
  when,
} from "./owner_parts.js";

const LINK = (to, text) => make("a", { href: `#/${to}` }, text);
const MOST = 12; // labels in a chart
const FEWEST = 5; // answers of an hour that say something about it
function hourNames(hours) {
  // How hours are written: with their day, unless all are of one.
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
  const figures = make("section", { class: "figures", "aria-label": "In short" }, [
    figureOf(`${count(now.answers)} / ${count(now.wanted)}`, "answers", meter("answers", now.answers, now.wanted)),
    figureOf(
      count(people),
      `people: ${
        Object.entries(now.workers)
          .map(([stage, n]) => `${n} ${stage}`)
          .join(", ") || "none yet"
      }`,
    ),
    figureOf(fixed(score), `${name.replaceAll("-", " ")}: 1 if all agree, 0 as by chance`),
    figureOf(percent(agreement.repeats_same_top), `of ${agreement.repeats} repeats kept their top label`),
    now.settled &&
      figureOf(
        count(now.settled.tasks),
        `tasks are settled: ${count(now.settled.spared)} answers spared, each expected to tell under ${now.settled.least} nats`,
      ),
  ]);
  const hourName = hourNames(now.per_hour.map(([hour]) => hour));
  const hours = now.per_hour.map(([hour, n]) => [`${new Date(hour * 1000).toISOString().slice(0, 13).replace("T", " ")}h`, n, hourName(hour)]);
  const agreed = agreement.by_hour.filter(([, , n]) => n >= FEWEST).map(([hour, share]) => [hour, 100 * share]);
  const shares = Object.entries(snapshot.label_shares)
    .map(([label, value]) => ({ name: label, value }))
    .sort((a, b) => b.value - a.value)
    .slice(0, MOST);
  const most = Math.log(study.labels.length);
  const charts = make("section", { class: "charts", "aria-label": "Charts" }, [
    columnChart({
      title: "Answers per hour",
      note: hours.length > 1 ? "Hours without answers are left out" : "",
      bars: hours,
      x: "hour (UTC)",
      y: "answers",
    }),
    lineChart({
      title: "Agreement over time",
      note: `Answers whose top label is the task's most probable one by now, in hours with ${FEWEST} answers or more`,
      points: agreed,
      x: "hour (UTC)",
      y: "% of answers",
      most: 100,
      name: hourNames(agreed.map(([hour]) => hour)),
    }),
    columnChart({
      title: "How unsure tasks are",
      note: "Entropy of the soft label: 0 where all is clear",
      bars: snapshot.entropy.map(tenths(most, "")),
      x: "entropy from (nats)",
      y: "tasks",
    }),
    rangeChart({
      title: "What the crowd sees",
      note: `Share of each label in the current soft labels${study.labels.length > MOST ? `: the ${MOST} largest of ${study.labels.length}` : ""}`,
      rows: shares,
      x: "share of all tasks",
    }),
    columnChart({
      title: "How sure the top label is",
      note: "Probability of each task's top label",
      bars: snapshot.confidence.map(tenths(100, "%")),
      x: "probability from",
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
      ? `Soft labels of ${when(snapshot.at)}${snapshot.by ? `, by ${snapshot.by}` : ""}${snapshot.pending ? "; newer answers are being read" : ""}.`
      : now.answers
        ? "Soft labels are being computed."
        : "Soft labels and scores appear here after the first answers.",
  );
  const others = make(
    "p",
    { class: "quiet small" },
    `Besides: ${count(now.repeats)} repeats, ${count(now.practice)} practice, ${count(now.extras)} late, ${count(now.replaced)} put right.`,
  );
  return page(
    study.title || study.name,
    [study.arms.length > 0 && make("a", { class: "button", href: "#/forms" }, "Forms compared"), stateTools(owner, now.state)],
    trouble(snapshot),
    people
      ? null
      : make(
          "p",
          { class: "note calm" },
          make("span", {}, "Nobody has come yet. ", LINK("invites", "Make an invitation"), " and send its link to people."),
        ),
    figures,
    charts,
    make("h2", {}, "Quotas"),
    quotas,
    others,
    fresh,
  );
}

function stateTools(owner, state) {
  const turn = (to, text, sure) =>
    button(text, () => (!sure || confirm(sure)) && owner.write("state", { state: to }).then(() => owner.show()));
  const word = { open: "Open", paused: "Paused", closed: "Closed" }[state];
  return [
    make("span", { class: "state", data: { is: state } }, word),
    state === "open" ? turn("paused", "Pause") : turn("open", "Open"),
    state !== "closed" && turn("closed", "Close", "Close the study? Nobody can answer until you open it again."),
    make("a", { class: "button main", href: "api/owner/export", download: "" }, "Export"),
  ];
}

export async function tasksPage(owner, { after, order = "entropy", prefix = "" }) {
  const { tasks, next } = await owner.read(`tasks?${query({ order, limit: 50, after, prefix })}`);
  const strata = tasks.some((one) => one.stratum); // most studies have none
  const rows = tasks.map((one) => [
    LINK(`task/${one.task}`, one.name),
    ...(strata ? [one.stratum || "–"] : []),
    `${one.given} / ${one.quota}`,
    fixed(one.entropy),
    shareBar(one.top),
  ]);
  const head = ["Task", ...(strata ? ["Stratum"] : []), "#Answers", "#Entropy (nats)", "Current soft label"];
  const names = { entropy: "most unsure first", name: "by name", given: "by answers" };
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
  const find = finder("Name begins with", prefix, (text) => {
    location.hash = `#/tasks?${query({ order: text ? "name" : order, prefix: text })}`;
  });
  return page(
    "Tasks",
    [find, orders],
    table("Tasks", head, rows, {
      empty: prefix ? `No task begins with “${prefix}”.` : "There are no tasks.",
    }),
    more(next, `tasks?${query({ order, prefix })}&after=`),
  );
}

export async function taskPage(owner, { id, answer }) {
  const { line, task, soft, answers } = await owner.read(`tasks/${encodeURIComponent(id)}`);
  const shown =
    task.kind === "image"
      ? make("img", { src: task.media.replace(/^\//, ""), alt: `Task ${line.name}`, width: 160 })
      : task.kind === "audio"
        ? make("audio", { src: task.media.replace(/^\//, ""), controls: true, "aria-label": `Task ${line.name}` })
        : [make("p", {}, task.text ?? ""), task.text2 && make("p", {}, task.text2)];
  const labels = [...soft]
    .sort((a, b) => b.p - a.p)
    .slice(0, MOST)
    .map(({ label, p, low, high }) => ({ name: label, value: p, low, high }));
  const rows = answers.map((one) => [
    LINK(`workers?prefix=${one.worker}`, one.worker),
    said(one),
    seconds(one.seconds),
    String(one.position),
    when(one.when),
    [one.repeat && badges(["repeat"]), one.extra && badges(["late"]), one.excluded && badges(["excluded"]), badges(one.flags)],
  ]);
  const pair = make(
    "section",
    { class: "charts" },
    make("figure", { class: "card chart seen" }, make("figcaption", {}, make("h2", {}, task.kind === "audio" ? "What people hear" : "What people see")), shown),
    rangeChart({
      title: "Current soft label",
      note: `with 95% intervals${soft.length > MOST ? `; the ${MOST} most probable labels` : ""}`,
      rows: labels,
      x: "probability",
    }),
  );
  return page(
    line.name,
    LINK("tasks", "All tasks"),
    pair,
    make("h2", {}, `${answers.length} ${answers.length === 1 ? "answer" : "answers"}`),
    table("Answers", ["Worker", "Answer", "#Time", "#Place", "When", "Notes"], rows, {
      here: answers.findIndex((one) => one.answer === answer),
      empty: "Nobody has answered this task yet.",
    }),
  );
}

export async function timesPage(owner) {
  const times = await owner.read("times");
  const figures = make("section", { class: "figures", "aria-label": "Medians" }, [
    figureOf(seconds(times.active), "per answer, hidden time left out"),
    figureOf(seconds(times.first_input), "until the first input"),
    figureOf(seconds(times.top_label), "until the first label"),
    figureOf(seconds(times.hidden), "hidden"),
  ]);
  const charts = make("section", { class: "charts" }, [
    lineChart({
      title: "Learning curve",
      note: "Median time of an answer, hidden time left out",
      points: times.by_position.map(([place, value]) => [place, value]),
      x: "place in the sitting",
      y: "seconds",
    }),
    columnChart({
      title: "Time per stage",
      note: "Median seconds from coming to a stage to leaving it",
      bars: Object.entries(times.stages),
      x: "stage",
      y: "seconds",
    }),
  ]);
  return page("Times", null, figures, charts, make("p", { class: "quiet small" }, times.at ? `As of ${when(times.at)}.` : "Times appear here after the first answers."));
}

export async function flaggedPage(owner, { after }) {
  const { flagged, counts, next } = await owner.read(`flagged?${query({ limit: 50, after })}`);
  const chart = rowChart({
    title: "Flags",
    bars: Object.entries(counts)
      .map(([name, n]) => [name.replaceAll("-", " "), n])
      .sort((a, b) => b[1] - a[1]),
    x: "flag",
    y: "answers",
  });
  const rows = flagged.map((one) => [
    LINK(`task/${one.task}?answer=${one.answer}`, one.name),
    LINK(`workers?prefix=${one.worker}`, one.worker),
    badges(one.flags),
    when(one.when),
  ]);
  return page(
    "Flagged answers",
    null,
    Object.keys(counts).length ? make("section", { class: "charts" }, chart) : null,
    table("Flagged answers", ["Task", "Worker", "Flags", "When"], rows, { empty: "No answer is odd so far." }),
    more(next, "flagged?after="),
  );
}
