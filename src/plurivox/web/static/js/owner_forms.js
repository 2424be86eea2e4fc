// Forms compared: the arms of a study that asks in several forms, side by side.
import { linesChart, rangeChart } from "./charts.js";
import { make } from "./dom.js";
import { count, fixed, page, percent, seconds, table, when } from "./owner_parts.js";

const NOTE = {
  gold: "Held against what is known of the tasks.",
  others: "Held against the mean of what the other arms say about the same tasks.",
};

const ranged = (three, words) =>
  three ? [words(three[0]), make("span", { class: "quiet small" }, ` ${words(three[1])} to ${words(three[2])}`)] : "–";

export async function formsPage(owner) {
  const { arms, at } = await owner.read("forms");
  if (!arms.length)
    return page(
      "Forms compared",
      null,
      make("p", { class: "quiet" }, "A study with several forms (forms = […] in study.toml) is compared here, once there are answers."),
    );
  const titled = (one) => (one.arm === one.form ? one.arm : `${one.arm} (${one.form})`);
  const head = ["Arm", "#People", "#Left early", "#Answers", "#Active time", "#Inputs", "#Entropy", "#Agreement"];
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
    make("h2", {}, "What an answer is worth"),
    table("Worth", ["Arm", "#Tasks", "#Top label right", "#One answer in common", "#Worth of a minute"], worth),
    make("p", { class: "quiet small" }, `${NOTE[against] ?? "Not enough answers to the same tasks yet."} ${GAIN}`),
    make("section", { class: "charts", "aria-label": "Charts" }, [
      linesChart({
        title: "Worth by seconds",
        note: "Mass in common with the reference, as answers to a task are added",
        lines,
        x: "seconds of work a task",
        y: "in common",
      }),
      rangeChart({
        title: "Who left early",
        note: "Of those who finished or left, with 95% intervals",
        rows: left,
        x: "share of people",
        y: "arm",
      }),
    ]),
    make("p", { class: "quiet small" }, `As of ${when(at)}. Each person is asked in one form, drawn at random in blocks.`),
  );
}

const GAIN =
  "The worth of a minute: what the answers of a minute have in common with the references of their tasks, beyond what they have in common with those of other tasks; 1 is a whole task, told as the reference tells it.";
