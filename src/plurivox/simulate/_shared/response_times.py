"""Simulated durations and times of answers.

Workers get faster by the power law of practice (Newell and Rosenbloom 1981): the n-th answer takes n^-0.27 of the first, up
to a fixed number of answers. In the study of Collins et al. (2022, https://doi.org/10.1609/hcomp.v10i1.21986) the first of 27
top-two answers took 62.8 seconds and the last 25.9 (medians), which gives the exponent; the spread between and within workers
is from the same study.
"""

import numpy as np

from plurivox.core.array_types import Bools, Floats, Ints

PRACTICE_ANSWERS = 27  # answers after which workers get no faster
# median duration, after practice, of an answer with percents, and of one label
PERCENT_SECONDS, LABEL_SECONDS = (
    25.9,
    1.8,
)
PRACTICE_EXPONENT = float(np.log(62.8 / PERCENT_SECONDS) / np.log(PRACTICE_ANSWERS))
SD_BETWEEN_WORKERS, SD_WITHIN_WORKER = 0.35, 0.47  # standard deviations of log seconds
TOO_FAST_FACTOR = 0.15  # duration of too fast workers, relative to the usual
START_TIME, DAY, WEEK = 1_700_000_000.0, 86_400.0, 604_800.0  # seconds


def draw_relative_answer_time_per_worker(n_workers: int, is_too_fast: Bools, rng: np.random.Generator) -> Floats:
    """Return (n_workers,) a random time per answer of each worker, relative to the median worker; short if `is_too_fast`."""
    return np.exp(SD_BETWEEN_WORKERS * rng.standard_normal(n_workers)) * np.where(is_too_fast, TOO_FAST_FACTOR, 1.0)


def draw_answer_seconds(
    n_earlier_answers: Ints, relative_worker_time: Floats, practised_seconds: float, rng: np.random.Generator
) -> Floats:
    """Return (n,) a random duration of each answer in seconds, from the worker's number of earlier answers and pace, each (n,).

    `practised_seconds` is the median duration after practice.
    """
    learning = (PRACTICE_ANSWERS / np.minimum(n_earlier_answers + 1, PRACTICE_ANSWERS)) ** PRACTICE_EXPONENT
    return (
        practised_seconds
        * learning
        * relative_worker_time
        * np.exp(SD_WITHIN_WORKER * rng.standard_normal(len(n_earlier_answers)))
    )


def draw_timestamps(worker: Ints, session: Ints, position: Ints, seconds: Floats, rng: np.random.Generator) -> Floats:
    """Return (n,) the Unix time at which each answer is sent: a worker's answers follow each other, one session per day."""
    order = np.lexsort((position, session, worker))
    spent = np.cumsum(seconds[order])
    change = np.flatnonzero((np.diff(worker[order]) != 0) | (np.diff(session[order]) != 0)) + 1
    starts = np.concatenate([[0], change]).astype(np.int64)
    before = np.repeat(spent[starts] - seconds[order[starts]], np.diff([*starts, len(order)]))
    when = np.empty(len(order))
    when[order] = spent - before
    begin = START_TIME + WEEK * rng.random(int(worker.max(initial=0)) + 1)
    return when + begin[worker] + DAY * session
