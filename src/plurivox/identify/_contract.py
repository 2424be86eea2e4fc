"""What every score is, and what it may look at."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from plurivox.core.answers import Answers
from plurivox.core.errors import InputError
from plurivox.core.labels import SoftLabels
from plurivox.core.method import Method
from plurivox.core.registry import Methods
from plurivox.core.results import Dynamics, Fit, Of, Scores
from plurivox.core.votes import Votes
from plurivox.core.watch import Watch, quiet

__all__ = ["Evidence", "Identifier", "methods"]

HOW = {  # what is missing -> how to get it
    "votes": "give the votes",
    "soft": "give soft labels, such as those of plurivox aggregate",
    "fit": "aggregate the votes first, or let plurivox identify do it",
    "fits": "aggregate the votes by two methods or more",
    "gold": "give known labels: --gold FILE, or a data set that has them",
    "guess": "give a classifier's probabilities for the tasks: --guess FILE",
    "dynamics": "record them while a classifier is trained, and give the file: --dynamics FILE",
    "worker_dynamics": "record them while one classifier a worker is trained, and give their folder: --dynamics FOLDER",
    "answers": "give what people entered: an answers table with what the score reads",
}


@dataclass(frozen=True)
class Evidence:
    """What scores may look at. A score says what it `needs`; the rest may be absent."""

    votes: Votes | None = None
    soft: SoftLabels | None = None  # what we believe of the tasks
    fit: Fit | None = None
    fits: tuple[Fit, ...] = ()  # of several methods on the same votes
    gold: SoftLabels | None = None
    guess: SoftLabels | None = None  # a classifier's probabilities
    dynamics: Dynamics | None = None
    worker_dynamics: Mapping[str, Dynamics] = field(default_factory=dict)  # of one classifier a worker
    answers: Answers | None = None


@dataclass(frozen=True)
class Identifier(Method, ABC):
    """A score of tasks, of workers or of the crowd: `value` is higher where it is worse, `raw` is the paper's.

    `needs` names fields of `Evidence` that must be there; `fitted_by` is the aggregator that makes the `Fit` (or the
    `fits`) where the caller has none.
    """

    takes: ClassVar[frozenset[str]] = frozenset()  # as of an aggregator: soft answers, counts without names
    of: ClassVar[Of]
    needs: ClassVar[tuple[str, ...]] = ("votes",)
    fitted_by: ClassVar[tuple[str, ...]] = ()

    def score(self, seen: Evidence, *, watch: Watch = quiet) -> Scores:
        """The score of every task or worker of what is seen, in the order of their names."""
        for name in self.needs:
            if not _there(getattr(seen, name)):
                raise InputError(f"{self.name()} needs {name.replace('_', ' ')}: {HOW[name]}")
        return self._score(seen, watch)

    @abstractmethod
    def _score(self, seen: Evidence, watch: Watch) -> Scores:
        """The score itself; everything it needs is there."""


def _there(found: object) -> bool:
    return found is not None and found != () and found != {}


methods: Methods[Identifier] = Methods(__package__, Identifier)
