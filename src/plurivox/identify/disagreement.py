"""Share of a task's votes that are not for its most frequent label."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.soft_labels import Estimand
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.crowd_agreement_coefficients import REPEATED_HELP, votes_of_different_people
from plurivox.identify._shared.task_dispersion import dispersion_of_vote_shares


@dataclass(frozen=True)
class Disagreement(Identifier):
    """Share of a task's votes that are not for its most frequent label.

    raw(task) = 1 - max_k n_k / sum_k n_k, and nan for a task without votes; badness = raw.

    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(task=["a", "a", "a", "b"], worker=["x", "y", "z", "x"], label=["cat", "cat", "dog", "dog"])
    >>> Disagreement().score(Evidence(votes=votes)).raw.round(3)
    array([0.333, 0.   ])
    """

    repeated: Literal["first", "all"] = option("first", REPEATED_HELP)

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})
    of: ClassVar[ScoreTarget] = "task"
    estimates: ClassVar[Estimand] = "people"

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        del progress
        assert evidence.votes is not None
        dispersion = dispersion_of_vote_shares(votes_of_different_people(evidence.votes, self.repeated))
        raw = dispersion.nan_for_tasks_without_answers(1 - dispersion.largest)
        return Scores("task", dispersion.tasks, raw, raw, self.spec, n=dispersion.support)
