"""Base class of simulation strategies, and the simulated crowd that they return."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from plurivox.core.answers import Answers
from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.errors import InputError
from plurivox.core.method import Method, option
from plurivox.core.registry import Methods
from plurivox.core.results import Confusion
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.simulate._shared.draw_vote_labels import draw_labels_with_guesses_and_copies, draw_votes_like_peerannot
from plurivox.simulate._shared.fatigue_drift_copying import (
    EASY,
    HARD,
    LEVELS,
    Assignments,
    make_assignments_with_drawn_effects,
)
from plurivox.simulate._shared.names_truth_and_features import (
    Dimensions,
    draw_features,
    draw_true_labels,
    make_names_and_align_truth_and_matrices,
    power_law_shares,
)
from plurivox.simulate._shared.response_times import LABEL_SECONDS, draw_answer_seconds, draw_timestamps
from plurivox.simulate._shared.simulation_option_checks import (
    check_option_combinations,
    check_options_against_sizes,
    label_frequencies_of_options,
)
from plurivox.simulate._shared.worker_assignment import VoteDesign, draw_task_and_worker_per_vote
from plurivox.simulate._shared.worker_pace_drift_copying import (
    WorkerTraits,
    draw_worker_traits,
    fatigue_drift_copying_rates_and_targets,
    floor_count,
)

__all__ = ["EASY", "HARD", "LEVELS", "Simulated", "Simulator", "methods"]


@dataclass(frozen=True)
class Simulated:
    """A simulated crowd: its votes, the true labels, the workers' confusion matrices, the levels of the tasks."""

    votes: Votes
    truth: SoftLabels
    confusion: Confusion  # without fatigue, drift and copying
    made_by: str
    level: Ints | None = None  # (n_tasks,) 0 easy, 1 hard, 2 random; None: tasks do not differ
    answers: Answers | None = None  # the answers entered, if workers enter more than a label
    faults: Names | None = None  # (n_answers,) the fault put into each answer, "" for none
    features: Floats | None = None  # (n_tasks, size)
    traits: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # name -> (n_workers,)


@dataclass(frozen=True)
class Simulator(Method, ABC):
    """A strategy that draws a random crowd and its votes; each task is answered by `feedback` different workers."""

    takes: ClassVar[frozenset[str]] = frozenset()  # "matrices": confusion matrices may be given

    n_tasks: int = option(200, "number of tasks", low=1)
    n_workers: int = option(30, "number of workers", low=1)
    n_labels: int = option(5, "number of labels", low=2)
    feedback: int = option(10, "number of votes per task, each by a different worker", low=1)
    workload: int | None = option(None, "largest number of tasks that a worker answers", low=1)
    imbalance_votes: bool = option(False, "each task gets 1 to `feedback` votes, uniformly at random")
    order: Literal["whole", "peerannot"] = option("whole", "draw all votes together, or vote by vote as peerannot does")
    prior: str | None = option(None, "frequencies of the labels, such as 0.7,0.2,0.1; none: uniform")
    label_tail: float = option(
        0.0, "long tail of labels: the frequency of label k is proportional to 1 / k^x", low=0, high=10
    )
    worker_tail: float = option(
        0.0, "long tail of workloads: worker k is chosen with probability proportional to 1 / k^x", low=0, high=10
    )
    tire: float = option(
        0.0, "probability that a worker's last answer is a guess; it grows linearly from 0", low=0, high=1
    )
    drift: float = option(
        0.0,
        "probability that a worker's last answer follows another worker's matrix; it grows linearly from 0",
        low=0,
        high=1,
    )
    copiers: float = option(0.0, "share of the workers in groups that copy their leader", low=0, high=1)
    group_size: int = option(4, "number of workers in a copying group, including its leader", low=2)
    copy_rate: float = option(0.9, "probability that a copier copies an answer", low=0, high=1)
    times: bool = option(False, "answers have a time and a duration")
    too_fast: float = option(0.0, "share of the workers who answer too fast and at random", low=0, high=1)
    features: int = option(0, "number of features per task for classifiers, with one cluster per label", low=0)
    separation: float = option(3.0, "mean distance between two clusters of features, in standard deviations", low=0)
    seed: int = option(0, "seed of the random draws; the same seed gives the same crowd", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_option_combinations(self)

    def draw(self, truth: SoftLabels | None = None, matrices: Confusion | None = None) -> Simulated:
        """Return a random crowd with its votes; raise InputError or OptionError if the inputs do not fit the options.

        `truth` gives the tasks and true labels instead of drawing them; `matrices` gives the workers and their confusion
        matrices.
        """
        if matrices is not None and "matrices" not in self.takes:
            raise InputError(f"{self.name()} draws its own matrices; to give yours, use independent-confusion")
        dimensions = make_names_and_align_truth_and_matrices(
            self.n_tasks, self.n_workers, self.n_labels, truth, matrices
        )
        check_options_against_sizes(self, dimensions)
        # optional effects have a generator of their own, so that they never change the assignment of workers to tasks
        rng, effects_rng = np.random.default_rng(self.seed), np.random.default_rng([self.seed, 1])
        true, level, confusion = self._draw_truth_difficulty_and_matrices(dimensions, rng)
        n_workers = len(dimensions.workers)
        traits = draw_worker_traits(
            self, dimensions.workers, self.draw_strategy_worker_traits_by_name(n_workers), effects_rng
        )
        if self.too_fast and traits.too_fast is not None:
            confusion = np.where(traits.too_fast[:, None, None], 1 / len(dimensions.labels), confusion)
        crowd = CrowdModel(dimensions, true, level, confusion, traits)
        assignments, drawn = self._draw_assignments_and_answers(crowd, rng, effects_rng)
        return Simulated(
            votes=_make_votes(assignments, drawn, crowd, effects_rng),
            truth=SoftLabels.one_hot(true, dimensions.tasks, dimensions.labels, estimates="truth"),
            confusion=Confusion(confusion, dimensions.workers, dimensions.labels),
            made_by=self.spec,
            level=level,
            answers=drawn.answers,
            faults=drawn.faults,
            features=self._draw_task_features_or_none(crowd, effects_rng),
            traits=traits.traits_by_name(),
        )

    # ---- defined by a strategy

    @abstractmethod
    def make_confusion_matrices(self, n_labels: int, rng: np.random.Generator) -> Floats:
        """Return (n_workers, n_labels, n_labels) random confusion matrices of the workers, [worker, true, given]."""

    def draw_task_difficulty_levels(self, n_tasks: int, rng: np.random.Generator) -> Ints | None:
        """Return (n_tasks,) a random difficulty level per task: 0 easy, 1 hard, 2 random; None if tasks do not differ."""
        del n_tasks, rng
        return None

    def draw_strategy_worker_traits_by_name(self, n_workers: int) -> Mapping[str, Floats]:
        """Return name -> (n_workers,) random worker traits of this strategy, such as honesty; {} if it has none."""
        del n_workers
        return {}

    def draw_labels_and_answers(
        self, assignments: Assignments, crowd: "CrowdModel", rng: np.random.Generator
    ) -> "DrawnAnswers":
        """Return a random label for every assignment of a worker to a task, and whole answers if workers enter more."""
        return DrawnAnswers(draw_labels_with_guesses_and_copies(crowd.matrices, assignments, rng))

    def worker_count_of_share(self, share: float) -> int:
        """Return share * number of workers, rounded down."""
        return floor_count(share, self.n_workers)

    # ---- steps of `draw`

    def _draw_truth_difficulty_and_matrices(
        self, dimensions: Dimensions, rng: np.random.Generator
    ) -> tuple[Ints, Ints | None, Floats]:
        """Return the tasks' true labels and levels and the workers' confusion matrices, random if they are not given."""
        n_labels = len(dimensions.labels)
        true = dimensions.true
        if true is None:
            true = draw_true_labels(label_frequencies_of_options(self, n_labels), n_labels, len(dimensions.tasks), rng)
        level = self.draw_task_difficulty_levels(len(dimensions.tasks), rng)
        return (
            true,
            level,
            self.make_confusion_matrices(n_labels, rng) if dimensions.matrices is None else dimensions.matrices,
        )

    def _draw_assignments_and_answers(
        self, crowd: "CrowdModel", rng: np.random.Generator, fatigue_and_copying_rng: np.random.Generator
    ) -> tuple[Assignments, "DrawnAnswers"]:
        """Return a random assignment of workers to tasks, and the labels or answers drawn for it."""
        n_tasks, n_workers = len(crowd.dimensions.tasks), len(crowd.dimensions.workers)
        shares = power_law_shares(n_workers, self.worker_tail) if self.worker_tail else None
        design = VoteDesign(n_tasks, n_workers, self.feedback, self.workload, self.imbalance_votes, shares)
        effects = fatigue_drift_copying_rates_and_targets(self, crowd.traits)
        if self.order == "peerannot":
            task, worker, label = draw_votes_like_peerannot(design, crowd.matrices, crowd.true, crowd.level, rng)
            return make_assignments_with_drawn_effects(
                task, worker, crowd.true, None, effects, fatigue_and_copying_rng
            ), DrawnAnswers(label)
        task, worker = draw_task_and_worker_per_vote(design, rng)
        assignments = make_assignments_with_drawn_effects(
            task, worker, crowd.true, crowd.level, effects, fatigue_and_copying_rng
        )
        return assignments, self.draw_labels_and_answers(assignments, crowd, rng)

    def _draw_task_features_or_none(self, crowd: "CrowdModel", rng: np.random.Generator) -> Floats | None:
        """Return (n_tasks, n_features) random task features, clustered by true label; None if the option `features` is 0."""
        if not self.features:
            return None
        return draw_features(crowd.true, len(crowd.dimensions.labels), self.features, self.separation, rng)


@dataclass(frozen=True)
class CrowdModel:
    """The parameters that votes are drawn from: true labels and levels of tasks, confusion matrices and traits of workers."""

    dimensions: Dimensions
    true: Ints  # (n_tasks,)
    level: Ints | None  # (n_tasks,)
    matrices: Floats  # (n_workers, n_labels, n_labels) [worker, true label, label given]
    traits: WorkerTraits


@dataclass(frozen=True)
class DrawnAnswers:
    """The label drawn for each assignment of a worker to a task, and the whole answers if workers enter more than a label."""

    label: Ints  # (n_assignments,)
    answers: Answers | None = None
    faults: Names | None = None  # (n_answers,)


def _make_votes(
    assignments: Assignments, drawn: DrawnAnswers, crowd: CrowdModel, times_rng: np.random.Generator
) -> Votes:
    """Return the drawn labels as Votes, with random times if the simulation has times; make the given arrays read-only."""
    dimensions, pace, seconds, when = crowd.dimensions, crowd.traits.pace, None, None
    if drawn.answers is None and pace is not None and assignments.n_before is not None:
        seconds = draw_answer_seconds(assignments.n_before, pace[assignments.worker], LABEL_SECONDS, times_rng)
        session = np.zeros(len(assignments), np.int64)
        when = draw_timestamps(assignments.worker, session, assignments.n_before, seconds, times_rng)
    for column in (assignments.task, assignments.worker, drawn.label):  # read-only columns need no copy
        column.flags.writeable = False
    return Votes(
        task=assignments.task,
        worker=assignments.worker,
        label=drawn.label,
        tasks=dimensions.tasks,
        workers=dimensions.workers,
        labels=dimensions.labels,
        seconds=seconds,
        when=when,
    )


methods: Methods[Simulator] = Methods(__package__, Simulator)
