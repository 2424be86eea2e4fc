"""What every aggregator is."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.errors import InputError
from plurivox.core.method import Method
from plurivox.core.progress import Watch, quiet
from plurivox.core.registry import Methods
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

__all__ = ["Aggregator", "methods"]


@dataclass(frozen=True)
class Aggregator(Method, ABC):
    """Votes in, a `Fit` (soft labels, abilities of workers) out.

    `takes` says what a method can use beyond plain votes of named workers: `soft` answers, `counts` without names,
    known labels (`gold`), an earlier fit to `start` from. Contract tests try each and expect clear errors for the rest.
    """

    takes: ClassVar[frozenset[str]] = frozenset()

    def fit(
        self, votes: Votes, *, gold: SoftLabels | None = None, start: Fit | None = None, watch: Watch = quiet
    ) -> Fit:
        """Answer for every task of `votes`, in the order of `votes.tasks`."""
        self._refuse(votes, gold, start)
        return self._fit(votes, gold, start, watch)

    @abstractmethod
    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, watch: Watch) -> Fit:
        """The method itself; `votes` hold at least one label, and nothing it does not take."""

    def can_take(self) -> frozenset[str]:
        """What it takes with these options: a method made of others takes what they take."""
        return self.takes

    def _refuse(self, votes: Votes, gold: SoftLabels | None, start: Fit | None) -> None:
        takes = self.can_take()
        if not votes.n_labels or not votes.n_tasks:
            raise InputError(f"{self.name()} needs at least one task and one label; the votes have none")
        if "soft" not in takes:
            votes.require_plain(self.name())
        if "counts" not in takes:
            votes.require_workers(self.name(), ": try vote-shares")
        if gold is not None and "gold" not in takes:
            raise InputError(f"{self.name()} cannot use known labels; leave gold out")
        if start is not None and "start" not in takes:
            raise InputError(f"{self.name()} cannot start from an earlier fit; leave start out")


methods: Methods[Aggregator] = Methods(__package__, Aggregator)
