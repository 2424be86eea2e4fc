// The owner's page Report: the report on each question, made in the background; open it, download it, make it anew.
import { button, change, make } from "./dom.js";
import { count, meter, page, people, when } from "./owner_widgets.js";

const REPORT_QUESTIONS = {
  truth: ["What is true", "The probability that each label is right: for tasks with a right answer."],
  people: ["What people say", "The share of people like these who would give each label: for tasks on which people may differ."],
};
const POLL_MS = 2000;
const utc = (stamp) => `${new Date(stamp * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;

export async function reportPage(owner) {
  const found = await owner.read("report");
  const cards = make("div", { class: "reports" });
  const told = make("p", { class: "unseen", role: "status" });
  new ReportCards(owner, cards, told).show(found);
  return page(
    "Report",
    null,
    make(
      "p",
      {},
      "A page on the votes of this study: what may be wrong, what to do next, how far people agree, whom to trust, which tasks are hard, and how sure the labels are. It is made in the background.",
    ),
    found.obstacle && make("p", { class: "note calm obstacle", role: "status" }, make("span", {}, found.obstacle)),
    cards,
    told,
    commandsCard(found.reports[0].commands),
    make(
      "p",
      { class: "quiet small" },
      "Practice, repeats, replaced answers and answers of excluded people are left out, as in the soft labels. A report contains pseudonyms, texts and images: when somebody is erased, the reports here are deleted, but downloaded ones are not.",
    ),
  );
}

class ReportCards {
  // A card per report. While one is being made they are read again every few seconds; a card that has not changed stays.
  constructor(owner, cards, told) {
    Object.assign(this, { owner, cards, told, shown: new Map() });
  }

  show({ reports, obstacle }) {
    const isRunning = reports.some(({ job }) => job?.begun);
    for (const report of reports) {
      const state = JSON.stringify([report, obstacle, isRunning]);
      const [before, card] = this.shown.get(report.question) ?? [];
      if (before === state) continue;
      const now = this.card(report, obstacle, isRunning);
      const hadFocus = card?.contains(document.activeElement);
      if (card) card.replaceWith(now);
      else this.cards.append(now);
      if (hadFocus) now.focus();
      if (card && report.page && !report.job) change(this.told, `The report is ready: ${REPORT_QUESTIONS[report.question][0]}.`);
      this.shown.set(report.question, [state, now]);
    }
    if (reports.some(isInTheMaking)) this.readAgainSoon();
  }

  async readAgain() {
    if (!this.cards.isConnected) return; // the owner opened another page
    try {
      this.show(await this.owner.read("report"));
    } catch (failure) {
      if (failure.status === 401) this.owner.fail(failure);
      else this.readAgainSoon(); // the server may be starting again
    }
  }

  readAgainSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.readAgain(), POLL_MS);
  }

  card({ question, page: made, job }, obstacle, isRunning) {
    const [title, meaning] = REPORT_QUESTIONS[question];
    const place = `api/owner/report/${question}`;
    const ask = () => this.owner.write("report", { question }).then((found) => found && this.show(found));
    const word = job?.failure ? "Try again" : made ? "Make anew" : "Make report";
    return make(
      "section",
      { class: "card pad group report", tabindex: "-1", "aria-label": title, data: { question } },
      make("h2", {}, title),
      make("p", { class: "quiet small" }, meaning),
      made && make("p", { class: "made" }, madeText(made)),
      made?.outdated &&
        !isInTheMaking({ job }) &&
        make("p", { class: "quiet small" }, "Since then, answers came in, or people were excluded or reinstated: make it anew to include that."),
      isInTheMaking({ job }) && progressOf(job, title, isRunning),
      job?.failure && make("p", { class: "note bad" }, make("span", {}, job.failure)),
      make(
        "div",
        { class: "row" },
        made && make("a", { class: "button main", href: place, target: "_blank", rel: "noopener" }, "Open"),
        made && make("a", { class: "button", href: `${place}?download=true`, download: "" }, "Download"),
        !isInTheMaking({ job }) && button(word, ask, { class: made ? "button" : "button main", disabled: obstacle !== "" }),
      ),
    );
  }
}

const isInTheMaking = ({ job }) => job !== null && !job.failure;

function madeText({ made, votes_read: read, answers, people: n, excluded }) {
  const without = excluded ? `, without ${people(excluded)} who ${excluded === 1 ? "is" : "are"} excluded` : "";
  return `Votes as of ${utc(read)}: ${count(answers)} answers of ${people(n)}${without}. Made ${when(made)}.`;
}

function progressOf({ asked_by: by, asked, begun, step, steps }, title, isRunning) {
  // How far a report is, or what it waits for.
  const told = begun
    ? `Being made since ${utc(begun)}, asked for by ${by}${steps ? `: step ${step + 1} of ${steps}` : ""}.`
    : `Asked for by ${by} ${when(asked)}. It begins ${isRunning ? "after the other report" : "in a few seconds"}.`;
  return make(
    "div",
    { class: "making tight" },
    make("p", {}, `${told} You can leave this page.`),
    meter(`Report: ${title}`, step, steps),
  );
}

const commandsCard = (commands) =>
  make(
    "details",
    { class: "card explained" },
    make("summary", {}, "Commands on a report, and how to make it on another computer"),
    make(
      "div",
      { class: "tight small" },
      make("p", {}, "Commands on a report are for the folder ", make("code", {}, "votes"), ". These make it, and then the report, with the same numbers:"),
      make("pre", { class: "commands", tabindex: "0", "aria-label": "Commands" }, make("code", {}, commands.join("\n"))),
      make("p", { class: "quiet" }, "The first is run where the study is, with --database if the server has one. Or download Export on the page Overview, unpack it, and use its folder in place of data."),
    ),
  );
