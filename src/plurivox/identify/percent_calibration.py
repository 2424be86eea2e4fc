"""Whether 70 means 70: stated percents against how often they come true."""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.progress import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.typed_percents import parse_percents
from plurivox.core.types import Floats, Ints
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.group_sums import quotient, sum_by
from plurivox.identify._shared.intervals import RESAMPLES_HELP, worker_spread
from plurivox.identify._shared.requirements import true_codes
from plurivox.identify._shared.rest_agreement import share_of_rest


class Stated(NamedTuple):
    """Answers that state a percent from 0 to 100 beside their top label, and can be checked."""

    task: Ints  # (n,)
    worker: Ints  # (n,)
    bin: Ints  # (n,) which bin of percents
    gap: Floats  # (n,) the percent, less 100 where it came true


@dataclass(frozen=True)
class PercentCalibration(Identifier):
    """Whether 70 means 70: the percent a worker states for the top label against how often it is right, in points.

    An answer is right if its top label is the known one (gold), or as much as the rest of the crowd names it too. A
    worker's answers go into `bins` of the percent stated; in each, the gap is the mean percent less the per cent that
    are right. error: the mean size of the gaps, weighted by answers. overconfidence: the mean gap with its sign, above 0
    for who is too sure. `raw` is that of the worker's answers alone; with few answers chance alone makes gaps, so in
    `value` each gap is drawn towards the whole crowd's with the strength of `shrink` answers. `n` is how many answers it
    rests on. Percents that cannot be read or lie beyond 0 to 100 are left out.

    Lichtenstein, Fischhoff & Phillips (1982), https://doi.org/10.1017/CBO9780511809477.023

    >>> marks = [[("named", "cat", "90")], [("named", "cat", "90")], [("named", "dog", "50")], [("named", "dog", "50")]]
    >>> answers = Answers.of(list("abcd"), ["ann"] * 4, marks)
    >>> gold = SoftLabels.gold(list("abcd"), ["cat", "dog", "dog", "cat"])
    >>> PercentCalibration(against="gold").score(Evidence(answers=answers, gold=gold)).raw
    array([20.])
    """

    against: Literal["rest", "gold"] = option("rest", "what is right: what the rest of the crowd says, or known labels")
    measure: Literal["error", "overconfidence"] = option("error", "size of the gaps, or their mean with its sign")
    bins: int = option(5, "equally wide bins of the percent stated", low=1, high=100)
    shrink: float = option(5.0, "strength, in answers, of the whole crowd's gap in a bin", low=0)
    resamples: int = option(0, RESAMPLES_HELP, low=0)
    seed: int = option(0, "same seed, same interval", low=0)

    of: ClassVar[ScoreTarget] = "worker"
    needs: ClassVar[tuple[str, ...]] = ("answers",)
    may_use: ClassVar[tuple[str, ...]] = ("gold",)

    def must_see(self) -> tuple[str, ...]:
        return ("answers", "gold") if self.against == "gold" else ("answers",)

    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        assert seen.answers is not None
        answers = seen.answers
        stated = self._stated(answers, seen.gold)
        n_workers, n_tasks = len(answers.workers), len(answers.tasks)
        every = np.ones(len(stated.task))
        value, raw = (self._calibration(stated, every, n_workers, shrink) for shrink in (self.shrink, 0.0))
        low, high = worker_spread(
            stated.task,
            n_tasks,
            self.resamples,
            self.seed,
            progress,
            lambda times: self._calibration(stated, times, n_workers, self.shrink),
        )
        n = sum_by(stated.worker, n_workers)
        return Scores("worker", answers.workers, value, self.spec, raw=raw, low=low, high=high, n=n)

    def _stated(self, answers: Answers, gold: SoftLabels | None) -> Stated:
        top, percent = answers.named(0), parse_percents(answers.typed(0)).value
        usable = (answers.worker >= 0) & (top >= 0) & (percent >= 0) & (percent <= 100)
        if not usable.any():
            raise InputError(f"{self.name()} needs percents beside the top labels; these answers state none")
        right = self._right(answers, top, gold)
        usable &= ~np.isnan(right)
        if not usable.any():
            raise InputError(
                f"{self.name()}: no other worker answered the same tasks; go by known labels: against=gold"
            )
        said = percent[usable]
        place = np.minimum(said * self.bins // 100, self.bins - 1).astype(np.int64)
        return Stated(answers.task[usable], answers.worker[usable], place, said - 100 * right[usable])

    def _right(self, answers: Answers, top: Ints, gold: SoftLabels | None) -> Floats:
        """(n_answers,) how right each top label is, 0 to 1; nan where that cannot be told."""
        right = np.full(len(answers), np.nan)
        if self.against == "gold":
            assert gold is not None
            true = true_codes(gold, answers.tasks, answers.labels, self.name())[answers.task]
            return np.where(true == -1, np.nan, (top == true).astype(np.float64))
        named = np.flatnonzero(top >= 0)
        right[named] = share_of_rest(answers.task[named], answers.worker[named], top[named], None)
        return right

    def _calibration(self, stated: Stated, times: Floats, n_workers: int, shrink: float) -> Floats:
        """(n_workers,) the measure when each answer came so often; nan for who has none."""
        cell, shape = stated.worker.astype(np.int64) * self.bins + stated.bin, (n_workers, self.bins)
        n = sum_by(cell, n_workers * self.bins, times).reshape(shape)
        gap = sum_by(cell, n_workers * self.bins, times * stated.gap).reshape(shape)
        crowd = gap.sum(0) / np.maximum(n.sum(0), 1e-300)  # (bins,)
        mean = np.divide(gap + shrink * crowd, n + shrink, out=np.zeros(shape), where=n > 0)
        size = np.abs(mean) if self.measure == "error" else mean
        return quotient((n * size).sum(1), n.sum(1))
