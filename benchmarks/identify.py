"""Scores on 5 million votes: given the fit, each should take at most one pass of Dawid-Skene's EM plus one second.

All scores that need no features or answers are measured, without intervals.
"""

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.crowds import save_votes
from benchmarks.measurement import run_alternating, run_code
from plurivox import identify

AVAILABLE = {"votes", "soft", "fit", "fits", "gold"}  # evidence that does not need features of the tasks
NO_INTERVAL = {"resamples": 0}  # option of scores with bootstrap intervals, and its value without intervals
SCORE_SETUP = """
import dataclasses, warnings
import numpy as np
from plurivox import identify
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.results import Fit
from plurivox.core.votes import Votes
from plurivox.identify import Evidence
votes = Votes.load({votes!r})
rng = np.random.default_rng(0)
votes = dataclasses.replace(
    votes, seconds=rng.random(len(votes), np.float32) * 60, when=np.arange(len(votes), dtype=np.float64)
)
fits = tuple(Fit.load(file) for file in {fits!r})
method = identify.methods.make({name!r}, **{options!r})
evidence = Evidence(
    votes=votes,
    fit=next(filter(method.can_use_fit, fits), None),
    fits=fits,
    gold=SoftLabels.one_hot(np.arange(votes.n_tasks) % votes.n_labels, votes.tasks, votes.labels),
)
warnings.simplefilter("ignore")
method.score(dataclasses.replace(evidence, votes=dataclasses.replace(votes)))  # compile, with a copy that caches nothing
"""
PASS_SETUP = """
from plurivox.aggregate import DawidSkene
from plurivox.core.votes import Votes
votes = Votes.load({votes!r})
def timed(n):
    begin = time.perf_counter()
    DawidSkene(max_iter=n, tol=0, accelerate=False).fit(votes)
    return time.perf_counter() - begin
timed(1)
"""
FIT_SETUP = "from plurivox import aggregate\nfrom plurivox.core.votes import Votes\nvotes = Votes.load({votes!r})\n"


def measured_scores() -> list[str]:
    """Return the names of the scores that need only votes, soft labels, fits or gold labels."""
    return [
        name
        for name in identify.methods
        if all(set(need.split("|")) & AVAILABLE for need in identify.methods[name].needs)
    ]


def options_without_intervals(name: str) -> dict[str, int]:
    """Return the options of a score that switch off bootstrap intervals."""
    return {one.name: NO_INTERVAL[one.name] for one in identify.methods[name].options() if one.name in NO_INTERVAL}


def save_fits(votes: Path, folder: Path) -> list[str]:
    """Save short fits by every aggregation method that a score needs, and return their files."""
    names = sorted({by for name in measured_scores() for by in identify.methods[name].fitted_by})
    for name in names:
        made = f"aggregate.methods.make({name!r})"
        short = f"few = {{'max_iter': 2}} if 'max_iter' in {{o.name for o in {made}.options()}} else {{}}\n"
        file = str(folder / f"{name}.npz")
        run_code(
            FIT_SETUP.format(votes=str(votes))
            + short
            + f"aggregate.methods.make({name!r}, **few).fit(votes).save({file!r})"
        )
    return [str(folder / f"{name}.npz") for name in names]


def run(repeats: int = 3) -> Iterator[tuple[str, str, str]]:
    """Run the benchmark and return table rows (claim, measured value, limit)."""
    with tempfile.TemporaryDirectory() as name:
        votes = save_votes(Path(name), "million")
        fits = save_fits(votes, Path(name))
        passes = PASS_SETUP.format(votes=str(votes))
        cases = {"": partial(run_code, "result = (timed(6) - timed(1)) / 5", passes, result="result")}
        for score in measured_scores():
            options = options_without_intervals(score)
            setup = SCORE_SETUP.format(votes=str(votes), fits=fits, name=score, options=options)
            cases[score] = partial(run_code, "method.score(evidence)", setup)
        found = run_alternating(cases, repeats)
        one_pass = found.pop("").seconds
        limit = f"{one_pass + 1:.2f} s: one pass ({1000 * one_pass:.0f} ms) plus one second"
        for score, measured in found.items():
            yield f"{score}, 1M x 10k x 5, given the fit", f"{measured.seconds:.2f} s", limit
