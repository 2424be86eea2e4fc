"""The figures of CIFAR-10S, one by one."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from plurivox import elicit, evaluate
from plurivox.core.answers import Answers
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.progress import Progress, no_progress
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.tables import Table, Tables
from plurivox.core.types import Names
from plurivox.core.votes import Votes
from plurivox.recipes._contract import Reader, Recipe, from_the_shelf
from plurivox.recipes._papers.cifar10s_figures import RELEASED, Figure, cifar10s_table, human_shares, mean_label
from plurivox.workflows.answer_cost import PLAIN_VOTE_SECONDS, break_even, curve, seconds_per_answer
from plurivox.workflows.grid_search import Choice, choose

GAMMAS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4)  # the grid of the paper
PLAIN_M, RICH_M = (1, 2, 4, 8, 16, 32), (1, 2, 3, 4, 5, 6)
READINGS = {
    "as released": RELEASED,
    "default": "top-two",
    "top label alone": "one-label",
    "no percents": "select-top-two",
}


@dataclass(frozen=True)
class Cifar10s(Recipe):
    """CIFAR-10S figure by figure: what the paper says, what its release gives, what we get, and why they differ.

    Collins, Bhatt and Weller (2022), https://doi.org/10.1609/hcomp.v10i1.21986. The second table reads the same answers in
    several ways; the third chooses gamma on held-out images; the others set rich answers against plain votes of CIFAR-10H
    by what they cost.
    """

    reads: ClassVar[tuple[str, ...]] = ("cifar10s", "cifar10h")

    seeds: int = option(10, "draws of M answers a task, for the curves", low=1)

    def run(self, *, read: Reader = from_the_shelf, progress: Progress = no_progress) -> Tables:
        """Compute every figure anew."""
        data, human = read("cifar10s"), read("cifar10h")
        answers, gold, counts = data.answers, data.gold, human.counts
        if answers is None or gold is None or counts is None or "published_labels" not in data.tables:
            raise InputError("cifar10s needs its answers, gold and published labels, and cifar10h its counts")
        published = data.tables["published_labels"]().to_dict(as_series=False)
        progress(0, 3)
        figures = _figures(cifar10s_table(answers, published, counts, gold))
        progress(1, 3)
        readings = _readings(answers, counts, gold)
        progress(2, 3)
        return Tables(
            "CIFAR-10S: eliciting soft labels from every annotator",
            (figures, readings, choose_gamma(answers, counts).table(), *self._costs(answers, counts, gold)),
            self.spec,
        )

    def _costs(self, answers: Answers, counts: Votes, gold: SoftLabels) -> tuple[Table, Table, Table]:
        """Accuracy of the aggregate against votes and seconds: rich answers, plain votes, and where they break even."""

        def accuracy(soft: SoftLabels) -> float:
            return evaluate.accuracy(soft, gold)

        votes, seconds = elicit.methods.make("top-two").read(answers).votes, seconds_per_answer(answers)
        rich = curve(votes, accuracy, RICH_M, seconds.value, name="top-two", seeds=self.seeds)
        human = counts.on(answers.tasks)
        plain = curve(human, accuracy, PLAIN_M, PLAIN_VOTE_SECONDS, name="plain", seeds=self.seeds)
        source = f"seconds an answer: top-two {seconds.value:.1f} (median of {seconds.n:,}), "
        source += f"plain {PLAIN_VOTE_SECONDS} (the paper)"
        return rich.table(), plain.table(), replace(break_even(plain, rich), notes=(source,))


def _figures(figures: list[Figure]) -> Table:
    columns = {
        "figure": [one.name for one in figures],
        "paper": [_number(one.paper) for one in figures],
        "release": [_number(one.release) for one in figures],
        "ours": [_number(one.ours) for one in figures],
        "reason": [one.reason for one in figures],
    }
    return Table("Figures", columns)


def _number(value: float | None) -> str:
    """A figure in its own words: counts whole, the rest in six digits.

    >>> _number(6723), _number(0.84348865), _number(None)
    ('6,723', '0.843489', '-')
    """
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.6g}"


def _readings(answers: Answers, counts: Votes, gold: SoftLabels) -> Table:
    """The same answers, read in several ways."""
    human = human_shares(counts, answers)
    soft = [mean_label(answers, form) for form in READINGS.values()]
    columns = {
        "reading": list(READINGS),
        "accuracy": [evaluate.accuracy(one, gold) for one in soft],
        "nll of gold": [evaluate.nll(one, gold) for one in soft],
        "cross-entropy": [evaluate.cross_entropy(one, human) for one in soft],
        "total variation": [evaluate.total_variation(one, human) for one in soft],
        "entropy r": [evaluate.entropy_correlation(one, human) for one in soft],
    }
    note = f"accuracy and nll against gold, the rest against CIFAR-10H; {_changed(answers)} answers differ by default"
    return Table("The same answers, read in several ways; mean over a task's answers", columns, (note,))


def choose_gamma(answers: Answers, counts: Votes) -> Choice:
    """The gamma whose mean labels predict the votes of CIFAR-10H best, on held-out images."""
    human = human_shares(counts, answers)
    made = {gamma: mean_label(answers, f"top-two[gamma={gamma}]") for gamma in GAMMAS}

    def score(gamma: float, learn: Names, held: Names) -> float:
        del learn  # nothing is fitted
        return evaluate.cross_entropy(made[gamma].on(held), human.on(held))

    return choose("gamma", GAMMAS, score, answers.tasks, folds=min(5, len(answers.tasks)))


def _changed(answers: Answers) -> int:
    """How many answers the default reads otherwise than the release."""
    tables = []
    for form in (RELEASED, "top-two"):
        votes, table = elicit.methods.make(form).read(answers).votes, np.zeros((len(answers), len(answers.labels)))
        table[votes.answer, votes.label] = votes.weights
        tables.append(table)
    return int((np.abs(tables[0] - tables[1]).max(1) > 1e-9).sum())
