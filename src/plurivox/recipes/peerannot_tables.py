"""Tables 1 to 4 of Lefort et al. (2024), drawn anew in peerannot's order of draws and aggregated here.

https://doi.org/10.57750/qmaz-gr91. Figures are the share of tasks whose label is recovered.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from plurivox import aggregate, simulate
from plurivox.core.progress import Progress, no_progress
from plurivox.core.tables import Table, Tables
from plurivox.core.votes import Votes
from plurivox.recipes._contract import Reader, Recipe, from_the_shelf

DAWID_SKENE = "dawid-skene[smooth=0,tol=0,max-iter=50,accelerate=no]"  # as published: no smoothing, 50 rounds
CLUSTERS = "dawid-skene-clusters[clusters={},published=yes,tol=1e-8]"
TABLES: dict[str, tuple[str, dict[str, float]]] = {  # title: crowd, published figures by method
    "Table 1, independent mistakes": (
        "independent-confusion[order=peerannot]",
        {
            "majority-vote": 0.745,
            "glad[published=yes]": 0.780,
            DAWID_SKENE: 0.890,
            CLUSTERS.format(5): 0.775,
            CLUSTERS.format(10): 0.770,
            "vote-shares": 0.760,
        },
    ),
    "Table 2, imbalanced votes": (
        "independent-confusion[order=peerannot,feedback=30,imbalance-votes=true]",
        {
            "majority-vote": 0.845,
            "glad[published=yes]": 0.810,
            DAWID_SKENE: 0.895,
            CLUSTERS.format(5): 0.845,
            CLUSTERS.format(10): 0.840,
            "vote-shares": 0.830,
        },
    ),
    "Table 3, correlated mistakes": (
        "student-teacher[order=peerannot,ratio=0.8]",
        {
            "majority-vote": 0.685,
            "glad[published=yes]": 0.645,
            DAWID_SKENE: 0.755,
            CLUSTERS.format(5): 0.795,
            CLUSTERS.format(6): 0.780,
            CLUSTERS.format(10): 0.815,
            "vote-shares": 0.690,
        },
    ),
    "Table 4, discrete difficulty": (
        "discrete-difficulty[order=peerannot,n-workers=100,ratio=0.35]",
        {
            "majority-vote": 0.800,
            "glad[published=yes]": 0.845,
            DAWID_SKENE: 0.810,
            CLUSTERS.format(2): 0.600,
            CLUSTERS.format(5): 0.660,
            "vote-shares": 0.790,
        },
    ),
}
SEEDS = 100  # majority vote: peerannot breaks ties by an unseeded generator, so we give mean and range


@dataclass(frozen=True)
class Cell:
    """One published figure and ours; for majority vote the mean over seeded ties, with its range."""

    table: str
    method: str
    published: float
    ours: float
    low: float
    high: float


@dataclass(frozen=True)
class PeerannotTables(Recipe):
    """Tables 1 to 4 of the peerannot paper: the share of tasks whose label is recovered, published and ours.

    The crowds are drawn in peerannot's order of draws. Majority vote breaks ties by an unseeded generator there, so
    that its cell is the mean over 100 seeds, with the range. Lefort et al. (2024), https://doi.org/10.57750/qmaz-gr91.
    """

    def run(self, *, read: Reader = from_the_shelf, progress: Progress = no_progress) -> Tables:
        """Draw the four crowds, aggregate them, and set the figures side by side."""
        del read
        cells = self.cells(progress)
        return Tables(
            "peerannot, Tables 1 to 4: share of tasks whose label is recovered",
            tuple(_table(title, [cell for cell in cells if cell.table == title]) for title in TABLES),
            self.spec,
        )

    def cells(self, progress: Progress = no_progress) -> list[Cell]:
        """Every cell of the four tables."""
        total = sum(len(published) for _, published in TABLES.values())
        cells = []
        for step, cell in enumerate(_cells()):
            cells.append(cell)
            progress(step, total)
        return cells


def _table(title: str, cells: Sequence[Cell]) -> Table:
    ranged = [f"{one.low:.3f} to {one.high:.3f}" if one.low < one.high else "" for one in cells]
    columns = {
        "method": [one.method for one in cells],
        "paper": [one.published for one in cells],
        "ours": [one.ours for one in cells],
        "difference": [one.ours - one.published for one in cells],
        "over ties": ranged,
    }
    return Table(title, columns, (f"crowd: {TABLES[title][0]}",), digits=3)


def _cells() -> Iterator[Cell]:
    for title, (word, published) in TABLES.items():
        crowd = simulate.methods.make(word).draw()
        true = crowd.truth.codes()
        for method, figure in published.items():
            shares = [float((codes == true).mean()) for codes in _answers(method, crowd.votes)]
            yield Cell(title, method, figure, float(np.mean(shares)), min(shares), max(shares))


def _answers(method: str, votes: Votes) -> "Iterator[np.ndarray]":
    """The labels by a method; of majority vote once for every seed of its ties."""
    if method == "majority-vote":
        for seed in range(SEEDS):
            yield aggregate.methods.make(method, ties="random", seed=seed).fit(votes).soft.codes()
    else:
        yield aggregate.methods.make(method).fit(votes).soft.codes()
