"""GLAD: abilities of workers, difficulties of tasks."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._latent import first_guess, fixed_prior, held_tasks
from plurivox.core.labels import SoftLabels
from plurivox.core.method import option
from plurivox.core.names import Floats, Names, frozen, positions
from plurivox.core.results import Fit
from plurivox.core.votes import Votes
from plurivox.core.watch import Watch
from plurivox.engine.blocks import Blocks
from plurivox.engine.em import Climb, climb
from plurivox.engine.kernels import glad

FARTHEST = 20.0  # of the log of an ease: e^20 is a task that nobody can get wrong
TINY = 1e-300
WIDE = 1.959964  # a normal distribution has 95% within so many standard deviations

State = tuple[Floats, Floats, Floats]  # ability (n_workers,), log of the ease (n_tasks,), prior (n_labels,)


@dataclass(frozen=True)
class Glad(Aggregator):
    """A worker's ability and a task's difficulty decide how likely a vote is right.

    With x = ability_w * exp(b_t), a vote is right with chance 1 / (1 + exp(-x)) and else on any other label alike; b is
    the log of the ease of a task, and its difficulty is exp(-b). Abilities and b have normal priors with sd 1. The
    objective is the log of the likelihood and of these priors, labels summed out. A pass improves every b by a Newton
    step and every ability by the best point of a quadratic bound (Jaakkola & Jordan 2000,
    https://doi.org/10.1023/A:1008932416310), so the objective never falls. The intervals of abilities come from its
    curvature, all else held.

    Whitehill, Ruvolo, Wu, Bergsma & Movellan (2009), Whose vote should count more, NeurIPS 22.

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxy"))
    >>> fit = Glad().fit(votes)
    >>> fit.soft.hard().tolist(), bool(fit.ability[2] < fit.ability[0])
    (['x', 'y', 'x'], True)
    """

    prior: str = option("uniform", "how frequent labels are: uniform, learnt, or a share for each, such as .2,.8")
    ability_mean: float = option(1.0, "what abilities are drawn to")
    ease_mean: float = option(1.0, "what the log of a task's ease is drawn to")
    max_iter: int = option(200, "most passes over the votes", low=1)
    tol: float = option(1e-7, "stop when a pass gains less than this a vote", low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold", "start"})

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, watch: Watch) -> Fit:
        crowd = _Crowd(self, votes, gold, start)
        top = crowd.climb(watch)
        ability, log_ease, prior = top.state[0], top.better[1], top.state[2]
        reach = WIDE / np.sqrt(np.maximum(1 + crowd.information(ability, log_ease), 1.0))  # at most the prior's own
        soft = SoftLabels.of(crowd.posterior, votes.tasks, votes.labels, support=votes.support, scale=votes.scale)
        return Fit(
            soft,
            votes.workers,
            self.word,
            prior=prior,
            ability=ability,
            ability_low=ability - reach,
            ability_high=ability + reach,
            difficulty=np.exp(-log_ease),
            trace=top.trace,
            converged=top.converged,
        )


class _Crowd:
    """The votes and what GLAD knows of them while it climbs."""

    def __init__(self, method: Glad, votes: Votes, gold: SoftLabels | None, start: Fit | None) -> None:
        self.method, self.votes = method, votes
        self.blocks = Blocks(votes.start, cells=2 * votes.n_workers, width=2)
        self.rows = frozen(votes.start), votes.worker, votes.label, votes.weight
        self.fixed = fixed_prior(method.prior, votes)
        self.held, known = held_tasks(votes, gold)
        self.posterior = first_guess(votes, start)
        if len(self.held):
            self.posterior[self.held] = known
        else:
            self.held = None
        self.first = self._begin(start)

    def _begin(self, start: Fit | None) -> State:
        """The prior means, or where an earlier fit left off."""
        votes = self.votes
        prior = self.fixed
        ability = np.full(votes.n_workers, self.method.ability_mean)
        log_ease = np.full(votes.n_tasks, self.method.ease_mean)
        if start is not None and start.difficulty is not None and start.ability is not None:
            _carry(start.workers, start.ability, votes.workers, ability)
            _carry(start.soft.tasks, -np.log(start.difficulty), votes.tasks, log_ease)
        if prior is None:
            told = start.prior if start is not None and start.soft.n_labels == votes.n_labels else None
            prior = np.full(votes.n_labels, 1 / votes.n_labels) if told is None else told
        return ability, log_ease, prior

    def climb(self, watch: Watch) -> Climb[State]:
        method = self.method
        tol = method.tol * max(self.votes.n_answers, 1)
        space = _Line(self.votes.n_workers, self.votes.n_tasks, self.fixed)
        return climb(self.sweep, self.first, max_iter=method.max_iter, tol=tol, watch=watch, space=space)

    def sweep(self, state: State) -> tuple[State, float]:
        """One pass over the votes."""
        ability, log_ease, prior = state
        better = np.empty_like(log_ease)
        with np.errstate(divide="ignore"):
            log_prior = np.log(prior)
        means = self.method.ability_mean, self.method.ease_mean

        def work(first: int, last: int, toward: Floats, grip: Floats, labels: Floats) -> float:
            given = (*self.rows, self.held, log_prior, ability, log_ease, means[1])
            return glad.sweep(first, last, *given, self.posterior, better, labels, toward, grip)

        sizes = len(ability), len(ability), len(prior)
        value, (toward, grip, labels) = self.blocks.gather(work, *sizes)
        value -= 0.5 * float(((ability - means[0]) ** 2).sum())
        if self.fixed is None and labels.sum() > 0:
            prior = labels / labels.sum()
        return ((means[0] + toward) / (1 + grip), better, prior), value

    def information(self, ability: Floats, log_ease: Floats) -> Floats:
        """(n_workers,) what the votes say of each ability: minus the second derivative of the log likelihood."""

        def work(first: int, last: int, known: Floats) -> float:
            return glad.inform(first, last, *self.rows, self.held, ability, log_ease, self.posterior, known)

        return self.blocks.gather(work, len(ability))[1][0]


@dataclass(frozen=True)
class _Line:
    """Abilities, logs of eases and, where it is learnt, the log of the prior in one row of numbers."""

    n_workers: int
    n_tasks: int
    fixed: Floats | None  # (n_labels,) the prior where it is not learnt

    def flat(self, state: State) -> Floats:
        ability, log_ease, prior = state
        return np.concatenate([ability, log_ease, [] if self.fixed is not None else np.log(np.maximum(prior, TINY))])

    def state(self, flat: Floats) -> State:
        ability, log_ease, rest = np.split(flat, [self.n_workers, self.n_workers + self.n_tasks])
        prior = self.fixed if self.fixed is not None else np.exp(rest - rest.max())
        return ability, np.clip(log_ease, -FARTHEST, FARTHEST), prior / prior.sum()


def _carry(names: Names, values: Floats, wanted: Names, into: Floats) -> None:
    """Values by name to where the name stands now."""
    place = positions(names, wanted)
    into[place >= 0] = values[place[place >= 0]]
