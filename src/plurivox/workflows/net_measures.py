"""Measures of trained nets."""

from collections.abc import Mapping

import numpy as np

from plurivox import evaluate
from plurivox.core.encoding import positions
from plurivox.core.errors import unknown
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Names
from plurivox.evaluate.alignment import meet
from plurivox.train.data.training_data import Material
from plurivox.train.loop.dev_eval import Measure
from plurivox.train.result import Trained

HARD = ("accuracy", "balanced-accuracy", "macro-f1", "weighted-f1", "nll", "brier", "ece")
SOFT = ("cross-entropy", "kl-divergence", "jensen-shannon-divergence", "total-variation", "entropy-correlation")


def truths(material: Material, tasks: Names) -> tuple[SoftLabels | None, SoftLabels | None]:
    """(gold, vote shares) of those of these tasks that have them."""
    gold = None if material.gold is None else material.gold.shared(tasks)
    votes = material.votes
    shares = None
    if votes is not None:
        voted = tasks[np.isin(positions(votes.tasks, tasks), np.flatnonzero(votes.support > 0))]
        if len(voted):
            some_votes = votes.on(voted)
            shares = SoftLabels.shares(some_votes.counts(), voted, votes.labels, support=some_votes.support)
    return (gold if gold is not None and len(gold) else None), shares


def measured(trained: Trained, material: Material, parts: Mapping[str, Names]) -> dict[str, float]:
    """Hard measures against gold, soft ones against vote shares, for every part; and that of the most frequent label."""
    found: dict[str, float] = {}
    for part, tasks in parts.items():
        guess = trained.predict(material.on(tasks), tasks)
        gold, shares = truths(material, tasks)
        for truth, names, kind in ((gold, HARD, ""), (shares, SOFT, "soft ")):
            if truth is not None:
                found |= {f"{part} {kind}{name}": measure_of(name)(guess, truth) for name in names}
        if gold is not None:
            found[f"{part} baseline"] = evaluate.majority_baseline(gold)[1]
    return found


def measure_of(name: str) -> Measure:
    """The measure of that name as a function of (guess, truth)."""
    if name not in evaluate.MEASURES:
        raise unknown("measure", name, ["last", "loss", *evaluate.MEASURES])
    measure = evaluate.MEASURES[name]
    return lambda guess, truth: measure.tally(*meet(guess, truth)).value
