"""Proposals: the next questions to ask (task, worker, form), ranked by expected information gain per second."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurivox.assign._contract import Assigner
from plurivox.core.array_types import TEXT, Floats, Ints, Names, as_readonly_array
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError
from plurivox.core.name_encoding import readonly_names
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.results import Fit
from plurivox.core.votes import Votes

__all__ = ["Proposals", "Proposer", "Question"]


class Question(NamedTuple):
    """A kind of question: its form, the seconds per answer, and the number of plain votes to which one answer is equivalent."""

    form: str = "one-label"
    seconds: float = 1.8
    worth: float = 1.0


@dataclass(frozen=True, eq=False, repr=False)
class Proposals(DataType):
    """Proposed questions (task, worker, form), ranked by expected information gain per second of the worker's time."""

    task: Ints  # (n,) code into `tasks`
    worker: Ints  # (n,) code into `workers`
    question: Ints  # (n,) code into `forms`
    gain: Floats  # (n,) expected decrease of the task's entropy, in nats
    seconds: Floats  # (n,) expected time of the answer
    tasks: Names
    workers: Names
    forms: Names
    enough: bool  # the stopping rule is met: no further answer is worth its cost
    why: str  # explains `enough`
    made_by: str
    let_go: Names | None = None  # workers without proposals because their expected gain is too small

    def __post_init__(self) -> None:
        for name in ("tasks", "workers", "forms"):
            object.__setattr__(self, name, readonly_names(getattr(self, name), name))
        for name in ("task", "worker", "question", "gain", "seconds"):
            column = as_readonly_array(getattr(self, name))
            if len(column) != len(self.task):
                raise InputError(f"{name} of the proposals has {len(column)} values for {len(self.task)} proposals")
            object.__setattr__(self, name, column)

    def __len__(self) -> int:
        return len(self.task)

    @property
    def per_second(self) -> Floats:
        """(n_proposals,) the expected information gain of each proposed question per second of answer time, descending."""
        return self.gain / self.seconds

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the proposed questions as columns task, worker, question, gain, seconds and gain_per_second, best first."""
        return {
            "task": self.tasks[self.task],
            "worker": self.workers[self.worker],
            "question": self.forms[self.question],
            "gain": self.gain,
            "seconds": self.seconds,
            "gain_per_second": self.per_second,
        }

    def summary_values(self) -> dict[str, object]:
        skipped = np.array([], TEXT) if self.let_go is None else self.let_go
        return {"by": self.made_by, "proposals": len(self), "workers let go": len(skipped), "enough": self.enough}


@dataclass(frozen=True)
class Proposer(Assigner, ABC):
    """Base class of assigners that can also rank questions for all workers, from the votes so far and a fit of them.

    `choose_session_tasks` returns the tasks of one worker's session; `propose` returns the best pairs of worker and task.
    Both rank by expected information gain.
    """

    def propose(
        self, votes: Votes, fit: Fit, workers: Names | None = None, *, progress: Progress = no_progress
    ) -> Proposals:
        """Return the next questions to ask `workers` (default: all workers of the votes), ranked by gain per second.

        `fit` is a fit of the same votes by an aggregator that estimates confusion matrices.
        """
        if fit.confusion is None:
            raise InputError(
                f"{self.name()} needs the confusion matrices of the workers; {fit.made_by} has no confusion matrices: try ibcc"
            )
        check_same_tasks(votes, fit)
        return self._rank_questions_for_workers(votes, fit, workers, progress)

    @abstractmethod
    def _rank_questions_for_workers(
        self, votes: Votes, fit: Fit, workers: Names | None, progress: Progress
    ) -> Proposals:
        """Return ranked questions for `workers`; `fit` is checked to have confusion matrices and the tasks of `votes`."""

    @abstractmethod
    def gain_of_one_more_answer_per_task(self, votes: Votes, fit: Fit) -> Floats:
        """(n_tasks,) the expected information gain of one more answer to each task by an average worker, in nats.

        If the fit has no confusion matrices, the workers' accuracy is estimated from the agreement of their votes.
        """


def check_same_tasks(votes: Votes, fit: Fit) -> None:
    """Raise InputError if the fit and the votes do not have the same tasks."""
    if len(fit.soft) != votes.n_tasks or not bool((fit.soft.tasks == votes.tasks).all()):
        raise InputError(f"the fit by {fit.made_by} has other tasks than the votes; make a fit of these votes")
