"""AUM: the margin of a task's label during the training of a classifier."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.errors import InputError, first_few
from plurivox.core.method import option
from plurivox.core.name_encoding import as_names, positions
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Dynamics, Scores, ScoreTarget
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import UNNAMED, Votes
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.margins_of_voted_labels import (
    MARGIN_HELP,
    TOP_K_HELP,
    MarginOptions,
    task_scores_from_weighted_margins,
)

EVIDENCE_OF_LABEL = {"gold": "gold", "majority": "votes", "fit": "fit"}  # option `assigned` -> field of `Evidence`


@dataclass(frozen=True)
class Aum(Identifier):
    """AUM: the margin between the logit of a task's label and the largest other, averaged over the epochs of training.

    raw(task) = mean over epochs of z_y - max over k != y of z_k, where z are the logits and y is the label that the task
    is given: its known label, the one with most votes (ties go to the earlier label), or the most probable of a fit. Yang's
    margin subtracts the second largest of all logits instead: it is the same if y has the largest logit, and 0 if y has the
    second largest. badness = -raw: a task whose label never has a large margin is hard, or its label is wrong. Tasks without a
    label get nan.

    Pleiss, Zhang, Elenberg & Weinberger (2020), Identifying mislabeled data using the area under the margin ranking,
    NeurIPS 33, https://doi.org/10.48550/arXiv.2001.10528; margin: Yang & Koyejo (2020), On the consistency of top-k
    surrogate losses, ICML 37.

    >>> dynamics = Dynamics(np.array([[[2.0, 0, 0], [0, 1, 3]]]), np.array([0, 1]), np.array([0, 1, 2]))
    >>> Aum().score(Evidence(dynamics=dynamics, gold=SoftLabels.gold([0, 1], [0, 1]))).raw
    array([ 2., -2.])
    """

    assigned: Literal["gold", "majority", "fit"] = option(
        "gold", "source of the label assigned to a task: gold, majority vote or a fit"
    )
    margin: Literal["pleiss", "yang"] = option("pleiss", MARGIN_HELP)
    top_k: int = option(1, TOP_K_HELP, low=1)
    outputs: Literal["logits", "probabilities"] = option(
        "logits", "outputs of the classifier that margins are computed from"
    )

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})
    of: ClassVar[ScoreTarget] = "task"
    estimates: ClassVar[Estimand] = "truth"
    needs: ClassVar[tuple[str, ...]] = ("dynamics", "gold")
    may_use: ClassVar[tuple[str, ...]] = ("votes", "fit")
    fitted_by: ClassVar[tuple[str, ...]] = ("dawid-skene",)

    def required_evidence(self) -> tuple[str, ...]:
        return ("dynamics", EVIDENCE_OF_LABEL[self.assigned])

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        del progress
        dynamics = evidence.dynamics
        assert dynamics is not None
        votes = _one_vote_per_recorded_task(dynamics, self._labels_assigned_by_option(evidence))
        every, margins = np.arange(len(votes)), MarginOptions(self.margin, self.top_k, self.outputs == "logits")
        margin, weight = margins.margins_and_trust_weights_of_votes(votes, every, dynamics)
        scores = task_scores_from_weighted_margins(votes, every, margin, weight, self.spec)
        assert scores.n is not None
        return replace(scores, n=scores.n * dynamics.n_epochs)

    def _labels_assigned_by_option(self, evidence: Evidence) -> SoftLabels:
        """Return the labels assigned to the tasks by the option `assigned`: gold, a fit's posterior, or vote shares."""
        if self.assigned == "gold":
            assert evidence.gold is not None
            return evidence.gold
        if self.assigned == "fit":
            assert evidence.fit is not None
            return evidence.fit.soft
        assert evidence.votes is not None
        return SoftLabels.from_vote_shares(evidence.votes)


def _one_vote_per_recorded_task(dynamics: Dynamics, assigned_labels: SoftLabels) -> Votes:
    """Return votes without workers, one per task of the training dynamics, for the label that is assigned to the task.

    Tasks whose label has no answers behind it get no vote. Raises InputError if no recorded task has a label.
    """
    labelled = assigned_labels.shared(dynamics.tasks)
    if labelled.support is not None:
        labelled = labelled.on(labelled.tasks[labelled.support > 0])
    if not len(labelled):
        raise InputError(f"none of the tasks recorded, such as {first_few(dynamics.tasks)}, has a label")
    return Votes.coded(
        task=positions(dynamics.tasks, labelled.tasks),
        worker=np.full(len(labelled), UNNAMED),
        label=labelled.most_probable_label_codes(),
        tasks=dynamics.tasks,
        workers=as_names([]),
        labels=labelled.labels,
    )
