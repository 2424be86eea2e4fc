"""WAUM: by how much the labels voted for stood out while a classifier learnt, workers weighed by trust."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.encoding import positions
from plurivox.core.errors import InputError, some
from plurivox.core.method import option
from plurivox.core.progress import Watch
from plurivox.core.results import Confusion, Dynamics, Of, Scores
from plurivox.core.types import Floats, Ints
from plurivox.core.votes import Votes
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.margins import (
    MARGIN_HELP,
    SPREAD_HELP,
    TOP_K_HELP,
    codes_of_labels,
    codes_of_workers,
    mean_margins,
    trust,
)


@dataclass(frozen=True)
class Waum(Identifier):
    """WAUM: by how much the labels voted for stood out while a classifier learnt, workers weighed by trust.

    raw(task) = sum over its votes (j, y) of s_j * m_y / (sum of the s_j, or the number of votes), with

        m_y = mean over epochs of p_y - p_[2], p the softmax of the classifier's logits, [2] the second largest
        s_j = sum_k p_k pi_j[k, k] at the last epoch, pi_j the worker's confusion matrix.

    The margin after Pleiss is p_y less the largest other. With `top_k` it is [k + 1], or the k-th largest of the others.
    value = -raw: low trust, or labels that never stood out, mark a hard task. Tasks without votes, or not recorded, get
    nan. A soft answer counts by its weights.

    Lefort, Charlier, Joly & Salmon (2024), Identify ambiguous tasks combining crowdsourced labels by weighting areas under
    the margin, TMLR, https://doi.org/10.48550/arXiv.2209.15380; printed with the number of votes below the line in Lefort
    et al. (2024), https://doi.org/10.57750/qmaz-gr91; weights: Servajean et al. (2017),
    https://doi.org/10.1109/TMM.2017.2653763

    >>> import plurivox as pv
    >>> votes = pv.votes(task=list("aabb"), worker=[1, 2] * 2, label=list("xxxy"))
    >>> dynamics = Dynamics(np.array([[[2.0, 0.0], [0.5, 0.0]]]), votes.tasks, votes.labels)
    >>> Waum().score(Evidence(votes=votes, fit=pv.fit(votes, "dawid-skene"), dynamics=dynamics)).worst().tolist()
    ['b', 'a']
    """

    margin: Literal["yang", "pleiss"] = option("yang", MARGIN_HELP)
    top_k: int = option(1, TOP_K_HELP, low=1)
    divide_by: Literal["weights", "votes"] = option("weights", SPREAD_HELP)

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[Of] = "task"
    needs: ClassVar[tuple[str, ...]] = ("votes", "fit", "dynamics")
    fitted_by: ClassVar[tuple[str, ...]] = ("dawid-skene",)
    reads: ClassVar[tuple[str, ...]] = ("confusion",)

    def _score(self, seen: Evidence, watch: Watch) -> Scores:
        del watch
        votes, dynamics, fit = seen.votes, seen.dynamics, seen.fit
        assert votes is not None and dynamics is not None and fit is not None and fit.confusion is not None
        at = np.flatnonzero(positions(dynamics.tasks, votes.tasks)[votes.task] >= 0)
        if not len(at):
            raise InputError(f"no vote is on a task that was recorded; those are {some(dynamics.tasks)}")
        margin, weight = self._weighed(votes, at, dynamics, fit.confusion)
        raw, n = weighted_mean(votes, at, margin, weight, by_weights=self.divide_by == "weights")
        return Scores("task", votes.tasks, -raw, self.word, raw=raw, n=n)

    def _weighed(self, votes: Votes, at: Ints, dynamics: Dynamics, confusion: Confusion) -> tuple[Floats, Floats]:
        """(m, s) of the votes `at`."""
        label = codes_of_labels(dynamics, votes.labels, np.unique(votes.label[at]))[votes.label[at]]
        worker = codes_of_workers(confusion, votes.workers, np.unique(votes.worker[at]))[votes.worker[at]]
        row = positions(dynamics.tasks, votes.tasks)[votes.task[at]]
        margin = mean_margins(dynamics, row, label, self.margin, self.top_k, logits=False)
        return margin, trust(dynamics, row, confusion, worker)


def weighted_mean(votes: Votes, at: Ints, margin: Floats, weight: Floats, *, by_weights: bool) -> tuple[Floats, Floats]:
    """(raw, n), each (n_tasks,): weighted margins of the votes `at` over their weights, or over their number n."""
    task, each = votes.task[at], votes.weights[at]
    total, trusted, n = (
        np.bincount(task, part, minlength=votes.n_tasks) for part in (each * weight * margin, each * weight, each)
    )
    below = trusted if by_weights else n
    return np.divide(total, below, out=np.full(votes.n_tasks, np.nan), where=below > 0), n.astype(np.float64)
