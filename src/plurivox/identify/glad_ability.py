"""Ability of a worker estimated by GLAD."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.workers_gold_times_from_evidence import count_answers_per_worker


@dataclass(frozen=True)
class GladAbility(Identifier):
    """Ability of a worker estimated by GLAD, in which errors on hard tasks count less than errors on easy ones.

    `raw` is the ability alpha, below 0 for a worker who is wrong more often than right;
    badness = -alpha.

    Whitehill, Ruvolo, Wu, Bergsma & Movellan (2009), Whose vote should count more, NeurIPS 22.

    >>> import plurivox as pv
    >>> votes = pv.votes(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxy"))
    >>> GladAbility().score(Evidence(fit=pv.fit(votes, "glad"))).raw.round(2)
    array([ 1.14,  1.14, -0.49])
    """

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[ScoreTarget] = "worker"
    needs: ClassVar[tuple[str, ...]] = ("fit",)
    may_use: ClassVar[tuple[str, ...]] = ("votes",)
    fitted_by: ClassVar[tuple[str, ...]] = ("glad",)
    fit_fields: ClassVar[tuple[str, ...]] = ("ability", "difficulty")  # without difficulty, abilities are not GLAD's

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        del progress
        fit = evidence.fit
        assert fit is not None and fit.ability is not None
        return Scores(
            "worker",
            fit.workers,
            fit.ability,
            -fit.ability,
            self.spec,
            low=fit.ability_low,
            high=fit.ability_high,
            n=count_answers_per_worker(evidence, fit.workers),
        )
