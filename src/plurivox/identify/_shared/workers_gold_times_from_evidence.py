"""Checks of the evidence that several scores need; the errors say what is missing."""

import numpy as np

from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.errors import InputError, first_few, warn_user
from plurivox.core.name_encoding import positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.identify._contract import Evidence


def require_some_worker_names(votes: Votes, score_name: str) -> Votes:
    """Return the votes unchanged; raise InputError, with the name of the score, if no vote has a worker name."""
    return votes.require_worker_names(score_name, ": give votes with workers", every=False)


def count_answers_per_worker(evidence: Evidence, workers: Names) -> Floats | None:
    """Return (n_workers,) the number of answers of each of these workers in the votes; None if the evidence has no votes."""
    if evidence.votes is None:
        return None
    place = positions(evidence.votes.workers, workers)
    return np.where(place >= 0, evidence.votes.n_answers_per_worker[place], 0.0) if evidence.votes.n_workers else None


def gold_label_codes(gold: SoftLabels, tasks: Names, labels: Names, score_name: str) -> Ints:
    """Return (n_tasks,) the position in `labels` of each task's gold label; -1 without gold, -2 if not in `labels`.

    Raises InputError if no task has a known label.
    """
    place = positions(gold.tasks, tasks)
    if not (place >= 0).any():
        raise InputError(
            f"{score_name}: no task has a known label; gold has tasks such as {first_few(gold.tasks[:2])}, "
            f"the crowd {first_few(tasks[:2])}"
        )
    known = positions(labels, gold.labels)[gold.most_probable_label_codes()]
    return np.where(place >= 0, np.where(known < 0, -2, known)[place], -1)


def workers_and_seconds_of_timed_answers(evidence: Evidence, score_name: str) -> tuple[Ints, Floats, Names]:
    """Return (worker code, seconds, worker names): the duration of every answer whose worker and duration are known.

    The times are those of the answers if they have any, else those of the votes. Warns about negative times; raises
    InputError if there are no times.
    """
    first: Ints | slice = slice(None)
    answers, votes = evidence.answers, evidence.votes
    if answers is not None and answers.seconds is not None:
        worker, seconds, workers = answers.worker, answers.seconds, answers.workers
    elif votes is not None and votes.seconds is not None:
        worker, seconds, workers = require_some_worker_names(votes, score_name).worker, votes.seconds, votes.workers
        if votes.answer is not None:  # all rows of a soft answer have the same time: take the first
            first = np.unique(votes.answer, return_index=True)[1]
    else:
        raise InputError(f"{score_name} needs the time of each answer: give votes or answers with a column seconds")
    worker, seconds = worker[first], seconds[first]
    known = (worker >= 0) & (seconds >= 0)  # false for nan
    if n := int((seconds < 0).sum()):
        text = f"{score_name}: {n:,} answers have a negative time; they are left out"
        warn_user(text)
    if not known.any():
        raise InputError(f"{score_name} needs the time of each answer; the column seconds has none of a named worker")
    return worker[known], seconds[known], workers
