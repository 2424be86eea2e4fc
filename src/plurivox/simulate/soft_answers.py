"""People who say how sure they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.errors import OptionError
from plurivox.core.method import option
from plurivox.core.types import TEXT, Floats
from plurivox.simulate._contract import Crowd, SimulatedEntries, Simulator
from plurivox.simulate._shared.beliefs import draw_again, draw_beliefs, matrices_of, state
from plurivox.simulate._shared.form_entries import Marks, enter
from plurivox.simulate._shared.response_times import PLAIN, RICH
from plurivox.simulate._shared.sessions import Sat, sit_down, sitting_names, timed
from plurivox.simulate._shared.typed_percents import FAULTS
from plurivox.simulate._shared.worker_sequences import Turns, sequence

SAME_HONESTY = 20.0  # how alike people are in their honesty: it is drawn from Beta(20 h, 20 (1 - h))


@dataclass(frozen=True)
class SoftAnswers(Simulator):
    """People hold beliefs around the truth and enter them as people do: percents, runner-ups, faults and all.

    An honest answer comes from a belief b ~ Dirichlet(a + e_true) with a = 1 / (sharpness n_labels): it is right as often as it
    says. Any other answer comes from Dirichlet(a). A person's sharpness is log-normal, honesty, the share of honest answers,
    is drawn from a Beta distribution, and what is stated is the power exp(boast N(0, 1)) of the belief. Percents are typed in
    multiples of five nine times in ten; faults occur as often as in the released answers of Collins et al. Votes are the top
    labels of first answers.

    Collins, Bhatt and Weller (2022), https://doi.org/10.1609/hcomp.v10i1.21986.

    >>> crowd = SoftAnswers(n_tasks=50, n_workers=10, n_labels=4, feedback=5).draw()
    >>> crowd.answers
    <Answers: 279 answers, 50 tasks, 10 workers, 4 labels, forms top-two>
    >>> sorted(crowd.traits)
    ['boast', 'honesty', 'pace', 'sharpness']
    """

    times: bool = option(True, "answers have a time and a duration")
    form: Literal["top-two", "top-one", "one-label", "also-possible", "ranking", "histogram"] = option(
        "top-two", "how people are asked"
    )
    sharpness: float = option(4.0, "how sharp the median person's beliefs are", low=1e-3, high=1e4)
    sharpness_spread: float = option(0.4, "standard deviation of log sharpness between people", low=0, high=5)
    honesty: float = option(0.97, "mean share of answers in which people state what they believe", low=0, high=1)
    boast: float = option(0.2, "standard deviation of how far people over- or understate", low=0, high=5)
    faults: float = option(1.0, "how many faults beside those of the released answers: 0 none, 2 twice", low=0, high=5)
    sitting: int = option(25, "tasks in a sitting", low=1)
    repeats: int = option(2, "tasks that come again at the end of a sitting", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order == "peerannot":
            raise OptionError(f"{self.name()}: order=peerannot draws plain votes by matrices; use order=whole")
        if self.repeats > self.sitting:
            raise OptionError(
                f"{self.name()}: {self.repeats} repeats cannot come from a sitting of {self.sitting} tasks"
            )

    def traits(self, n_workers: int) -> Mapping[str, Floats]:
        rng, n = np.random.default_rng([self.seed, 2]), n_workers  # of their own: asked for twice, the same twice
        sharpness = self.sharpness * np.exp(self.sharpness_spread * rng.standard_normal(n))
        honesty = np.full(n, self.honesty)
        if 0 < self.honesty < 1:
            honesty = rng.beta(SAME_HONESTY * self.honesty, SAME_HONESTY * (1 - self.honesty), n)
        boast = np.exp(self.boast * rng.standard_normal(n))
        return {"sharpness": sharpness, "honesty": honesty, "boast": boast}

    def matrices(self, n_labels: int, rng: np.random.Generator) -> Floats:
        del rng
        of = self.traits(self.n_workers)
        return matrices_of(1 / (of["sharpness"] * n_labels), of["honesty"], n_labels)

    def speak(self, turns: Turns, crowd: Crowd, rng: np.random.Generator) -> SimulatedEntries:
        belief = self._beliefs(turns, crowd, rng)  # (n_turns, n_labels)
        place = turns.place if turns.place is not None else sequence(turns.worker, rng)[0]
        sat = sit_down(turns.worker, place, self.sitting, self.repeats, rng)
        sat = timed(sat, place, crowd.people.pace, PLAIN if self.form == "one-label" else RICH, rng)
        held, again = belief[sat.turn], sat.repeat_of >= 0
        held[again] = draw_again(held[again], rng)
        marks = enter(self.form, state(held, crowd.people.own["boast"][sat.worker]), self.faults, rng)
        return SimulatedEntries(
            belief.argmax(1).astype(np.min_scalar_type(belief.shape[1] - 1)),
            _answers(turns, crowd, sat, marks, self.form),
            np.array([*FAULTS, ""], dtype=TEXT)[marks.fault],
        )

    def _beliefs(self, turns: Turns, crowd: Crowd, rng: np.random.Generator) -> Floats:
        of, n_labels = crowd.people.own, len(crowd.stage.labels)
        knows = rng.random(len(turns)) < of["honesty"][turns.model]
        if crowd.people.too_fast is not None:
            knows &= ~crowd.people.too_fast[turns.model]
        if turns.guess is not None:
            knows &= ~turns.guess
        belief = draw_beliefs(1 / (of["sharpness"][turns.model] * n_labels), turns.here(), knows, n_labels, rng)
        return belief if turns.source is None else belief[turns.source]


def _answers(turns: Turns, crowd: Crowd, sat: Sat, marks: Marks, form: str) -> Answers:
    """The rows in the order they came, with their marks."""
    marks.typed.flags.writeable = False  # nobody else has it: no need for a copy
    return Answers(
        task=turns.task[sat.turn],
        worker=sat.worker,
        tasks=crowd.stage.tasks,
        workers=crowd.stage.workers,
        labels=crowd.stage.labels,
        mark_start=marks.start,
        mark_kind=marks.kind,
        mark_label=marks.label,
        mark_typed=marks.typed,
        form=np.full(len(sat.turn), form, dtype=TEXT),
        seconds=sat.seconds,
        when=sat.when,
        position=sat.position,
        sitting=sitting_names(sat.worker, sat.sitting),
        repeat_of=sat.repeat_of,
    )
