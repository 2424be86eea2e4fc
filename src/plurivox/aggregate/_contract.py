"""What every aggregator is, and what those are that run EM: their options, and how these are read."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plurivox.core.encoding import as_names, positions
from plurivox.core.errors import InputError, OptionError, first_few
from plurivox.core.method import Method, option
from plurivox.core.progress import Progress, no_progress
from plurivox.core.registry import Methods
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats, Names
from plurivox.core.votes import Votes
from plurivox.engine.em import ParamSpace
from plurivox.engine.memory import available_memory, format_bytes

__all__ = ["Aggregator", "methods"]


@dataclass(frozen=True)
class Aggregator(Method, ABC):
    """Votes in, a `Fit` (soft labels, abilities of workers) out.

    `takes` says what a method can use beyond plain votes of named workers: `soft` answers, `counts` without names,
    known labels (`gold`), an earlier fit to `start` from. Contract tests try each and expect clear errors for the rest.
    """

    takes: ClassVar[frozenset[str]] = frozenset()

    def fit(
        self,
        votes: Votes,
        *,
        gold: SoftLabels | None = None,
        start: Fit | None = None,
        progress: Progress = no_progress,
    ) -> Fit:
        """Answer for every task of `votes`, in the order of `votes.tasks`."""
        self._refuse(votes, gold, start)
        return self._fit(votes, gold, start, progress)

    @abstractmethod
    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
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


@dataclass(frozen=True)
class EMAggregator(Aggregator):
    """An aggregator that runs EM: it can use soft answers, clamp gold labels and start from an earlier fit."""

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold", "start"})

    def em_settings(self, votes: Votes, progress: Progress, space: ParamSpace[Any] | None = None) -> dict[str, Any]:
        """Keyword arguments of `run_em` from the options `max_iter`, `tol` and, for SQUAREM in `space`, `accelerate`."""
        options = vars(self)
        accelerated = space if options.get("accelerate") else None
        tol = options["tol"] * votes.n_answers
        return {"max_iter": options["max_iter"], "tol": tol, "progress": progress, "space": accelerated}

    def fixed_prior(self, labels: Names) -> Floats | None:
        """(n_labels,) the prior that the option `prior` asks for; None: it is to be learnt.

        >>> from plurivox.aggregate import DawidSkene
        >>> DawidSkene(prior="no=1/yes=3").fixed_prior(as_names(["no", "yes"]))
        array([0.25, 0.75])
        """
        text: str = vars(self)["prior"]
        if text == "learnt":
            return None
        if text == "even":
            return np.full(len(labels), 1 / len(labels))
        names, _, shares = zip(*(part.rpartition("=") for part in text.split("/")), strict=True)
        try:
            share = np.array([float(word) for word in shares])
        except ValueError:
            raise OptionError(f"prior is learnt, even, or shares such as .7/.3 or no=.7/yes=.3; got {text!r}") from None
        if any(names):
            place = positions(as_names(names), labels)
            if len(share) != len(labels) or (place < 0).any():
                raise OptionError(
                    f"prior must name every label once; {first_few(labels[place < 0])} got none in {text!r}"
                )
            share = share[place]
        if len(share) != len(labels) or not (share >= 0).all() or not 0 < share.sum() < np.inf:
            raise OptionError(
                f"prior needs {len(labels)} shares, 0 or more, for the labels {first_few(labels)}; got {text!r}"
            )
        return share / share.sum()

    def check_memory(self, votes: Votes, cells: int | None = None) -> None:
        """Raise InputError where tables of `cells` numbers for the workers cannot fit into memory, before any is made.

        None: a confusion matrix for each worker.
        """
        cells = votes.n_workers * votes.n_labels**2 if cells is None else cells
        rows = votes.n_tasks * votes.n_labels
        need, have = 8 * (12 * cells + 3 * rows), available_memory()
        if votes.n_workers * votes.n_labels >= 2**32 or (have is not None and need > have):
            free = "far more than any machine has" if have is None else f"{format_bytes(have)} are free"
            raise InputError(
                f"{self.name()} needs about {format_bytes(need)} for {votes.n_workers:,} workers, {votes.n_labels:,} labels "
                f"and {votes.n_tasks:,} tasks; {free}. Take one-coin or wawa, which keep one number a worker, or fewer labels"
            )


# ---- options: a function each, since the fields of a base class would come first in help, repr and saved words


def prior_option(default: str = "learnt") -> Any:
    """The option `prior`, read by `EMAggregator.fixed_prior`."""
    return option(
        default, "how frequent the labels are: learnt, even, or shares in their order such as .7/.3 or no=.7/yes=.3"
    )


def max_iter_option(default: int = 100, when: str = "") -> Any:
    """The option `max_iter`; `when` is added to its help."""
    return option(default, f"most passes over the votes{when}", low=1)


def tol_option(default: float = 1e-6) -> Any:
    """The option `tol`."""
    return option(default, "stop when a pass gains less than this, in nats a vote", low=0)


def accelerate_option() -> Any:
    """The option `accelerate`: SQUAREM steps."""
    return option(True, "try longer steps, and take back those that do not pay")
