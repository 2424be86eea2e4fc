"""Recipe peerannot-tables: Tables 1 to 4 of Lefort et al. (2024), by crowds simulated in peerannot's random order.

https://doi.org/10.57750/qmaz-gr91. The numbers are accuracies: the share of tasks whose true label is recovered.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from plurivox import aggregate, simulate
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.recipe_tables import Table, Tables
from plurivox.core.votes import Votes
from plurivox.recipes._contract import DatasetReader, Recipe, read_dataset

DAWID_SKENE = "dawid-skene[smooth=0,tol=0,max-iter=50,accelerate=no]"  # as published: no smoothing, 50 rounds
CLUSTERS = "dawid-skene-clusters[clusters={},published=yes,tol=1e-8]"
TABLES: dict[str, tuple[str, dict[str, float]]] = {  # title: (crowd, {method: published accuracy})
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
N_TIE_SEEDS = 100  # majority vote: peerannot breaks ties with an unseeded generator, so we give mean and range


@dataclass(frozen=True)
class PublishedAccuracy:
    """Accuracy of one method in a peerannot table, published and ours; for majority vote mean and range over seeds of ties."""

    table: str
    method: str
    published: float
    ours: float
    low: float
    high: float


@dataclass(frozen=True)
class PeerannotTables(Recipe):
    """Tables 1 to 4 of the peerannot paper: accuracy of the aggregated labels, published and ours.

    The crowds are simulated in peerannot's order of random draws. Its majority vote breaks ties with an unseeded generator,
    so ours is the mean over 100 seeds, with the range. Lefort et al. (2024), https://doi.org/10.57750/qmaz-gr91.
    """

    def run(self, *, read: DatasetReader = read_dataset, progress: Progress = no_progress) -> Tables:
        """Simulate the four crowds of the peerannot paper, aggregate them, and return tables of published and our accuracy."""
        del read
        cells = self.compute_published_and_own_accuracies(progress)
        return Tables(
            "peerannot, Tables 1 to 4: share of tasks whose true label is recovered",
            tuple(
                _published_and_own_accuracy_table(title, [cell for cell in cells if cell.table == title])
                for title in TABLES
            ),
            self.spec,
        )

    def compute_published_and_own_accuracies(self, progress: Progress = no_progress) -> list[PublishedAccuracy]:
        """Return the published and our accuracies of all methods in Tables 1 to 4 of the peerannot paper."""
        total = sum(len(published) for _, published in TABLES.values())
        cells = []
        for step, cell in enumerate(_yield_published_and_own_accuracies()):
            cells.append(cell)
            progress(step, total)
        return cells


def _published_and_own_accuracy_table(title: str, cells: Sequence[PublishedAccuracy]) -> Table:
    """Return one table of the peerannot paper: method, published accuracy, our accuracy, difference, range over ties."""
    ranges = [f"{cell.low:.3f} to {cell.high:.3f}" if cell.low < cell.high else "" for cell in cells]
    columns = {
        "method": [cell.method for cell in cells],
        "paper": [cell.published for cell in cells],
        "ours": [cell.ours for cell in cells],
        "difference": [cell.ours - cell.published for cell in cells],
        "over ties": ranges,
    }
    return Table(title, columns, (f"crowd: {TABLES[title][0]}",), digits=3)


def _yield_published_and_own_accuracies() -> Iterator[PublishedAccuracy]:
    """Simulate the crowd of each table, aggregate it by each method, and yield the published and our accuracy."""
    for title, (spec, published) in TABLES.items():
        crowd = simulate.methods.make(spec).draw()
        true = crowd.truth.most_probable_label_codes()
        for method, accuracy in published.items():
            ours = [float((codes == true).mean()) for codes in _iterate_label_codes_over_tie_seeds(method, crowd.votes)]
            yield PublishedAccuracy(title, method, accuracy, float(np.mean(ours)), min(ours), max(ours))


def _iterate_label_codes_over_tie_seeds(method: str, votes: Votes) -> "Iterator[np.ndarray]":
    """Yield (n_tasks,) the aggregated label codes by a method; for majority vote one array per seed that breaks ties."""
    if method == "majority-vote":
        for seed in range(N_TIE_SEEDS):
            yield aggregate.methods.make(method, ties="random", seed=seed).fit(votes).soft.most_probable_label_codes()
    else:
        yield aggregate.methods.make(method).fit(votes).soft.most_probable_label_codes()
