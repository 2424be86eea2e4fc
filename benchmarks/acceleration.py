"""EM passes that acceleration saves: Dawid-Skene with pseudo-counts, to 1e-6 nats per vote below the optimum."""

import math
import os

from plurivox import read
from plurivox.aggregate import DawidSkene
from plurivox.core.votes import Votes
from plurivox.io import dataset_catalog
from plurivox.simulate import DiscreteDifficulty, HammerSpammer, IndependentConfusion, StudentTeacher

REAL_DATA = ("dog", "web", "labelme", "sentence_polarity", "fact_eval")
TOLERANCE = 1e-6  # nats per vote


def load_crowds() -> dict[str, Votes]:
    """Return the votes of five real data sets if PLURIVOX_DATA has them, else of five simulated crowds."""
    if os.environ.get("PLURIVOX_DATA"):
        found = [name for name in REAL_DATA if dataset_catalog.find_dataset_folder_or_none(name)]
        if len(found) == len(REAL_DATA):
            return {name: read(name).crowd() for name in REAL_DATA}
    sizes = {"n_tasks": 3000, "n_workers": 60, "feedback": 5}
    kinds = (IndependentConfusion, HammerSpammer, StudentTeacher, DiscreteDifficulty)
    made = {kind.name(): kind(**sizes).draw().votes for kind in kinds}
    return made | {"many-labels": IndependentConfusion(**sizes, n_labels=10).draw().votes}


def count_passes(votes: Votes, accelerate: bool, optimum: float) -> int:
    """Return the number of passes over the votes, rejected steps included, until the objective is near the optimum."""
    for max_iter in (*range(2, 40), *range(40, 200, 5), *range(200, 4000, 50)):
        fit = DawidSkene(smooth=1, diagonal=4, tol=0, max_iter=max_iter, accelerate=accelerate).fit(votes)
        if optimum - fit.trace[-1] < TOLERANCE * votes.n_answers:
            return int(fit.found.get("passes", len(fit.trace)))
    return 4000


def run() -> list[tuple[str, str, str]]:
    """Run the benchmark and return table rows (claim, measured value, limit)."""
    texts, ratios = [], []
    for name, votes in load_crowds().items():
        optima = [
            DawidSkene(smooth=1, diagonal=4, tol=0, max_iter=6000, accelerate=accelerate).fit(votes).trace[-1]
            for accelerate in (True, False)
        ]
        fast, plain = count_passes(votes, True, optima[0]), count_passes(votes, False, optima[1])
        ratios.append(fast / plain)
        texts.append(f"{name} {fast}/{plain}")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return [
        (
            "passes until 1e-6 nats per vote below the optimum, accelerated / plain EM",
            f"{mean:.2f} ({', '.join(texts)})",
            "1/2, goal 1/4",
        )
    ]
