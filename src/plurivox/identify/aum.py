"""AUM: by how much a task's label stood out while a classifier learnt."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.encoding import as_names, positions
from plurivox.core.errors import InputError, first_few
from plurivox.core.method import option
from plurivox.core.progress import Progress
from plurivox.core.results import Dynamics, Scores, ScoreTarget
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import UNNAMED, Votes
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.margins import MARGIN_HELP, TOP_K_HELP, Margins, weighted_scores

LOOKED_AT = {"gold": "gold", "majority": "votes", "fit": "fit"}


@dataclass(frozen=True)
class Aum(Identifier):
    """AUM: by how much a task's label stood out while a classifier learnt, a mean over epochs.

    raw(task) = mean over epochs of z_y - max over k != y of z_k, where z are the logits and y is the label that the task
    is given: its known label, the one most voted for (ties go to the earlier label), or the best of a fit. The margin
    after Yang takes the second largest logit of all instead, which never is y where y is on top, and is 0 where y comes
    second. value = -raw: a label that never stood out is likely wrong, or its task hard. Tasks without a label get nan.

    Pleiss, Zhang, Elenberg & Weinberger (2020), Identifying mislabeled data using the area under the margin ranking,
    NeurIPS 33, https://doi.org/10.48550/arXiv.2001.10528; margin: Yang & Koyejo (2020), On the consistency of top-k
    surrogate losses, ICML 37.

    >>> dynamics = Dynamics(np.array([[[2.0, 0, 0], [0, 1, 3]]]), np.array([0, 1]), np.array([0, 1, 2]))
    >>> Aum().score(Evidence(dynamics=dynamics, gold=SoftLabels.gold([0, 1], [0, 1]))).raw
    array([ 2., -2.])
    """

    assigned: Literal["gold", "majority", "fit"] = option("gold", "the label that a task is given")
    margin: Literal["pleiss", "yang"] = option("pleiss", MARGIN_HELP)
    top_k: int = option(1, TOP_K_HELP, low=1)
    outputs: Literal["logits", "probabilities"] = option("logits", "what margins are taken of")

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})
    of: ClassVar[ScoreTarget] = "task"
    needs: ClassVar[tuple[str, ...]] = ("dynamics", "gold")
    may_use: ClassVar[tuple[str, ...]] = ("votes", "fit")
    fitted_by: ClassVar[tuple[str, ...]] = ("dawid-skene",)

    def must_see(self) -> tuple[str, ...]:
        return ("dynamics", LOOKED_AT[self.assigned])

    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        del progress
        dynamics = seen.dynamics
        assert dynamics is not None
        votes = _one_each(dynamics, self._given(seen))
        every = np.arange(len(votes))
        margin, weight = Margins(self.margin, self.top_k, self.outputs == "logits").of(votes, every, dynamics)
        made = weighted_scores(votes, every, margin, weight, self.spec)
        assert made.n is not None
        return replace(made, n=made.n * dynamics.n_epochs)

    def _given(self, seen: Evidence) -> SoftLabels:
        """The labels that tasks are given."""
        if self.assigned == "gold":
            assert seen.gold is not None
            return seen.gold
        if self.assigned == "fit":
            assert seen.fit is not None
            return seen.fit.soft
        assert seen.votes is not None
        return SoftLabels.of_votes(seen.votes)


def _one_each(dynamics: Dynamics, given: SoftLabels) -> Votes:
    """A vote that nobody signed on each recorded task for the label it is given; none where nobody stands behind it."""
    here = given.shared(dynamics.tasks)
    if here.support is not None:
        here = here.on(here.tasks[here.support > 0])
    if not len(here):
        raise InputError(f"none of the tasks recorded, such as {first_few(dynamics.tasks)}, has a label")
    return Votes.coded(
        task=positions(dynamics.tasks, here.tasks),
        worker=np.full(len(here), UNNAMED),
        label=here.codes(),
        tasks=dynamics.tasks,
        workers=as_names([]),
        labels=here.labels,
    )
