"""The tasks with the worst score, with their votes in words and their known label, also label by label."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from plurivox.charts._shared.names_as_text import shown_name
from plurivox.charts._shared.votes_in_words import known_labels, votes_in_words, votes_per_label
from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.errors import unknown_name_error
from plurivox.core.method import parse_spec
from plurivox.core.name_encoding import as_names, positions
from plurivox.core.results import Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

TIE = 1e-9  # scores that differ by less are equal


@dataclass(frozen=True)
class HardTask:
    """One task with its score, its votes in words and its known label."""

    name: str
    raw: float
    low: float  # 95% interval of raw; nan without one
    high: float
    votes: str = ""  # in words; empty if the votes are not given
    gold: str | None = None
    gold_has_most_votes: bool = False  # alone or tied


def scores_of_tasks(scores: Sequence[Scores], by: str | None) -> Scores | None:
    """Return the score of tasks with this name, or the first one; None if there is none. UnknownName for another name."""
    found = {one.made_by: one for one in reversed(scores) if one.of == "task"}
    names = [one.made_by for one in scores if one.of == "task"]
    if not names:
        return None
    if by is None:
        return found[names[0]]
    matching = [name for name in names if by in (name, name.partition("[")[0])]
    if not matching:
        raise unknown_name_error("score of tasks called", by, names)
    return found[matching[0]]


def score_name(scores: Scores) -> str:
    """Return the name of a score without its options."""
    return shown_name(scores.made_by.partition("[")[0] or "score", 30)


def score_title(scores: Scores) -> str:
    """Return the name of a score with its unit, such as "entropy (nats)"."""
    name = scores.made_by.partition("[")[0]
    if name not in ("entropy", "posterior-entropy"):
        return shown_name(scores.made_by or "score", 60)
    unit = parse_spec(scores.made_by)[1].get("unit", "nats")
    return f"{name} ({unit if unit != 'share' else 'share of the largest possible'})"


def score_text(raw: float) -> str:
    """Return a score as text with two decimals, or three digits if it is very small or large.

    >>> score_text(1.5), score_text(0.00123), score_text(0.0)
    ('1.50', '0.00123', '0.00')
    """
    return f"{raw:.2f}" if 0.1 <= abs(raw) < 1000 or raw == 0 else f"{raw:.3g}"


def worst_tasks(scores: Scores, k: int, votes: Votes | None, gold: SoftLabels | None) -> list[HardTask]:
    """Return the k tasks with the highest badness, worst first; of equal ones, those with more votes first."""
    return _described(scores, _worst_first(scores, votes)[:k], votes, gold)


def n_tied_with_last(scores: Scores, n_shown: int) -> int:
    """Return how many further tasks have the same badness as the last of the n worst tasks."""
    badness = -np.sort(-scores.badness[~np.isnan(scores.badness)])
    return int((np.abs(badness[n_shown:] - badness[n_shown - 1]) < TIE).sum()) if n_shown else 0


def worst_tasks_per_label(
    scores: Scores, k: int, votes: Votes | None, gold: SoftLabels | None, most_labels: int
) -> tuple[dict[str, list[HardTask]], int]:
    """Return {label: its k worst tasks} of the labels with most tasks, and the number of labels left out.

    The label of a task is the known one or, if none is known, the one with the most votes; others have none.
    """
    order = _worst_first(scores, votes)
    label_of_task = np.array([one or "" for one in labels_of_tasks(scores.names[order], votes, gold)])
    labels, n_tasks = np.unique(label_of_task[label_of_task != ""], return_counts=True)
    kept = np.sort(labels[np.argsort(-n_tasks, kind="stable")[:most_labels]])
    rows = {str(label): order[label_of_task == label][:k] for label in kept}
    return {label: _described(scores, row, votes, gold) for label, row in rows.items()}, len(labels) - len(kept)


def labels_of_tasks(tasks: Names, votes: Votes | None, gold: SoftLabels | None) -> list[str | None]:
    """Return the known label of each task or, if none is known, the one with the most votes; None without either."""
    found = known_labels(gold, tasks)
    if votes is None or not votes.n_labels:
        return found
    here = votes.on(tasks)
    top = SoftLabels.from_vote_shares(here).hard()
    return [
        known if known is not None else str(top[i]) if here.support[i] > 0 else None for i, known in enumerate(found)
    ]


def _worst_first(scores: Scores, votes: Votes | None) -> Ints:
    """Return the positions of the tasks with a score, highest badness first; of equal ones, those with more votes first."""
    known = np.flatnonzero(~np.isnan(scores.badness))
    n = np.zeros(len(known)) if scores.n is None else scores.n[known]
    if votes is not None and votes.n_tasks:
        place = positions(votes.tasks, scores.names[known])
        n = np.where(place >= 0, votes.support[np.maximum(place, 0)], 0.0)
    return known[np.lexsort((-n, -np.round(scores.badness[known] / TIE)))]


def _described(scores: Scores, order: Ints, votes: Votes | None, gold: SoftLabels | None) -> list[HardTask]:
    """Return the tasks at these positions with their votes in words and their known label."""
    names = scores.names[order]
    unknown: Floats = np.full(len(scores.names), np.nan)
    low = unknown if scores.low is None else scores.low
    high = unknown if scores.high is None else scores.high
    found = [
        HardTask(str(scores.names[i]), float(scores.raw[i]), float(low[i]), float(high[i]), gold=known)
        for i, known in zip(order, known_labels(gold, names), strict=True)
    ]
    if votes is None:
        return found
    few = votes.on(names)
    return [_with_votes(one, few, i) for i, one in enumerate(found)]


def _with_votes(task: HardTask, votes: Votes, code: int) -> HardTask:
    """Return the task with its votes in words."""
    counts = votes_per_label(votes, code)
    (gold,) = (-1,) if task.gold is None else positions(votes.labels, as_names([task.gold]))
    most = bool(counts) and counts.get(int(gold), 0.0) >= max(counts.values()) - TIE
    return replace(task, votes=votes_in_words(votes, code), gold_has_most_votes=most)
