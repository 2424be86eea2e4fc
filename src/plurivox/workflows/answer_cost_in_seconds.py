"""Cost of answers in seconds: time per answer, a measure as a function of votes and seconds, break-even of two questions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from plurivox import aggregate, elicit
from plurivox.core.answers import Answers
from plurivox.core.array_types import Floats, Ints
from plurivox.core.errors import InputError
from plurivox.core.recipe_tables import Table
from plurivox.core.sample_existing_answers import subsample
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.elicit import Form, OneLabel, SelectTopTwo, TopOne, TopTwo

SECONDS_PER_INPUT = 6.4  # the paper's 32 s for five inputs
PLAIN_VOTE_SECONDS = 1.8  # as in CIFAR-10H
REFERENCE = "Collins, Bhatt and Weller (2022), https://doi.org/10.1609/hcomp.v10i1.21986"


@dataclass(frozen=True)
class Seconds:
    """Seconds per answer: the median recorded, or by the model (`source`), and the number of answers with a recorded time."""

    value: float
    source: Literal["recorded", "model"]
    n: int = 0  # number of answers with a recorded time


def modelled_seconds_per_answer(form: str | Form) -> float:
    """Return the seconds per answer by the paper's model: 6.4 for each input of a form, 1.8 for a plain vote.

    >>> [modelled_seconds_per_answer(form) for form in ("top-two", "top-two[use=top,spread=uniform]", "one-label")]
    [32.0, 12.8, 1.8]
    """
    made = elicit.methods.make(form)
    if isinstance(made, OneLabel):
        return PLAIN_VOTE_SECONDS
    if isinstance(made, SelectTopTwo):
        return SECONDS_PER_INPUT * 2
    if isinstance(made, TopOne | TopTwo):
        labels = 2 if isinstance(made, TopTwo) and made.use == "both" else 1
        # a label and a percentage each; the excluded labels
        return SECONDS_PER_INPUT * (2 * labels + (made.spread == "clamp"))
    raise InputError(
        f"the time model of {REFERENCE} does not cover the form {made.name()}: record times, or give seconds"
    )


def seconds_per_answer(crowd: Answers | Votes, form: str | Form | None = None) -> Seconds:
    """Return the median recorded seconds per answer; if none are recorded, the seconds of the model for this form."""
    times = _recorded_seconds_of_timed_answers(crowd)
    if len(times):
        return Seconds(float(np.median(times)), "recorded", len(times))
    if form is None:
        raise InputError("these answers have no recorded times; give the form, or the seconds")
    return Seconds(modelled_seconds_per_answer(form), "model")


def _recorded_seconds_of_timed_answers(crowd: Answers | Votes) -> Floats:
    """Return the recorded seconds of each answer as an array; empty if none were recorded."""
    if crowd.seconds is None:
        return np.zeros(0)
    times = crowd.seconds
    if isinstance(crowd, Votes) and crowd.answer is not None:  # every row of a soft answer repeats its time
        times = times[np.append(True, crowd.answer[1:] != crowd.answer[:-1])[: len(times)]]
    return times[np.isfinite(times)]


@dataclass(frozen=True, eq=False)
class Curve:
    """A measure as a function of the number of answers per task, with their cost in seconds."""

    name: str
    measure: str
    m: Ints  # (n,) answers per task
    seconds: Floats  # (n,) seconds of work per task
    values: Floats  # (n, n_seeds) the measure, for each draw of M answers

    def table(self) -> Table:
        """Return a table with one row per number of answers per task: seconds, mean and standard deviation of the measure."""
        spread = self.values.std(1, ddof=1) if self.values.shape[1] > 1 else np.full(len(self.m), np.nan)
        cells = {"votes": self.m, "seconds": self.seconds, self.measure: self.values.mean(1), "sd": spread}
        return Table(f"{self.name}: {self.measure} by votes and seconds per task", cells)


def curve(
    votes: Votes,
    measure: Callable[[SoftLabels], float],
    answers_per_task: Sequence[int],
    cost_seconds_per_answer: float,
    *,
    name: str,
    measure_name: str = "",
    method: str = "vote-shares",
    seeds: int = 10,
) -> Curve:
    """Return the Curve of a measure: its value for the soft labels from M answers per task, for each M and random draw.

    >>> votes = Votes.from_counts(np.array([[9, 1], [2, 8]]), ["a", "b"], ["no", "yes"])
    >>> curve(votes, lambda soft: soft.confidence.mean(), [1, 10], 1.8, name="plain", measure_name="confidence").seconds
    array([ 1.8, 18. ])
    """
    fitted = aggregate.methods.make(method)
    values = [[measure(fitted.fit(subsample(votes, m, seed)).soft) for seed in range(seeds)] for m in answers_per_task]
    # less than M if a task has fewer answers
    mean = [subsample(votes, m).n_answers / max(len(votes.tasks_with_votes), 1) for m in answers_per_task]
    title = measure_name or getattr(measure, "__name__", "measure")
    return Curve(name, title, np.array(answers_per_task), cost_seconds_per_answer * np.array(mean), np.array(values))


def break_even(plain: Curve, rich: Curve, better: Literal["lower", "higher"] = "higher") -> Table:
    """Return a table that compares rich with plain answers: the value for the same seconds, and the seconds for the same value.

    The plain curve is interpolated linearly between the numbers of answers tried; beyond them it is unknown ("-"), and so is
    which is cheaper, unless plain answers had as many seconds and did not reach the value.
    """
    sign = 1 if better == "higher" else -1
    ours, theirs = rich.values.mean(1), plain.values.mean(1)
    same_time = np.interp(rich.seconds, plain.seconds, theirs, left=np.nan, right=np.nan)
    reached = np.maximum.accumulate(sign * theirs)
    needed = np.array([_seconds_to_reach(plain.seconds, reached, sign * value) for value in ours])
    return Table(
        f"Break-even: {rich.name} against {plain.name}, {rich.measure} ({better} is better)",
        {
            f"{rich.name} votes": rich.m,
            "seconds": rich.seconds,
            rich.measure: ours,
            f"{plain.name} in that time": same_time,
            f"seconds {plain.name} needs": needed,
            "cheaper": [
                _name_of_cheaper_question(a, b, plain, rich.name) for a, b in zip(rich.seconds, needed, strict=True)
            ],
        },
    )


def _seconds_to_reach(seconds: Floats, curve_values: Floats, target_value: float) -> float:
    """Return the seconds at which a non-decreasing curve first reaches a target value; NaN if it never does."""
    above = np.flatnonzero(curve_values >= target_value)
    if not len(above):
        return float("nan")
    i = int(above[0])
    if i == 0 or curve_values[i] == curve_values[i - 1]:
        return float(seconds[i])
    part = (target_value - curve_values[i - 1]) / (curve_values[i] - curve_values[i - 1])
    return float(seconds[i - 1] + part * (seconds[i] - seconds[i - 1]))


def _name_of_cheaper_question(
    rich_seconds: float, plain_seconds_for_same_value: float, plain_curve: Curve, rich_name: str
) -> str:
    """Return the name of the cheaper question for the same value; "-" if plain answers were not tried for so many seconds."""
    if np.isnan(plain_seconds_for_same_value):
        return rich_name if rich_seconds <= plain_curve.seconds.max() else "-"
    if np.isclose(rich_seconds, plain_seconds_for_same_value):
        return "equal"
    return rich_name if rich_seconds < plain_seconds_for_same_value else plain_curve.name
