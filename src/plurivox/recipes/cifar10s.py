"""Recipe cifar10s: numbers of the CIFAR-10S paper beside ours, and what its percents add to the top labels."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox import aggregate, clean, elicit, evaluate
from plurivox.core.answers import Answers
from plurivox.core.array_types import Names
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.recipe_tables import Table, Tables
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.recipes._contract import DatasetReader, Recipe, read_dataset
from plurivox.recipes._papers.cifar10s_answer_cost import answer_cost_tables
from plurivox.recipes._papers.cifar10s_methods import QUESTIONS, fit_every_method, method_tables
from plurivox.recipes._papers.cifar10s_percent_calibration import percent_calibration_table
from plurivox.recipes._papers.cifar10s_published_numbers import (
    RELEASED,
    PublishedNumber,
    cifar10h_vote_shares,
    compare_published_numbers_with_ours,
    mean_soft_labels,
)
from plurivox.recipes._papers.cifar10s_smoothing import ADDED, dirichlet_shares, smoothing_table
from plurivox.workflows.choose_option_value import Choice, choose

RULES = ("stored-twice", "collins2022", "repeats-once")
GAMMAS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4)  # the grid of the paper
CONVERSIONS = {  # name in the table: form that converts the answers into votes
    "as released": RELEASED,
    "soft (top-two)": "top-two",
    "plain (one-label)": "one-label",
    "two labels (select-top-two)": "select-top-two",
}
KINDS = {"plain": "one-label", "two labels": "select-top-two", "soft": "top-two"}
SMOOTHED_MEASURES = {"cross-entropy": "What people say: cross-entropy to CIFAR-10H", "nll": "What is true: NLL of gold"}


@dataclass(frozen=True)
class Cifar10s(Recipe):
    """Numbers about the data in the CIFAR-10S paper beside ours, and what percents add to top labels, with intervals.

    Collins, Bhatt and Weller (2022), https://doi.org/10.1609/hcomp.v10i1.21986. The first table has the numbers that the
    paper gives about its answers (not those of its trained networks, Tables 1 to 6): published, computed from the released
    data, ours. The other tables use the first answers of every person only. Soft answers are the percents, plain ones the
    top labels of the same answers. Two questions are kept apart: what is true (the CIFAR-10 labels) and what people say (the
    shares of the CIFAR-10H votes). The last tables compare the seconds of soft answers with those of CIFAR-10H votes.
    """

    reads: ClassVar[tuple[str, ...]] = ("cifar10s", "cifar10h")

    seeds: int = option(10, "number of random subsets of M answers per task, for the curves", low=1)

    def run(self, *, read: DatasetReader = read_dataset, progress: Progress = no_progress) -> Tables:
        """Compute the numbers of the CIFAR-10S paper and the comparisons from its answers, and return them as tables."""
        data, people = read("cifar10s"), read("cifar10h")
        answers, gold, counts = data.answers, data.gold, people.counts
        if answers is None or gold is None or counts is None or "published_labels" not in data.tables:
            raise InputError(
                "this recipe needs answers, gold labels and published labels of cifar10s, and counts of cifar10h"
            )
        n_methods, n_questions = len(aggregate.methods), len(QUESTIONS)
        total = n_methods + n_questions + 3
        published = data.tables["published_labels"]().to_dict(as_series=False)
        numbers = compare_published_numbers_with_ours(answers, published, counts, gold)
        first = clean.clean(answers, RULES, gold).answers
        human = cifar10h_vote_shares(counts, first)
        progress(0, total)
        plain, soft = (elicit.methods.make(KINDS[kind]).read(first).votes for kind in ("plain", "soft"))
        fits = fit_every_method(plain, soft, _progress_from_step(progress, 1, total))
        by_smoothing = _smoothing_tables(first, human, gold)
        progress(n_methods + 1, total)
        tables = (
            _published_and_own_numbers_table(numbers),
            _conversion_measures_table(first, human, gold),
            percent_calibration_table(first, human, gold),
            *by_smoothing,
            *method_tables(fits, gold, human, _progress_from_step(progress, n_methods + 2, total)),
            _gamma_table(first, human),
            *answer_cost_tables(first, counts, gold, self.seeds),
        )
        progress(total - 1, total)
        note = f"all tables but the first: {len(first):,} first answers, after the rules {', '.join(RULES)}"
        return Tables("CIFAR-10S: eliciting soft labels from every annotator", tables, self.spec, (note,))


def _progress_from_step(progress: Progress, first_step: int, n_steps: int) -> Progress:
    """Return a callback for a part of the work that reports its steps as those from `first_step` on of `n_steps`."""

    def report(step: int, total: int, value: float | None = None) -> None:
        del total
        progress(first_step + step, n_steps, value)

    return report


def _published_and_own_numbers_table(numbers: list[PublishedNumber]) -> Table:
    """Return the table of figures with one row each: published, from the release, ours, reason of a difference."""
    columns = {
        "figure": [number.name for number in numbers],
        "paper": [_format_number_or_dash(number.paper) for number in numbers],
        "release": [_format_number_or_dash(number.release) for number in numbers],
        "ours": [_format_number_or_dash(number.ours) for number in numbers],
        "reason": [number.reason for number in numbers],
    }
    return Table("Figures", columns)


def _format_number_or_dash(value: float | None) -> str:
    """Return a number as text: integers in full, others with six digits, "-" for None.

    >>> _format_number_or_dash(6723), _format_number_or_dash(0.84348865), _format_number_or_dash(None)
    ('6,723', '0.843489', '-')
    """
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.6g}"


def _conversion_measures_table(answers: Answers, human: SoftLabels, gold: SoftLabels) -> Table:
    """Return a table of measures without logarithms of the mean soft labels, one row per way to convert the answers."""
    soft = [mean_soft_labels(answers, form) for form in CONVERSIONS.values()]
    columns = {
        "conversion": list(CONVERSIONS),
        "accuracy": [evaluate.accuracy(labels, gold, ties="share") for labels in soft],
        "total variation": [evaluate.total_variation(labels, human) for labels in soft],
        "entropy r": [evaluate.entropy_correlation(labels, human) for labels in soft],
        "mean top probability": [float(labels.confidence.mean()) for labels in soft],
    }
    differ = (
        f"top-two converts {_count_answers_converted_unlike_release(answers)} answers in another way than the release"
    )
    note = (
        f"accuracy against gold, tied labels share the hit; total variation and entropy r against CIFAR-10H; {differ}"
    )
    return Table("The same answers, converted in several ways; mean over the answers of a task", columns, (note,))


def _smoothing_tables(answers: Answers, human: SoftLabels, gold: SoftLabels) -> list[Table]:
    """Return two tables of plain, two-label and soft answers by smoothing: against CIFAR-10H, and against gold."""
    votes = {kind: elicit.methods.make(form).read(answers).votes for kind, form in KINDS.items()}
    counts, plain = {kind: one.counts() for kind, one in votes.items()}, votes["plain"]
    return [
        smoothing_table(
            counts,
            plain.tasks,
            plain.labels,
            human if measure == "cross-entropy" else gold,
            measure,
            f"{title} by smoothing, lower is better",
        )
        for measure, title in SMOOTHED_MEASURES.items()
    ]


def _gamma_table(answers: Answers, human: SoftLabels) -> Table:
    """Return the table of the gammas tried: cross-entropy to CIFAR-10H on held-out images, without and with smoothing."""
    columns: dict[str, object] = {"gamma": list(GAMMAS)}
    for name, added in (("vote-shares", (0.0,)), ("dirichlet-shares", ADDED)):
        choice = choose_gamma_on_held_out_images(answers, human, added)
        columns[name] = choice.mean_score_of_each_value
        columns[f"sd {name}"] = choice.scores.std(1, ddof=1)
        columns[f"chosen {name}"] = [gamma == choice.chosen for gamma in GAMMAS]
    note = f"cross-entropy to CIFAR-10H on held-out images, mean and sd over {choice.scores.shape[1]} folds"
    return Table("Choosing gamma: lower is better", columns, (note,))


def choose_gamma_on_held_out_images(answers: Answers, human: SoftLabels, added: tuple[float, ...] = (0.0,)) -> Choice:
    """Return the search for the gamma of top-two with the lowest cross-entropy to the shares of CIFAR-10H votes.

    `added` are the pseudo-votes per label to choose among on the training images; 0 is the mean of the answers.
    """
    soft: dict[tuple[float, float], SoftLabels] = {}
    for gamma in GAMMAS:
        votes: Votes = elicit.methods.make(f"top-two[gamma={gamma}]").read(answers).votes
        for pseudo in added:
            rows = dirichlet_shares(votes.counts(), pseudo, 1 / len(votes.labels))
            soft[gamma, pseudo] = SoftLabels.of(rows, votes.tasks, votes.labels)

    def cross_entropy_on(gamma: float, pseudo: float, tasks: Names) -> float:
        """Return the cross-entropy to the shares of CIFAR-10H votes on some tasks."""
        return evaluate.cross_entropy(soft[gamma, pseudo].on(tasks), human.on(tasks))

    def score(gamma: float, train: Names, held_out: Names) -> float:
        """Return the cross-entropy on the held-out tasks, with the pseudo-votes that are best on the training tasks."""
        return cross_entropy_on(gamma, min(added, key=lambda one: cross_entropy_on(gamma, one, train)), held_out)

    return choose("gamma", GAMMAS, score, answers.tasks, folds=min(5, len(answers.tasks)))


def _count_answers_converted_unlike_release(answers: Answers) -> int:
    """Return the number of answers that `top-two` and the released code convert into different labels."""
    tables = []
    for form in (RELEASED, "top-two"):
        votes, table = elicit.methods.make(form).read(answers).votes, np.zeros((len(answers), len(answers.labels)))
        table[votes.answer, votes.label] = votes.weights
        tables.append(table)
    return int((np.abs(tables[0] - tables[1]).max(1) > 1e-9).sum())
