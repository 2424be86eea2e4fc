"""What every simulation is, and what it gives back."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from plurivox.core.answers import Answers
from plurivox.core.errors import InputError
from plurivox.core.method import Method, option
from plurivox.core.registry import Methods
from plurivox.core.results import Confusion
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats, Ints, Names
from plurivox.core.votes import Votes
from plurivox.simulate._shared.dimensions import Stage, draw_features, draw_labels, set_stage, tail
from plurivox.simulate._shared.label_draws import one_by_one, say
from plurivox.simulate._shared.option_checks import check_options, check_sizes, read_prior
from plurivox.simulate._shared.population import People, count_of, draw_people, habits_of
from plurivox.simulate._shared.response_times import PLAIN, clock, draw_seconds
from plurivox.simulate._shared.worker_assignment import VoteDesign, assign
from plurivox.simulate._shared.worker_sequences import EASY, HARD, LEVELS, Turns, take_turns

__all__ = ["EASY", "HARD", "LEVELS", "Simulated", "Simulator", "methods"]


@dataclass(frozen=True)
class Simulated:
    """A crowd with known truth: its votes, the true labels, how each worker answers, how hard each task is."""

    votes: Votes
    truth: SoftLabels
    confusion: Confusion  # how each answers when alone and fresh
    made_by: str
    level: Ints | None = None  # (n_tasks,) 0 easy, 1 hard, 2 random; None: tasks do not differ
    answers: Answers | None = None  # what people entered, where they are asked for more than a label
    faults: Names | None = None  # (n_answers,) the fault put into each answer, "" where there is none
    features: Floats | None = None  # (n_tasks, size)
    traits: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # name -> (n_workers,)


@dataclass(frozen=True)
class Simulator(Method, ABC):
    """A crowd drawn by chance; each task is answered by `feedback` different workers."""

    takes: ClassVar[frozenset[str]] = frozenset()  # "matrices": they may be given

    n_tasks: int = option(200, "how many tasks", low=1)
    n_workers: int = option(30, "how many workers", low=1)
    n_labels: int = option(5, "how many labels", low=2)
    feedback: int = option(10, "votes per task, each by another worker", low=1)
    workload: int | None = option(None, "tasks a worker answers at most", low=1)
    imbalance_votes: bool = option(False, "each task gets 1 to `feedback` votes, evenly at random")
    order: Literal["whole", "peerannot"] = option(
        "whole", "draw whole columns at once, or vote by vote as peerannot does"
    )
    prior: str | None = option(None, "how frequent each label is, such as 0.7,0.2,0.1; none: all the same")
    label_tail: float = option(0.0, "long tail of labels: label k is as frequent as 1 / k^x", low=0, high=10)
    worker_tail: float = option(0.0, "long tail of workloads: worker k is chosen as 1 / k^x", low=0, high=10)
    tire: float = option(0.0, "chance that a worker's last answer is a guess; it grows evenly from 0", low=0, high=1)
    drift: float = option(
        0.0, "chance that a worker's last answer follows another worker's matrix; it grows evenly from 0", low=0, high=1
    )
    copiers: float = option(0.0, "share of the workers in groups that copy their leader", low=0, high=1)
    group_size: int = option(4, "workers in a copying group, its leader among them", low=2)
    copy_rate: float = option(0.9, "chance that a copier copies instead of answering", low=0, high=1)
    times: bool = option(False, "answers have a time and a duration")
    too_fast: float = option(0.0, "share of the workers who click at once without looking", low=0, high=1)
    features: int = option(0, "numbers per task for classifiers, in a cluster a label", low=0)
    separation: float = option(3.0, "mean distance between two clusters of features, in standard deviations", low=0)
    seed: int = option(0, "same seed, same crowd", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_options(self)

    def draw(self, truth: SoftLabels | None = None, matrices: Confusion | None = None) -> Simulated:
        """Draw the crowd and its votes.

        `truth` gives tasks and true labels instead of drawing them; `matrices` gives workers and how they answer.
        """
        if matrices is not None and "matrices" not in self.takes:
            raise InputError(f"{self.name()} makes its own matrices; independent-confusion takes yours")
        stage = set_stage(self.n_tasks, self.n_workers, self.n_labels, truth, matrices)
        check_sizes(self, stage)
        # what comes on top has a chance of its own, so that it never changes who answers what
        rng, later = np.random.default_rng(self.seed), np.random.default_rng([self.seed, 1])
        true, level, ways = self._scene(stage, rng)
        people = draw_people(self, stage.workers, self.traits(len(stage.workers)), later)
        if self.too_fast and people.too_fast is not None:
            ways = np.where(people.too_fast[:, None, None], 1 / len(stage.labels), ways)
        crowd = Crowd(stage, true, level, ways, people)
        turns, said = self._voices(crowd, rng, later)
        return Simulated(
            votes=_votes(turns, said, crowd, later),
            truth=SoftLabels.one_hot(true, stage.tasks, stage.labels),
            confusion=Confusion(ways, stage.workers, stage.labels),
            made_by=self.spec,
            level=level,
            answers=said.answers,
            faults=said.faults,
            features=self._features(crowd, later),
            traits=people.columns(),
        )

    # ---- what a strategy says

    @abstractmethod
    def matrices(self, n_labels: int, rng: np.random.Generator) -> Floats:
        """(n_workers, n_labels, n_labels) how each worker answers: [worker, true, said]."""

    def levels(self, n_tasks: int, rng: np.random.Generator) -> Ints | None:
        """(n_tasks,) how hard each task is, where tasks differ."""
        del n_tasks, rng
        return None

    def traits(self, n_workers: int) -> Mapping[str, Floats]:
        """name -> (n_workers,) what the strategy knows of each worker beside the matrix."""
        del n_workers
        return {}

    def speak(self, turns: Turns, crowd: "Crowd", rng: np.random.Generator) -> "SimulatedEntries":
        """What is said in every turn."""
        return SimulatedEntries(say(crowd.ways, turns, rng))

    def share(self, ratio: float) -> int:
        """How many workers a share of them is, rounded down."""
        return count_of(ratio, self.n_workers)

    # ---- steps

    def _scene(self, stage: Stage, rng: np.random.Generator) -> tuple[Ints, Ints | None, Floats]:
        """True labels, levels and matrices, in this order of draws."""
        n_labels = len(stage.labels)
        true = stage.true
        if true is None:
            true = draw_labels(read_prior(self, n_labels), n_labels, len(stage.tasks), rng)
        level = self.levels(len(stage.tasks), rng)
        return true, level, self.matrices(n_labels, rng) if stage.matrices is None else stage.matrices

    def _voices(
        self, crowd: "Crowd", rng: np.random.Generator, later: np.random.Generator
    ) -> tuple[Turns, "SimulatedEntries"]:
        """Who answers what, and what they say."""
        n_tasks, n_workers = len(crowd.stage.tasks), len(crowd.stage.workers)
        share = tail(n_workers, self.worker_tail) if self.worker_tail else None
        asked = VoteDesign(n_tasks, n_workers, self.feedback, self.workload, self.imbalance_votes, share)
        if self.order == "peerannot":
            task, worker, label = one_by_one(asked, crowd.ways, crowd.true, crowd.level, rng)
            return take_turns(task, worker, crowd.true, None, habits_of(self, crowd.people), later), SimulatedEntries(
                label
            )
        task, worker = assign(asked, rng)
        turns = take_turns(task, worker, crowd.true, crowd.level, habits_of(self, crowd.people), later)
        return turns, self.speak(turns, crowd, rng)

    def _features(self, crowd: "Crowd", rng: np.random.Generator) -> Floats | None:
        if not self.features:
            return None
        return draw_features(crowd.true, len(crowd.stage.labels), self.features, self.separation, rng)


@dataclass(frozen=True)
class Crowd:
    """A crowd before it speaks."""

    stage: Stage
    true: Ints  # (n_tasks,)
    level: Ints | None  # (n_tasks,)
    ways: Floats  # (n_workers, n_labels, n_labels) how each answers
    people: People


@dataclass(frozen=True)
class SimulatedEntries:
    """What the people of a simulation say: labels, and the whole answers where there is more to them."""

    label: Ints  # (n_turns,)
    answers: Answers | None = None
    faults: Names | None = None  # (n_answers,)


def _votes(turns: Turns, said: SimulatedEntries, crowd: Crowd, rng: np.random.Generator) -> Votes:
    """The labels as votes, with times where there are some; turns are sorted as votes are."""
    stage, seconds, when = crowd.stage, None, None
    if said.answers is None and crowd.people.pace is not None and turns.place is not None:
        seconds = draw_seconds(turns.place, crowd.people.pace[turns.worker], PLAIN, rng)
        when = clock(turns.worker, np.zeros(len(turns), np.int64), turns.place, seconds, rng)
    for column in (turns.task, turns.worker, said.label):  # nobody writes to them: no need for a copy
        column.flags.writeable = False
    return Votes(
        task=turns.task,
        worker=turns.worker,
        label=said.label,
        tasks=stage.tasks,
        workers=stage.workers,
        labels=stage.labels,
        seconds=seconds,
        when=when,
    )


methods: Methods[Simulator] = Methods(__package__, Simulator)
