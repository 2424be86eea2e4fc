"""Percents against top labels of CIFAR-10S, each with the same smoothing, whose setting is chosen on other images."""

from collections.abc import Mapping
from itertools import product

import numpy as np

from plurivox import evaluate
from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.recipe_tables import Table
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate.measures.calibration import NLL_CLIP
from plurivox.evaluate.measures.soft_label_measures import CLIP

N_FOLDS = 5
ADDED = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)  # pseudo-votes per label
POWERS = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0)
CLIPS = {"cross-entropy": CLIP, "nll": NLL_CLIP}  # a probability of 0 counts as this
UNIFORM_SHARE = 0.01  # of the prior of related labels, so that no label has probability 0


def fold_of_each_task(n_tasks: int) -> Ints:
    """Return (n_tasks,) the fold of each task: five random folds of equal size, fewer if there are fewer tasks."""
    return np.random.default_rng(0).permutation(n_tasks) % min(N_FOLDS, n_tasks)


def losses_with_setting_of_other_folds(losses: Floats) -> tuple[Floats, Ints]:
    """Return (n_tasks,) the loss of each task with the setting that is best on the other folds, and that setting per fold.

    `losses` is (n_settings, n_tasks).
    """
    fold = fold_of_each_task(losses.shape[1])
    chosen = np.array([losses[:, fold != j].mean(1).argmin() for j in range(fold.max() + 1)])
    return losses[chosen[fold], np.arange(losses.shape[1])], chosen


def related_label_prior(counts: Floats) -> Floats:
    """Return (n_tasks, n_labels) a prior of each task from the labels that are given to the same tasks.

    p_l = sum_k s_k P(l | k), where s are the vote shares of the task and P(l | k) is how often a random vote is l on tasks
    with votes for k; mixed with 1% of a uniform distribution. It uses the votes of all tasks, no true labels.
    """
    shares = counts / counts.sum(1, keepdims=True)
    together = shares.T @ shares
    given = together / np.maximum(together.sum(1, keepdims=True), 1e-12)
    return (1 - UNIFORM_SHARE) * shares @ given + UNIFORM_SHARE / counts.shape[1]


def dirichlet_shares(counts: Floats, added: float, prior: Floats | float, power: float = 1.0) -> Floats:
    """Return (n_tasks, n_labels) vote shares with `added` pseudo-votes per label, distributed as `prior`, to a power.

    With a uniform prior, 1 / number of labels, and power 1 these are the soft labels of `dirichlet-shares[added=...]`.
    """
    mass = counts + added * counts.shape[1] * prior
    raised = (mass / mass.max(1, keepdims=True)) ** power
    return raised / raised.sum(1, keepdims=True)


def soft_labels_per_smoothing_and_setting(counts: Floats) -> dict[str, dict[str, Floats]]:
    """Return name of smoothing -> text of setting -> (n_tasks, n_labels) soft labels from vote counts."""
    uniform, related = 1 / counts.shape[1], related_label_prior(counts)
    softmax = np.exp(counts - counts.max(1, keepdims=True))
    found = {
        "none: vote-shares": {"": dirichlet_shares(counts, 0, uniform)},
        "softmax-shares": {"": softmax / softmax.sum(1, keepdims=True)},
    }
    for name, prior in (("dirichlet-shares", uniform), ("related labels", related)):
        found[name] = {f"{added:g}": dirichlet_shares(counts, added, prior) for added in ADDED}
        found[f"{name}, power"] = {
            f"{added:g}, power {power:g}": dirichlet_shares(counts, added, prior, power)
            for added, power in product(ADDED, POWERS)
        }
    return found


def smoothing_table(
    counts: Mapping[str, Floats], tasks: Names, labels: Names, truth: SoftLabels, measure: str, title: str
) -> Table:
    """Return a table of a measure, lower is better, by smoothing (rows) and kind of answer (the keys of `counts`).

    `gain` is how much lower `soft` is than `plain`; both have the same kind of smoothing, each with its own setting.
    """
    kinds = {kind: soft_labels_per_smoothing_and_setting(table) for kind, table in counts.items()}
    rows, differences = [], []
    for name in kinds["plain"]:
        loss, setting = {}, {}
        for kind, smoothings in kinds.items():
            tried = [SoftLabels.of(prob, tasks, labels) for prob in smoothings[name].values()]
            each = np.array([evaluate.by_task(soft, truth, measure)[1] for soft in tried])
            loss[kind], chosen = losses_with_setting_of_other_folds(each)
            setting[kind] = list(smoothings[name])[int(np.bincount(chosen).argmax())]
        differences.append(loss["plain"] - loss["soft"])
        means = {kind: float(one.mean()) for kind, one in loss.items()}
        rows.append({"smoothing": name, **means, **{f"setting {kind}": setting[kind] for kind in ("plain", "soft")}})
    intervals = evaluate.simultaneous_bootstrap(np.array(differences).T)
    rows = [
        row | {"gain": one.mean, "low": one.low, "high": one.high} for row, one in zip(rows, intervals, strict=True)
    ]
    notes = (
        "settings (pseudo-votes per label, power) are chosen on the other folds; "
        f"a probability of 0 counts as {CLIPS[measure]}",
        "gain: plain - soft; simultaneous 95% intervals of the rows, images drawn",
    )
    return Table.of_rows(title, rows, notes)
