"""Describe answers as entered, before elicitation turns them into votes: sizes, forms, repeats, times, accuracy."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from plurivox.core.answers import NAMED, NEVER, POSSIBLE, Answers
from plurivox.core.arguments_as_users_hold_them import takes_what_users_hold
from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.name_encoding import distinct_names, encode, positions
from plurivox.core.one_answer_per_worker import is_first_answer_of_worker_to_task
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.evaluate._format_description_numbers import (
    Triple,
    count_in_parentheses_or_empty,
    format_count_or_none_if_zero,
    format_median_and_range_or_keep_none,
    format_number_or_keep_none,
    format_percent_or_keep_none,
    mean_or_zero,
    median_and_range_of_positives_or_none,
)
from plurivox.evaluate.describe_votes import observed_agreement


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

    def summary_values(self) -> dict[str, Any]:
        """Return all statistics of the answers as name -> value; None if a statistic cannot be computed."""
        return dict(vars(self))

    def rows(self) -> list[tuple[str, str]]:
        """Return one (name, value) pair of texts per statistic of the answers, for display; None values are left out."""
        middle, low, high = self.answers_per_task
        forms = ", ".join(f"{name or 'no name'} {n:,}" for name, n in self.forms.items())
        lines: list[tuple[str, str | None]] = [
            ("answers", f"{self.n_answers:,}"),
            ("forms", forms or "unknown: there is no column form"),
            (
                "tasks",
                f"{self.n_tasks:,}" + count_in_parentheses_or_empty(self.n_tasks_without_answers, "without an answer"),
            ),
            ("workers", f"{self.n_workers:,}" if self.n_workers else "unknown: answers without names"),
            ("labels", f"{self.n_labels:,}"),
            ("sittings", None if self.n_sittings is None else f"{self.n_sittings:,}"),
            ("answers per task", f"{middle:.2f} ({low:g} to {high:g})"),
            ("answers per worker", format_median_and_range_or_keep_none(self.answers_per_worker)),
            ("asked again on purpose", self._repeats_text(self.n_asked_again)),
            ("repeated answers not asked for", self._repeats_text(self.n_further)),
            ("abstained", format_count_or_none_if_zero(self.n_abstained)),
            ("none of these", format_count_or_none_if_zero(self.n_none_of_these)),
            ("nothing entered", format_count_or_none_if_zero(self.n_empty)),
            ("name a second label", format_percent_or_keep_none(self.share_second)),
            ("exclude labels", format_percent_or_keep_none(self.share_never or None)),
            ("mark further labels as possible", format_percent_or_keep_none(self.share_possible or None)),
            ("agreement on the label named first", format_number_or_keep_none(self.top_agreement, 3)),
            ("seconds per answer", format_median_and_range_or_keep_none(self.seconds, " for nine in ten")),
            ("first answer", _format_unix_time_or_keep_none(self.first)),
            ("last answer", _format_unix_time_or_keep_none(self.last)),
            ("answers to tasks with gold", format_count_or_none_if_zero(self.n_gold)),
            ("label named first is right", format_number_or_keep_none(self.top_accuracy, 4)),
        ]
        return [(name, value) for name, value in lines if value is not None]

    def _repeats_text(self, n_repeats: int) -> str | None:
        """Return a number of repeats as text that says that agreement leaves them out; None if there are none."""
        return f"{n_repeats:,}, not in the agreement" if n_repeats else None


@takes_what_users_hold
def describe_answers(answers: Answers, gold: SoftLabels | None = None) -> AnswersDescription:
    """Return statistics of answers; with gold, also the accuracy of the label named first.

    Agreement is the share of pairs of answers on a task that name the same label first, averaged over tasks with several; of
    a worker's answers to a task only the first counts in it.

    >>> marks = [[("named", "cat", "70"), ("never", "ship", "")], [("named", "dog", "")], []]
    >>> about = describe_answers(Answers.of(task=["a", "a", "b"], worker=["v", "w", "v"], marks=marks))
    >>> about.n_answers, about.answers_per_task, about.n_empty, about.top_agreement
    (3, (1.5, 1.0, 2.0), 1, 0.0)
    """
    n, top = len(answers), answers.label_codes_at_rank(0)
    per_task = np.bincount(answers.task, minlength=len(answers.tasks))
    asked = per_task[per_task > 0]
    abstained, none = (_column_or_all_false(column, n) for column in (answers.abstain, answers.none_of_these))
    again = np.zeros(n, bool) if answers.repeat_of is None else answers.repeat_of >= 0
    return AnswersDescription(
        n_answers=n,
        n_tasks=len(answers.tasks),
        n_tasks_without_answers=int((per_task == 0).sum()),
        n_workers=len(answers.workers),
        n_labels=len(answers.labels),
        forms=_count_answers_by_form(answers),
        answers_per_task=(mean_or_zero(asked), float(asked.min(initial=n)), float(asked.max(initial=0))),
        answers_per_worker=median_and_range_of_positives_or_none(np.bincount(answers.worker[answers.worker >= 0])),
        n_sittings=None if answers.sitting is None else len(distinct_names(answers.sitting)),
        n_asked_again=int(again.sum()),
        n_further=_count_unrequested_repeats(answers, again),
        n_abstained=int(abstained.sum()),
        n_none_of_these=int(none.sum()),
        n_empty=int(((np.diff(answers.mark_start) == 0) & ~abstained & ~none).sum()),
        share_second=mean_or_zero(answers.label_codes_at_rank(1) >= 0),
        share_never=_share_of_answers_with_mark(answers, NEVER),
        share_possible=_share_of_answers_with_mark(answers, POSSIBLE),
        top_agreement=observed_agreement(
            _votes_for_first_label(answers, np.where(is_first_answer_of_worker_to_task(answers), top, -1))
        ),
        seconds=_median_5_and_95_percent_quantile(answers.seconds),
        first=_first_or_last_time(answers.when, np.min),
        last=_first_or_last_time(answers.when, np.max),
        **_gold_answer_count_and_accuracy(answers, top, gold),
    )


def _count_answers_by_form(answers: Answers) -> dict[str, int]:
    """Return form of question -> number of answers; {} if the answers have no forms."""
    if answers.form is None:
        return {}
    codes, names = encode(answers.form)
    return dict(zip(map(str, names.tolist()), np.bincount(codes).tolist(), strict=True))


def _count_unrequested_repeats(answers: Answers, is_requested_repeat: Bools) -> int:
    """Return how many answers are a worker's second or later answer to a task without being a requested repeat."""
    own = (answers.worker >= 0) & ~is_requested_repeat
    pairs = answers.task[own].astype(np.int64) * max(len(answers.workers), 1) + answers.worker[own]
    return int(own.sum()) - len(np.unique(pairs))


def _share_of_answers_with_mark(answers: Answers, mark_kind: int) -> float:
    """Return the share of answers that mark at least one label with this kind: NEVER (ruled out) or POSSIBLE."""
    assert mark_kind != NAMED
    return len(np.unique(answers.answer_of_mark[answers.mark_kind == mark_kind])) / max(len(answers), 1)


def _votes_for_first_label(answers: Answers, first_label: Ints) -> Votes:
    """Return one vote per answer, for the label that the answer names first; answers without a label give none."""
    named = first_label >= 0
    columns: dict[str, Any] = {
        "task": answers.task[named],
        "worker": answers.worker[named],
        "label": first_label[named],
    }
    # answer numbers and times tell which of a worker's repeated answers to a task is the first
    columns |= {"answer": np.flatnonzero(named), "weight": np.ones(int(named.sum()))}
    columns |= {} if answers.when is None else {"when": answers.when[named]}
    return Votes.coded(**columns, tasks=answers.tasks, workers=answers.workers, labels=answers.labels)


def _gold_answer_count_and_accuracy(answers: Answers, first_label: Ints, gold: SoftLabels | None) -> dict[str, Any]:
    """Return n_gold, the number of answers to tasks with gold, and top_accuracy, the share with the right first label."""
    known = None if gold is None else gold.shared(answers.tasks)
    if known is None or not len(known):
        return {"n_gold": 0, "top_accuracy": None}
    place = positions(known.tasks, answers.tasks)[answers.task]  # -1: no known label
    true = positions(answers.labels, known.hard())
    here = place >= 0
    return {
        "n_gold": int(here.sum()),
        "top_accuracy": mean_or_zero((first_label[here] >= 0) & (first_label[here] == true[place[here]]))
        if here.any()
        else None,
    }


def _median_5_and_95_percent_quantile(seconds: Floats | None) -> Triple | None:
    """Return the median, 5% and 95% quantile of the durations of answers in seconds, without NaN; None if there are none."""
    known = np.zeros(0) if seconds is None else seconds[~np.isnan(seconds)]
    if not len(known):
        return None
    median, low, high = np.quantile(known, [0.5, 0.05, 0.95]).tolist()
    return median, low, high


def _first_or_last_time(unix_times: Floats | None, min_or_max: Any) -> float | None:
    """Return the first (np.min) or last (np.max) Unix time that is not NaN; None if there is none."""
    known = np.zeros(0) if unix_times is None else unix_times[~np.isnan(unix_times)]
    return float(min_or_max(known)) if len(known) else None


def _column_or_all_false(column: Bools | None, n: int) -> Bools:
    """Return a column of booleans; n times False if the column is missing (None)."""
    return np.zeros(n, bool) if column is None else column


def _format_unix_time_or_keep_none(unix_time: float | None) -> str | None:
    """Return seconds since 1970 as text, a UTC date and time; None if it is None."""
    return None if unix_time is None else datetime.fromtimestamp(unix_time, UTC).strftime("%Y-%m-%d %H:%M UTC")
