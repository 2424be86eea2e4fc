"""Coverage of the 95% intervals of worker accuracies on simulated crowds: `python -m benchmarks.interval_coverage [METHOD]`.

Coverage is the share of workers whose interval contains their true accuracy, a mean over the workers of many small crowds: the
workers of one crowd share its errors, so that the standard error is that of the mean over crowds. The target is .93 to .97 in
each design, with a standard error of about .01. The crowd "model" is drawn from the prior of the sampled model: there, coverage
shows whether the sampler is right; the other crowds show what another crowd than assumed costs.
"""

import sys
import time
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from plurivox import aggregate
from plurivox.core.array_types import Floats
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.worker_accuracy_intervals import Hyper

CROWDS = ("model", "easy", "hard", "spammers", "own-matrices", "random-matrices")
N_CROWDS = 30  # simulated crowds per row of the table


class Design(NamedTuple):
    """Size of a simulated data set."""

    n_labels: int
    votes_per_task: int
    n_tasks: int
    n_workers: int
    gold: float = 0.0  # share of tasks with gold labels


DESIGNS = [
    Design(2, 1, 400, 20, gold=0.5),
    Design(2, 2, 300, 30),
    Design(2, 3, 200, 30),
    Design(2, 3, 400, 12),
    Design(2, 5, 160, 40),
    Design(2, 10, 80, 40),
    Design(2, 50, 60, 60),
    Design(4, 1, 400, 20, gold=0.5),
    Design(4, 2, 300, 30),
    Design(4, 3, 70, 40),
    Design(4, 3, 200, 30),
    Design(4, 3, 400, 12),
    Design(4, 5, 160, 40),
    Design(4, 10, 80, 40),
    Design(4, 50, 60, 60),
    Design(10, 2, 300, 30),
    Design(10, 3, 400, 12),
    Design(10, 5, 160, 40),
    Design(10, 10, 80, 40),
]


def draw_matrices(crowd: str, n_workers: int, n_labels: int, rng: np.random.Generator) -> Floats:
    """(n_workers, true, said) matrices: from the model's prior, of one accuracy per worker, or with each row at random."""
    if crowd == "model":
        return Hyper.draw_from_prior(n_labels, rng).draw_matrices(n_workers, rng)
    eye = np.eye(n_labels, dtype=bool)
    if crowd in ("own-matrices", "random-matrices"):
        easy = np.arange(n_labels)[:, None] % 2 if crowd == "own-matrices" else np.zeros((n_labels, 1))
        right, wrong = np.where(easy, 8, 2), np.where(easy, 2, 1.5)
        drawn = rng.standard_gamma(np.where(eye, right, wrong / (n_labels - 1)), (n_workers, n_labels, n_labels))
        return np.asarray(drawn / drawn.sum(2, keepdims=True))
    good = rng.beta(12, 3, n_workers)
    accuracy = {
        "easy": rng.beta(8, 2, n_workers),
        "hard": 1 / n_labels + (1 - 1 / n_labels) * rng.beta(3, 4, n_workers),
        "spammers": np.where(rng.random(n_workers) < 0.3, 1 / n_labels, good),
    }[crowd][:, None, None]
    return np.asarray(np.where(eye, accuracy, (1 - accuracy) / (n_labels - 1)))


def draw_votes(
    matrices: Floats, prior: Floats, design: Design, rng: np.random.Generator
) -> tuple[Votes, SoftLabels | None]:
    """Return votes of random workers on each task, and the gold labels of some tasks."""
    true = rng.choice(design.n_labels, design.n_tasks, p=prior)
    task = np.repeat(np.arange(design.n_tasks), design.votes_per_task)
    workers = [rng.permutation(design.n_workers)[: design.votes_per_task] for _ in range(design.n_tasks)]
    worker = np.concatenate(workers)
    bounds = matrices[worker, true[task]].cumsum(1)
    said = np.minimum((bounds < rng.random((len(task), 1))).sum(1), design.n_labels - 1)
    votes = Votes.of(task, worker, said, workers=range(design.n_workers), labels=range(design.n_labels))
    known = np.arange(int(design.gold * design.n_tasks))
    return votes, SoftLabels.of(np.eye(design.n_labels)[true[known]], known, range(design.n_labels)) if len(
        known
    ) else None


def coverage(method: str, crowd: str, design: Design, seed: int) -> tuple[float, float, float]:
    """Return (share of workers whose interval contains the true accuracy, mean width, seconds); NaN without intervals."""
    rng = np.random.default_rng([seed, 77, *design[:4]])
    matrices = draw_matrices(crowd, design.n_workers, design.n_labels, rng)
    prior = rng.dirichlet(np.full(design.n_labels, 1.0 if crowd == "model" else 5.0))
    votes, gold = draw_votes(matrices, prior, design, rng)
    fit = aggregate.methods.make(method).fit(votes, gold=gold)
    begin = time.thread_time()
    low, high = fit.ability_low, fit.ability_high
    seconds = time.thread_time() - begin
    if low is None or high is None or np.isnan(low).any():
        return np.nan, np.nan, seconds
    true = np.einsum("wkk,k->w", matrices, prior)[[int(name) for name in fit.workers.tolist()]]
    return float(((low <= true) & (true <= high)).mean()), float((high - low).mean()), seconds


def main(method: str = "dawid-skene", n_crowds: str = str(N_CROWDS)) -> None:
    """Print the coverage table of one method: mean over crowds and its standard error."""
    n, means = int(n_crowds), defaultdict(list)
    print(f"{method}, {n} crowds per row")
    print("| crowd | labels | votes per task | tasks | workers | gold | coverage | se | width | s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for crowd in CROWDS:
        for design in DESIGNS:
            found = np.array([coverage(method, crowd, design, seed) for seed in range(n)])
            cover, width, seconds = found.mean(0)
            error = found[:, 0].std(ddof=1) / n**0.5
            cells = (crowd, *design, f"{cover:.3f}", f"{error:.3f}", f"{width:.2f}", f"{seconds:.2f}")
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
            means[crowd].append(cover)
    means["all"] = [value for crowd in CROWDS for value in means[crowd]]
    for crowd, values in means.items():
        known = np.array(values)[~np.isnan(values)]
        near = float((abs(known - 0.95) <= 0.02).mean())
        print(
            f"{crowd}: mean {known.mean():.3f}; {known.min():.3f} to {known.max():.3f}; {near:.0%} of rows within .02 of .95"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
