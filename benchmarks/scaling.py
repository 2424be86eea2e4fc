"""Scaling of EM: time per vote and pass from 10^4 to 10^7 votes, against a lower bound from memory bandwidth."""

import math
import time
from pathlib import Path

import numpy as np

from plurivox.aggregate import DawidSkene
from plurivox.simulate import IndependentConfusion

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
FEEDBACK, N_LABELS = 5, 10
PLOT_FILE = Path(__file__).parent.parent / "docs" / "scaling.svg"


def measure_bandwidth() -> float:
    """Return the bytes per second of one large copy, read and written bytes counted, the best of five."""
    source = np.ones(2**25)
    target = np.empty_like(source)
    best = np.inf
    for _ in range(5):
        began = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - began)
    return 2 * source.nbytes / best


def time_pass(n_votes: int) -> float:
    """Return the seconds per pass: the median over five differences between fits with more and fewer passes."""
    n_tasks = n_votes // FEEDBACK
    crowd = IndependentConfusion(
        n_tasks=n_tasks, n_workers=max(10, n_tasks // 100), feedback=FEEDBACK, n_labels=N_LABELS
    )
    votes = crowd.draw().votes
    many = 2 + max(10, 2_000_000 // n_votes)
    found = []
    for _ in range(5):
        times = []
        for max_iter in (2, many):
            began = time.perf_counter()
            DawidSkene(max_iter=max_iter, tol=0, accelerate=False).fit(votes)
            times.append(time.perf_counter() - began)
        found.append((times[1] - times[0]) / (many - 2))
    return float(np.median(found))


def plot_svg(nanoseconds: dict[int, float], floor: float) -> str:
    """Return an SVG of the time per vote and pass by number of votes, both on a log scale, with the lower bound."""
    low, high = min(1.0, floor / 2), 4 * max(nanoseconds.values())

    def position(votes: float, value: float) -> tuple[float, float]:
        across = (math.log10(votes) - 4) / 3
        up = (math.log10(value) - math.log10(low)) / (math.log10(high) - math.log10(low))
        return 70 + 480 * across, 250 - 210 * up

    points = [position(n, value) for n, value in nanoseconds.items()]
    line = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="4" fill="#1f6f54"/>' for x, y in points)
    values = "".join(
        f'<text x="{x:.0f}" y="{y - 10:.0f}">{value:.1f}</text>'
        for (x, y), value in zip(points, nanoseconds.values(), strict=True)
    )
    marks = "".join(f'<text x="{position(n, low)[0]:.0f}" y="272">10^{len(str(n)) - 1}</text>' for n in nanoseconds)
    base = position(SIZES[0], floor)[1]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 620 310" role="img" aria-label="Time per vote and pass">'
        "<style>text{font:13px system-ui,sans-serif;fill:#333;text-anchor:middle}</style>"
        '<rect width="620" height="310" fill="white"/><path d="M70,40 V250 H560" stroke="#666" fill="none"/>'
        f'<polyline points="{line}" fill="none" stroke="#1f6f54" stroke-width="2"/>{dots}{values}{marks}'
        f'<path d="M70,{base:.0f} H550" stroke="#b05a2a" stroke-dasharray="5 4"/>'
        f'<text x="490" y="{base - 6:.0f}">lower bound {floor:.1f} ns</text>'
        '<text x="310" y="298">votes</text><text x="150" y="28">ns per vote and pass, Dawid-Skene, K=10</text></svg>\n'
    )


def run() -> list[tuple[str, str, str]]:
    """Run the benchmark and return table rows (claim, measured value, limit)."""
    DawidSkene(max_iter=2).fit(IndependentConfusion(n_labels=N_LABELS).draw().votes)  # compile
    nanoseconds = {n: 1e9 * time_pass(n) / n for n in SIZES}
    bytes_per_vote = 5 + 8 * N_LABELS / FEEDBACK  # worker and label read once; posterior of the task written once
    floor = 1e9 * bytes_per_vote / measure_bandwidth()
    PLOT_FILE.write_text(plot_svg(nanoseconds, floor), encoding="utf-8")
    measured = ", ".join(f"10^{len(str(n)) - 1}: {value:.1f}" for n, value in nanoseconds.items())
    spread = max(nanoseconds.values()) / min(nanoseconds.values())
    return [
        ("scaling: ns per vote and pass", measured, f"lower bound {floor:.1f}"),
        ("scaling: largest / smallest", f"{spread:.1f}x", "3x"),
    ]
