"""Two tables of labels on the tasks that both have, and how far apart they are on each task."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from plurivox.charts._contract import ChartData
from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.name_encoding import as_text, positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import by_task
from plurivox.evaluate.align_tasks_and_labels import align_rows, prediction_labels_then_truth_only
from plurivox.evaluate.measures.wasserstein_distances import label_scale, wassersteins_along_scale

DistanceName = Literal["total-variation", "jensen-shannon", "wasserstein", "sorted-wasserstein", "entropy-gain"]
DISTANCE_TITLES: dict[DistanceName, str] = {
    "total-variation": "total variation",
    "jensen-shannon": "Jensen-Shannon distance",
    "wasserstein": "Wasserstein distance (in steps of the scale)",
    "sorted-wasserstein": "sorted Wasserstein distance",
    "entropy-gain": "gain of entropy (nats)",
}
VOTE_SHARES = "vote-shares"  # the aggregator whose soft labels are the shares of votes


@dataclass(frozen=True)
class LabelTables:
    """Two tables of labels with the same tasks in the same order; each has its own labels."""

    names: tuple[str, str]
    left: SoftLabels
    right: SoftLabels

    def __len__(self) -> int:
        return len(self.left)

    def distances(self, name: DistanceName) -> Floats:
        """Return (n_tasks,) the distance of the two labels of each task; for entropy-gain H(left) - H(right)."""
        if name == "entropy-gain":
            return self.left.entropy() - self.right.entropy()
        if name == "wasserstein":
            rows = align_rows(self.left, self.right)
            return wassersteins_along_scale(*rows, label_scale(self.left, self.right))
        return by_task(self.left, self.right, "jensen-shannon-distance" if name == "jensen-shannon" else name)[1]

    def has_scale(self) -> bool:
        """Return whether one of the tables has positions on a scale for the labels of both."""
        labels = prediction_labels_then_truth_only(self.left, self.right)
        return any(
            one.scale is not None and bool((positions(one.labels, labels) >= 0).all())
            for one in (self.left, self.right)
        )

    def same_label(self) -> Bools:
        """Return (n_tasks,) whether the most probable label is the same in both tables; tied labels count as any of them."""
        code = positions(self.left.labels, self.right.labels)[self.right.most_probable_label_codes()]
        other = positions(self.right.labels, self.left.labels)[self.left.most_probable_label_codes()]
        here = (code >= 0) & (self.left.at(np.maximum(code, 0)) >= self.left.confidence - 1e-9)
        there = (other >= 0) & (self.right.at(np.maximum(other, 0)) >= self.right.confidence - 1e-9)
        return here | there

    def of_task(self, task: int, most: int, negligible: float) -> tuple[list[str], Floats, int]:
        """Return the names of the labels of one task, (2, n_labels) their probabilities, and how many labels are left out.

        Labels are those with a probability of `negligible` or more in a table, at most `most`: in the order of the scale or,
        without one, those with the highest probability in both together first.
        """
        sides = (
            SoftLabels(one.body.take(np.array([task])), one.tasks[[task]], one.labels)
            for one in (self.left, self.right)
        )
        both = np.stack([rows.dense_block(slice(None))[0] for rows in align_rows(*sides)])
        order = np.argsort(-both.sum(0).round(9), kind="stable")
        wanted = order[both.max(0)[order] >= negligible]
        shown: Ints = wanted[:most]
        if self.has_scale():
            shown = shown[np.argsort(label_scale(self.left, self.right)[shown], kind="stable")]
        labels = as_text(prediction_labels_then_truth_only(self.left, self.right))
        return labels[shown].tolist(), both[:, shown], len(wanted) - len(shown)


def tables_to_compare(data: ChartData) -> LabelTables | None:
    """Return the first two tables of labels on the tasks with a label in both; None if there are not two.

    A single one is compared with the shares of votes or, if it is just that, with the known labels.
    """
    found = list(data.soft.items())[:2]
    if len(found) == 1 and found[0][0] != VOTE_SHARES and data.votes is not None:
        votes = f"votes of {data.name}" if data.name else "votes"
        found.insert(0, (votes, SoftLabels.from_vote_shares(data.votes)))
    elif len(found) == 1 and data.gold is not None:
        found.append(("gold", data.gold))
    if len(found) < 2:
        return None
    (name, left), (other_name, right) = found
    tasks = right.shared(left.tasks).tasks
    voted = np.ones(len(tasks), bool)
    for soft in (left, right):
        if (support := soft.on(tasks).support) is not None:
            voted &= support > 0
    one, other = (replace(soft.on(tasks[voted]), scale=soft.scale) for soft in (left, right))
    return LabelTables((name, other_name), one, other)
