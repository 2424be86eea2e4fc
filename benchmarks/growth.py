"""Time a vote and pass from 10^4 to 10^7 votes, beside the floor: the bytes a pass must move at the measured bandwidth."""

import math
import time
from pathlib import Path

import numpy as np

from plurivox.aggregate import DawidSkene
from plurivox.simulate import IndependentConfusion

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
FEEDBACK, N_LABELS = 5, 10
PICTURE = Path(__file__).parent.parent / "docs" / "growth.svg"


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


def picture(nanoseconds: dict[int, float], floor: float) -> str:
    """An SVG of time a vote and pass against the number of votes, both on a log scale, with the floor below."""
    low, high = min(1.0, floor / 2), 4 * max(nanoseconds.values())

    def at(votes: float, value: float) -> tuple[float, float]:
        across = (math.log10(votes) - 4) / 3
        up = (math.log10(value) - math.log10(low)) / (math.log10(high) - math.log10(low))
        return 70 + 480 * across, 250 - 210 * up

    points = [at(n, value) for n, value in nanoseconds.items()]
    line = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="4" fill="#1f6f54"/>' for x, y in points)
    values = "".join(
        f'<text x="{x:.0f}" y="{y - 10:.0f}">{value:.1f}</text>'
        for (x, y), value in zip(points, nanoseconds.values(), strict=True)
    )
    marks = "".join(f'<text x="{at(n, low)[0]:.0f}" y="272">10^{len(str(n)) - 1}</text>' for n in nanoseconds)
    base = at(SIZES[0], floor)[1]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 620 310" role="img" aria-label="Time a vote and pass">'
        "<style>text{font:13px system-ui,sans-serif;fill:#333;text-anchor:middle}</style>"
        '<rect width="620" height="310" fill="white"/><path d="M70,40 V250 H560" stroke="#666" fill="none"/>'
        f'<polyline points="{line}" fill="none" stroke="#1f6f54" stroke-width="2"/>{dots}{values}{marks}'
        f'<path d="M70,{base:.0f} H550" stroke="#b05a2a" stroke-dasharray="5 4"/>'
        f'<text x="490" y="{base - 6:.0f}">floor {floor:.1f} ns</text>'
        '<text x="310" y="298">votes</text><text x="150" y="28">ns a vote and pass, Dawid-Skene, K=10</text></svg>\n'
    )


def run() -> list[tuple[str, str, str]]:
    """(claim, measured, limit) rows."""
    DawidSkene(max_iter=2).fit(IndependentConfusion(n_labels=N_LABELS).draw().votes)  # compile
    nanoseconds = {n: 1e9 * seconds_a_pass(n) / n for n in SIZES}
    bytes_a_vote = 5 + 8 * N_LABELS / FEEDBACK  # worker and label once; a task's posterior written once
    floor = 1e9 * bytes_a_vote / bandwidth()
    PICTURE.write_text(picture(nanoseconds, floor), encoding="utf-8")
    told = ", ".join(f"10^{len(str(n)) - 1}: {value:.1f}" for n, value in nanoseconds.items())
    spread = max(nanoseconds.values()) / min(nanoseconds.values())
    return [
        ("growth: ns a vote and pass", told, f"floor {floor:.1f}"),
        ("growth: largest / smallest", f"{spread:.1f}x", "3x"),
    ]
