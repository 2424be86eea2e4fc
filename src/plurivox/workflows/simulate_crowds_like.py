"""Simulate crowds like a given one: fitted models ("worlds") draw true labels and votes for the same workers on the same tasks.

Four worlds make different assumptions, so that no aggregation method is right by construction. Two of them have tasks on which
workers make the same mistakes; how many is estimated from how unevenly disagreement is spread over the tasks. Votes do not
show tasks that the whole crowd misreads; their share is drawn from what was found on public data sets with gold labels.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from plurivox import aggregate
from plurivox.core.array_types import Floats, Ints
from plurivox.core.results import Fit
from plurivox.core.votes import Votes

POOL = 4.0  # votes of the pooled crowd added to each row of a worker's matrix; as in dawid-skene[pool=4]
SPREADS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)  # standard deviations of task difficulty that are tried, in logits
AMBIGUOUS_SHARES = (0.0, 0.1, 0.2, 0.3, 0.45, 0.6)  # shares of tasks between two labels that are tried
SHARED_WRONG = 0.5  # in the world of hard tasks: share of wrong votes that go to the task's own wrong label
SHIFT_COST = 0.01  # of values that fit about equally well, those near the fitted workers are taken
SHIFT_STEPS = 8  # bisection steps that match the mean agreement
MAX_FITTED_VOTES = 20_000  # votes on random tasks with which the spread of difficulty is estimated
MAX_MATRIX_CELLS = 2**24  # numbers in all confusion matrices; beyond, all workers share one matrix
# share of the tasks that the crowd misreads: on each of the 16 public data sets with gold labels, by how much the measured
# accuracy of the default is below that of simulated crowds without misread tasks (python -m examples.recommend_regret)
MISREAD_SHARES: Mapping[str, float] = {
    "bluebird": 0.0,
    "dog": 0.11,
    "rte": 0.05,
    "web": 0.0,
    "sp_amt": 0.03,
    "product_match": 0.02,
    "tweet_sentiment": 0.03,
    "adult2": 0.11,
    "fact_eval": 0.07,
    "relevance4": 0.05,
    "barzan": 0.25,
    "hitspam": 0.34,
    "labelme": 0.14,
    "sentence_polarity": 0.04,
    "wsd": 0.01,
    "pos_twitter": 0.18,
}

LabelProbabilities = Callable[[Ints, Ints], Floats]  # (task, worker) codes of n votes -> (n, n_labels)


@dataclass(frozen=True)
class DrawnTasks:
    """Tasks drawn from a world: what is true of them, and the probability of each label for a vote of a worker on a task."""

    truth: Ints  # (n_tasks,) code of the true label
    shares: Floats  # (n_tasks, n_labels) probability that a person drawn from the crowd gives each label
    label_probabilities: LabelProbabilities
    easiness: Floats | None = None  # (n_tasks,) 0 is hardest, 1 is easiest; None: the world has no difficulty


@dataclass(frozen=True)
class World:
    """A fitted model of a crowd, from which tasks with known truth can be drawn."""

    name: str
    about: str
    draw: Callable[[np.random.Generator], DrawnTasks]


@dataclass(frozen=True)
class FittedCrowd:
    """The plain votes of a crowd, and the two fits from which the worlds are made."""

    votes: Votes
    matrices: Fit  # dawid-skene[pool=4]
    accuracies: Fit  # one-coin

    @classmethod
    def of(cls, votes: Votes) -> "FittedCrowd":
        """Fit the two models to plain votes of named workers."""
        pooled = aggregate.methods.make(f"dawid-skene[pool={POOL:g}]").fit(votes)
        return cls(votes, pooled, aggregate.methods.make("one-coin").fit(votes))


def truth_worlds(crowd: FittedCrowd, seed: int = 0) -> list[World]:
    """Return the worlds in which methods have to find the true label.

    `confusion matrices`: each worker has one, drawn from the posterior of Dawid-Skene with a pooled prior. `one accuracy`: each
    worker has an accuracy, wrong labels are equally probable. `hard tasks`: the logit of the accuracy is lower on harder tasks,
    and half of the wrong votes on a task are for the same label. `ambiguous tasks`: some tasks lie between two labels,
    and every worker may answer as if the other one were true.

    >>> from plurivox.workflows.simulate_and_write_crowd import simulate_crowd
    >>> crowd = FittedCrowd.of(simulate_crowd("hammer-spammer", n_tasks=50, n_workers=9, feedback=5).votes)
    >>> [world.name for world in truth_worlds(crowd)]
    ['confusion matrices', 'one accuracy', 'hard tasks', 'ambiguous tasks']
    """
    sample = _votes_on_random_tasks(crowd.votes, MAX_FITTED_VOTES, seed)
    return [
        World(
            "confusion matrices",
            "each worker confuses labels in their own way",
            lambda rng: _draw_confusion(crowd, rng),
        ),
        World("one accuracy", "each worker has one accuracy", lambda rng: _draw_one_accuracy(crowd, rng)),
        _world_of_hard_tasks(crowd, sample, seed),
        _world_of_ambiguous_tasks(crowd, sample, seed),
    ]


def misread(drawn: DrawnTasks, share: float, n_labels: int, rng: np.random.Generator) -> DrawnTasks:
    """Return the tasks with another true label on a random `share` of them, on which votes are given as before.

    The other label is the true label of another task, so that frequent labels stay frequent.
    """
    truth = drawn.truth.copy()
    chosen = rng.random(len(truth)) < share
    other = rng.permutation(truth)
    other = np.where(other == truth, (truth + 1) % n_labels, other)
    truth[chosen] = other[chosen]
    return replace(drawn, truth=truth)


def simulate_votes(
    drawn: DrawnTasks, design: Votes, rng: np.random.Generator, extra: tuple[Ints, Ints] | None = None
) -> Votes:
    """Return votes drawn for the who-voted-on-what of `design`, and for `extra` votes (task, worker) if given."""
    task, worker = design.task.astype(np.int64), design.worker.astype(np.int64)
    if extra is not None:
        task, worker = np.concatenate([task, extra[0]]), np.concatenate([worker, extra[1]])
    label = draw_labels(drawn.label_probabilities(task, worker), rng.random(len(task)))
    names = {"tasks": design.tasks, "workers": design.workers, "labels": design.labels}
    return Votes.coded(task=task, worker=worker, label=label, **names)


def draw_one_more_vote_per_task(design: Votes, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return (task, worker) of one more vote per task, by workers drawn by their number of votes, if possible not on it yet."""
    task, load = np.arange(design.n_tasks), design.n_answers_per_worker
    if not design.n_workers:
        return task, np.full(design.n_tasks, -1)
    probability = load / load.sum()
    taken = np.unique(design.task.astype(np.int64) * design.n_workers + design.worker)
    worker = rng.choice(design.n_workers, design.n_tasks, p=probability)
    for _ in range(20):
        again = np.isin(task * design.n_workers + worker, taken)
        if not again.any():
            break
        worker[again] = rng.choice(design.n_workers, int(again.sum()), p=probability)
    return task, worker


def draw_labels(probabilities: Floats, point: Floats) -> Ints:
    """Return (n,) label codes drawn from (n, n_labels) probabilities by the random numbers `point` (n,) between 0 and 1."""
    below = np.cumsum(probabilities, 1)[:, :-1] < point[:, None]
    return np.asarray(below.sum(1))


def pair_agreement_per_task(task: Ints, label: Ints, n_tasks: int, n_labels: int) -> Floats:
    """Return (n,) the share of pairs of votes that agree, for each task with two votes or more."""
    counts = np.bincount(task * n_labels + label, minlength=n_tasks * n_labels).reshape(n_tasks, n_labels)
    n = counts.sum(1)
    pairs = n * (n - 1)
    return np.asarray((counts * (counts - 1)).sum(1)[pairs > 0] / pairs[pairs > 0])


def _votes_on_random_tasks(votes: Votes, max_votes: int, seed: int) -> Votes:
    """Return the votes on random tasks, at most about `max_votes`; all names stay."""
    if len(votes) <= max_votes:
        return votes
    chosen = np.random.default_rng(seed).random(votes.n_tasks) < max_votes / len(votes)
    return votes.where(chosen[votes.task])


# ---- the worlds


def _draw_truth(fit: Fit, rng: np.random.Generator) -> Ints:
    return draw_labels(fit.soft.prob, rng.random(len(fit.soft)))


def _draw_matrices(crowd: FittedCrowd, rng: np.random.Generator) -> Floats:
    """Return (n_workers, true, said) matrices drawn from their Dirichlet posteriors; if they are many, one mean."""
    votes, fit = crowd.votes, crowd.matrices
    k = votes.n_labels
    assert fit.confusion is not None
    n_true = np.zeros((votes.n_workers, k))
    np.add.at(n_true, votes.worker, fit.soft.prob[votes.task])
    if fit.confusion.matrices.size > MAX_MATRIX_CELLS:
        weight = n_true / np.maximum(n_true.sum(0), 1e-300)
        return np.asarray(np.einsum("wk,wkl->kl", weight, fit.confusion.matrices)[None])
    strength = n_true[:, :, None] + POOL + 0.01 * k
    drawn = rng.standard_gamma(fit.confusion.matrices * strength) + 1e-12
    return np.asarray(drawn / drawn.sum(2, keepdims=True))


def _crowd_matrix(crowd: FittedCrowd, matrices: Floats) -> Floats:
    """(true, said) the mean of the workers' matrices, weighted by their votes."""
    if len(matrices) == 1:
        return np.asarray(matrices[0])
    load = crowd.votes.n_answers_per_worker
    return np.asarray(np.tensordot(load / load.sum(), matrices, 1))


def _draw_confusion(crowd: FittedCrowd, rng: np.random.Generator) -> DrawnTasks:
    truth, matrices = _draw_truth(crowd.matrices, rng), _draw_matrices(crowd, rng)
    shared = len(matrices) == 1

    def label_probabilities(task: Ints, worker: Ints) -> Floats:
        return np.asarray(matrices[0 if shared else worker, truth[task]])

    return DrawnTasks(truth, _crowd_matrix(crowd, matrices)[truth], label_probabilities)


def _draw_accuracies(crowd: FittedCrowd, rng: np.random.Generator) -> Floats:
    """Return (n_workers,) accuracies drawn from Beta posteriors whose prior is the mean of the crowd, worth POOL votes."""
    load, ability = crowd.votes.n_answers_per_worker, crowd.accuracies.ability
    assert ability is not None
    mean = float(np.clip((load * ability).sum() / load.sum(), 0.02, 0.98))
    drawn = rng.beta(load * ability + POOL * mean, load * (1 - ability) + POOL * (1 - mean))
    return np.clip(drawn, 0.005, 0.995)


def _spread_over_wrong_labels(right: Floats, truth: Ints, n_labels: int) -> Floats:
    """Return (n, n_labels) probabilities: `right` (n,) for the true label, the rest equally over the others."""
    found = np.repeat(((1 - right) / max(n_labels - 1, 1))[:, None], n_labels, 1)
    found[np.arange(len(truth)), truth] = right
    return found


def _draw_one_accuracy(crowd: FittedCrowd, rng: np.random.Generator) -> DrawnTasks:
    truth, accuracy = _draw_truth(crowd.accuracies, rng), _draw_accuracies(crowd, rng)
    k, load = crowd.votes.n_labels, crowd.votes.n_answers_per_worker
    mean = np.full(len(truth), (load * accuracy).sum() / load.sum())

    def label_probabilities(task: Ints, worker: Ints) -> Floats:
        return _spread_over_wrong_labels(accuracy[worker], truth[task], k)

    return DrawnTasks(truth, _spread_over_wrong_labels(mean, truth, k), label_probabilities)


def _world_of_hard_tasks(crowd: FittedCrowd, sample: Votes, seed: int) -> World:
    def draw(rng: np.random.Generator, spread: float, shift: float) -> DrawnTasks:
        return _draw_hard_tasks(crowd, rng, spread, shift)

    spread, shift = _match_agreement(draw, sample, SPREADS, (-0.75, 8.0), default=1.0, seed=seed)
    about = f"tasks differ in difficulty (standard deviation {spread:g} logits) and share wrong answers"
    return World("hard tasks", about, lambda rng: draw(rng, spread, shift))


def _draw_hard_tasks(crowd: FittedCrowd, rng: np.random.Generator, spread: float, shift: float) -> DrawnTasks:
    k, load = crowd.votes.n_labels, crowd.votes.n_answers_per_worker
    truth, accuracy = _draw_truth(crowd.accuracies, rng), _draw_accuracies(crowd, rng)
    ease = rng.standard_normal(len(truth))
    own_wrong = (truth + rng.integers(1, max(k, 2), len(truth))) % k
    skill = np.log(accuracy / (1 - accuracy)) + shift

    def spread_votes(right: Floats, task: Ints) -> Floats:
        found = _spread_over_wrong_labels(1 - (1 - SHARED_WRONG) * (1 - right), truth[task], k)
        rows = np.arange(len(task))
        found[rows, truth[task]] = right
        found[rows, own_wrong[task]] += SHARED_WRONG * (1 - right)
        return found

    def label_probabilities(task: Ints, worker: Ints) -> Floats:
        return spread_votes(1 / (1 + np.exp(-(skill[worker] + spread * ease[task]))), task)

    typical = float((load * skill).sum() / load.sum())
    shares = spread_votes(1 / (1 + np.exp(-(typical + spread * ease))), np.arange(len(truth)))
    return DrawnTasks(truth, shares, label_probabilities, ease.argsort().argsort() / max(len(ease) - 1, 1))


def _world_of_ambiguous_tasks(crowd: FittedCrowd, sample: Votes, seed: int) -> World:
    def draw(rng: np.random.Generator, share: float, shift: float) -> DrawnTasks:
        return _draw_ambiguous_tasks(crowd, rng, share, shift)

    share, shift = _match_agreement(draw, sample, AMBIGUOUS_SHARES, (-1.0, 1.0), default=0.2, seed=seed)
    about = f"{share:.0%} of the tasks lie between two labels, for all workers"
    return World("ambiguous tasks", about, lambda rng: draw(rng, share, shift))


def _draw_ambiguous_tasks(crowd: FittedCrowd, rng: np.random.Generator, share: float, shift: float) -> DrawnTasks:
    truth, matrices = _draw_truth(crowd.matrices, rng), _draw_matrices(crowd, rng)
    n, k = len(truth), crowd.votes.n_labels
    goal = np.eye(k) if shift > 0 else np.full((k, k), 1 / k)
    matrices = (1 - abs(shift)) * matrices + abs(shift) * goal
    mean, shared = _crowd_matrix(crowd, matrices), len(matrices) == 1
    confused = mean * (1 - np.eye(k)) + 1e-6  # another label is drawn as the crowd confuses them
    confused[np.arange(k), np.arange(k)] = 0
    other = draw_labels((confused / confused.sum(1, keepdims=True))[truth], rng.random(n)) if k > 1 else truth
    weight = np.where(rng.random(n) < share, rng.random(n), 0.0)  # share of the votes given as if `other` were true

    def label_probabilities(task: Ints, worker: Ints) -> Floats:
        row = 0 if shared else worker
        part = weight[task][:, None]
        return np.asarray((1 - part) * matrices[row, truth[task]] + part * matrices[row, other[task]])

    shares = (1 - weight[:, None]) * mean[truth] + weight[:, None] * mean[other]
    return DrawnTasks(truth, shares, label_probabilities, 1 - weight)


def _match_agreement(
    draw: Callable[[np.random.Generator, float, float], DrawnTasks],
    votes: Votes,
    spreads: tuple[float, ...],
    shifts: tuple[float, float],
    *,
    default: float,
    seed: int,
) -> tuple[float, float]:
    """Return the (spread, shift) whose simulated votes have the mean and the mean square of the pair agreement of `votes`.

    For each spread, bisection finds the shift that gives the mean; the mean square tells spreads apart. Tasks with two votes
    agree or do not, so the mean square says nothing about them: without tasks of three votes the spread is `default`.
    """
    task, worker = votes.task.astype(np.int64), votes.worker.astype(np.int64)
    shape = votes.n_tasks, votes.n_labels
    real = pair_agreement_per_task(task, votes.label.astype(np.int64), *shape)
    if not len(real):
        return default, 0.0

    def agreement(spread: float, shift: float) -> Floats:
        rng = np.random.default_rng(seed)  # the same random numbers for every value
        probabilities = draw(rng, spread, shift).label_probabilities(task, worker)
        return pair_agreement_per_task(task, draw_labels(probabilities, rng.random(len(task))), *shape)

    found = []
    for spread in spreads if int(votes.support.max()) > 2 else (default,):
        low, high = shifts
        for _ in range(SHIFT_STEPS):
            middle = (low + high) / 2
            low, high = (low, middle) if agreement(spread, middle).mean() > real.mean() else (middle, high)
        made = agreement(spread, (low + high) / 2)
        shift = (low + high) / 2
        misfit = abs(made.mean() - real.mean()) + abs((made**2).mean() - (real**2).mean())
        found.append((misfit + SHIFT_COST * abs(shift), spread, shift))
    _, spread, shift = min(found)
    return spread, shift
