"""WAUM with one classifier per worker, trained on that worker's votes only."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.errors import InputError, first_few, warn_user
from plurivox.core.name_encoding import as_names, positions
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.soft_labels import Estimand
from plurivox.identify._contract import Evidence
from plurivox.identify._shared.margins_of_voted_labels import MarginOptions, task_scores_from_weighted_margins
from plurivox.identify.waum import Waum


@dataclass(frozen=True)
class WaumPerWorker(Waum):
    """WAUM with one classifier per worker, trained on that worker's votes only.

    `raw` is that of waum, with m_y and s_j of a vote taken from the classifier of the worker who gave it; badness = -raw. Votes
    of workers without a classifier, and on tasks that it did not record, are left out, and a warning gives their number; a
    task without remaining votes gets nan. If workers have too few votes to train a classifier for each, use waum, which trains
    one for all workers.

    Lefort, Charlier, Joly & Salmon (2024), TMLR, https://doi.org/10.48550/arXiv.2209.15380

    >>> import plurivox as pv
    >>> votes = pv.votes(task=list("aabb"), worker=["ann", "bo"] * 2, label=list("xxxy"))
    >>> one = pv.Dynamics(np.array([[[2.0, 0.0], [0.5, 0.0]]]), votes.tasks, votes.labels)
    >>> evidence = Evidence(votes=votes, fit=pv.fit(votes, "dawid-skene"), worker_dynamics={"ann": one, "bo": one})
    >>> WaumPerWorker().score(evidence).worst().tolist()
    ['b', 'a']
    """

    of: ClassVar[ScoreTarget] = "task"
    estimates: ClassVar[Estimand] = "truth"
    needs: ClassVar[tuple[str, ...]] = ("votes", "fit", "worker_dynamics")

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        votes, fit = evidence.votes, evidence.fit
        assert votes is not None and fit is not None and fit.confusion is not None
        names = as_names(list(evidence.worker_dynamics), "workers")
        order, start, margins = *votes.row_order_and_offsets_by_worker, MarginOptions(self.margin, self.top_k)
        margin, weight = np.full(len(votes), np.nan), np.zeros(len(votes))
        is_recorded = np.zeros(len(votes), bool)
        for step, worker in enumerate(positions(votes.workers, names).tolist()):
            progress(step, len(names))
            dynamics = evidence.worker_dynamics[str(names[step])]
            mine = order[start[worker] : start[worker + 1]] if worker >= 0 else order[:0]
            index = mine[positions(dynamics.tasks, votes.tasks)[votes.task[mine]] >= 0]
            if len(index):
                margin[index], weight[index] = margins.margins_and_trust_weights_of_votes(
                    votes, index, dynamics, fit.confusion
                )
                is_recorded[index] = True
        index = np.flatnonzero(is_recorded)
        if not len(index):
            raise InputError(f"no vote is on a task that its worker's classifier recorded: {first_few(names)}")
        if left_out := len(votes) - len(index):
            text = f"{left_out} of {len(votes)} votes are left out: their worker's classifier did not record the task"
            warn_user(text)
        by_weights = self.divide_by == "weights"
        return task_scores_from_weighted_margins(
            votes, index, margin[index], weight[index], self.spec, by_weights=by_weights
        )
