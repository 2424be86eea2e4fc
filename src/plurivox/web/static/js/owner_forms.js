// The owner's page Forms compared: cost and quality of the answers in each arm of a study with several forms.
import { linesChart, rangeChart } from "./charts.js";
import { make } from "./dom.js";
import { count, fixed, page, percent, seconds, table, when } from "./owner_widgets.js";

const NOTE = {
  gold: "The reference is the gold label of each task.",
  others: "The reference is the mean soft label of the other arms on the same tasks.",
};

const ranged = (three, words) =>
  three ? [words(three[0]), make("span", { class: "quiet small" }, ` ${words(three[1])} to ${words(three[2])}`)] : "–";

export async function formsPage(owner) {
  const { arms, at } = await owner.read("forms");
  if (!arms.length)
    return page(
      "Forms compared",
      null,
      make("p", { class: "quiet" }, "The arms of a study with several forms (forms = […] in study.toml) are compared here once there are answers."),
    );
  const titled = (one) => (one.arm === one.form ? one.arm : `${one.arm} (${one.form})`);
  const head = ["Arm", "#People", "#Left early", "#Answers", "#Active time", "#Inputs per answer", "#Entropy (nats)", "#Agreement"];
  const cost = arms.map((one) => [
    titled(one),
    count(one.people),
    ranged(one.drop_out, percent),
    count(one.answers),
    ranged(one.seconds, seconds),
    fixed(one.inputs, 0),
    fixed(one.entropy),
    fixed(one.agreement),
  ]);
  const worth = arms.map((one) => [
    titled(one),
    count(one.tasks),
    percent(one.accuracy),
    percent(one.match),
    fixed(one.per_minute, 1),
  ]);
  const known = (points) => points.filter(([, spent, value]) => spent !== null && value !== null);
  const lines = arms
    .map((one) => ({ name: one.arm, points: known(one.curve).map(([, spent, value]) => [spent, value]) }))
    .filter((one) => one.points.length);
  const left = arms
    .filter((one) => one.drop_out)
    .map((one) => ({ name: one.arm, value: one.drop_out[0], low: one.drop_out[1], high: one.drop_out[2] }));
  const against = arms.find((one) => one.against)?.against;
  return page(
    "Forms compared",
    null,
    table("Costs", head, cost),
    make("h2", {}, "Quality of the answers"),
    table("Quality", ["Arm", "#Tasks", "#Top label correct", "#Overlap of one answer", "#Gain per minute"], worth),
    make("p", { class: "quiet small" }, `${NOTE[against] ?? "Not enough answers to the same tasks yet."} ${GAIN}`),
    make("section", { class: "charts", "aria-label": "Charts" }, [
      linesChart({
        title: "Overlap by time",
        note: "Probability mass shared with the reference as answers per task are added",
        lines,
        x: "seconds of work per task",
        y: "overlap",
      }),
      rangeChart({
        title: "Dropout",
        note: "Share of people who left early, among those who finished or left, with 95% intervals",
        rows: left,
        x: "share of people",
        y: "arm",
      }),
    ]),
    make("p", { class: "quiet small" }, `As of ${when(at)}. Each person answers in one form, assigned at random in blocks.`),
  );
}

const GAIN =
  "Gain per minute: overlap of a minute's answers with the references of their tasks, minus their overlap with the references of other tasks; 1 means one task answered exactly as its reference.";
