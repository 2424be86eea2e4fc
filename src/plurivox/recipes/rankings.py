"""Recipe rankings: rank workers and tasks by several scores, and correlate the scores by rank."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.errors import InputError
from plurivox.core.method import option, split_at_commas_outside_brackets
from plurivox.core.name_encoding import positions
from plurivox.core.progress_callbacks import Progress, callback_reporting_only_outer_step, no_progress
from plurivox.core.recipe_tables import Table, Tables
from plurivox.core.results import Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.identify import Evidence
from plurivox.recipes._contract import DatasetReader, Recipe, read_dataset
from plurivox.workflows.ranking_by_several_scores import (
    join_scores_into_ranking,
    scores_without_those_shown_pooled,
    task_error_rates,
    worker_error_rates,
)
from plurivox.workflows.score_tasks_workers import EvidenceCache, notes_on_fits_of_scores, parse_scoring_methods


@dataclass(frozen=True)
class Rankings(Recipe):
    """Rank workers and tasks by several scores, and correlate the rankings.

    The default data sets and worker scores are the feature-blind columns of Figures 13 and 14 of Lefort et al. (2024),
    https://doi.org/10.57750/qmaz-gr91, which are `trace` and `spam-score` of dawid-skene and `glad-ability`; beside them
    stand `trace-pooled` and `spam-score-pooled`, of matrices shrunk towards the whole crowd's, and `agreement-with-rest`. Notes
    name the aggregator of every score. The order is by mean rank, for which a score that is also shown pooled does not
    count: it ranks workers with few votes unreliably. If there are gold labels, a further column compares
    every score with them: workers with their error rate, tasks with the share of their votes that are wrong.
    """

    reads: ClassVar[tuple[str, ...]] = ("labelme", "cifar10h")

    datasets: str = option("labelme,cifar10h", "data sets with votes of named workers, comma-separated")
    worker_scores: str = option(
        "trace,trace-pooled,spam-score,spam-score-pooled,glad-ability,agreement-with-rest",
        "scores of workers to rank by, comma-separated",
    )
    task_scores: str = option(
        "entropy,disagreement,posterior-entropy,glad-difficulty,aggregator-disagreement", "scores of tasks"
    )
    n: int = option(10, "number of worst workers and tasks to show", low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_scoring_methods("worker", self.worker_scores, f"{self.name()}: worker-scores")
        parse_scoring_methods("task", self.task_scores, f"{self.name()}: task-scores")

    def run(self, *, read: DatasetReader = read_dataset, progress: Progress = no_progress) -> Tables:
        """Rank workers and tasks of every data set by several scores; return tables of the worst and of rank correlations."""
        tables, names = [], split_at_commas_outside_brackets(self.datasets)
        for step, name in enumerate(names):
            data = read(name)
            if (votes := data.votes) is None:
                raise InputError(f"{data.name} has no votes of named workers; rankings need them")
            tables += self._worker_and_task_ranking_tables(
                data.name, votes, data.gold, callback_reporting_only_outer_step(progress, step, len(names))
            )
        return Tables("Rankings of workers and tasks", tuple(tables), self.spec)

    def _worker_and_task_ranking_tables(
        self, dataset_name: str, votes: Votes, gold: SoftLabels | None, progress: Progress
    ) -> list[Table]:
        """Score the workers and tasks of one data set; return tables of the worst and of rank correlations for each."""
        evidence, tables = EvidenceCache(votes, Evidence(gold=gold)), []
        for of, specs, errors in (
            ("worker", self.worker_scores, worker_error_rates),
            ("task", self.task_scores, task_error_rates),
        ):
            methods = parse_scoring_methods(of, specs)
            scores = [evidence.collect_evidence_and_score(method, progress) for method in methods]
            tables += self._worst_and_correlation_tables(
                f"{dataset_name}, {of}s",
                scores,
                None if gold is None else errors(votes, gold),
                notes_on_fits_of_scores(methods),
            )
        return tables

    def _worst_and_correlation_tables(
        self, title: str, scores: list[Scores], errors: Scores | None, fit_notes: Sequence[str]
    ) -> list[Table]:
        """Return the table of the worst workers or tasks by mean rank, and the table of Spearman correlations of the scores."""
        ranking = join_scores_into_ranking(scores_without_those_shown_pooled(scores))
        with_errors = join_scores_into_ranking(scores if errors is None else [*scores, errors])
        worst = positions(with_errors.names, ranking.worst(self.n))
        assert with_errors.raw is not None
        shown: dict[str, object] = {ranking.of: with_errors.names[worst]}
        shown |= dict(zip(with_errors.scores.tolist(), with_errors.raw[worst].T, strict=True))
        correlations: dict[str, object] = {"score": with_errors.scores}
        correlations |= dict(zip(with_errors.scores.tolist(), with_errors.rank_correlations().T, strict=True))
        order = f"sorted by the mean rank of {', '.join(ranking.scores.tolist())}, the worst first"
        pooled = [one.made_by for one in scores if one.made_by.endswith("-pooled")]
        but = f" (no paper defines {', '.join(pooled)})" if pooled else ""
        notes = (f"scores as their papers define them{but}; {order}", *fit_notes)
        number = f"{len(worst):,} " if len(worst) > 1 else ""
        of_badness = "of the badness of the scores: positive if they find the same ones bad"
        return [
            Table(f"{title}: the {number}worst of {len(with_errors.names):,}", shown, notes),
            Table(f"{title}: rank correlations of the scores (Spearman)", correlations, (of_badness,), digits=2),
        ]
