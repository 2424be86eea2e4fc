"""Share of a worker's repeated answers that stayed the same."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.array_types import Ints
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.parse_typed_percents import parse_percents
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.group_sums import divide_or_nan, sum_by_group
from plurivox.identify._shared.score_intervals import wilson_interval_95


@dataclass(frozen=True)
class RepeatConsistency(Identifier):
    """Share of a worker's repeated answers with the same top label, or the mean change of their percent.

    label: `raw` is the share of the worker's repeats whose top label is that of the earlier answer, with Wilson's
    interval; badness = 1 - raw. percent: `raw` is the mean absolute change of the top label's percent, in points, over repeats
    that name the same top label; badness = raw. `n` is the number of repeats used; nan for a worker without any. A repeat is
    an answer with `repeat_of`.

    Collins, Bhatt & Weller (2022), §3, https://doi.org/10.1609/hcomp.v10i1.21986

    >>> marks = [[("named", "cat", "70")], [("named", "dog", "60")], [("named", "cat", "80")], [("named", "cat", "90")]]
    >>> answers = Answers.of(list("abab"), ["ann"] * 4, marks, repeat_of=np.array([-1, -1, 0, 1]))
    >>> RepeatConsistency().score(Evidence(answers=answers)).raw
    array([0.5])
    >>> RepeatConsistency(measure="percent").score(Evidence(answers=answers)).raw
    array([10.])
    """

    measure: Literal["label", "percent"] = option(
        "label", "share of repeats with the same top label, or change of the percent"
    )

    of: ClassVar[ScoreTarget] = "worker"
    needs: ClassVar[tuple[str, ...]] = ("answers",)

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        del progress
        assert evidence.answers is not None
        answers = evidence.answers
        again, before = self._repeat_and_original_rows(answers)
        top, n_workers = answers.label_codes_at_rank(0), len(answers.workers)
        same = top[again] == top[before]
        if self.measure == "percent":
            stated = parse_percents(answers.typed_texts_at_rank(0)).value
            change = np.abs(stated[again] - stated[before])
            known = same & ~np.isnan(change)
            worker = answers.worker[again[known]]
            n = sum_by_group(worker, n_workers)
            raw = divide_or_nan(sum_by_group(worker, n_workers, change[known]), n)
            return Scores("worker", answers.workers, raw, raw, self.spec, n=n)
        n, n_same = (
            sum_by_group(answers.worker[again], n_workers),
            sum_by_group(answers.worker[again[same]], n_workers),
        )
        raw, (low, high) = divide_or_nan(n_same, n), wilson_interval_95(n_same, n)
        return Scores("worker", answers.workers, raw, 1 - raw, self.spec, low=low, high=high, n=n)

    def _repeat_and_original_rows(self, answers: Answers) -> tuple[Ints, Ints]:
        """Return (rows of repeats, rows of the answers that they repeat); raise InputError if there are no repeats."""
        if answers.repeat_of is None:
            raise InputError(
                f"{self.name()} needs repeats, and these answers have none: give a column repeat (true if a task is "
                "shown again) or repeat_of (the row of the earlier answer)"
            )
        top = answers.label_codes_at_rank(0)
        again = np.flatnonzero((answers.repeat_of >= 0) & (answers.worker >= 0) & (top >= 0))
        before = answers.repeat_of[again]
        named = top[before] >= 0
        if not named.any():
            raise InputError(f"{self.name()} needs repeats; no task was shown twice to the same worker")
        return again[named], before[named]
