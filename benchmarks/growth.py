"""Time a vote and pass from 10^4 to 10^7 votes, beside the floor: the bytes a pass must move at the measured bandwidth."""

import time

import numpy as np

from plurivox.aggregate import DawidSkene
from plurivox.simulate import IndependentConfusion

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
FEEDBACK, N_LABELS = 5, 10


def bandwidth() -> float:
    """Bytes a second that one large copy moves, reading and writing counted, the best of five."""
    source = np.ones(2**25)
    target = np.empty_like(source)
    best = np.inf
    for _ in range(5):
        began = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - began)
    return 2 * source.nbytes / best


def seconds_a_pass(n_votes: int) -> float:
    """Median over five of the difference between fits of more and fewer passes."""
    n_tasks = n_votes // FEEDBACK
    crowd = IndependentConfusion(
        n_tasks=n_tasks, n_workers=max(10, n_tasks // 100), feedback=FEEDBACK, n_labels=N_LABELS
    )
    votes = crowd.draw().votes
    many = 2 + max(10, 2_000_000 // n_votes)
    found = []
    for _ in range(5):
        times = []
        for most in (2, many):
            began = time.perf_counter()
            DawidSkene(max_iter=most, tol=0, accelerate=False).fit(votes)
            times.append(time.perf_counter() - began)
        found.append((times[1] - times[0]) / (many - 2))
    return float(np.median(found))


def run() -> list[tuple[str, str, str]]:
    """(claim, measured, limit) rows."""
    DawidSkene(max_iter=2).fit(IndependentConfusion(n_labels=N_LABELS).draw().votes)  # compile
    nanoseconds = {n: 1e9 * seconds_a_pass(n) / n for n in SIZES}
    bytes_a_vote = 5 + 8 * N_LABELS / FEEDBACK  # worker and label once; a task's posterior written once
    floor = 1e9 * bytes_a_vote / bandwidth()
    told = ", ".join(f"10^{len(str(n)) - 1}: {value:.1f}" for n, value in nanoseconds.items())
    spread = max(nanoseconds.values()) / min(nanoseconds.values())
    return [
        ("growth: ns a vote and pass", told, f"floor {floor:.1f}"),
        ("growth: largest / smallest", f"{spread:.1f}x", "3x"),
    ]
