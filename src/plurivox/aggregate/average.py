"""Aggregation method average: the mean of the soft labels of several aggregation methods."""

from dataclasses import dataclass, replace
from typing import ClassVar

from plurivox.aggregate._contract import Aggregator, EMAggregator, methods
from plurivox.core.errors import OptionError
from plurivox.core.method import option, split_at_commas_outside_brackets
from plurivox.core.progress_callbacks import Progress, callback_reporting_only_outer_step
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.soft_rows_dense_sparse import DENSE_CELLS
from plurivox.core.soft_transforms import mean_of_soft_labels, overlay
from plurivox.core.votes import Votes

DEFAULT_PARTS = (
    "vote-shares,wawa,one-coin,fast-dawid-skene,dawid-skene[smooth=0.01],dawid-skene[pool=4],ibcc,ebcc,mace,glad"
)


@dataclass(frozen=True)
class Average(Aggregator):
    """Average the soft labels of several aggregation methods (ten by default) with equal weights.

    p(k | task) = 1/M sum_m p_m(k | task) over the M parts. Where the parts disagree, the mean is less certain than the parts
    are on average. The default parts were chosen in an earlier study on 11 data sets with gold labels, ten of which are in
    docs/comparison.md: vote shares, wawa, one-coin, fast Dawid-Skene, Dawid-Skene with pseudo-counts of 0.01, Dawid-Skene
    with a pooled prior of strength 4, IBCC, EBCC, MACE and GLAD. `parts` sets another list.

    Parts that take gold labels use them; a task with a gold label keeps it in the mean.

    Wright and Augenstein (2025) average aggregated labels for training, https://doi.org/10.1371/journal.pone.0323064

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=["no", "no", "yes", "yes", "no", "yes"])
    >>> fit = Average(parts="vote-shares, majority-vote[ties=share]").fit(votes)
    >>> fit.soft.prob.round(3), fit.made_by
    (array([[0.833, 0.167],
           [0.167, 0.833]]), 'average[parts=[vote-shares, majority-vote[ties=share]]]')
    """

    parts: str = option(DEFAULT_PARTS, "comma-separated aggregation methods whose soft labels are averaged")

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold"})

    def methods_to_average(self) -> list[Aggregator]:
        """Return the aggregation methods to average, parsed from the option `parts`; raise OptionError if there are none."""
        made = [methods.make(spec) for spec in split_at_commas_outside_brackets(self.parts)]
        if not made:
            raise OptionError("average: parts is empty; list methods, such as parts=[vote-shares,wawa]")
        return made

    def estimated_peak_floats(self, votes: Votes) -> int:
        parts, dense = self.methods_to_average(), votes.n_tasks * votes.n_labels
        n_dense = sum(isinstance(part, EMAggregator) for part in parts) if dense > DENSE_CELLS else len(parts)
        lists = 4 if dense > DENSE_CELLS else 0  # of the labels with a probability above 0, beside the soft labels
        kept = (1 + lists) * n_dense * dense + 12 * len(parts) * len(votes)
        return max(part.estimated_peak_floats(votes) for part in parts) + kept

    def fits_into_memory(self, votes: Votes, available_bytes: int | None) -> bool:
        own = super().fits_into_memory(votes, available_bytes)
        return own and all(part.fits_into_memory(votes, available_bytes) for part in self.methods_to_average())

    def _advice_if_too_large(self, votes: Votes, available_bytes: int | None) -> str:
        parts = self.methods_to_average()
        fitting = [part for part in parts if part.fits_into_memory(votes, available_bytes)]
        too_large = [part.spec for part in parts if part not in fitting]
        sparse = [part for part in fitting if not isinstance(part, EMAggregator)]
        for few in (fitting, sparse):  # the mean of dense soft labels may not fit, although each of them does
            specs = ",".join(part.spec for part in few)
            if len(few) > 1 and replace(self, parts=specs).fits_into_memory(votes, available_bytes):
                left = f"The parts {', '.join(too_large)} do not fit. " if too_large else ""
                return f"{left}Average fewer parts: parts=[{specs}] (--parts {specs})"
        return super()._advice_if_too_large(votes, available_bytes)

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del start
        parts = self.methods_to_average()
        softs, ends = [], []  # not the fits: confusion matrices need much memory
        for step, part in enumerate(parts):
            known = gold if "gold" in part.accepted_inputs() else None
            fit = part.fit(votes, gold=known, progress=callback_reporting_only_outer_step(progress, step, len(parts)))
            softs.append(fit.soft)
            ends += [fit.converged] if fit.converged is not None else []
            progress(step, len(parts))
        soft = replace(mean_of_soft_labels(softs), support=votes.support, scale=votes.scale)
        found = {"parts": len(parts), "parts not converged": ends.count(False)}
        return Fit(
            soft if gold is None else overlay(soft, gold),
            votes.workers,
            self.spec,
            converged=all(ends) if ends else None,
            found=found,
        )

    def estimated_quantity(self) -> Estimand:
        """Return people if all parts estimate what people say, else truth."""
        return "people" if {part.estimated_quantity() for part in self.methods_to_average()} == {"people"} else "truth"

    def accepted_inputs(self) -> frozenset[str]:
        inputs = [part.accepted_inputs() for part in self.methods_to_average()]
        one_is_enough = {"gold"} | (frozenset.union(*inputs) & {"order"})
        return (frozenset.intersection(*inputs) - {"start"}) | one_is_enough
