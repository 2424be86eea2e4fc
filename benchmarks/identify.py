"""Scores on 5 million votes: given the fit, each costs at most one pass of Dawid-Skene's EM plus a second.

Every score that needs no features, gold or answers is measured, without intervals, as soon as it has a file.
"""

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.crowds import saved
from benchmarks.measure import alternate, fresh
from plurivox import identify

BLIND = {"votes", "soft", "fit", "fits", "gold"}  # what can be had without looking at the tasks
NO_INTERVAL = {"resamples": 0}  # the option of scores that draw again, and what leaves that out
SETUP = """
import dataclasses, warnings
import numpy as np
from plurivox import identify
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.results import Fit
from plurivox.core.votes import Votes
from plurivox.identify import Evidence
votes = Votes.load({votes!r})
chance = np.random.default_rng(0)
votes = dataclasses.replace(
    votes, seconds=chance.random(len(votes), np.float32) * 60, when=np.arange(len(votes), dtype=np.float64)
)
fits = tuple(Fit.load(file) for file in {fits!r})
method = identify.methods.make({name!r}, **{options!r})
seen = Evidence(
    votes=votes,
    fit=next((fit for fit in fits if all(getattr(fit, part) is not None for part in method.fit_fields)), None),
    fits=fits,
    gold=SoftLabels.one_hot(np.arange(votes.n_tasks) % votes.n_labels, votes.tasks, votes.labels),
)
warnings.simplefilter("ignore")
method.score(dataclasses.replace(seen, votes=dataclasses.replace(votes)))  # compile first, and keep nothing
"""
PASS = """
from plurivox.aggregate import DawidSkene
from plurivox.core.votes import Votes
votes = Votes.load({votes!r})
def timed(n):
    begin = time.perf_counter()
    DawidSkene(max_iter=n, tol=0, accelerate=False).fit(votes)
    return time.perf_counter() - begin
timed(1)
"""
FIT = "from plurivox import aggregate\nfrom plurivox.core.votes import Votes\nvotes = Votes.load({votes!r})\n"


def blind_scores() -> list[str]:
    """The scores that votes and fits are enough for."""
    return [
        name for name in identify.methods if all(set(need.split("|")) & BLIND for need in identify.methods[name].needs)
    ]


def options_of(name: str) -> dict[str, int]:
    """Options without which a score draws intervals."""
    return {one.name: NO_INTERVAL[one.name] for one in identify.methods[name].options() if one.name in NO_INTERVAL}


def save_fits(votes: Path, folder: Path) -> list[str]:
    """Short fits by every aggregator that a score names: how good they are does not matter here."""
    names = sorted({by for name in blind_scores() for by in identify.methods[name].fitted_by})
    for name in names:
        made = f"aggregate.methods.make({name!r})"
        short = f"few = {{'max_iter': 2}} if 'max_iter' in {{o.name for o in {made}.options()}} else {{}}\n"
        file = str(folder / f"{name}.npz")
        fresh(
            FIT.format(votes=str(votes)) + short + f"aggregate.methods.make({name!r}, **few).fit(votes).save({file!r})"
        )
    return [str(folder / f"{name}.npz") for name in names]


def run(repeats: int = 3) -> Iterator[tuple[str, str, str]]:
    """(claim, measured, limit) rows."""
    with tempfile.TemporaryDirectory() as name:
        votes = saved(Path(name), "million")
        fits = save_fits(votes, Path(name))
        passes = PASS.format(votes=str(votes))
        cases = {"": partial(fresh, "answer = (timed(6) - timed(1)) / 5", passes, answer="answer")}
        for score in blind_scores():
            setup = SETUP.format(votes=str(votes), fits=fits, name=score, options=options_of(score))
            cases[score] = partial(fresh, "method.score(seen)", setup)
        found = alternate(cases, repeats)
        one_pass = found.pop("").seconds
        limit = f"{one_pass + 1:.2f} s: a pass ({1000 * one_pass:.0f} ms) and a second"
        for score, measured in found.items():
            yield f"{score}, 1M x 10k x 5, given the fit", f"{measured.seconds:.2f} s", limit
