"""Recipe prune-and-compare: drop the worst workers or tasks by a score, aggregate again, and compare with no dropping."""

from dataclasses import dataclass

from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.recipe_tables import Tables
from plurivox.recipes._contract import DatasetReader, Recipe, parse_shares, read_dataset


@dataclass(frozen=True)
class PruneAndCompare(Recipe):
    """Drop the worst workers or tasks by a score, aggregate again, and compare accuracy, NLL and ECE.

    The measures are computed before and after, on the remaining tasks and on all tasks with a gold label, where a dropped
    task counts as a uniform prediction, so that dropping hard tasks does not count as an improvement.
    """

    data: str = option("toy", "a data set with gold labels: its name, folder or file")
    score: str = option("disagreement", "score of workers or tasks, see plurivox methods identify")
    quantiles: str = option("0.1,0.2,0.4", "list of shares of the worst workers or tasks to drop")
    method: str = option("dawid-skene", "aggregation method, see plurivox methods aggregate")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._parse_quantiles()

    def _parse_quantiles(self) -> list[float]:
        """Return the shares of the worst to drop, parsed from the option `quantiles`; raise OptionError if one is invalid."""
        return parse_shares(self.quantiles, f"{self.name()}: quantiles")

    def run(self, *, read: DatasetReader = read_dataset, progress: Progress = no_progress) -> Tables:
        """Score workers or tasks once; for every share drop the worst, aggregate again, and return a table of the measures."""
        from plurivox.workflows.prune_by_score import prune_and_compare, votes_for_scoring_method

        data = read(self.data)
        if data.gold is None:
            raise InputError(f"{data.name} has no gold labels; this recipe needs them to measure accuracy: --gold FILE")
        votes = votes_for_scoring_method(data, self.score)
        table = prune_and_compare(votes, data.gold, self.score, self._parse_quantiles(), self.method, progress=progress)
        return Tables(f"Pruning {data.name} by {self.score}", (table,), self.spec)
