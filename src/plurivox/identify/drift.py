"""Whether a worker agrees with the others less and less."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.errors import InputError
from plurivox.core.progress import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.types import Floats, Ints
from plurivox.core.votes import Votes
from plurivox.engine.kernels.group_by import group_rows
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.group_sums import quotient, sum_by
from plurivox.identify._shared.requirements import known_workers
from plurivox.identify._shared.rest_agreement import share_of_rest_of

FEWEST = 3  # answers from which a line can be told from chance


@dataclass(frozen=True)
class Drift(Identifier):
    """Whether a worker agrees with the others less and less: tired, bored, or of another mind than at first.

    Of each answer we take the share of the others' votes on its task that say the same, less the mean of that share over
    all who answered the task, so that hard tasks at the end do not look like a tired worker. A line through these numbers
    in the order of `when` falls by -`raw` from the worker's first answer to the last. value = z, the fall in units of its
    standard deviation if the order were chance, exact over all orders of the worker's own answers: above 2 is worth a
    look, below -2 the worker has learnt. nan below three answers beside others.

    Mantel (1963), https://doi.org/10.1080/01621459.1963.10500879

    >>> from plurivox.core.votes import Votes
    >>> ann = [1, 1, 1, 1, 1, 0, 0, 0]  # the others always say 1
    >>> votes = Votes.of(list("abcdefgh") * 3, ["ann"] * 8 + ["bo"] * 8 + ["cy"] * 8, [*ann, *[1] * 16], when=[*range(8)] * 3)
    >>> Drift().score(Evidence(votes=votes)).value[0].round(2)
    np.float64(2.24)
    """

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[ScoreTarget] = "worker"

    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        del progress
        assert seen.votes is not None
        votes = known_workers(seen.votes, self.name())
        if votes.when is None or not np.isfinite(votes.when).any():
            raise InputError("drift needs the order of the answers: give votes with a column when")
        worker, when, agreed = _agreements(votes)
        order, start = group_rows(worker[(early := np.argsort(when, kind="stable"))], votes.n_workers)
        order = early[order]  # by worker, each in the order of time
        n = np.diff(start).astype(np.float64)
        place = np.arange(len(order)) - np.repeat(start[:-1] + (n - 1) / 2, np.diff(start))  # around 0 for each worker
        agreed = agreed[order] - np.repeat(quotient(sum_by(worker, votes.n_workers, agreed), n), np.diff(start))
        mine = worker[order]
        rise = sum_by(mine, votes.n_workers, place * agreed)
        places, spread = n * (n * n - 1) / 12, sum_by(mine, votes.n_workers, agreed * agreed)
        enough = n >= FEWEST
        change = np.where(enough, quotient(rise * (n - 1), places), np.nan)
        chance = np.sqrt(np.where(enough, places * spread, 0) / np.maximum(n - 1, 1))
        z = np.divide(-rise, chance, out=np.zeros(len(n)), where=chance > 1e-12 * np.maximum(places, 1))
        return Scores("worker", votes.workers, np.where(enough, z, np.nan), self.spec, raw=change, n=n)


def _agreements(votes: Votes) -> tuple[Ints, Floats, Floats]:
    """(worker, when, agreement with the rest above the task's mean) of every dated answer that stands beside others."""
    share = share_of_rest_of(votes)
    assert votes.when is not None
    told = np.isfinite(share) & np.isfinite(votes.when)
    task, worker, when, share = votes.task[told], votes.worker[told], votes.when[told], share[told]
    if votes.answer is not None:  # the rows of a soft answer are one answer
        _, first, answer = np.unique(votes.answer[told], return_index=True, return_inverse=True)
        share = sum_by(answer, len(first), share * votes.weights[told])
        task, worker, when = task[first], worker[first], when[first]
    mean = quotient(sum_by(task, votes.n_tasks, share), sum_by(task, votes.n_tasks))
    return worker, when, share - mean[task]
