"""Whom to trust and what is hard: rankings of workers and tasks by several scores."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.encoding import positions
from plurivox.core.errors import InputError
from plurivox.core.method import option, split_list
from plurivox.core.progress import Progress, nested_progress, no_progress
from plurivox.core.results import Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.tables import Table, Tables
from plurivox.core.votes import Votes
from plurivox.identify import Evidence
from plurivox.recipes._contract import Reader, Recipe, from_the_shelf
from plurivox.workflows.rank_scores import join_scores, task_errors, worker_errors
from plurivox.workflows.score_tasks_workers import EvidenceCache, parse_scores


@dataclass(frozen=True)
class Rankings(Recipe):
    """Worker and task rankings by several scores, and how alike they rank.

    The default data sets and worker scores are the feature-blind columns of Figures 13 and 14 of Lefort et al. (2024),
    https://doi.org/10.57750/qmaz-gr91, with `agreement-with-rest` beside them. Where gold labels are known, a column
    holds every score against them: workers against their accuracy, tasks against the share of their votes that are wrong.
    """

    reads: ClassVar[tuple[str, ...]] = ("labelme", "cifar10h")

    datasets: str = option("labelme,cifar10h", "data sets with votes of named workers")
    worker_scores: str = option("trace,spam-score,glad-ability,agreement-with-rest", "scores of workers")
    task_scores: str = option(
        "entropy,disagreement,posterior-entropy,glad-difficulty,aggregator-disagreement", "scores of tasks"
    )
    n: int = option(10, "how many of the worst to show", low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_scores("worker", self.worker_scores, f"{self.name()}: worker-scores")
        parse_scores("task", self.task_scores, f"{self.name()}: task-scores")

    def run(self, *, read: Reader = from_the_shelf, progress: Progress = no_progress) -> Tables:
        """Score, rank, and hold the scores against each other."""
        tables, names = [], split_list(self.datasets)
        for step, name in enumerate(names):
            data = read(name)
            if (votes := data.votes) is None:
                raise InputError(f"{data.name} has no votes of named workers; rankings need them")
            tables += self._of(data.name, votes, data.gold, nested_progress(progress, step, len(names)))
        return Tables("Whom to trust and what is hard", tuple(tables), self.spec)

    def _of(self, name: str, votes: Votes, gold: SoftLabels | None, progress: Progress) -> list[Table]:
        gathering, tables = EvidenceCache(votes, Evidence(gold=gold)), []
        for of, words, errors in (
            ("worker", self.worker_scores, worker_errors),
            ("task", self.task_scores, task_errors),
        ):
            scores = [gathering.score(one, progress) for one in parse_scores(of, words)]
            tables += self._tables(f"{name}, {of}s", scores, None if gold is None else errors(votes, gold))
        return tables

    def _tables(self, title: str, scores: list[Scores], known: Scores | None) -> list[Table]:
        """The worst by mean rank, and Spearman's correlations."""
        ranking = join_scores(scores)
        held = ranking if known is None else join_scores([*scores, known])
        worst = positions(ranking.names, ranking.worst(self.n))
        raw = {one.made_by: one.value if one.raw is None else one.raw for one in scores}
        shown: dict[str, object] = {ranking.of: ranking.names[worst]}
        shown |= {word: column[worst] for word, column in raw.items()}
        shown |= {} if known is None else {known.made_by: held.value[worst, -1]}
        likeness: dict[str, object] = {"score": held.scores}
        likeness |= dict(zip(held.scores.tolist(), held.likeness().T, strict=True))
        note = "scores as their papers define them, worst by the mean of the ranks first"
        return [
            Table(f"{title}: the {len(worst)} worst of {len(ranking.names):,}", shown, (note,)),
            Table(f"{title}: how alike the scores rank (Spearman)", likeness, digits=2),
        ]
