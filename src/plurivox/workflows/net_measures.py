"""Measures of trained nets, and the truth they are measured against."""

from collections.abc import Mapping

import numpy as np

from plurivox import evaluate
from plurivox.core.encoding import positions
from plurivox.core.errors import unknown
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats, Names
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
        voted = tasks[positions(votes.voted, tasks) >= 0]
        if len(voted):
            shares = SoftLabels.of_votes(votes.on(voted))
    return (gold if gold is not None and len(gold) else None), shares


def unseen_labels(material: Material, splits: Mapping[str, Names]) -> Names:
    """The labels that dev or test tasks have, and no training task by gold or by any vote: no net can learn them."""
    gold, shares = truths(material, splits["train"])
    tested = np.concatenate([tasks for name, tasks in splits.items() if name != "train"] or [material.tasks[:0]])
    wanted = truths(material, tested)[0]
    if wanted is None:
        return material.tasks[:0]
    taught = [one.labels[(one.prob > 0).any(0)] for one in (gold, shares) if one is not None]
    there = wanted.labels[(wanted.prob > 0).any(0)]
    seen = np.any([positions(one, there) >= 0 for one in taught], axis=0) if taught else np.ones(len(there), bool)
    return there[~seen]


def dev_truth(material: Material, splits: Mapping[str, Names], best: str) -> tuple[Floats, SoftLabels] | None:
    """Inputs and truth of the dev tasks: gold, or else the shares of their votes.

    Measures of entropy say nothing against gold, which has none: for them the shares come first.
    """
    truth = None
    if "dev" in splits:
        hard, soft = truths(material, splits["dev"])
        first, second = (soft, hard) if best.startswith("entropy-") else (hard, soft)
        truth = first if first is not None else second
    return None if truth is None else (material.on(truth.tasks), truth)


def measured(trained: Trained, material: Material, splits: Mapping[str, Names]) -> dict[str, float]:
    """Hard measures against gold, soft ones against vote shares, for every split; and that of the most frequent label."""
    found: dict[str, float] = {}
    for split, tasks in splits.items():
        guess = trained.predict(material.on(tasks), tasks)
        gold, shares = truths(material, tasks)
        for truth, names, kind in ((gold, HARD, ""), (shares, SOFT, "soft ")):
            if truth is not None:
                found |= {f"{split} {kind}{name}": measure_of(name)(guess, truth) for name in names}
        if gold is not None:
            found[f"{split} baseline"] = evaluate.majority_baseline(gold)[1]
    return found


def measure_of(name: str) -> Measure:
    """The measure of that name as a function of (guess, truth)."""
    if name not in evaluate.MEASURES:
        raise unknown("measure", name, ["last", "loss", *evaluate.MEASURES])
    return evaluate.MEASURES[name]
