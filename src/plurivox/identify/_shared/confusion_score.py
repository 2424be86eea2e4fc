"""Scores of workers that are one number of their confusion matrix."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.errors import InputError
from plurivox.core.progress import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.types import Floats
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.requirements import workload


@dataclass(frozen=True)
class ConfusionScore(Identifier):
    """A score of workers by their confusion matrices; raw / `best` is 1 for a worker who is always right.

    The fit by default draws the matrices to the whole crowd's (pool=4): that of a worker with few votes would otherwise be
    made mostly of pseudo-counts.
    """

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[ScoreTarget] = "worker"
    needs: ClassVar[tuple[str, ...]] = ("fit",)
    may_use: ClassVar[tuple[str, ...]] = ("votes",)
    fitted_by: ClassVar[tuple[str, ...]] = ("dawid-skene[pool=4]",)
    reads: ClassVar[tuple[str, ...]] = ("confusion",)

    @abstractmethod
    def of_matrices(self, matrices: Floats) -> Floats:
        """(n_matrices,) the raw score of (n_matrices, true, said) confusion matrices over two labels or more."""

    def best(self, n_labels: int) -> float:
        """The raw score of a worker who is always right."""
        del n_labels
        return 1.0

    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        del progress
        assert seen.fit is not None
        assert seen.fit.confusion is not None
        confusion, n_labels = seen.fit.confusion, len(seen.fit.confusion.labels)
        if n_labels < 2:
            raise InputError(f"{self.name()} needs two labels or more; the fit has {n_labels}")
        each = self.of_matrices(confusion.matrices)
        raw = each if confusion.which is None else each[confusion.which]
        value = 1 - raw / self.best(n_labels)
        return Scores("worker", confusion.workers, value, self.spec, raw=raw, n=workload(seen, confusion.workers))
