"""How long answers take, and when they come.

People get faster by the power law of practice (Newell and Rosenbloom 1981): the n-th answer takes n^-0.27 of the first,
until nothing more is learnt. In the study of Collins et al. (2022, https://doi.org/10.1609/hcomp.v10i1.21986) the first of 27
top-two answers took 62.8 seconds and the last 25.9 (medians), which gives the exponent; the spread between people and within
one person is that study's too.
"""

import numpy as np

from plurivox.core.types import Bools, Floats, Ints

LEARNT = 27  # answers after which nobody gets faster
RICH, PLAIN = 25.9, 1.8  # seconds of a practised answer with percents, and of a plain label
PRACTICE = float(np.log(62.8 / RICH) / np.log(LEARNT))
BETWEEN, WITHIN = 0.35, 0.47  # standard deviations of log seconds
CLICKING = 0.15  # of the usual time, by those who do not look
FIRST_DAY, DAY, WEEK = 1_700_000_000.0, 86_400.0, 604_800.0


def draw_pace(n_workers: int, too_fast: Bools, rng: np.random.Generator) -> Floats:
    """(n_workers,) each one's time beside that of the median person."""
    return np.exp(BETWEEN * rng.standard_normal(n_workers)) * np.where(too_fast, CLICKING, 1.0)


def draw_seconds(place: Ints, pace: Floats, practised: float, rng: np.random.Generator) -> Floats:
    """(n,) how long each answer takes; `place` (n,) in its worker's sequence, `pace` (n,) of its worker."""
    learning = (LEARNT / np.minimum(place + 1, LEARNT)) ** PRACTICE
    return practised * learning * pace * np.exp(WITHIN * rng.standard_normal(len(place)))


def clock(worker: Ints, sitting: Ints, position: Ints, seconds: Floats, rng: np.random.Generator) -> Floats:
    """(n,) seconds since 1970 when each answer was sent: one after another, a sitting a day, people begin within a week."""
    order = np.lexsort((position, sitting, worker))
    spent = np.cumsum(seconds[order])
    change = np.flatnonzero((np.diff(worker[order]) != 0) | (np.diff(sitting[order]) != 0)) + 1
    starts = np.concatenate([[0], change]).astype(np.int64)
    before = np.repeat(spent[starts] - seconds[order[starts]], np.diff([*starts, len(order)]))
    when = np.empty(len(order))
    when[order] = spent - before
    begin = FIRST_DAY + WEEK * rng.random(int(worker.max(initial=0)) + 1)
    return when + begin[worker] + DAY * sitting
