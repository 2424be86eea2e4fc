"""Base class of worker scores that are computed from a confusion matrix."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit, Scores, ScoreTarget
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.workers_gold_times_from_evidence import count_answers_per_worker


@dataclass(frozen=True)
class ConfusionScore(Identifier):
    """A score of workers from their confusion matrices; badness = 1 - raw / the raw score of a worker always right."""

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[ScoreTarget] = "worker"
    needs: ClassVar[tuple[str, ...]] = ("fit",)
    may_use: ClassVar[tuple[str, ...]] = ("votes",)
    fitted_by: ClassVar[tuple[str, ...]] = ("dawid-skene",)
    fit_fields: ClassVar[tuple[str, ...]] = ("confusion",)

    @abstractmethod
    def raw_scores_of_confusion_matrices(self, matrices: Floats) -> Floats:
        """Return (n_matrices,) the raw score of each worker's confusion matrix (n_matrices, true label, given label)."""

    def raw_score_of_perfect_worker(self, n_labels: int) -> float:
        """Return the raw score of a worker who is always right, by the number of labels."""
        del n_labels
        return 1.0

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        del progress
        assert evidence.fit is not None
        assert evidence.fit.confusion is not None
        confusion, n_labels = evidence.fit.confusion, len(evidence.fit.confusion.labels)
        if n_labels < 2:
            raise InputError(f"{self.name()} needs two labels or more; the fit has {n_labels}")
        per_matrix = self.raw_scores_of_confusion_matrices(confusion.matrices)
        raw = per_matrix if confusion.which is None else per_matrix[confusion.which]
        badness = 1 - raw / self.raw_score_of_perfect_worker(n_labels)
        n = count_answers_per_worker(evidence, confusion.workers)
        return Scores("worker", confusion.workers, raw, badness, self.spec, n=n)


@dataclass(frozen=True)
class PooledConfusionScore(ConfusionScore):
    """A score of confusion matrices that are shrunk towards the whole crowd's; it accepts no other fit."""

    fitted_by: ClassVar[tuple[str, ...]] = ("dawid-skene[pool=4]",)

    def can_use_fit(self, fit: Fit) -> bool:
        return super().can_use_fit(fit) and "pool=" in fit.made_by

    def _raise_if_evidence_unsuitable(self, evidence: Evidence) -> None:
        super()._raise_if_evidence_unsuitable(evidence)
        if evidence.fit is not None and not self.can_use_fit(evidence.fit):
            raise InputError(
                f"{self.name()} needs a fit with pooled confusion matrices, such as {self.fitted_by[0]}, and this one is by "
                f"{evidence.fit.made_by}; for that fit, use {self.name().removesuffix('-pooled')}"
            )
