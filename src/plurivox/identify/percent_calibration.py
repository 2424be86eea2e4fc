"""Calibration of a worker's stated percents."""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.array_types import Floats, Ints
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.one_answer_per_worker import is_first_answer_of_worker_to_task
from plurivox.core.parse_typed_percents import parse_percents
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.soft_labels import SoftLabels
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.crowd_agreement_coefficients import REPEATED_HELP
from plurivox.identify._shared.group_sums import divide_or_nan, sum_by_group
from plurivox.identify._shared.score_intervals import RESAMPLES_HELP, bootstrap_interval_95_over_tasks
from plurivox.identify._shared.share_of_others_agreeing_per_vote import share_of_others_agreeing
from plurivox.identify._shared.workers_gold_times_from_evidence import gold_label_codes


class StatedPercents(NamedTuple):
    """Answers with a percent for their top label: task, worker, bin of the percent, stated minus actual percent."""

    task: Ints  # (n,)
    worker: Ints  # (n,)
    bin: Ints  # (n,) the bin of the percent
    gap: Floats  # (n,) the percent minus 100 times the correctness


@dataclass(frozen=True)
class PercentCalibration(Identifier):
    """Calibration of a worker: the percent stated for the top label minus the percent of answers that are right, in points.

    An answer is right if its top label is the known one (gold), or to the extent that the other workers name it too (rest;
    of a worker's repeated answers to a task only the first is used unless `repeated` is all).
    A worker's answers are put into `bins` by the percent stated; the gap of a bin is the mean percent minus the percentage
    of right answers. error: the mean absolute gap, weighted by answers. overconfidence: the mean signed gap, above 0 for an
    overconfident worker. `raw` uses the worker's answers only. Few answers have large gaps by chance, so `badness` is not a
    monotone function of raw: for it, each gap is shrunk towards the whole crowd's, which counts as `shrink` answers. The
    interval of raw is that of resamples, shifted to be centred at raw. `n` is the number of answers used. Percents that
    cannot be read or are outside 0 to 100 are left out.

    Lichtenstein, Fischhoff & Phillips (1982), https://doi.org/10.1017/CBO9780511809477.023

    >>> marks = [[("named", "cat", "90")], [("named", "cat", "90")], [("named", "dog", "50")], [("named", "dog", "50")]]
    >>> answers = Answers.of(list("abcd"), ["ann"] * 4, marks)
    >>> gold = SoftLabels.gold(list("abcd"), ["cat", "dog", "dog", "cat"])
    >>> PercentCalibration(against="gold").score(Evidence(answers=answers, gold=gold)).raw
    array([20.])
    """

    against: Literal["rest", "gold"] = option(
        "rest", "compare with the answers of the other workers, or with known labels"
    )
    measure: Literal["error", "overconfidence"] = option(
        "error", "mean absolute or mean signed gap between the percent stated and the percent right"
    )
    bins: int = option(5, "number of equally wide bins of the stated percents", low=1, high=100)
    shrink: float = option(5.0, "weight of the whole crowd's gap in each bin, as a number of answers", low=0)
    repeated: Literal["first", "all"] = option("first", REPEATED_HELP)
    resamples: int = option(0, RESAMPLES_HELP, low=0)
    seed: int = option(0, "seed of the bootstrap; the same seed gives the same interval", low=0)

    of: ClassVar[ScoreTarget] = "worker"
    needs: ClassVar[tuple[str, ...]] = ("answers",)
    may_use: ClassVar[tuple[str, ...]] = ("gold",)
    is_badness_monotone_in_raw: ClassVar[bool] = False

    def required_evidence(self) -> tuple[str, ...]:
        return ("answers", "gold") if self.against == "gold" else ("answers",)

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        assert evidence.answers is not None
        answers = evidence.answers
        stated = self._usable_stated_percents(answers, evidence.gold)
        n_workers, n_tasks = len(answers.workers), len(answers.tasks)
        every = np.ones(len(stated.task))
        badness, raw = (
            self._calibration_gap_per_worker(stated, every, n_workers, shrink) for shrink in (self.shrink, 0.0)
        )
        low, high = bootstrap_interval_95_over_tasks(
            stated.task,
            n_tasks,
            self.resamples,
            self.seed,
            progress,
            lambda weights: self._calibration_gap_per_worker(stated, weights, n_workers, 0.0),
            centre=raw,
        )
        if low is not None and self.measure == "error":
            low = np.maximum(low, 0)
        n = sum_by_group(stated.worker, n_workers)
        return Scores("worker", answers.workers, raw, badness, self.spec, low=low, high=high, n=n)

    def _usable_stated_percents(self, answers: Answers, gold: SoftLabels | None) -> StatedPercents:
        """Return the usable percents that were stated for top labels; raise InputError if there are none."""
        top, percent = answers.label_codes_at_rank(0), parse_percents(answers.typed_texts_at_rank(0)).value
        usable = (answers.worker >= 0) & (top >= 0) & (percent >= 0) & (percent <= 100)
        if not usable.any():
            raise InputError(f"{self.name()} needs percents beside the top labels; these answers have none")
        right = self._top_label_correct_or_share_agreeing(answers, top, gold)
        usable &= ~np.isnan(right)
        if not usable.any():
            raise InputError(
                f"{self.name()}: no other worker answered the same tasks; compare with known labels: against=gold"
            )
        stated = percent[usable]
        bin_ = np.minimum(stated * self.bins // 100, self.bins - 1).astype(np.int64)
        return StatedPercents(answers.task[usable], answers.worker[usable], bin_, stated - 100 * right[usable])

    def _top_label_correct_or_share_agreeing(
        self, answers: Answers, top_label: Ints, gold: SoftLabels | None
    ) -> Floats:
        """Return (n_answers,) whether each top label is the gold label, or the share of others who agree; nan if unknown."""
        right = np.full(len(answers), np.nan)
        if self.against == "gold":
            assert gold is not None
            true = gold_label_codes(gold, answers.tasks, answers.labels, self.name())[answers.task]
            return np.where(true == -1, np.nan, (top_label == true).astype(np.float64))
        counted = top_label >= 0
        if self.repeated == "first":
            counted &= is_first_answer_of_worker_to_task(answers)
        named = np.flatnonzero(counted)
        right[named] = share_of_others_agreeing(answers.task[named], answers.worker[named], top_label[named], None)
        return right

    def _calibration_gap_per_worker(
        self, stated: StatedPercents, answer_weights: Floats, n_workers: int, shrink: float
    ) -> Floats:
        """Return (n_workers,) stated percent minus percent right of each worker, over weighted answers; nan without answers."""
        cell, shape = stated.worker.astype(np.int64) * self.bins + stated.bin, (n_workers, self.bins)
        n = sum_by_group(cell, n_workers * self.bins, answer_weights).reshape(shape)
        gap = sum_by_group(cell, n_workers * self.bins, answer_weights * stated.gap).reshape(shape)
        crowd = gap.sum(0) / np.maximum(n.sum(0), 1e-300)  # (bins,)
        mean = np.divide(gap + shrink * crowd, n + shrink, out=np.zeros(shape), where=n > 0)
        size = np.abs(mean) if self.measure == "error" else mean
        return divide_or_nan((n * size).sum(1), n.sum(1))
