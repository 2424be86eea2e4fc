"""What changes if the workers who look careless are left out: their votes are removed and the method is fitted again."""

from dataclasses import dataclass

import numpy as np

from plurivox.aggregate import Aggregator
from plurivox.core.array_types import Names
from plurivox.core.name_encoding import positions
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.workflows.report.worker_trust import DROPPED, WorkerTrust


@dataclass(frozen=True)
class EffectOfDropping:
    """Tasks whose most probable label changes, and tasks left without a vote, when some workers are dropped."""

    n_workers: int
    n_votes: float
    n_tasks: int  # with votes before
    n_changed: int
    n_lost: int
    accuracy: float | None = None  # against gold labels, on tasks that keep a vote
    accuracy_without: float | None = None


def effect_of_dropping(
    votes: Votes, fit: Fit, method: Aggregator, trust: WorkerTrust, gold: SoftLabels | None, progress: Progress
) -> EffectOfDropping | None:
    """Return what changes without workers near random or against the others; None if there are none, or nobody else."""
    dropped = np.isin(positions(trust.workers, votes.workers), np.flatnonzero(trust.has_verdict(*DROPPED)))
    kept = ~dropped[votes.worker]
    if kept.all() or not kept.any():
        return None
    before, rest = votes.support > 0, votes.where(kept)
    after = rest.support > 0
    other = method.fit(rest, progress=progress)
    changed = fit.soft.most_probable_label_codes() != other.soft.most_probable_label_codes()
    return EffectOfDropping(
        int(dropped.sum()),
        votes.n_answers - rest.n_answers,
        int(before.sum()),
        int((changed & after).sum()),
        int((before & ~after).sum()),
        *(
            (_accuracy(one.soft, gold, votes.tasks[after]) for one in (fit, other))
            if gold is not None
            else (None, None)
        ),
    )


def _accuracy(soft: SoftLabels, gold: SoftLabels, tasks: Names) -> float | None:
    """Return the share of these tasks whose most probable label is the gold label; None if none has a gold label."""
    known = gold.shared(tasks)
    if not len(known):
        return None
    return float((soft.on(known.tasks).hard() == known.hard()).mean())
