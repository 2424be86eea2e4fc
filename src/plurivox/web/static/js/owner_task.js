// Parts of the owner's page Task: how the soft labels were made, votes and beliefs by label, what each answer became.
import { make } from "./dom.js";
import { badges, fixed, flagList, percent, said, seconds, table, when } from "./owner_widgets.js";

const MAX_NAMED = 5; // labels of an answer that are named; the others are summed up
const MIN_EQUAL = 3; // labels with equal shares at the end that are put together

function barWith(share, text) {
  // A share as a bar and as text.
  const fill = make("span", { data: { rank: 0 } });
  fill.style.width = `${100 * (share ?? 0)}%`;
  return make("div", { class: "sharebar cell" }, make("div", { class: "pieces", "aria-hidden": "true" }, fill), make("span", { class: "small" }, text));
}

const exact = (share) => (share === null ? "–" : `${Number((100 * share).toFixed(1))}%`);

export function softLabelNotes({ how, pending, soft_label_answers: n }) {
  // Sentences about the method, from the server.
  const late = pending && `Shown are the soft labels of ${n} ${n === 1 ? "answer" : "answers"}; what has come or changed since is being added.`;
  return make(
    "div",
    { class: "card pad how" },
    [...how, late].filter(Boolean).map((text) => make("p", { class: "small" }, text)),
  );
}

export function labelTable({ labels, gamma, further_labels: further, difference }) {
  // Votes, beliefs and both soft labels beside each other.
  const rows = labels.map((one) => [
    one.label,
    barWith(one.vote_share, `${one.votes} (${percent(one.vote_share)})`),
    barWith(one.belief, exact(one.belief)),
    barWith(one.truth, exact(one.truth)),
    barWith(one.p, `${exact(one.p)}${one.low === null ? "" : ` (${fixed(100 * one.low, 0)} to ${fixed(100 * one.high, 0)})`}`),
  ]);
  return make("div", { class: "tight" }, [
    make(
      "p",
      { class: "quiet small" },
      `Votes: how many people named the label first. Beliefs: the mean of what people entered${gamma ? ", before gamma" : ""}. ${difference}${labels.some((one) => one.low !== null) ? " In brackets: the 95% interval of the share." : ""}`,
    ),
    table("Labels", ["Label", "Votes", "Beliefs", "Truth", "People"], rows),
    further > 0 && make("p", { class: "quiet small" }, `The ${labels.length} most probable labels are shown, ${further} further ${further === 1 ? "label is" : "labels are"} not.`),
  ]);
}

function became({ becomes, becomes_further: n, becomes_further_p: p }) {
  // The distribution that an answer became, as text; many equal shares at its end are put together.
  if (!becomes.length) return make("span", { class: "quiet small" }, "no distribution");
  const least = becomes.at(-1).p;
  const equal = becomes.filter((one) => one.p === least).length;
  const end = n || equal < MIN_EQUAL || equal === becomes.length ? MAX_NAMED : becomes.length - equal;
  const named = becomes.slice(0, end);
  const rest = becomes.slice(end);
  const tail = rest.length + n;
  const words = named.map((one) => `${one.label} ${exact(one.p)}`);
  if (tail && !n && rest.every((one) => one.p === least)) words.push(`${tail} others ${exact(least)} each`);
  else if (tail) words.push(`${tail} others ${exact(rest.reduce((total, one) => total + one.p, p))} together`);
  return make("span", { class: "small became", title: becomes.map((one) => `${one.label} ${exact(one.p)}`).join(", ") }, words.join(" · "));
}

export function answerRows(answers, meanings) {
  // Rows of the table of answers; those that are not part of the soft label are marked.
  return answers.map((one) => {
    const quiet = !one.in_soft_label;
    const kind = one.counted_as !== "counts" && one.counted_as;
    const odd = one.flags.filter((name) => name !== "late");
    return [
      make("a", { href: `#/workers?prefix=${one.worker}`, class: quiet && "unused" }, one.worker),
      said(one),
      became(one),
      seconds(one.seconds),
      String(one.position),
      when(one.when),
      [kind && badges([kind]), quiet && make("span", { class: "quiet small" }, " not in the soft label"), flagList(odd, meanings)],
    ];
  });
}
