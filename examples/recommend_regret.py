"""Regret of `recommend` on 16 public data sets, whose gold labels it does not see, against the best candidate in hindsight.

PLURIVOX_DATA=... python -m examples.recommend_regret > regret.md
"""

import sys
import warnings
from dataclasses import dataclass

import numpy as np

import plurivox as pv
from plurivox.core.array_types import Floats
from plurivox.workflows.recommend_method import choose_candidate, recommend, weights_of_crowds
from plurivox.workflows.recommendation import Recommendation
from plurivox.workflows.recommendation_scores import question_called, scores_against_shares, scores_on_gold
from plurivox.workflows.simulate_crowds_like import MISREAD_SHARES

SETS = list(MISREAD_SHARES)
REVEALED = 50  # gold labels shown to the recommendation with gold
DRAWS = 20  # of the revealed gold labels
COUNT_SETS = ("chaosnli_snli", "chaosnli_mnli", "chaosnli_alpha", "cifar10h")
DRAWN_VOTES = (3, 5, 10)  # per task
MARGINS = (0.0, 0.005, 0.01, 0.02, 0.04)


@dataclass(frozen=True)
class Case:
    """One data set: the recommendation without gold, and what is true of every candidate."""

    name: str
    made: Recommendation
    scores: Floats  # (n_methods, n_gold, 3) accuracy, NLL, Brier score of each gold task

    def choice(self, margin: float | None = None) -> int:
        """Return the place of the recommended candidate, if another method must beat the default by `margin`."""
        question = question_called("truth")
        if margin is not None:
            question = question.__class__(**{**vars(question), "margin": margin})
        return choose_candidate(question, self.made.simulated, self.made.weight, None, None)

    def regret_with_gold(self) -> Floats:
        """Return (2,) the mean regret in accuracy and NLL on the other gold tasks, if REVEALED gold labels are known."""
        question, found = question_called("truth"), []
        for draw in range(DRAWS):
            order = np.random.default_rng(draw).permutation(self.scores.shape[1])
            known, rest = self.scores[:, order[:REVEALED]], self.scores[:, order[REVEALED:]].mean(1)
            weight = weights_of_crowds(self.made.simulated[:, 0, 0], known)
            at = choose_candidate(question, self.made.simulated, weight, None, known)
            found.append((rest[:, 0].max() - rest[at, 0], rest[at, 1] - rest[:, 1].min()))
        return np.mean(found, 0)


def misread_share(case: Case) -> float:
    """Return by how much, relatively, the accuracy of the default is below that in simulated crowds without misread tasks."""
    expected = (case.made.simulated[:, 0, 0] / (1 - case.made.misread)).mean()
    return max(0.0, 1 - float(case.scores[0, :, 0].mean()) / float(expected))


def cases() -> list[Case]:
    """Return the recommendation for each data set; the shares of misread tasks are those of the other data sets."""
    found = []
    for name in SETS:
        data = pv.read(name)
        others = [share for other, share in MISREAD_SHARES.items() if other != name]
        made = recommend(data.votes, misread_shares=others)
        gold = data.gold.shared(data.votes.tasks_with_votes)
        fits = [pv.fit(data.votes, method) for method in made.method.tolist()]
        found.append(Case(name, made, np.stack([scores_on_gold(fit, data.votes, gold) for fit in fits])))
        print(f"{name}: {made.recommended}", file=sys.stderr)
    return found


def regret_table(found: list[Case]) -> str:
    """Return a Markdown table of accuracy and NLL of the recommended method, of `average`, of the default and of the best."""
    heads = [
        "data set",
        "recommended",
        "accuracy",
        "`average`",
        "default",
        "best",
        "NLL",
        "`average`",
        "default",
        "best",
    ]
    heads += ["expected accuracy", "best or within noise"]
    rows, values = [], []
    for case in found:
        means, at = case.scores.mean(1), case.choice()
        average = case.made.method.tolist().index("average")
        acc, nll = means[:, 0], means[:, 1]
        row = [acc[at], acc[average], acc[0], acc.max(), nll[at], nll[average], nll[0], nll.min()]
        expected = case.made.expected("accuracy", str(case.made.method[at]))
        last = ["{:.3f} ({:.3f} to {:.3f})".format(*expected), f"{case.made.sureness:.0%}"]
        rows.append([case.name, f"`{case.made.method[at]}`", *(f"{value:.3f}" for value in row), *last])
        values.append(row)
    mean = np.mean(values, 0)
    rows.append(["**mean**", "", *(f"{value:.3f}" for value in mean), "", ""])
    best_acc, best_nll = mean[3], mean[7]
    regret = [
        best_acc - mean[0],
        best_acc - mean[1],
        best_acc - mean[2],
        0.0,
        *(value - best_nll for value in mean[4:8]),
    ]
    rows.append(["**regret**", "", *(f"{value:.3f}" for value in regret), "", ""])
    return markdown_table(heads, rows)


def margin_table(found: list[Case]) -> str:
    """Return a Markdown table: mean regret and number of data sets without the default, for several margins."""
    rows = []
    for margin in MARGINS:
        at = [case.choice(margin) for case in found]
        means = [case.scores.mean(1) for case in found]
        acc = np.mean([one[:, 0].max() - one[i, 0] for one, i in zip(means, at, strict=True)])
        nll = np.mean([one[i, 1] - one[:, 1].min() for one, i in zip(means, at, strict=True)])
        rows.append([f"{margin:g}", f"{sum(i > 0 for i in at)}", f"{acc:.3f}", f"{nll:.3f}"])
    return markdown_table(["margin in Brier score", "sets without the default", "regret in accuracy", "in NLL"], rows)


def gold_sentence(found: list[Case]) -> str:
    """Return a sentence on the regret with some gold labels, on data sets with at least 50 others."""
    used = [case for case in found if case.scores.shape[1] >= 2 * REVEALED]
    with_gold = np.mean([case.regret_with_gold() for case in used], 0)
    means = [(case.scores.mean(1), case.choice()) for case in used]
    acc = np.mean([one[:, 0].max() - one[at, 0] for one, at in means])
    nll = np.mean([one[at, 1] - one[:, 1].min() for one, at in means])
    return (
        f"With {REVEALED} gold labels ({DRAWS} draws, evaluated on the other gold tasks of {len(used)} data sets) the mean "
        f"regret is {with_gold[0]:.3f} in accuracy and {with_gold[1]:.3f} in NLL; without, on all gold tasks of the same data "
        f"sets, {acc:.3f} and {nll:.3f}."
    )


def coverage_sentence(found: list[Case]) -> str:
    """Return a sentence on how often the expected accuracy and its range agree with the measured one."""
    measured = np.array([case.scores.mean(1)[case.choice(), 0] for case in found])
    expected = np.array([case.made.expected("accuracy", str(case.made.method[case.choice()])) for case in found])
    inside = int(((expected[:, 1] <= measured) & (measured <= expected[:, 2])).sum())
    error = np.abs(expected[:, 0] - measured)
    return (
        f"The measured accuracy is within the range of the simulated crowds on {inside} of {len(found)} data sets; the mean "
        f"error of the expected accuracy is {error.mean():.3f}, the largest {error.max():.3f} "
        f"({found[int(error.argmax())].name}); expected minus measured is {(expected[:, 0] - measured).mean():+.3f} on average."
    )


def people_table() -> str:
    """Return a Markdown table: recommended from a few of many votes per task, scored against the shares of the others."""
    heads = [
        "data set",
        "recommended",
        "votes per task",
        "Manhattan",
        "default",
        "best",
        "cross-entropy",
        "default",
        "best",
    ]
    rows = []
    for name in COUNT_SETS:
        counts = pv.read(name).counts.counts().astype(int)
        for n in DRAWN_VOTES:
            rng = np.random.default_rng(n)
            drawn = np.array([rng.multivariate_hypergeometric(row, n) for row in counts])
            rest = (counts - drawn) / (counts - drawn).sum(1, keepdims=True)
            votes = pv.Votes.from_counts(drawn, np.arange(len(drawn)), [f"label {k}" for k in range(counts.shape[1])])
            made = recommend(votes, "people")
            place = votes.tasks.astype(int)  # tasks are sorted as text
            scores = np.array(
                [
                    scores_against_shares(pv.fit(votes, one).soft.prob, rest[place]).mean(0)
                    for one in made.method.tolist()
                ]
            )
            row = [
                scores[made.at, 1],
                scores[0, 1],
                scores[:, 1].min(),
                scores[made.at, 0],
                scores[0, 0],
                scores[:, 0].min(),
            ]
            rows.append([name, f"`{made.recommended}`", f"{n}", *(f"{value:.3f}" for value in row)])
            print(f"{name}, {n} votes: {made.recommended}", file=sys.stderr)
    return markdown_table(heads, rows)


def markdown_table(heads: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table; all columns but the first two are aligned right."""
    rule = ["---" if i < 2 else "---:" for i in range(len(heads))]
    return "\n".join("| " + " | ".join(line) + " |" for line in [heads, rule, *rows])


def main() -> None:
    """Print the regret tables as Markdown."""
    warnings.simplefilter("ignore", pv.PlurivoxWarning)
    found = cases()
    print(f"Default: `{found[0].made.default}`.\n")
    shares = ", ".join(f"{case.name} {misread_share(case):.2f}" for case in found)
    print(regret_table(found), margin_table(found), gold_sentence(found), coverage_sentence(found), sep="\n\n")
    print(f"\nShares of misread tasks: {shares}.\n\nFor people, from a few votes of each task:\n\n{people_table()}")


if __name__ == "__main__":
    main()
