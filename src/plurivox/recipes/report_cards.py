"""A card for each worker: every score beside the crowd's, how they answer, and where they differ."""

from dataclasses import dataclass

import numpy as np

from plurivox import aggregate
from plurivox.core.encoding import as_names, positions
from plurivox.core.errors import InputError, PlurivoxError, unknown_name
from plurivox.core.method import option, split_list
from plurivox.core.progress import Progress, nested_progress, no_progress
from plurivox.core.results import Fit, Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.tables import Table, Tables
from plurivox.core.types import Floats, Ints
from plurivox.core.votes import Votes
from plurivox.identify import Evidence
from plurivox.recipes._contract import Reader, Recipe, from_the_shelf
from plurivox.workflows.fit_votes import fit
from plurivox.workflows.rank_scores import join_scores
from plurivox.workflows.score_tasks_workers import EvidenceCache, parse_scores

SCORES = (
    "gold-accuracy,agreement-with-rest,trace,spam-score,repeat-consistency,drift,speed,too-fast,percent-calibration"
)


@dataclass(frozen=True)
class ReportCards(Recipe):
    """A card for each worker: every score beside the crowd's, how they answer, and where they differ.

    The first table has all workers, the worst by the mean of their ranks first. Then, for those who are named or the `n`
    worst, the scores as their papers define them beside the crowd's median and the place among all (1 is the worst), the
    confusion matrix that the aggregator learnt, and the tasks on which the worker said what we believe least. Scores that
    need what is not there (gold, times, repeats, percents) are left out, and a note says why.
    """

    data: str = option("toy", "a data set with votes of named workers: its name, folder or file")
    workers: str = option("", "whose cards, with commas between; empty: those of the n worst")
    n: int = option(3, "how many cards where nobody is named", low=1)
    scores: str = option(SCORES, "scores of workers, see plurivox methods identify")
    method: str = option("ibcc", "an aggregator with confusion matrices")
    tasks: int = option(5, "how many tasks to show on which a worker differs most", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_scores("worker", self.scores, f"{self.name()}: scores")
        aggregate.methods.make(self.method)

    def run(self, *, read: Reader = from_the_shelf, progress: Progress = no_progress) -> Tables:
        """Score everybody, then write the cards."""
        data = read(self.data)
        if (votes := data.votes) is None:
            raise InputError(f"{data.name} has no votes of named workers; report cards need them")
        made = fit(votes, self.method, progress=progress)
        if made.confusion is None:
            raise InputError(f"{self.name()}: {self.method} learns no confusion matrices; try ibcc or dawid-skene")
        scores, notes = self._scored(EvidenceCache(data, Evidence(gold=data.gold)), votes, progress)
        worst = positions(votes.workers, join_scores(scores).worst(votes.n_workers))
        shown: dict[str, object] = {"worker": votes.workers[worst], "answers": votes.workload[worst].astype(np.int64)}
        shown |= {one.made_by: _raw(one)[worst] for one in scores}
        tables = [Table(f"{data.name}: {votes.n_workers:,} workers, the worst first", shown, tuple(notes))]
        for place in self._chosen(votes, worst).tolist():
            tables += self._card(votes, made, scores, place)
        return Tables(f"Report cards of {data.name}", tuple(tables), self.spec)

    def _scored(self, gathering: EvidenceCache, votes: Votes, progress: Progress) -> tuple[list[Scores], list[str]]:
        """The scores of the workers of the votes, in their order, and why some are not told."""
        found, notes, words = [], [], split_list(self.scores)
        for step, (word, score) in enumerate(zip(words, parse_scores("worker", self.scores), strict=True)):
            try:
                found.append(_on(gathering.score(score, nested_progress(progress, step, len(words))), votes))
            except PlurivoxError as why:
                notes.append(f"without {word}: {why}")
        if not found:
            raise InputError("no score can be told of these workers: " + "; ".join(notes))
        return found, notes

    def _chosen(self, votes: Votes, worst: Ints) -> Ints:
        if not self.workers:
            return worst[: self.n]
        names = split_list(self.workers)
        place = positions(votes.workers, as_names(names, "workers"))
        if (place < 0).any():
            raise unknown_name("worker", names[int(np.argmin(place))], map(str, votes.workers.tolist()))
        return place

    def _card(self, votes: Votes, fit: Fit, scores: list[Scores], place: int) -> list[Table]:
        who = str(votes.workers[place])
        raw = [_raw(one) for one in scores]
        known = [one.value[np.isfinite(one.value)] for one in scores]
        rows = {
            "score": [one.made_by for one in scores],
            "worker": [float(one[place]) for one in raw],
            "crowd's median": [float(np.nanmedian(one)) if np.isfinite(one).any() else np.nan for one in raw],
            "place": [_place(one.value[place], all_of) for one, all_of in zip(scores, known, strict=True)],
        }
        assert fit.confusion is not None
        matrix, labels = fit.confusion.of(votes.workers[place]), fit.confusion.labels
        said = {"true": labels, **{f"says {label}": matrix[:, k] for k, label in enumerate(labels)}}
        tables = [
            Table(f"{who}: scores", rows, ("place 1 is the worst of all who have the score",)),
            Table(f"{who}: how they answer, by {fit.made_by}", said, digits=2),
        ]
        return tables + ([_differs(votes, fit.soft, place, self.tasks)] if self.tasks else [])


def _on(scores: Scores, votes: Votes) -> Scores:
    """The same score of every worker of the votes, nan for who has none: those who entered answers may be others."""
    place = positions(scores.names, votes.workers)
    value, raw = (np.where(place >= 0, column[place], np.nan) for column in (scores.value, _raw(scores)))
    return Scores("worker", votes.workers, value, scores.made_by, raw=raw)


def _raw(scores: Scores) -> Floats:
    return scores.value if scores.raw is None else scores.raw


def _place(value: float, everybody: Floats) -> str:
    return "-" if not np.isfinite(value) else f"{1 + int((everybody > value).sum()):,} of {len(everybody):,}"


def _differs(votes: Votes, soft: SoftLabels, place: int, n: int) -> Table:
    """The worker's answers that we believe least, of those that are not what we believe most."""
    believed = soft.codes()
    mine = np.flatnonzero((votes.worker == place) & (votes.label != believed[votes.task]))
    prob = soft.prob[votes.task[mine], votes.label[mine]]
    least = mine[np.argsort(prob, kind="stable")[:n]]
    top = believed[votes.task[least]]
    return Table(
        f"{votes.workers[place]}: said what we believe least",
        {
            "task": votes.tasks[votes.task[least]],
            "said": votes.labels[votes.label[least]],
            "with": soft.prob[votes.task[least], votes.label[least]],
            "believed": soft.labels[top],
            "at": soft.prob[votes.task[least], top],
        },
    )
