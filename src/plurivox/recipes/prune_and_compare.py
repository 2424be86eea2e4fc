"""Drop the worst workers or tasks by a score, aggregate again, compare."""

from dataclasses import dataclass

from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.progress import Progress, no_progress
from plurivox.core.tables import Tables
from plurivox.recipes._contract import Reader, Recipe, from_the_shelf, read_shares


@dataclass(frozen=True)
class PruneAndCompare(Recipe):
    """Drop the worst workers or tasks by a score, aggregate again, compare.

    Accuracy, NLL and ECE before and after, on the tasks that are left and on all tasks with a known label: a task that is
    dropped is then answered by an uniform prediction, so that dropping hard tasks cannot pass for an improvement.
    """

    data: str = option("toy", "a data set with gold labels: its name, folder or file")
    score: str = option("disagreement", "a score of workers or tasks, see plurivox methods identify")
    quantiles: str = option("0.1,0.2,0.4", "the shares of the worst to drop, with commas between")
    method: str = option("dawid-skene", "the aggregator, see plurivox methods aggregate")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._shares()

    def _shares(self) -> list[float]:
        return read_shares(self.quantiles, f"{self.name()}: quantiles")

    def run(self, *, read: Reader = from_the_shelf, progress: Progress = no_progress) -> Tables:
        """Score once, then drop, fit and measure for every share."""
        from plurivox.workflows.prune_by_score import prune_and_compare, votes_to_score

        data = read(self.data)
        if data.gold is None:
            raise InputError(f"{data.name} has no gold labels; without them there is nothing to compare with")
        votes = votes_to_score(data, self.score)
        table = prune_and_compare(votes, data.gold, self.score, self._shares(), self.method, progress=progress)
        return Tables(f"Pruning {data.name} by {self.score}", (table,), self.spec)
