"""Simulate workers who enter their beliefs as percents, with typical faults."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.array_types import TEXT, Floats
from plurivox.core.errors import OptionError
from plurivox.core.method import option
from plurivox.simulate._contract import CrowdModel, DrawnAnswers, Simulator
from plurivox.simulate._shared.answer_sessions import (
    SessionAnswers,
    draw_answer_times_and_sort_answers,
    numbered_session_name_per_answer,
    split_into_sessions_with_repeats,
)
from plurivox.simulate._shared.draw_entered_labels_and_percents import Marks, draw_answer_marks
from plurivox.simulate._shared.draw_typed_percents import FAULTS
from plurivox.simulate._shared.fatigue_drift_copying import Assignments, draw_rank_and_scaled_rank_within_worker
from plurivox.simulate._shared.response_times import LABEL_SECONDS, PERCENT_SECONDS
from plurivox.simulate._shared.worker_beliefs import (
    confusion_matrices_of_top_labels,
    draw_label_beliefs,
    redraw_beliefs_for_repeats,
    stated_beliefs,
)

HONESTY_CONCENTRATION = 20.0  # a worker's honesty is drawn from Beta(20 h, 20 (1 - h))


@dataclass(frozen=True)
class SoftAnswers(Simulator):
    """Workers have beliefs about the true label and enter them in a form: percents, runner-ups and faults.

    An honest answer comes from a belief b ~ Dirichlet(a + e_true) with a = 1 / (sharpness n_labels), which is calibrated. Any
    other answer comes from Dirichlet(a). A worker's sharpness is log-normal, honesty, the share of honest answers, is drawn
    from a Beta distribution, and the stated belief is the power exp(boast N(0, 1)) of the belief. Percents are typed in
    multiples of five nine times in ten; faults occur as often as in the released answers of Collins et al.,
    except missing percents and percents out of range, whose rates are assumed. Beliefs are calibrated if all labels are equally
    frequent. Votes are the top
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
        "top-two", "form of the question in which workers enter their answers"
    )
    sharpness: float = option(
        4.0, "sharpness of the median worker's beliefs; higher is more certain", low=1e-3, high=1e4
    )
    sharpness_spread: float = option(0.4, "standard deviation of log sharpness between workers", low=0, high=5)
    honesty: float = option(0.97, "mean share of answers in which workers state what they believe", low=0, high=1)
    boast: float = option(
        0.2, "standard deviation, between workers, of how far they over- or understate their beliefs", low=0, high=5
    )
    faults: float = option(
        1.0, "rate of typing faults relative to the answers of Collins et al.: 0 none, 2 twice as many", low=0, high=5
    )
    sitting: int = option(25, "number of tasks per sitting (session)", low=1)
    repeats: int = option(2, "number of tasks that are repeated at the end of a sitting", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order == "peerannot":
            raise OptionError(f"{self.name()}: order=peerannot draws plain votes only; use order=whole")
        if self.repeats > self.sitting:
            raise OptionError(
                f"{self.name()}: repeats ({self.repeats}) must be at most the tasks of a sitting ({self.sitting})"
            )

    def draw_strategy_worker_traits_by_name(self, n_workers: int) -> Mapping[str, Floats]:
        rng, n = np.random.default_rng([self.seed, 2]), n_workers  # own generator: every call returns the same traits
        sharpness = self.sharpness * np.exp(self.sharpness_spread * rng.standard_normal(n))
        honesty = np.full(n, self.honesty)
        if 0 < self.honesty < 1:
            honesty = rng.beta(HONESTY_CONCENTRATION * self.honesty, HONESTY_CONCENTRATION * (1 - self.honesty), n)
        boast = np.exp(self.boast * rng.standard_normal(n))
        return {"sharpness": sharpness, "honesty": honesty, "boast": boast}

    def make_confusion_matrices(self, n_labels: int, rng: np.random.Generator) -> Floats:
        del rng
        traits = self.draw_strategy_worker_traits_by_name(self.n_workers)
        return confusion_matrices_of_top_labels(1 / (traits["sharpness"] * n_labels), traits["honesty"], n_labels)

    def draw_labels_and_answers(
        self, assignments: Assignments, crowd: CrowdModel, rng: np.random.Generator
    ) -> DrawnAnswers:
        belief = self._draw_beliefs_of_assignments(assignments, crowd, rng)  # (n_assignments, n_labels)
        n_before = assignments.n_before
        if n_before is None:
            n_before = draw_rank_and_scaled_rank_within_worker(assignments.worker, rng)[0]
        seconds = LABEL_SECONDS if self.form == "one-label" else PERCENT_SECONDS
        sessions = split_into_sessions_with_repeats(assignments.worker, n_before, self.sitting, self.repeats, rng)
        sessions = draw_answer_times_and_sort_answers(sessions, n_before, crowd.traits.pace, seconds, rng)
        answered, repeated = belief[sessions.assignment], sessions.repeat_of >= 0
        answered[repeated] = redraw_beliefs_for_repeats(answered[repeated], rng)
        stated = stated_beliefs(answered, crowd.traits.by_strategy["boast"][sessions.worker])
        marks = draw_answer_marks(self.form, stated, self.faults, rng)
        return DrawnAnswers(
            belief.argmax(1).astype(np.min_scalar_type(belief.shape[1] - 1)),
            _make_answers(assignments, crowd, sessions, marks, self.form),
            np.array([*FAULTS, ""], dtype=TEXT)[marks.fault],
        )

    def _draw_beliefs_of_assignments(
        self, assignments: Assignments, crowd: CrowdModel, rng: np.random.Generator
    ) -> Floats:
        """Return (n_assignments, n_labels) a random belief over labels per answer; uninformed if the answer is a guess."""
        traits, n_labels = crowd.traits.by_strategy, len(crowd.dimensions.labels)
        worker = assignments.matrix_worker
        informed = rng.random(len(assignments)) < traits["honesty"][worker]
        if crowd.traits.too_fast is not None:
            informed &= ~crowd.traits.too_fast[worker]
        if assignments.is_guess is not None:
            informed &= ~assignments.is_guess
        concentration = 1 / (traits["sharpness"][worker] * n_labels)
        belief = draw_label_beliefs(concentration, assignments.true_label_per_assignment(), informed, n_labels, rng)
        return belief if assignments.copied_row is None else belief[assignments.copied_row]


def _make_answers(
    assignments: Assignments, crowd: CrowdModel, sessions: SessionAnswers, marks: Marks, form: str
) -> Answers:
    """Return `Answers` with these marks, one answer per row of `sessions`; make `marks.typed` read-only."""
    marks.typed.flags.writeable = False  # a read-only column needs no copy
    return Answers(
        task=assignments.task[sessions.assignment],
        worker=sessions.worker,
        tasks=crowd.dimensions.tasks,
        workers=crowd.dimensions.workers,
        labels=crowd.dimensions.labels,
        mark_start=marks.start,
        mark_kind=marks.kind,
        mark_label=marks.label,
        mark_typed=marks.typed,
        form=np.full(len(sessions.worker), form, dtype=TEXT),
        seconds=sessions.seconds,
        when=sessions.when,
        position=sessions.position,
        sitting=numbered_session_name_per_answer(sessions.worker, sessions.session),
        repeat_of=sessions.repeat_of,
    )
