"""What several scores ask of their evidence, and the errors that say what is missing."""

import warnings

import numpy as np

from plurivox.core.encoding import positions
from plurivox.core.errors import InputError, PlurivoxWarning, first_few
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats, Ints, Names
from plurivox.core.votes import Votes
from plurivox.identify._contract import Evidence


def known_workers(votes: Votes, who: str) -> Votes:
    """The votes, where at least one of them is signed."""
    return votes.require_workers(who, ": give votes with workers", every=False)


def workload(seen: Evidence, workers: Names) -> Floats | None:
    """(n_workers,) how many answers each of these workers gave, where the votes are there."""
    if seen.votes is None:
        return None
    place = positions(seen.votes.workers, workers)
    return np.where(place >= 0, seen.votes.workload[place], 0.0) if seen.votes.n_workers else None


def true_codes(gold: SoftLabels, tasks: Names, labels: Names, who: str) -> Ints:
    """(n_tasks,) the code of the known label of each task; -1: not known, -2: known, but none of these labels."""
    place = positions(gold.tasks, tasks)
    if not (place >= 0).any():
        raise InputError(
            f"{who}: no task has a known label; gold names tasks such as {first_few(gold.tasks[:2])}, "
            f"the crowd {first_few(tasks[:2])}"
        )
    known = positions(labels, gold.labels)[gold.codes()]
    return np.where(place >= 0, np.where(known < 0, -2, known)[place], -1)


def times(seen: Evidence, who: str) -> tuple[Ints, Floats, Names]:
    """(worker, seconds) of every answer whose time and worker are known, and the names of the workers."""
    one: Ints | slice = slice(None)
    if seen.answers is not None and seen.answers.seconds is not None:
        worker, seconds, workers = seen.answers.worker, seen.answers.seconds, seen.answers.workers
    elif seen.votes is not None and seen.votes.seconds is not None:
        worker, seconds, workers = known_workers(seen.votes, who).worker, seen.votes.seconds, seen.votes.workers
        if seen.votes.answer is not None:  # the rows of a soft answer tell one time
            one = np.unique(seen.votes.answer, return_index=True)[1]
    else:
        raise InputError(f"{who} needs the time of each answer: give votes or answers with a column seconds")
    worker, seconds = worker[one], seconds[one]
    told = (worker >= 0) & (seconds >= 0)  # nan is not
    if n := int((seconds < 0).sum()):
        warnings.warn(f"{who}: {n:,} answers took less than no time; they are left out", PlurivoxWarning, stacklevel=4)
    if not told.any():
        raise InputError(f"{who} needs the time of each answer; the column seconds holds none of a named worker")
    return worker[told], seconds[told], workers
