"""GLAD: abilities of workers, difficulties of tasks."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.clamped_tasks import Told
from plurivox.aggregate._shared.em_options import PRIOR_HELP, TOL_HELP, check_room, fixed_prior, log_prior, soft_labels
from plurivox.aggregate._shared.glad_published_em import PublishedEM
from plurivox.core.encoding import positions
from plurivox.core.errors import OptionError
from plurivox.core.method import option
from plurivox.core.progress import Watch
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Bools, Floats, Names
from plurivox.core.votes import Votes
from plurivox.engine.em import Climb, climb
from plurivox.engine.kernels import glad
from plurivox.engine.threads import Blocks

FARTHEST = 20.0  # a log ease beyond it makes no difference: nobody gets such a task wrong
WIDE = 1.959964  # 95% of a normal distribution lie within so many standard deviations


class State(NamedTuple):
    """What the model learns."""

    log_prior: Floats  # (n_labels,)
    ability: Floats  # (n_workers,)
    log_ease: Floats  # (n_open,)


@dataclass(frozen=True)
class Glad(Aggregator):
    """A worker's ability and a task's difficulty decide how likely a vote is right.

    With x = ability * ease of the task, a vote is right with chance 1 / (1 + exp(-x)), and else on any other label alike;
    difficulty is 1 / ease. The abilities and the logs of the eases have normal priors with sd 1. The objective is the log
    of likelihood and priors, labels summed out. A pass moves the ease of each task by a Newton step and each ability to
    the top of a quadratic bound that touches the objective (Jaakkola & Jordan 2000,
    https://doi.org/10.1023/A:1008932416310), so it never falls. Intervals of abilities come from its curvature, all else
    held; `found["left_out"]` is the share of a worker's answers that the rest agrees with, its own left out. `published`
    is the EM of papers, with at most 25 conjugate gradients a round and an end as soon as a round gains 1e-5 of Q.

    Whitehill, Ruvolo, Wu, Bergsma & Movellan (2009), Whose vote should count more, NeurIPS 22.

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxy"))
    >>> fit = Glad().fit(votes)
    >>> fit.soft.hard().tolist(), fit.ability.round(2)
    (['x', 'y', 'x'], array([ 1.14,  1.14, -0.49]))
    """

    prior: str = option("even", PRIOR_HELP)
    ability_mean: float = option(1.0, "what abilities are drawn to; below 0 a worker is wrong on purpose")
    ease_mean: float = option(1.0, "what the log of a task's ease is drawn to")
    max_iter: int = option(100, "most passes over the votes", low=1)
    tol: float = option(1e-6, TOL_HELP, low=0)
    accelerate: bool = option(True, "try longer steps, and take back those that do not pay")
    published: bool = option(False, "EM with conjugate gradients as in papers: slow, and stops before the top")

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold", "start"})

    def can_take(self) -> frozenset[str]:
        return self.takes - {"gold", "start"} if self.published else self.takes

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, watch: Watch) -> Fit:
        check_room(votes, self.name(), votes.n_workers)
        model = _Model(self, Told(votes, gold, start))
        if self.published:
            return model.answer(model.climb_as_published(watch))
        end = climb(
            model.sweep,
            model.first(start),
            max_iter=self.max_iter,
            tol=self.tol * votes.n_answers,
            watch=watch,
            space=model if self.accelerate else None,
        )
        return model.answer(end)


class _Model:
    """The model on some votes."""

    def __init__(self, method: Glad, told: Told) -> None:
        self.method, self.told, votes = method, told, told.votes
        self.fixed = fixed_prior(method.prior, votes.labels)
        self.rows = told.start, votes.worker, votes.label.astype(np.int32), votes.weight
        self.blocks = Blocks(told.start, cells=2 * votes.n_workers, width=2)

    def first(self, start: Fit | None) -> State:
        """The means of the priors; or where an earlier fit left off; or what follows from what it believed."""
        votes, open_tasks = self.told.votes, self.told.votes.tasks[self.told.open]
        state = State(
            log_prior(np.ones(votes.n_labels), self.fixed),
            np.full(votes.n_workers, self.method.ability_mean),
            np.full(len(open_tasks), self.method.ease_mean),
        )
        if start is None:
            return state
        if start.difficulty is None or start.ability is None:
            return self._pass(state, np.ones(len(open_tasks), bool))[0]
        _carry(start.workers, start.ability, votes.workers, state.ability)
        _carry(start.soft.tasks, -np.log(start.difficulty), open_tasks, state.log_ease)
        return state

    def sweep(self, state: State) -> tuple[State, float]:
        """One pass: a better state, and the objective of the one given."""
        return self._pass(state, self.told.held)

    def _pass(self, state: State, held: Bools) -> tuple[State, float]:
        method, ease = self.method, np.empty_like(state.log_ease)

        def work(first: int, last: int, n_true: Floats, toward: Floats, grip: Floats) -> float:
            given = (*self.rows, held, *state, method.ease_mean, self.told.posterior)
            return glad.sweep(first, last, *given, ease, n_true, toward, grip)

        sizes = len(state.log_prior), len(state.ability), len(state.ability)
        value, (n_true, toward, grip) = self.blocks.gather(work, *sizes)
        n_true += self.told.n_silent
        value += float(self.told.n_silent @ state.log_prior) - 0.5 * float(
            ((state.ability - method.ability_mean) ** 2).sum()
        )
        ability = (method.ability_mean + toward) / (1 + grip)
        return State(log_prior(n_true, self.fixed), ability, ease), value

    def climb_as_published(self, watch: Watch) -> Climb[State]:
        """The EM of Whitehill et al. and peerannot, with its own rule to stop."""
        told, first = self.told, self.first(None)
        task = np.repeat(np.arange(len(told.open)), np.diff(told.start))
        rows = task, told.votes.worker, told.votes.label.astype(np.int64), told.votes.weights
        if self.fixed is None:
            raise OptionError("glad: as published the prior is even or given, not learnt; leave out published or prior")
        em = PublishedEM(*rows, first.log_prior, told.n_workers, np.concatenate(first[1:]))
        end = em.climb(watch)
        here, there = (State(first.log_prior, *np.split(x, [told.n_workers])) for x in (end.state, end.better))
        return Climb(here, there, end.trace, end.converged, end.passes)

    def answer(self, end: Climb[State]) -> Fit:
        """What a climb ended with, as a fit."""
        state, told, votes = end.state, self.told, self.told.votes

        def work(first: int, last: int, agree: Floats, known: Floats) -> float:
            return glad.believe(first, last, *self.rows, told.held, *state, told.posterior, agree, known)

        _, (agree, known) = self.blocks.gather(work, votes.n_workers, votes.n_workers)
        reach = WIDE / np.sqrt(np.maximum(1 + known, 1.0))  # never wider than the prior's own
        difficulty = np.full(votes.n_tasks, np.exp(-self.method.ease_mean))
        difficulty[told.open] = np.exp(-state.log_ease)
        prior = np.exp(state.log_prior)
        return Fit(
            soft_labels(votes, told.answers(prior)),
            votes.workers,
            self.method.word,
            prior=prior,
            ability=state.ability,
            ability_low=state.ability - reach,
            ability_high=state.ability + reach,
            difficulty=difficulty,
            trace=end.trace,
            converged=end.converged,
            found={"passes": end.passes, "left_out": told.shared_with(agree)},
        )

    # ---- the state as one row of numbers, for long steps

    def flat(self, state: State) -> Floats:
        return np.concatenate(state)

    def state(self, flat: Floats) -> State:
        n_labels, n_workers = self.told.votes.n_labels, self.told.votes.n_workers
        logs, ability, log_ease = np.split(flat, [n_labels, n_labels + n_workers])
        return State(logs - np.logaddexp.reduce(logs), ability, np.clip(log_ease, -FARTHEST, FARTHEST))


def _carry(names: Names, values: Floats, wanted: Names, into: Floats) -> None:
    """Values by name to where the names stand now."""
    place = positions(names, wanted)
    into[place >= 0] = values[place[place >= 0]]
