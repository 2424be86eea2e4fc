"""Sessions (column `sitting`): a worker answers some tasks in a row, and some of them again at the end."""

from typing import NamedTuple

import numpy as np

from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.name_encoding import numbered_names_from_zero
from plurivox.simulate._shared.response_times import draw_answer_seconds, draw_timestamps


class SessionAnswers(NamedTuple):
    """Simulated answers in sessions, one row per answer: first answers, then repeats; or sorted by time if times are drawn."""

    assignment: Ints  # (n,) the row of `Assignments` that is answered
    worker: Ints  # (n,)
    session: Ints  # (n,) number of the session among the worker's sessions
    position: Ints  # (n,) position in the session
    repeat_of: Ints  # (n,) the row that this one repeats; -1: none
    seconds: Floats | None = None  # (n,)
    when: Floats | None = None  # (n,)


def split_into_sessions_with_repeats(
    worker_of_assignment: Ints,
    n_earlier_answers: Ints,
    tasks_per_session: int,
    repeats_per_session: int,
    rng: np.random.Generator,
) -> SessionAnswers:
    """Return the assignments split into sessions per worker; each session ends with repeats of random tasks of the session.

    `n_earlier_answers` (n_assignments,) is the number of tasks that the worker answered before.
    """
    n = len(worker_of_assignment)
    session, position = np.divmod(n_earlier_answers, tasks_per_session)
    order = np.lexsort((rng.random(n), session, worker_of_assignment))
    is_first = np.concatenate([[True], (np.diff(worker_of_assignment[order]) != 0) | (np.diff(session[order]) != 0)])
    starts = np.flatnonzero(is_first)
    group = np.cumsum(is_first) - 1
    rank = np.arange(n) - starts[group]  # random rank within the session
    length = np.diff([*starts, n])
    again = rank < repeats_per_session
    rows = order[again]
    return SessionAnswers(
        assignment=np.concatenate([np.arange(n), rows]),
        worker=np.concatenate([worker_of_assignment, worker_of_assignment[rows]]),
        session=np.concatenate([session, session[rows]]),
        position=np.concatenate([position, length[group[again]] + rank[again]]),
        repeat_of=np.concatenate([np.full(n, -1), rows]),
    )


def draw_answer_times_and_sort_answers(
    answers: SessionAnswers,
    n_earlier_answers: Ints,
    relative_time_of_worker: Floats | None,
    practised_seconds: float,
    rng: np.random.Generator,
) -> SessionAnswers:
    """Return the answers with random durations and times, sorted by time; if relative times are None, by worker.

    `n_earlier_answers` (n_assignments,) is the number of tasks that the worker answered before, `relative_time_of_worker`
    (n_workers,) the worker's relative time per answer, `practised_seconds` the median duration after practice.
    """
    if relative_time_of_worker is None:
        return _reorder_answers_and_renumber_repeats(
            answers, np.lexsort((answers.position, answers.session, answers.worker))
        )
    practice = np.where(answers.repeat_of >= 0, answers.position, 0)  # a repeat comes after the whole session
    n_practised = np.maximum(n_earlier_answers[answers.assignment], practice)
    seconds = draw_answer_seconds(n_practised, relative_time_of_worker[answers.worker], practised_seconds, rng)
    when = draw_timestamps(answers.worker, answers.session, answers.position, seconds, rng)
    return _reorder_answers_and_renumber_repeats(
        answers._replace(seconds=seconds, when=when), np.argsort(when, kind="stable")
    )


def _reorder_answers_and_renumber_repeats(answers: SessionAnswers, row_order: Ints) -> SessionAnswers:
    """Return the answers in the order `row_order`, with `repeat_of` (row numbers) adapted to the new order."""
    new_row = np.empty(len(row_order) + 1, np.int64)
    new_row[row_order], new_row[-1] = np.arange(len(row_order)), -1  # the last entry maps -1, no repeat, to itself
    moved = SessionAnswers(*(None if column is None else column[row_order] for column in answers))  # type: ignore[arg-type]
    return moved._replace(repeat_of=new_row[moved.repeat_of])


def numbered_session_name_per_answer(worker: Ints, session: Ints) -> Names:
    """Return (n,) the name of the session of each answer, "sitting-0" and so on; a session belongs to one worker."""
    key = worker.astype(np.int64) * (int(session.max(initial=0)) + 1) + session
    distinct, code = np.unique(key, return_inverse=True)
    return numbered_names_from_zero("sitting", len(distinct))[code]
