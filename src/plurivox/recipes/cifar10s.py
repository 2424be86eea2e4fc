"""Recipe cifar10s: the figures of the CIFAR-10S paper as published, from the released data, and as plurivox computes them."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from plurivox import elicit, evaluate
from plurivox.core.answers import Answers
from plurivox.core.array_types import Names
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.recipe_tables import Table, Tables
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.recipes._contract import DatasetReader, Recipe, read_dataset
from plurivox.recipes._papers.cifar10s_published_numbers import (
    RELEASED,
    PublishedNumber,
    cifar10h_vote_shares,
    compare_published_numbers_with_ours,
    mean_soft_labels,
)
from plurivox.workflows.answer_cost_in_seconds import PLAIN_VOTE_SECONDS, break_even, curve, seconds_per_answer
from plurivox.workflows.choose_option_value import Choice, choose

GAMMAS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4)  # the grid of the paper
PLAIN_M, RICH_M = (1, 2, 4, 8, 16, 32), (1, 2, 3, 4, 5, 6)
CONVERSIONS = {  # name in the table: form that converts the answers into votes
    "as released": RELEASED,
    "default": "top-two",
    "top label alone": "one-label",
    "no percents": "select-top-two",
}


@dataclass(frozen=True)
class Cifar10s(Recipe):
    """All figures of the CIFAR-10S paper: published, computed from the released data, and ours, with reasons for differences.

    Collins, Bhatt and Weller (2022), https://doi.org/10.1609/hcomp.v10i1.21986. The second table converts the same answers
    in several ways; the third chooses gamma on held-out images; the others compare the cost of rich answers with that of the
    plain votes of CIFAR-10H.
    """

    reads: ClassVar[tuple[str, ...]] = ("cifar10s", "cifar10h")

    seeds: int = option(10, "number of random subsets of M answers per task, for the curves", low=1)

    def run(self, *, read: DatasetReader = read_dataset, progress: Progress = no_progress) -> Tables:
        """Compute all figures of the CIFAR-10S paper from its answers and return them as tables beside the published ones."""
        data, human = read("cifar10s"), read("cifar10h")
        answers, gold, counts = data.answers, data.gold, human.counts
        if answers is None or gold is None or counts is None or "published_labels" not in data.tables:
            raise InputError(
                "this recipe needs answers, gold labels and published labels of cifar10s, and counts of cifar10h"
            )
        published = data.tables["published_labels"]().to_dict(as_series=False)
        progress(0, 3)
        numbers = _published_and_own_numbers_table(
            compare_published_numbers_with_ours(answers, published, counts, gold)
        )
        progress(1, 3)
        conversions = _conversion_measures_table(answers, counts, gold)
        progress(2, 3)
        return Tables(
            "CIFAR-10S: eliciting soft labels from every annotator",
            (
                numbers,
                conversions,
                choose_gamma_on_held_out_images(answers, counts).table(),
                *self._answer_cost_tables(answers, counts, gold),
            ),
            self.spec,
        )

    def _answer_cost_tables(self, answers: Answers, cifar10h: Votes, gold: SoftLabels) -> tuple[Table, Table, Table]:
        """Return three tables of accuracy by number of answers and seconds: rich answers, plain votes, and their break-even."""

        def accuracy(soft: SoftLabels) -> float:
            """Return the accuracy of soft labels against the gold labels."""
            return evaluate.accuracy(soft, gold)

        votes, seconds = elicit.methods.make("top-two").read(answers).votes, seconds_per_answer(answers)
        rich = curve(votes, accuracy, RICH_M, seconds.value, name="top-two", seeds=self.seeds)
        human = cifar10h.on(answers.tasks)
        plain = curve(human, accuracy, PLAIN_M, PLAIN_VOTE_SECONDS, name="plain", seeds=self.seeds)
        source = (
            f"seconds per answer: top-two {seconds.value:.1f} (median of {seconds.n:,}), "
            f"plain {PLAIN_VOTE_SECONDS} (the paper)"
        )
        return (
            rich.table(),
            plain.table(),
            replace(break_even(plain, rich), notes=(source,)),
        )


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


def _conversion_measures_table(answers: Answers, cifar10h: Votes, gold: SoftLabels) -> Table:
    """Return a table of accuracy, NLL, ... of the soft labels, one row per way to convert the answers."""
    human = cifar10h_vote_shares(cifar10h, answers)
    soft = [mean_soft_labels(answers, form) for form in CONVERSIONS.values()]
    columns = {
        "conversion": list(CONVERSIONS),
        "accuracy": [evaluate.accuracy(labels, gold) for labels in soft],
        "nll of gold": [evaluate.nll(labels, gold) for labels in soft],
        "cross-entropy": [evaluate.cross_entropy(labels, human) for labels in soft],
        "total variation": [evaluate.total_variation(labels, human) for labels in soft],
        "entropy r": [evaluate.entropy_correlation(labels, human) for labels in soft],
    }
    differ = f"the default converts {_count_answers_converted_unlike_release(answers)} answers in another way than the release"
    note = f"accuracy and nll against gold, the rest against CIFAR-10H; {differ}"
    return Table("The same answers, converted in several ways; mean over the answers of a task", columns, (note,))


def choose_gamma_on_held_out_images(answers: Answers, cifar10h: Votes) -> Choice:
    """Return the search for the gamma of top-two whose mean soft labels have the lowest cross-entropy to CIFAR-10H votes."""
    human = cifar10h_vote_shares(cifar10h, answers)
    soft = {gamma: mean_soft_labels(answers, f"top-two[gamma={gamma}]") for gamma in GAMMAS}

    def cross_entropy_on_held_out(gamma: float, train: Names, held_out: Names) -> float:
        """Return the cross-entropy of the soft labels made with this gamma to the CIFAR-10H vote shares, on held-out tasks."""
        del train  # nothing is fitted
        return evaluate.cross_entropy(soft[gamma].on(held_out), human.on(held_out))

    return choose("gamma", GAMMAS, cross_entropy_on_held_out, answers.tasks, folds=min(5, len(answers.tasks)))


def _count_answers_converted_unlike_release(answers: Answers) -> int:
    """Return the number of answers that `top-two` and the released code convert into different labels."""
    tables = []
    for form in (RELEASED, "top-two"):
        votes, table = elicit.methods.make(form).read(answers).votes, np.zeros((len(answers), len(answers.labels)))
        table[votes.answer, votes.label] = votes.weights
        tables.append(table)
    return int((np.abs(tables[0] - tables[1]).max(1) > 1e-9).sum())
