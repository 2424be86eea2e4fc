"""WAUM from one classifier a worker: no worker's answers touch the margins of another."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.encoding import as_names, positions
from plurivox.core.errors import InputError, PlurivoxWarning, first_few
from plurivox.core.progress import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.identify._contract import Evidence
from plurivox.identify._shared.margins import Margins, weighted_scores
from plurivox.identify.waum import Waum


@dataclass(frozen=True)
class WaumPerWorker(Waum):
    """WAUM from one classifier a worker, each trained on that worker's votes alone.

    `raw` is that of waum, with m_y and s_j of a vote taken from the classifier of the worker who gave it; value = -raw. Votes
    of workers without a classifier, and on tasks that it has no record of, are left out, and a warning counts them; a task
    with none left gets nan. Where workers have few votes, take waum.

    Lefort, Charlier, Joly & Salmon (2024), TMLR, https://doi.org/10.48550/arXiv.2209.15380

    >>> import plurivox as pv
    >>> votes = pv.votes(task=list("aabb"), worker=["ann", "bo"] * 2, label=list("xxxy"))
    >>> one = pv.Dynamics(np.array([[[2.0, 0.0], [0.5, 0.0]]]), votes.tasks, votes.labels)
    >>> seen = Evidence(votes=votes, fit=pv.fit(votes, "dawid-skene"), worker_dynamics={"ann": one, "bo": one})
    >>> WaumPerWorker().score(seen).worst().tolist()
    ['b', 'a']
    """

    of: ClassVar[ScoreTarget] = "task"
    needs: ClassVar[tuple[str, ...]] = ("votes", "fit", "worker_dynamics")

    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        votes, fit = seen.votes, seen.fit
        assert votes is not None and fit is not None and fit.confusion is not None
        names = as_names(list(seen.worker_dynamics), "workers")
        order, start, how = *votes.by_worker, Margins(self.margin, self.top_k)
        margin, weight = np.full(len(votes), np.nan), np.zeros(len(votes))
        recorded = np.zeros(len(votes), bool)
        for step, worker in enumerate(positions(votes.workers, names).tolist()):
            progress(step, len(names))
            dynamics = seen.worker_dynamics[str(names[step])]
            mine = order[start[worker] : start[worker + 1]] if worker >= 0 else order[:0]
            at = mine[positions(dynamics.tasks, votes.tasks)[votes.task[mine]] >= 0]
            if len(at):
                margin[at], weight[at] = how.of(votes, at, dynamics, fit.confusion)
                recorded[at] = True
        at = np.flatnonzero(recorded)
        if not len(at):
            raise InputError(f"no vote is on a task that its worker's classifier has a record of: {first_few(names)}")
        if lost := len(votes) - len(at):
            text = f"{lost} of {len(votes)} votes are left out: their worker's classifier has no record of the task"
            warnings.warn(text, PlurivoxWarning, stacklevel=2)
        by_weights = self.divide_by == "weights"
        return weighted_scores(votes, at, margin[at], weight[at], self.spec, by_weights=by_weights)
