"""What every score is, and what it may look at."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from plurivox.core.answers import Answers
from plurivox.core.errors import InputError
from plurivox.core.method import Method
from plurivox.core.progress import Progress, no_progress
from plurivox.core.registry import Methods
from plurivox.core.results import Dynamics, Fit, Scores, ScoreTarget
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

__all__ = ["Evidence", "Identifier", "methods"]

HOW = {  # what is missing -> how to get it
    "votes": "give the votes",
    "soft": "give soft labels, such as those of plurivox aggregate: --soft FILE",
    "fit": "aggregate the votes first, or let plurivox identify do it",
    "fits": "aggregate the votes by two methods or more",
    "gold": "give known labels: --gold FILE, or a data set that has them",
    "prediction": "give a classifier's probabilities for the tasks, such as those of plurivox predict: --prediction FILE",
    "dynamics": "record them while a classifier is trained (plurivox train --record visit), and give the file: "
    "--dynamics FILE; or walk plurivox recipe aum or waum",
    "worker_dynamics": "record them while one classifier a worker is trained, and give their folder: --dynamics FOLDER; "
    "or walk plurivox recipe waum-per-worker",
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
    prediction: SoftLabels | None = None  # a classifier's probabilities
    dynamics: Dynamics | None = None
    worker_dynamics: Mapping[str, Dynamics] = field(default_factory=dict)  # of one classifier a worker
    answers: Answers | None = None

    def has(self, name: str) -> bool:
        """Whether a part is there: of `a|b` one of them."""
        parts = (getattr(self, one) for one in name.split("|"))
        return any(part is not None and not (isinstance(part, tuple | Mapping) and not part) for part in parts)


@dataclass(frozen=True)
class Identifier(Method, ABC):
    """A score of tasks, of workers or of the crowd: `value` is higher where it is worse, `raw` is the paper's.

    `needs` names fields of `Evidence` that must be there, `a|b` where one of two will do; `may_use` those it looks at
    where they are there, or with other options (`must_see` says what these options need). `fitted_by` is the aggregator
    that makes the `Fit` (or those that make the `fits`) where the caller has none, and `reads` are the fields of the
    `Fit` that must not be None. `takes` says what votes may be beyond plain votes of named workers: `soft` answers,
    `counts` without names. Options are flags beside those of plurivox identify, so they need names of their own.
    """

    takes: ClassVar[frozenset[str]] = frozenset()
    of: ClassVar[ScoreTarget]
    needs: ClassVar[tuple[str, ...]] = ("votes",)
    may_use: ClassVar[tuple[str, ...]] = ()
    fitted_by: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[tuple[str, ...]] = ()

    def score(self, seen: Evidence, *, progress: Progress = no_progress) -> Scores:
        """The score of every task or worker of what is seen, in the order of their names."""
        for name in self.must_see():
            if not seen.has(name):
                raise InputError(f"{self.name()} needs {_in_words(name)}: {_how(name)}")
        self._refuse(seen)
        return self._score(seen, progress)

    def must_see(self) -> tuple[str, ...]:
        """What must be there with these options."""
        return self.needs

    @classmethod
    def looks_at(cls) -> frozenset[str]:
        """Every field of `Evidence` that it may look at."""
        return frozenset("|".join((*cls.needs, *cls.may_use)).split("|"))

    @abstractmethod
    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        """The score itself; everything it needs is there, and nothing it does not take."""

    def _refuse(self, seen: Evidence) -> None:
        """An error where votes or fit are of a kind that the score cannot take."""
        votes = seen.votes if "votes" in self.looks_at() else None
        if votes is not None and "soft" not in self.takes:
            votes.require_plain(self.name())
        if votes is not None and "counts" not in self.takes:
            votes.require_workers(self.name())
        if "fit" in self.must_see() and seen.fit is not None:
            for part in self.reads:
                if getattr(seen.fit, part) is None:
                    raise InputError(
                        f"{self.name()} reads the {part} of a fit, and {seen.fit.made_by} gives none; "
                        f"take a fit by {' or '.join(self.fitted_by)}"
                    )


def _in_words(name: str) -> str:
    return name.replace("_", " ").replace("|", " or ")


def _how(name: str) -> str:
    return "; or ".join(HOW[one] for one in name.split("|"))


methods: Methods[Identifier] = Methods(__package__, Identifier)
