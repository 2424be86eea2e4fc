"""Aggregation method average: the mean of the soft labels of several aggregation methods."""

from dataclasses import dataclass, replace
from typing import ClassVar

from plurivox.aggregate._contract import Aggregator, methods
from plurivox.core.errors import OptionError
from plurivox.core.method import option, split_at_commas_outside_brackets
from plurivox.core.progress_callbacks import Progress, callback_reporting_only_outer_step
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_transforms import mean_of_soft_labels, overlay
from plurivox.core.votes import Votes

DEFAULT_PARTS = (
    "vote-shares,wawa,one-coin,fast-dawid-skene,dawid-skene[smooth=0.01],dawid-skene[pool=4],ibcc,ebcc,mace,glad"
)


@dataclass(frozen=True)
class Average(Aggregator):
    """Average the soft labels of several aggregation methods (ten by default) with equal weights.

    p(k | task) = 1/M sum_m p_m(k | task) over the M parts. Where the parts disagree, the mean is less certain
    than the parts are on average. The default parts are vote shares, wawa, one-coin, fast Dawid-Skene, Dawid-Skene with
    pseudo-counts of 0.01, Dawid-Skene with a pooled prior of strength 4, IBCC, EBCC, MACE and GLAD. `parts` sets another
    list.

    Parts that take gold labels use them; a task with a gold label keeps it in the mean.

    Wright and Augenstein (2025) average soft labels in this way for training, https://doi.org/10.1371/journal.pone.0323064

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

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del start
        parts = self.methods_to_average()
        fits = []
        for step, part in enumerate(parts):
            known = gold if "gold" in part.accepted_inputs() else None
            fits.append(
                part.fit(votes, gold=known, progress=callback_reporting_only_outer_step(progress, step, len(parts)))
            )
            progress(step, len(parts))
        soft = replace(mean_of_soft_labels([fit.soft for fit in fits]), support=votes.support, scale=votes.scale)
        ends = [fit.converged for fit in fits if fit.converged is not None]
        found = {"parts": len(fits), "parts not converged": ends.count(False)}
        return Fit(
            soft if gold is None else overlay(soft, gold),
            votes.workers,
            self.spec,
            converged=all(ends) if ends else None,
            found=found,
        )

    def accepted_inputs(self) -> frozenset[str]:
        shared = frozenset.intersection(*(part.accepted_inputs() for part in self.methods_to_average()))
        return (shared - {"start"}) | {"gold"}
