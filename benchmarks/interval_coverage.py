"""Coverage of the 95% intervals of worker accuracies on simulated crowds: `python -m benchmarks.interval_coverage [METHOD]`."""

import sys
import time

import numpy as np

from plurivox import aggregate
from plurivox.core.array_types import Floats
from plurivox.core.name_encoding import as_names
from plurivox.core.results import Confusion
from plurivox.simulate import IndependentConfusion

SEEDS = 5
DESIGNS = [(n_labels, feedback, 400, 40) for n_labels in (2, 4, 10) for feedback in (1, 2, 3, 5, 10)]
DESIGNS += [
    (2, 50, 100, 60),
    (4, 50, 100, 60),
    (4, 3, 2000, 100),
    (4, 5, 300, 100),
]  # labels, votes per task, tasks, workers
CROWDS = ("easy", "hard", "spammers", "own-matrices")


def draw_matrices(crowd: str, n_workers: int, n_labels: int, rng: np.random.Generator) -> Floats:
    """(n_workers, true, said) confusion matrices: one accuracy per worker, or each label its own, easier, row."""
    if crowd == "own-matrices":
        right = np.where(np.arange(n_labels) % 2, 8, 2)[:, None]
        wrong = np.where(np.arange(n_labels) % 2, 2, 1.5)[:, None] / (n_labels - 1)
        pseudo = np.where(np.eye(n_labels), right, wrong)
        return np.stack([[rng.dirichlet(row) for row in pseudo] for _ in range(n_workers)])
    good = rng.beta(12, 3, n_workers)
    accuracy = {
        "easy": rng.beta(8, 2, n_workers),
        "hard": 1 / n_labels + (1 - 1 / n_labels) * rng.beta(3, 4, n_workers),
        "spammers": np.where(rng.random(n_workers) < 0.3, 1 / n_labels, good),
    }[crowd][:, None, None]
    return np.asarray(np.where(np.eye(n_labels), accuracy, (1 - accuracy) / (n_labels - 1)))


def coverage(method: str, crowd: str, design: tuple[int, int, int, int], seed: int) -> tuple[float, float, float]:
    """Return (share of workers whose interval contains the true accuracy, mean width, seconds); NaN without intervals."""
    n_labels, feedback, n_tasks, n_workers = design
    rng = np.random.default_rng([seed, 77])
    matrices = draw_matrices(crowd, n_workers, n_labels, rng)
    prior = rng.dirichlet(np.full(n_labels, 5.0)).round(6)
    names, labels = as_names([f"w{i:04d}" for i in range(n_workers)]), as_names([f"l{k:02d}" for k in range(n_labels)])
    simulator = IndependentConfusion(
        n_tasks=n_tasks,
        n_workers=n_workers,
        n_labels=n_labels,
        feedback=feedback,
        seed=seed,
        prior=",".join(map(str, prior)),
    )
    drawn = simulator.draw(matrices=Confusion(matrices, names, labels))
    fit, begin = aggregate.methods.make(method).fit(drawn.votes), time.perf_counter()
    low, high = fit.ability_low, fit.ability_high
    seconds = time.perf_counter() - begin
    if low is None or high is None or np.isnan(low).any():
        return np.nan, np.nan, seconds
    true = np.einsum("wkk,k->w", matrices, prior / prior.sum())
    true = true[[int(str(name)[1:]) for name in fit.workers.tolist()]]
    return float(((low <= true) & (true <= high)).mean()), float((high - low).mean()), seconds


def main(method: str = "dawid-skene") -> None:
    """Print the coverage table of one method: mean over seeds and its standard error."""
    print(
        f"{method}, {SEEDS} crowds per row\n| crowd | labels | votes per task | tasks | workers | coverage | se | width | s |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    means = []
    for crowd in CROWDS:
        for design in DESIGNS:
            found = np.array([coverage(method, crowd, design, seed) for seed in range(SEEDS)])
            cover, width, seconds = found.mean(0)
            error = found[:, 0].std(ddof=1) / SEEDS**0.5
            cells = (crowd, *design, f"{cover:.3f}", f"{error:.3f}", f"{width:.2f}", f"{seconds:.2f}")
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
            means.append(cover)
    known = np.array(means)[~np.isnan(means)]
    near = float((abs(known - 0.95) <= 0.02).mean())
    print(f"\nmean {known.mean():.3f}; within .02 of .95 in {near:.0%} of the rows; lowest {known.min():.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
