"""Recipe report-cards: for each worker scores compared with the crowd, confusion matrix, most unlikely votes."""

from dataclasses import dataclass

import numpy as np

from plurivox import aggregate
from plurivox.core.array_types import Floats, Ints
from plurivox.core.errors import InputError, PlurivoxError, unknown_name_error
from plurivox.core.method import option, split_at_commas_outside_brackets
from plurivox.core.name_encoding import as_names, positions
from plurivox.core.progress_callbacks import Progress, callback_reporting_only_outer_step, no_progress
from plurivox.core.recipe_tables import Table, Tables
from plurivox.core.results import Fit, Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.identify import Evidence
from plurivox.recipes._contract import DatasetReader, Recipe, read_dataset
from plurivox.workflows.fit_votes import fit
from plurivox.workflows.ranking_by_several_scores import join_scores_into_ranking, scores_without_those_shown_pooled
from plurivox.workflows.score_tasks_workers import EvidenceCache, notes_on_fits_of_scores, parse_scoring_methods
from plurivox.workflows.truth_and_people import TRUTH_AND_PEOPLE

SCORES = (
    "gold-accuracy,agreement-with-rest,trace,trace-pooled,spam-score,spam-score-pooled,repeat-consistency,drift,speed,"
    "too-fast[of_median=0.3],percent-calibration"
)


@dataclass(frozen=True)
class ReportCards(Recipe):
    """Report card of each worker: scores compared with the crowd, confusion matrix, and most unlikely votes.

    The first table lists all workers, the worst by mean rank first; a score that is also shown pooled does not count in it,
    because it ranks workers with few votes unreliably. Then follow, for the workers given by `workers` or the
    `n` worst: the scores as their papers define them with the median of the crowd and the rank among all (1 is the worst),
    the confusion matrix of the aggregation method, and the votes with the lowest posterior probability. `trace-pooled` and
    `spam-score-pooled` are of matrices shrunk towards the whole crowd's; notes name the aggregator of every score. Scores
    whose inputs are missing (gold labels, times, repeats, percents) are skipped, with a note that gives the reason.
    """

    data: str = option("toy", "a data set with votes of named workers: its name, folder or file")
    workers: str = option("", "workers to make cards for, comma-separated; empty: the n worst")
    n: int = option(3, "number of report cards (of the worst workers), if workers is empty", low=1)
    scores: str = option(SCORES, "scores of workers on the cards, comma-separated; see plurivox methods identify")
    method: str = option("ibcc", "aggregation method that estimates the confusion matrices of workers")
    tasks: int = option(5, "number of most unlikely votes to show per worker", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_scoring_methods("worker", self.scores, f"{self.name()}: scores")
        aggregate.methods.make(self.method)

    def run(self, *, read: DatasetReader = read_dataset, progress: Progress = no_progress) -> Tables:
        """Score all workers; return a table of them, worst first, and the report cards of the chosen workers."""
        data = read(self.data)
        if (votes := data.votes) is None:
            raise InputError(f"{data.name} has no votes of named workers; report cards need them")
        made = fit(data, self.method, part="votes", progress=progress)
        if made.confusion is None:
            raise InputError(f"{self.name()}: {self.method} estimates no confusion matrices; use ibcc or dawid-skene")
        people = fit(data, aggregate.DEFAULT_METHODS["people"], part="votes").soft
        scores, notes = self._score_workers_and_note_skipped(
            EvidenceCache(data, Evidence(gold=data.gold)), votes, progress
        )
        ranking = join_scores_into_ranking(scores_without_those_shown_pooled(scores))
        worst = positions(votes.workers, ranking.worst(votes.n_workers))
        shown: dict[str, object] = {
            "worker": votes.workers[worst],
            "answers": votes.n_answers_per_worker[worst].astype(np.int64),
        }
        shown |= {score.made_by: score.raw[worst] for score in scores}
        used = {score.made_by for score in scores}
        methods = [one for one in parse_scoring_methods("worker", self.scores) if one.spec in used]
        order = f"sorted by the mean rank of {', '.join(ranking.scores.tolist())}"
        notes = [order, *notes_on_fits_of_scores(methods), *notes]
        tables = [Table(f"{data.name}: {votes.n_workers:,} workers, the worst first", shown, tuple(notes))]
        for worker in self._codes_of_named_or_worst_workers(votes, worst).tolist():
            tables += self._report_card_tables_of_worker(votes, made, people, scores, worker)
        return Tables(f"Report cards of {data.name}", tuple(tables), self.spec)

    def _score_workers_and_note_skipped(
        self, evidence: EvidenceCache, votes: Votes, progress: Progress
    ) -> tuple[list[Scores], list[str]]:
        """Return the scores of the workers in the order of `votes.workers`, and notes on scores that were skipped."""
        found, notes, specs = [], [], split_at_commas_outside_brackets(self.scores)
        for step, (spec, method) in enumerate(zip(specs, parse_scoring_methods("worker", self.scores), strict=True)):
            try:
                found.append(
                    _align_scores_to_workers(
                        evidence.collect_evidence_and_score(
                            method, callback_reporting_only_outer_step(progress, step, len(specs))
                        ),
                        votes,
                    )
                )
            except PlurivoxError as why:
                notes.append(f"without {spec}: {why}")
        if not found:
            raise InputError("no score can be computed for these workers: " + "; ".join(notes))
        return found, notes

    def _codes_of_named_or_worst_workers(self, votes: Votes, workers_worst_first: Ints) -> Ints:
        """Return the codes of the workers in the option `workers`, else of the `n` worst; raise UnknownName for other names."""
        if not self.workers:
            return workers_worst_first[: self.n]
        names = split_at_commas_outside_brackets(self.workers)
        codes = positions(votes.workers, as_names(names, "workers"))
        if (codes < 0).any():
            raise unknown_name_error("worker", names[int(np.argmin(codes))], map(str, votes.workers.tolist()))
        return codes

    def _report_card_tables_of_worker(
        self, votes: Votes, fit: Fit, people: SoftLabels, scores: list[Scores], worker: int
    ) -> list[Table]:
        """Return the tables of one worker's report card: scores and ranks, confusion matrix, most unlikely votes."""
        name = str(votes.workers[worker])
        raw = [score.raw for score in scores]
        known = [score.badness[np.isfinite(score.badness)] for score in scores]
        rows = {
            "score": [score.made_by for score in scores],
            "worker": [float(values[worker]) for values in raw],
            "95% low": [np.nan if score.low is None else float(score.low[worker]) for score in scores],
            "95% high": [np.nan if score.high is None else float(score.high[worker]) for score in scores],
            "median": [float(np.nanmedian(values)) if np.isfinite(values).any() else np.nan for values in raw],
            "rank": [
                _format_rank_from_highest(score.badness[worker], values)
                for score, values in zip(scores, known, strict=True)
            ],
        }
        assert fit.confusion is not None
        matrix, labels = fit.confusion.of(votes.workers[worker]), fit.confusion.labels
        confusion = {"true": labels, **{f"votes {label}": matrix[:, k] for k, label in enumerate(labels)}}
        tables = [
            Table(
                f"{name}: scores", rows, ("rank 1 is the worst, the highest badness, of all workers with the score",)
            ),
            Table(f"{name}: confusion matrix by {fit.made_by}", confusion, digits=2),
        ]
        return tables + (
            [_most_unlikely_votes_table(votes, fit.soft, people, worker, self.tasks)] if self.tasks else []
        )


def _align_scores_to_workers(scores: Scores, votes: Votes) -> Scores:
    """Return the scores in the order of `votes.workers`, NaN for workers without a score."""
    place = positions(scores.names, votes.workers)
    raw, badness, low, high = (
        None if column is None else np.where(place >= 0, column[place], np.nan)
        for column in (scores.raw, scores.badness, scores.low, scores.high)
    )
    assert raw is not None and badness is not None
    return Scores("worker", votes.workers, raw, badness, scores.made_by, low=low, high=high)


def _format_rank_from_highest(badness: float, all_badness: Floats) -> str:
    """Return "<rank> of <n>" of a badness among all, 1 for the highest (worst); "-" if it is not finite."""
    return "-" if not np.isfinite(badness) else f"{1 + int((all_badness > badness).sum()):,} of {len(all_badness):,}"


def _most_unlikely_votes_table(votes: Votes, soft: SoftLabels, people: SoftLabels, worker: int, n_votes: int) -> Table:
    """Return a table of the worker's `n_votes` least probable votes among those that differ from the task's top label."""
    top = soft.most_probable_label_codes()
    differing = np.flatnonzero((votes.worker == worker) & (votes.label != top[votes.task]))
    prob = soft.prob[votes.task[differing], votes.label[differing]]
    least = differing[np.argsort(prob, kind="stable")[:n_votes]]
    top_label = top[votes.task[least]]
    return Table(
        f"{votes.workers[worker]}: most unlikely votes",
        {
            "task": votes.tasks[votes.task[least]],
            "vote": votes.labels[votes.label[least]],
            "probability": soft.prob[votes.task[least], votes.label[least]],
            "top label": soft.labels[top_label],
            "its probability": soft.prob[votes.task[least], top_label],
            "people: vote": people.prob[votes.task[least], votes.label[least]],
            "people: top label": people.prob[votes.task[least], top_label],
        },
        (f"{TRUTH_AND_PEOPLE} Probabilities are of truth, the last two columns of people",),
    )
