"""How many passes long steps save: Dawid-Skene with pseudo-counts (diagonal 4, else 1), until 1e-6 nats a vote from its top."""

import math
import os

from plurivox import read
from plurivox.aggregate import DawidSkene
from plurivox.core.votes import Votes
from plurivox.io import dataset_catalog
from plurivox.simulate import DiscreteDifficulty, HammerSpammer, IndependentConfusion, StudentTeacher

REAL = ("dog", "web", "labelme", "sentence_polarity", "fact_eval")
NEAR = 1e-6  # nats a vote


def crowds() -> dict[str, Votes]:
    """Five real data sets where PLURIVOX_DATA names them, else five simulated ones."""
    if os.environ.get("PLURIVOX_DATA"):
        there = [name for name in REAL if dataset_catalog.find(name)]
        if len(there) == len(REAL):
            return {name: read(name).crowd() for name in REAL}
    sizes = {"n_tasks": 3000, "n_workers": 60, "feedback": 5}
    kinds = (IndependentConfusion, HammerSpammer, StudentTeacher, DiscreteDifficulty)
    made = {kind.name(): kind(**sizes).draw().votes for kind in kinds}
    return made | {"many-labels": IndependentConfusion(**sizes, n_labels=10).draw().votes}


def passes(votes: Votes, accelerate: bool, top: float) -> int:
    """Passes over the votes, those taken back included, until the objective is near the top."""
    for most in (*range(2, 40), *range(40, 200, 5), *range(200, 4000, 50)):
        fit = DawidSkene(smooth=1, diagonal=4, tol=0, max_iter=most, accelerate=accelerate).fit(votes)
        if top - fit.trace[-1] < NEAR * votes.n_answers:
            return int(fit.found.get("passes", len(fit.trace)))
    return 4000


def run() -> list[tuple[str, str, str]]:
    """(claim, measured, limit) rows."""
    told, ratios = [], []
    for name, votes in crowds().items():
        tops = [
            DawidSkene(smooth=1, diagonal=4, tol=0, max_iter=6000, accelerate=way).fit(votes).trace[-1]
            for way in (True, False)
        ]
        fast, plain = passes(votes, True, tops[0]), passes(votes, False, tops[1])
        ratios.append(fast / plain)
        told.append(f"{name} {fast}/{plain}")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return [
        (
            "passes to 1e-6 nats a vote from the top, accelerated / plain",
            f"{mean:.2f} ({', '.join(told)})",
            "1/2, goal 1/4",
        )
    ]
