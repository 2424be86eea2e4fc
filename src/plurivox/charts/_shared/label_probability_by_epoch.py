"""Training dynamics of tasks: the probability that the net gives to the label of each task, epoch by epoch."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from plurivox.charts._contract import ChartData
from plurivox.charts._shared.hardest_tasks import labels_of_tasks
from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.errors import unknown_name_error
from plurivox.core.name_encoding import as_names, as_text, positions
from plurivox.core.results import Dynamics

Which = Literal["lowest", "varying"]


@dataclass(frozen=True)
class LabelProbabilities:
    """The probability of the label of every task in every epoch."""

    tasks: Names  # (n_tasks,)
    label: list[str]  # of each task: the known one, else the one with most votes, else the net's after the last epoch
    p: Floats  # (n_epochs, n_tasks)
    n_by_net: int  # tasks whose label is that of the net

    def worst(self, k: int, which: Which) -> Ints:
        """Return the k tasks with the lowest mean, or the most varying, probability over the epochs."""
        value = -self.p.mean(0) if which == "lowest" else self.p.std(0)
        return np.argsort(-value.round(9), kind="stable")[:k]

    def named(self, names: list[str]) -> Ints:
        """Return the tasks with these names. Raise UnknownName for one that was not recorded."""
        place = positions(self.tasks, as_names(names, "tasks"))
        if (place < 0).any():
            raise unknown_name_error(
                "recorded task called", names[int(np.argmax(place < 0))], map(str, self.tasks[:10_000])
            )
        return place


def label_probabilities(data: ChartData) -> LabelProbabilities:
    """Return the probabilities of the labels of the tasks whose logits were recorded in every epoch."""
    dynamics = data.dynamics
    assert dynamics is not None
    kept = np.flatnonzero(dynamics.mask_tasks_with_finite_logits()) if dynamics.n_epochs else np.zeros(0, np.int64)
    tasks = dynamics.tasks[kept]
    known = labels_of_tasks(tasks, data.votes, data.gold)
    code = positions(as_text(dynamics.labels), np.array([one or "" for one in known], "U"))
    of_net = np.array([one is None for one in known], bool) | (code < 0)
    if of_net.any():
        code = np.where(of_net, dynamics.logits[-1][kept].argmax(-1), code)
    p = probability_of_label(dynamics, kept, code)
    return LabelProbabilities(tasks, as_text(dynamics.labels)[code].tolist(), p, int(of_net.sum()))


def probability_of_label(dynamics: Dynamics, tasks: Ints, label: Ints) -> Floats:
    """Return (n_epochs, n_tasks) the softmax probability of one label code per task, epoch by epoch to limit memory."""
    found = np.empty((dynamics.n_epochs, len(tasks)))
    for epoch, logits in enumerate(dynamics.logits):
        rows = np.asarray(logits[tasks], np.float64)
        powers = np.exp(rows - rows.max(1, keepdims=True)) if len(rows) else rows
        found[epoch] = powers[np.arange(len(rows)), label] / powers.sum(1)
    return found
