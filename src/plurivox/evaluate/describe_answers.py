"""Describe what people entered, before a form turns it into votes."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from plurivox.core.answers import NAMED, NEVER, POSSIBLE, Answers
from plurivox.core.encoding import positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Bools, Floats, Ints
from plurivox.core.votes import Votes
from plurivox.evaluate._number_format import Three, bracket, count, mean, median_range, number, percent, spread
from plurivox.evaluate.describe import observed_agreement


@dataclass(frozen=True)
class AnswersDescription:
    """How many answers there are, in which forms, by whom, how fast. Each is None where it cannot be told."""

    n_answers: int
    n_tasks: int
    n_tasks_without_answers: int
    n_workers: int
    n_labels: int
    forms: dict[str, int]  # answers by the form they were asked in; empty where that is not said
    answers_per_task: Three  # mean, smallest, largest over tasks with answers
    answers_per_worker: Three | None  # median, smallest, largest
    n_sittings: int | None
    n_asked_again: int  # repeats on purpose
    n_further: int  # a worker's second or later answer to a task that nobody asked for
    n_abstained: int
    n_none_of_these: int
    n_empty: int  # nothing marked, and neither of the two above
    share_second: float  # answers that name a second label
    share_never: float  # answers that rule a label out
    share_possible: float  # answers that hold further labels possible
    top_agreement: float | None  # pairs of answers on a task that name the same label first, mean over tasks
    seconds: Three | None  # median, 5% and 95% quantile
    first: float | None  # when the first answer came, in seconds since 1970
    last: float | None
    n_gold: int  # answers to tasks with a known label
    top_accuracy: float | None  # of these, how many name it first

    def info(self) -> dict[str, Any]:
        """Every figure by name, for machines."""
        return dict(vars(self))

    def rows(self) -> list[tuple[str, str]]:
        """What to show a person: (figure, value), without those that cannot be told."""
        middle, low, high = self.answers_per_task
        forms = ", ".join(f"{name or 'no name'} {n:,}" for name, n in self.forms.items())
        lines: list[tuple[str, str | None]] = [
            ("answers", f"{self.n_answers:,}"),
            ("forms", forms or "not said: there is no column form"),
            ("tasks", f"{self.n_tasks:,}" + bracket(self.n_tasks_without_answers, "without an answer")),
            ("workers", f"{self.n_workers:,}" if self.n_workers else "unknown: answers without names"),
            ("labels", f"{self.n_labels:,}"),
            ("sittings", None if self.n_sittings is None else f"{self.n_sittings:,}"),
            ("answers per task", f"{middle:.2f} ({low:g} to {high:g})"),
            ("answers per worker", spread(self.answers_per_worker)),
            ("asked again on purpose", count(self.n_asked_again)),
            ("second answers nobody asked for", count(self.n_further)),
            ("abstained", count(self.n_abstained)),
            ("none of these", count(self.n_none_of_these)),
            ("nothing entered", count(self.n_empty)),
            ("name a second label", percent(self.share_second)),
            ("rule labels out", percent(self.share_never or None)),
            ("hold further labels possible", percent(self.share_possible or None)),
            ("agreement on the label named first", number(self.top_agreement, 3)),
            ("seconds per answer", spread(self.seconds, " for nine in ten")),
            ("first answer", _moment(self.first)),
            ("last answer", _moment(self.last)),
            ("answers to tasks with gold", count(self.n_gold)),
            ("label named first is right", number(self.top_accuracy, 4)),
        ]
        return [(name, value) for name, value in lines if value is not None]


def describe_answers(answers: Answers, gold: SoftLabels | None = None) -> AnswersDescription:
    """The figures of what people entered; with gold, also how often the label named first is right.

    Agreement is the share of pairs of answers on a task that name the same label first, in the mean over tasks with several.

    >>> marks = [[("named", "cat", "70"), ("never", "ship", "")], [("named", "dog", "")], []]
    >>> about = describe_answers(Answers.of(task=["a", "a", "b"], worker=["v", "w", "v"], marks=marks))
    >>> about.n_answers, about.answers_per_task, about.n_empty, about.top_agreement
    (3, (1.5, 1.0, 2.0), 1, 0.0)
    """
    n, top = len(answers), answers.named(0)
    per_task = np.bincount(answers.task, minlength=len(answers.tasks))
    asked = per_task[per_task > 0]
    abstained, none = (_truths(column, n) for column in (answers.abstain, answers.none_of_these))
    again = np.zeros(n, bool) if answers.repeat_of is None else answers.repeat_of >= 0
    return AnswersDescription(
        n_answers=n,
        n_tasks=len(answers.tasks),
        n_tasks_without_answers=int((per_task == 0).sum()),
        n_workers=len(answers.workers),
        n_labels=len(answers.labels),
        forms=_tallied(answers),
        answers_per_task=(mean(asked), float(asked.min(initial=n)), float(asked.max(initial=0))),
        answers_per_worker=median_range(np.bincount(answers.worker[answers.worker >= 0])),
        n_sittings=None if answers.sitting is None else len(np.unique(answers.sitting)),
        n_asked_again=int(again.sum()),
        n_further=_further(answers, again),
        n_abstained=int(abstained.sum()),
        n_none_of_these=int(none.sum()),
        n_empty=int(((np.diff(answers.mark_start) == 0) & ~abstained & ~none).sum()),
        share_second=mean(answers.named(1) >= 0),
        share_never=_share(answers, NEVER),
        share_possible=_share(answers, POSSIBLE),
        top_agreement=observed_agreement(_votes_of_first(answers, top)),
        seconds=_quantiles(answers.seconds),
        first=_edge(answers.when, np.min),
        last=_edge(answers.when, np.max),
        **_against_gold(answers, top, gold),
    )


def _tallied(answers: Answers) -> dict[str, int]:
    if answers.form is None:
        return {}
    names, counts = np.unique(answers.form, return_counts=True)
    return dict(zip(map(str, names.tolist()), counts.tolist(), strict=True))


def _further(answers: Answers, again: Bools) -> int:
    """Answers beyond the first of a person to a task, those asked for on purpose left out."""
    own = (answers.worker >= 0) & ~again
    pairs = answers.task[own].astype(np.int64) * max(len(answers.workers), 1) + answers.worker[own]
    return int(own.sum()) - len(np.unique(pairs))


def _share(answers: Answers, kind: int) -> float:
    """The share of answers with a mark of this kind."""
    assert kind != NAMED
    return len(np.unique(answers.mark_answer[answers.mark_kind == kind])) / max(len(answers), 1)


def _votes_of_first(answers: Answers, top: Ints) -> Votes:
    """A plain vote for the label that each answer names first."""
    named = top >= 0
    columns = {"task": answers.task[named], "worker": answers.worker[named], "label": top[named]}
    return Votes.coded(**columns, tasks=answers.tasks, workers=answers.workers, labels=answers.labels)


def _against_gold(answers: Answers, top: Ints, gold: SoftLabels | None) -> dict[str, Any]:
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


def _quantiles(seconds: Floats | None) -> Three | None:
    known = np.zeros(0) if seconds is None else seconds[~np.isnan(seconds)]
    if not len(known):
        return None
    median, low, high = np.quantile(known, [0.5, 0.05, 0.95]).tolist()
    return median, low, high


def _edge(when: Floats | None, end: Any) -> float | None:
    known = np.zeros(0) if when is None else when[~np.isnan(when)]
    return float(end(known)) if len(known) else None


def _truths(column: Bools | None, n: int) -> Bools:
    return np.zeros(n, bool) if column is None else column


def _moment(when: float | None) -> str | None:
    return None if when is None else datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d %H:%M UTC")
