"""Base class of aggregation methods that combine the soft labels of other methods, their parts."""

from abc import abstractmethod
from typing import NamedTuple

from plurivox.aggregate._contract import Aggregator, EMAggregator, methods
from plurivox.core.errors import OptionError
from plurivox.core.method import split_at_commas_outside_brackets
from plurivox.core.progress_callbacks import Progress, callback_reporting_only_outer_step
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.second_compiler import KernelCall


class FittedParts(NamedTuple):
    """The fits of the parts without their confusion matrices, which need much memory, and whether all converged."""

    softs: list[SoftLabels]
    fits: list[Fit]  # those kept whole; empty unless asked for
    converged: bool | None  # None: no part iterates
    found: dict[str, int]  # numbers of parts, and of parts that did not converge


class MethodWithParts(Aggregator):
    """Base class of methods with the option `parts`, a text that lists other aggregation methods.

    It takes the inputs that all parts take, gold labels if one of them does; and it estimates people if all of them do, else
    the truth.
    """

    parts: str  # the field of the subclass

    def methods_of_parts(self) -> list[Aggregator]:
        """Return the aggregation methods listed in the option `parts`; raise OptionError if there are none."""
        made = [methods.make(spec) for spec in split_at_commas_outside_brackets(self.parts)]
        if not made:
            raise OptionError(f"{self.name()}: parts is empty; list methods, such as parts=[vote-shares,wawa]")
        return made

    def kernel_calls(self, votes: Votes) -> list[KernelCall]:
        return [call for part in self.methods_of_parts() for call in part.kernel_calls(votes)]

    def fit_parts(
        self, votes: Votes, gold: SoftLabels | None, progress: Progress, keep_fits: bool = False
    ) -> FittedParts:
        """Fit every part to the votes, with the gold labels if it takes them."""
        parts, softs, fits, ends = self.methods_of_parts(), [], [], []
        for step, part in enumerate(parts):
            known = gold if "gold" in part.accepted_inputs() else None
            fit = part.fit(votes, gold=known, progress=callback_reporting_only_outer_step(progress, step, len(parts)))
            softs.append(fit.soft)
            fits += [fit] if keep_fits else []
            ends += [fit.converged] if fit.converged is not None else []
            progress(step, len(parts))
        found = {"parts": len(parts), "parts not converged": ends.count(False)}
        return FittedParts(softs, fits, all(ends) if ends else None, found)

    def fits_into_memory(self, votes: Votes, available_bytes: int | None) -> bool:
        own = super().fits_into_memory(votes, available_bytes)
        return own and all(part.fits_into_memory(votes, available_bytes) for part in self.methods_of_parts())

    def _advice_if_too_large(self, votes: Votes, available_bytes: int | None) -> str:
        parts = self.methods_of_parts()
        fitting = [part for part in parts if part.fits_into_memory(votes, available_bytes)]
        too_large = [part.spec for part in parts if part not in fitting]
        sparse = [part for part in fitting if not isinstance(part, EMAggregator)]
        for few in (fitting, sparse):  # dense soft labels may not fit together, although each of them does
            specs = ",".join(part.spec for part in few)
            if len(few) > 1 and self.with_parts(specs).fits_into_memory(votes, available_bytes):
                left = f"The parts {', '.join(too_large)} do not fit. " if too_large else ""
                return f"{left}Use fewer parts: parts=[{specs}] (--parts {specs})"
        return super()._advice_if_too_large(votes, available_bytes)

    @abstractmethod
    def with_parts(self, parts: str) -> Aggregator:
        """Return this method with other parts, of equal weight."""

    def estimated_quantity(self) -> Estimand:
        """Return people if all parts estimate what people say, else truth."""
        return "people" if {part.estimated_quantity() for part in self.methods_of_parts()} == {"people"} else "truth"

    def accepted_inputs(self) -> frozenset[str]:
        inputs = [part.accepted_inputs() for part in self.methods_of_parts()]
        one_is_enough = {"gold"} | (frozenset.union(*inputs) & {"order"})
        return (frozenset.intersection(*inputs) - {"start"}) | one_is_enough
