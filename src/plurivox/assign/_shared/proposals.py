"""Proposals: whom to ask what next, ranked for a whole crowd from the votes there are."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurivox.assign._contract import Assigner
from plurivox.core.base import DataType
from plurivox.core.encoding import readonly_names
from plurivox.core.errors import InputError
from plurivox.core.progress import Progress, no_progress
from plurivox.core.results import Fit
from plurivox.core.types import TEXT, Floats, Ints, Names, readonly_copy
from plurivox.core.votes import Votes

__all__ = ["Proposals", "Proposer", "Question"]


class Question(NamedTuple):
    """A kind of question: its form, the seconds an answer takes, and how many plain votes an answer is worth."""

    form: str = "one-label"
    seconds: float = 1.8
    worth: float = 1.0


@dataclass(frozen=True, eq=False, repr=False)
class Proposals(DataType):
    """Whom to ask what next, best first: the expected fall of uncertainty, and that per second of the worker's time."""

    task: Ints  # (n,) code into `tasks`
    worker: Ints  # (n,) code into `workers`
    question: Ints  # (n,) code into `forms`
    gain: Floats  # (n,) expected fall of the task's entropy, in nats
    seconds: Floats  # (n,) the answer is expected to take
    tasks: Names
    workers: Names
    forms: Names
    enough: bool  # whether the stopping rule says that no further answer pays
    why: str  # the stopping rule in words
    made_by: str
    let_go: Names | None = None  # workers not worth asking now

    def __post_init__(self) -> None:
        for name in ("tasks", "workers", "forms"):
            object.__setattr__(self, name, readonly_names(getattr(self, name), name))
        for name in ("task", "worker", "question", "gain", "seconds"):
            column = readonly_copy(getattr(self, name))
            if len(column) != len(self.task):
                raise InputError(f"{name} of the proposals has {len(column)} values for {len(self.task)} proposals")
            object.__setattr__(self, name, column)

    def __len__(self) -> int:
        return len(self.task)

    @property
    def per_second(self) -> Floats:
        """(n,) what the proposals are ranked by."""
        return self.gain / self.seconds

    def columns(self) -> dict[str, NDArray[Any]]:
        """task, worker, question, gain, seconds, gain per second; best first."""
        return {
            "task": self.tasks[self.task],
            "worker": self.workers[self.worker],
            "question": self.forms[self.question],
            "gain": self.gain,
            "seconds": self.seconds,
            "gain_per_second": self.per_second,
        }

    def info(self) -> dict[str, object]:
        gone = np.array([], TEXT) if self.let_go is None else self.let_go
        return {"by": self.made_by, "proposals": len(self), "workers let go": len(gone), "enough": self.enough}


@dataclass(frozen=True)
class Proposer(Assigner, ABC):
    """A way to assign that can also look at a whole crowd at once: votes and what we believe in, proposals out.

    `choose` serves whoever has come; `propose` says who should come, and for what. Both rank by the same gain.
    """

    def propose(
        self, votes: Votes, fit: Fit, workers: Names | None = None, *, progress: Progress = no_progress
    ) -> Proposals:
        """The best next questions for `workers` (default: everybody who has voted), best first.

        `fit` is what an aggregator with confusion matrices made of the same votes.
        """
        if fit.confusion is None:
            raise InputError(
                f"{self.name()} must know how each worker answers; {fit.made_by} has no confusion matrices: try ibcc"
            )
        same_tasks(votes, fit)
        return self._propose(votes, fit, workers, progress)

    @abstractmethod
    def _propose(self, votes: Votes, fit: Fit, workers: Names | None, progress: Progress) -> Proposals:
        """The way itself; `fit` has confusion matrices and the tasks of `votes`."""

    @abstractmethod
    def gains(self, votes: Votes, fit: Fit) -> Floats:
        """(n_tasks,) what one more answer by one of this crowd is expected to tell of each task, in nats.

        Where the fit has no confusion matrices, how often people agree says how well they answer.
        """


def same_tasks(votes: Votes, fit: Fit) -> None:
    """Refuse a fit of other votes."""
    if len(fit.soft) != votes.n_tasks or not bool((fit.soft.tasks == votes.tasks).all()):
        raise InputError(f"the fit by {fit.made_by} is of other tasks than the votes; fit these votes")
