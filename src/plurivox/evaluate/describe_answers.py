"""Describe answers as entered, before elicitation turns them into votes: sizes, forms, repeats, times, accuracy."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from plurivox.core.answers import NAMED, NEVER, POSSIBLE, Answers
from plurivox.core.encoding import positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Bools, Floats, Ints
from plurivox.core.votes import Votes
from plurivox.evaluate._number_format import (
    Triple,
    count_in_brackets,
    format_count,
    format_median,
    format_number,
    format_percent,
    mean,
    median_range,
)
from plurivox.evaluate.describe import observed_agreement


@dataclass(frozen=True)
class AnswersDescription:
    """Statistics of answers: sizes, forms, repeats, abstentions, times and, with gold, accuracy; None if not computable."""

    n_answers: int
    n_tasks: int
    n_tasks_without_answers: int
    n_workers: int
    n_labels: int
    forms: dict[str, int]  # number of answers by form; empty if forms are not recorded
    answers_per_task: Triple  # mean, smallest, largest over tasks with answers
    answers_per_worker: Triple | None  # median, smallest, largest
    n_sittings: int | None
    n_asked_again: int  # repeats that the study asked for
    n_further: int  # a worker's second or later answer to a task that was not asked for
    n_abstained: int
    n_none_of_these: int
    n_empty: int  # nothing marked, neither abstained nor none of these
    share_second: float  # answers that name a second label
    share_never: float  # answers that exclude a label
    share_possible: float  # answers that mark further labels as possible
    top_agreement: float | None  # share of pairs of answers to a task with the same first label, averaged over tasks
    seconds: Triple | None  # median, 5% and 95% quantile
    first: float | None  # time of the first answer, in seconds since 1970
    last: float | None  # time of the last answer
    n_gold: int  # answers to tasks with a gold label
    top_accuracy: float | None  # share of these whose first label is the gold label

    def info(self) -> dict[str, Any]:
        """Return all statistics by name."""
        return dict(vars(self))

    def rows(self) -> list[tuple[str, str]]:
        """Return (name, value) as text for display, without those that cannot be computed."""
        middle, low, high = self.answers_per_task
        forms = ", ".join(f"{name or 'no name'} {n:,}" for name, n in self.forms.items())
        lines: list[tuple[str, str | None]] = [
            ("answers", f"{self.n_answers:,}"),
            ("forms", forms or "unknown: there is no column form"),
            ("tasks", f"{self.n_tasks:,}" + count_in_brackets(self.n_tasks_without_answers, "without an answer")),
            ("workers", f"{self.n_workers:,}" if self.n_workers else "unknown: answers without names"),
            ("labels", f"{self.n_labels:,}"),
            ("sittings", None if self.n_sittings is None else f"{self.n_sittings:,}"),
            ("answers per task", f"{middle:.2f} ({low:g} to {high:g})"),
            ("answers per worker", format_median(self.answers_per_worker)),
            ("asked again on purpose", format_count(self.n_asked_again)),
            ("repeated answers not asked for", format_count(self.n_further)),
            ("abstained", format_count(self.n_abstained)),
            ("none of these", format_count(self.n_none_of_these)),
            ("nothing entered", format_count(self.n_empty)),
            ("name a second label", format_percent(self.share_second)),
            ("exclude labels", format_percent(self.share_never or None)),
            ("mark further labels as possible", format_percent(self.share_possible or None)),
            ("agreement on the label named first", format_number(self.top_agreement, 3)),
            ("seconds per answer", format_median(self.seconds, " for nine in ten")),
            ("first answer", _format_time(self.first)),
            ("last answer", _format_time(self.last)),
            ("answers to tasks with gold", format_count(self.n_gold)),
            ("label named first is right", format_number(self.top_accuracy, 4)),
        ]
        return [(name, value) for name, value in lines if value is not None]


def describe_answers(answers: Answers, gold: SoftLabels | None = None) -> AnswersDescription:
    """Return statistics of answers; with gold, also the accuracy of the label named first.

    Agreement is the share of pairs of answers on a task that name the same label first, averaged over tasks with several.

    >>> marks = [[("named", "cat", "70"), ("never", "ship", "")], [("named", "dog", "")], []]
    >>> about = describe_answers(Answers.of(task=["a", "a", "b"], worker=["v", "w", "v"], marks=marks))
    >>> about.n_answers, about.answers_per_task, about.n_empty, about.top_agreement
    (3, (1.5, 1.0, 2.0), 1, 0.0)
    """
    n, top = len(answers), answers.named(0)
    per_task = np.bincount(answers.task, minlength=len(answers.tasks))
    asked = per_task[per_task > 0]
    abstained, none = (_booleans(column, n) for column in (answers.abstain, answers.none_of_these))
    again = np.zeros(n, bool) if answers.repeat_of is None else answers.repeat_of >= 0
    return AnswersDescription(
        n_answers=n,
        n_tasks=len(answers.tasks),
        n_tasks_without_answers=int((per_task == 0).sum()),
        n_workers=len(answers.workers),
        n_labels=len(answers.labels),
        forms=_count_forms(answers),
        answers_per_task=(mean(asked), float(asked.min(initial=n)), float(asked.max(initial=0))),
        answers_per_worker=median_range(np.bincount(answers.worker[answers.worker >= 0])),
        n_sittings=None if answers.sitting is None else len(np.unique(answers.sitting)),
        n_asked_again=int(again.sum()),
        n_further=_count_extra_answers(answers, again),
        n_abstained=int(abstained.sum()),
        n_none_of_these=int(none.sum()),
        n_empty=int(((np.diff(answers.mark_start) == 0) & ~abstained & ~none).sum()),
        share_second=mean(answers.named(1) >= 0),
        share_never=_share_with_mark(answers, NEVER),
        share_possible=_share_with_mark(answers, POSSIBLE),
        top_agreement=observed_agreement(_first_label_votes(answers, top)),
        seconds=_quantiles(answers.seconds),
        first=_extreme_time(answers.when, np.min),
        last=_extreme_time(answers.when, np.max),
        **_against_gold(answers, top, gold),
    )


def _count_forms(answers: Answers) -> dict[str, int]:
    """Return the number of answers by form; {} if forms are not recorded."""
    if answers.form is None:
        return {}
    names, counts = np.unique(answers.form, return_counts=True)
    return dict(zip(map(str, names.tolist()), counts.tolist(), strict=True))


def _count_extra_answers(answers: Answers, again: Bools) -> int:
    """Return the number of answers of a person to a task beyond the first, without repeats that were asked for."""
    own = (answers.worker >= 0) & ~again
    pairs = answers.task[own].astype(np.int64) * max(len(answers.workers), 1) + answers.worker[own]
    return int(own.sum()) - len(np.unique(pairs))


def _share_with_mark(answers: Answers, kind: int) -> float:
    """Return the share of answers with a mark of this kind (NEVER or POSSIBLE)."""
    assert kind != NAMED
    return len(np.unique(answers.answer_of_mark[answers.mark_kind == kind])) / max(len(answers), 1)


def _first_label_votes(answers: Answers, top: Ints) -> Votes:
    """Return one vote per answer, for the label it names first."""
    named = top >= 0
    columns = {"task": answers.task[named], "worker": answers.worker[named], "label": top[named]}
    return Votes.coded(**columns, tasks=answers.tasks, workers=answers.workers, labels=answers.labels)


def _against_gold(answers: Answers, top: Ints, gold: SoftLabels | None) -> dict[str, Any]:
    """Return the number of answers to gold tasks and the accuracy of their first label."""
    known = None if gold is None else gold.shared(answers.tasks)
    if known is None or not len(known):
        return {"n_gold": 0, "top_accuracy": None}
    place = positions(known.tasks, answers.tasks)[answers.task]  # -1: no known label
    true = positions(answers.labels, known.hard())
    here = place >= 0
    return {
        "n_gold": int(here.sum()),
        "top_accuracy": mean((top[here] >= 0) & (top[here] == true[place[here]])) if here.any() else None,
    }


def _quantiles(seconds: Floats | None) -> Triple | None:
    """Return the median and the 5% and 95% quantiles of the seconds; None if there are none."""
    known = np.zeros(0) if seconds is None else seconds[~np.isnan(seconds)]
    if not len(known):
        return None
    median, low, high = np.quantile(known, [0.5, 0.05, 0.95]).tolist()
    return median, low, high


def _extreme_time(when: Floats | None, end: Any) -> float | None:
    """Return `end` (np.min or np.max) of the known times; None if there are none."""
    known = np.zeros(0) if when is None else when[~np.isnan(when)]
    return float(end(known)) if len(known) else None


def _booleans(column: Bools | None, n: int) -> Bools:
    """Return the column, or n times False if it is None."""
    return np.zeros(n, bool) if column is None else column


def _format_time(when: float | None) -> str | None:
    """Return seconds since 1970 as a UTC date and time; None stays None."""
    return None if when is None else datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d %H:%M UTC")
