"""Base classes of aggregation methods: Aggregator, and EMAggregator for methods that run EM, with their common options."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from plurivox.core.array_types import Floats, Names
from plurivox.core.errors import InputError, OptionError, first_few
from plurivox.core.method import Method, option
from plurivox.core.name_encoding import as_names, positions
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.registry import Methods
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.soft_rows_dense_sparse import DENSE_CELLS
from plurivox.core.votes import Votes
from plurivox.engine.available_memory_and_aligned_arrays import available_memory_or_none, format_bytes
from plurivox.engine.em import ParamSpace
from plurivox.engine.second_compiler import KernelCall, announce_kernels

__all__ = ["DEFAULT_METHODS", "DEFAULT_TRAINING_LABELS", "Aggregator", "EMAggregator", "methods"]

LEAN_METHODS = ("one-coin", "wawa", "plantnet", "majority-vote")  # suggested if a method needs too much memory


@dataclass(frozen=True)
class Aggregator(Method, ABC):
    """Base class of aggregation methods: turn votes into a `Fit` with soft labels and, for most methods, worker abilities.

    `takes` lists the inputs that a method accepts beyond plain votes of named workers: `soft` answers, vote `counts` without
    worker names, known labels (`gold`), and an earlier fit to `start` from. Contract tests check that all others raise errors.
    A method that uses the `order` of the labels lists it, too; all others give the same result with ordered labels.

    `estimates` declares what the soft labels are: `truth`, the probability that a label is right, or `people`, the probability
    that a person drawn from the crowd gives it. `fit` writes it into the soft labels.
    """

    takes: ClassVar[frozenset[str]] = frozenset()
    estimates: ClassVar[Estimand] = "unknown"
    numbers_workers_and_labels: ClassVar[bool] = False  # worker * n_labels + label must be below 2^32

    def fit(
        self,
        votes: Votes,
        *,
        gold: SoftLabels | None = None,
        start: Fit | None = None,
        progress: Progress = no_progress,
    ) -> Fit:
        """Aggregate the votes of all workers: return a `Fit` with a soft label for each task, in the order of `votes.tasks`.

        `gold` are known labels, `start` an earlier fit to start from. Raise InputError if the method does not take an input.
        """
        self._raise_if_input_unsuitable(votes, gold, start)
        self._raise_if_memory_insufficient(votes)
        try:
            with announce_kernels(lambda: self.kernel_calls(votes)):
                fit = self._fit(votes, gold, start, progress)
        except MemoryError as error:  # other processes, or a limit that cannot be read, leave less than the estimate
            raise InputError(f"{self._memory_text(votes)}, and there is less: {error}") from error
        return fit.with_soft(replace(fit.soft, estimates=self.estimated_quantity()))

    @abstractmethod
    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        """Return the fit of checked votes (at least one task and label); `start` is an earlier fit to start from."""

    def kernel_calls(self, votes: Votes) -> Sequence[KernelCall]:
        """Return the kernels that a fit of such votes calls, with example arguments: two processes compile them at first use.

        Kernels that are not listed are compiled in this process alone.
        """
        del votes
        return ()

    def estimated_peak_floats(self, votes: Votes) -> int:
        """Return an estimate of the memory of a fit at its peak, beside the votes, as a number of float64.

        This one is for methods that store only labels with votes; their soft labels are dense if the table is small.
        """
        cells = votes.n_tasks * votes.n_labels
        return 4 * (cells if cells <= DENSE_CELLS else 0) + 12 * (len(votes) + votes.n_workers + votes.n_tasks)

    def accepted_inputs(self) -> frozenset[str]:
        """Return which of "soft", "counts", "gold", "start" and "order" the method accepts with its current options."""
        return self.takes

    def estimated_quantity(self) -> Estimand:
        """Return what the soft labels of the method estimate with its current options: truth, people or unknown."""
        return self.estimates

    def _raise_if_input_unsuitable(self, votes: Votes, gold: SoftLabels | None, start: Fit | None) -> None:
        """Raise InputError if the votes have no tasks or labels, or if an input is given that the method does not accept."""
        takes = self.accepted_inputs()
        if not votes.n_labels or not votes.n_tasks:
            raise InputError(f"{self.name()} needs at least one task and one label; the votes have none")
        if "soft" not in takes:
            votes.require_no_soft_answers(self.name())
        if "counts" not in takes:
            votes.require_worker_names(
                self.name(),
                ": use majority-vote or two-third, or ask what people say, for_='people' (--for people): "
                "calibrated-shares, vote-shares"
                if self.estimated_quantity() == "truth"
                else ": try vote-shares",
            )
        if gold is not None and "gold" not in takes:
            raise InputError(f"{self.name()} cannot use known labels; leave gold out")
        if start is not None and "start" not in takes:
            raise InputError(f"{self.name()} cannot start from an earlier fit; leave start out")

    def _raise_if_memory_insufficient(self, votes: Votes) -> None:
        """Raise InputError if the estimated memory of a fit exceeds the available memory, or worker * label exceeds 32 bits."""
        have = available_memory_or_none()
        if not self.fits_into_memory(votes, have):
            free = "that is out of range" if have is None else f"{format_bytes(have)} are available"
            raise InputError(f"{self._memory_text(votes)}; {free}. {self._advice_if_too_large(votes, have)}")

    def fits_into_memory(self, votes: Votes, available_bytes: int | None) -> bool:
        """Return whether the estimated memory of a fit is available (None: unknown) and its worker and label numbers fit."""
        if self.numbers_workers_and_labels and votes.n_workers * votes.n_labels >= 2**32:
            return False
        return available_bytes is None or 8 * self.estimated_peak_floats(votes) <= available_bytes

    def _memory_text(self, votes: Votes) -> str:
        """Return the estimated memory of a fit of the votes as text, for error messages."""
        return (
            f"{self.name()} needs about {format_bytes(8 * self.estimated_peak_floats(votes))} for {votes.n_workers:,} "
            f"workers, {votes.n_labels:,} labels and {votes.n_tasks:,} tasks"
        )

    def _advice_if_too_large(self, votes: Votes, available_bytes: int | None) -> str:
        """Return a text that names methods that need less memory and fit into the available memory."""
        wanted = {"soft"} if votes.answer is not None else set()
        wanted |= {"counts"} if len(votes) and bool((votes.worker < 0).any()) else set()
        found = [
            f"{name} (about {format_bytes(8 * method.estimated_peak_floats(votes))})"
            for name in LEAN_METHODS
            if wanted <= (method := methods.make(name)).accepted_inputs()
            and method.fits_into_memory(votes, available_bytes)
        ]
        return f"Use one of {', '.join(found)}, or fewer labels" if found else "Use fewer tasks or labels"


methods: Methods[Aggregator] = Methods(__package__, Aggregator)

DEFAULT_METHODS: dict[Estimand, str] = {
    "truth": "log-pool",
    "people": "calibrated-shares",
}  # used if no method is named
# What a net is to estimate -> aggregator of its training labels. Not the defaults above: a net averages over tasks itself, so
# the background of log-pool only makes it less certain, and no label was closer to held-out votes than vote shares: see
# docs/training.md.
DEFAULT_TRAINING_LABELS: dict[Estimand, str] = {
    "truth": "log-pool[background=0,single=0]",
    "people": "vote-shares",
    "unknown": "vote-shares",
}


@dataclass(frozen=True)
class EMAggregator(Aggregator):
    """Base class of aggregators that run EM: they take soft answers, clamp gold labels and can start from an earlier fit."""

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold", "start"})

    def run_em_arguments(
        self, votes: Votes, progress: Progress, space: ParamSpace[Any] | None = None
    ) -> dict[str, Any]:
        """Return the arguments max_iter, tol (per vote, times the votes), progress and space (if accelerated) of `run_em`."""
        options = vars(self)
        accelerated = space if options.get("accelerate") else None
        tol = options["tol"] * votes.n_answers
        return {"max_iter": options["max_iter"], "tol": tol, "progress": progress, "space": accelerated}

    def fixed_prior(self, labels: Names) -> Floats | None:
        """(n_labels,) the label prior parsed from the option `prior`; None if it is learnt. Raise OptionError if not valid.

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
            share = np.array([float(number) for number in shares])
        except ValueError:
            raise OptionError(
                f"prior must be learnt, even, or shares such as .7/.3 or no=.7/yes=.3; got {text!r}"
            ) from None
        if any(names):
            place = positions(as_names(names), labels)
            if len(share) != len(labels) or (place < 0).any():
                raise OptionError(
                    f"prior must name every label once; {first_few(labels[place < 0])} is missing in {text!r}"
                )
            share = share[place]
        if len(share) != len(labels) or not (share >= 0).all() or not 0 < share.sum() < np.inf:
            raise OptionError(
                f"prior needs {len(labels)} shares, 0 or more, for the labels {first_few(labels)}; got {text!r}"
            )
        return share / share.sum()

    def estimated_peak_floats(self, votes: Votes) -> int:
        """Return the estimate of a posterior of every task, stored densely, and of a few numbers per worker and vote."""
        dense = votes.n_tasks * votes.n_labels
        return 3 * dense + self.estimated_worker_table_floats(votes) + 20 * votes.n_workers + 6 * len(votes)

    def estimated_worker_table_floats(self, votes: Votes) -> int:
        """Return the number of float64 of all tables per worker that are in memory at once; 0: a few numbers per worker."""
        del votes
        return 0


# ---- options: one function each, since the fields of a base class would come first in help, repr and specs


def prior_option(default: str = "learnt") -> Any:
    """Return the definition of the option `prior` (the label prior: learnt, even or shares) for an EM aggregator."""
    return option(
        default, "prior of the labels: learnt, even, or shares in the order of the labels such as .7/.3 or no=.7/yes=.3"
    )


def max_iter_option(default: int = 100, help_suffix: str = "") -> Any:
    """Return the definition of the option `max_iter` of an EM aggregator; `help_suffix` is appended to its help text."""
    return option(default, f"maximum number of passes over the votes{help_suffix}", low=1)


def tol_option(default: float = 1e-6) -> Any:
    """Return the definition of the option `tol` of an EM aggregator: the minimum gain of the objective per pass and vote."""
    return option(default, "stop when a pass improves the objective by less than this, in nats per vote", low=0)


def accelerate_option() -> Any:
    """Return the definition of the option `accelerate` of an EM aggregator, which turns on SQUAREM steps."""
    return option(True, "accelerate EM by SQUAREM steps; steps that do not improve the objective are undone")
