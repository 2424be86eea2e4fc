"""Votes and predictions for ten tasks, and the results of cleanlab 2.9.0 (get_label_quality_multiannotator)."""

from collections.abc import Sequence

import numpy as np

from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

# one row per task, one column per worker, "." for no vote
ROWS = ("aab.", "bbbb", "c.cb", "aaac", ".ccc", "b..a", "ab.a", "..c.", "ccb.", "aaaa")
PROB = [[6, 2, 2], [1, 7, 2], [2, 2, 6], [7, 1, 2], [1, 3, 6], [4, 5, 1], [5, 3, 2], [1, 8, 1], [2, 3, 5], [8, 1, 1]]

# label quality of each task, with cleanlab's consensus labels (best_quality)
QUALITY = [0.589922991, 0.731196713, 0.609582706, 0.687573429, 0.663518907]
QUALITY += [0.510983901, 0.494188460, 0.680981242, 0.531552601, 0.785666375]


def votes(rows: Sequence[str] = ROWS) -> Votes:
    cells = [(t, w, label) for t, row in enumerate(rows) for w, label in enumerate(row) if label != "."]
    task, worker, label = zip(*cells, strict=True)
    return Votes.of(task, worker, label, tasks=range(len(ROWS)), workers=range(4))


def predicted() -> SoftLabels:
    """Return the classifier's probabilities of the labels a, b and c."""
    return SoftLabels.of(np.array(PROB) / 10, range(len(PROB)), list("abc"))
