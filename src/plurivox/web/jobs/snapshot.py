"""Compute a snapshot: soft labels and statistics from all answers."""

import secrets
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, Engine

from plurivox.core.answers import Answers
from plurivox.core.errors import PlurivoxError
from plurivox.core.results import Fit
from plurivox.core.types import Ints, Names
from plurivox.core.votes import Votes
from plurivox.elicit import Elicited
from plurivox.engine.beta import jeffreys_interval
from plurivox.web.jobs import study_statistics
from plurivox.web.jobs.arm_comparison import compare_arms
from plurivox.web.jobs.exclusion_rules import apply_exclusion_rules
from plurivox.web.jobs.expected_gains import update_expected_gains
from plurivox.web.store.report import snapshots, worker_results
from plurivox.web.store.report.answer_cache import AnswerCache, CollectedAnswers
from plurivox.web.store.report.snapshots import Snapshot, count_exclusion_changes
from plurivox.web.store.report.soft_labels import SoftLabelRow, dump_soft, labelled_task_ids
from plurivox.web.store.report.statistics import count_full_tasks
from plurivox.web.study.config import Study
from plurivox.workflows import elicit_votes, fit

DEFAULT_AGGREGATOR = "vote-shares"  # the mean of the soft answers
MAX_LABELS = 50  # labels kept of a task, the most probable ones
BLOCK_TASKS = 5_000  # tasks at a time


class WrittenLabels(NamedTuple):
    """The soft labels of the last snapshot, rounded to 5 digits, as the database holds them."""

    ids: Ints  # (n_tasks,) sorted
    prob: Any  # (n_tasks, n_labels)
    labels: Names


class SnapshotComputer:
    """Computes snapshots one after the other. `answers` may be shared with other jobs; each answer is read once."""

    def __init__(self, engine: Engine, answers: AnswerCache | None = None) -> None:
        self.engine, self._name = engine, secrets.token_hex(8)
        self._answers = AnswerCache() if answers is None else answers
        self._written: WrittenLabels | None
        self._forget((0, ""))

    def _forget(self, basis: tuple[int, str]) -> None:
        """Begin anew: for other answers or another study.toml, the last snapshot tells nothing."""
        self._basis, self._by, self._is_first = basis, "", True
        self._n_known, self._excluded = 0, set[int]()  # what of the log the last snapshot that was ours knows
        self._number, self._written = 0, None  # that snapshot, and what it says
        self._written_next: WrittenLabels | None = None

    def exclude(self, study: Study) -> int:
        """Exclude whoever breaks a rule of the study, by what has been read; how many people."""
        if not study.exclude.rules:
            return 0
        with self.engine.connect() as connection:
            held = self._read(connection, study)
        return apply_exclusion_rules(self.engine, study, held)

    def _read(self, connection: Connection, study: Study) -> CollectedAnswers:
        """All answers that count; each is read once, unless some were erased."""
        self._answers.read_new(connection)
        basis = self._answers.erased, study.digest
        if basis != self._basis:
            self._forget(basis)
        return self._answers.collected(connection, study.labels)

    def _new(self) -> Ints:
        """Tasks with answers that the last snapshot does not know, or of workers excluded or taken back since."""
        log = self._answers
        touched = log.of_workers([*self._excluded.symmetric_difference(log.excluded)])
        touched[self._n_known :] = True
        return np.unique(log.columns["task"][touched & ~log.columns["is_practice"]])

    def compute(self, study: Study) -> None:
        """Read what is new, compute, write a snapshot."""
        began = time.perf_counter()
        with self.engine.connect() as connection:
            counted = count_exclusion_changes(connection)  # before the answers: a change meanwhile is seen
            held, new = self._read(connection, study), self._new()
            made = Snapshot(
                last_answer=int(self._answers.columns["id"].max(initial=0)),
                answers=len(held.answers),
                asked=study.digest,
                stages=study_statistics.median_stage_seconds(connection),
                by=study.aggregator or DEFAULT_AGGREGATOR,
                full_tasks=count_full_tasks(connection),
                recounted=counted,
            )
            labelled = labelled_task_ids(connection) if self._is_first else ()
        n_known, excluded = len(self._answers), {*self._answers.excluded}
        number = snapshots.begin_snapshot(self.engine, self._name)
        if number != self._number + 1:  # another server has led meanwhile
            self._written = None
        empty = np.setdiff1d(np.union1d(new, np.array(labelled, np.int64)), held.task_ids)
        snapshots.write_soft_labels(self.engine, number, map(SoftLabelRow, empty.tolist()), self._name)
        alert = ""
        if len(held.answers):
            made, alert = self._fill(study, held, new, number, made)
        made = replace(made, seconds=round(time.perf_counter() - began, 3))
        snapshots.publish_snapshot(self.engine, number, made, self._basis[0], alert, self._name)
        self._by, self._is_first, self._n_known, self._excluded = made.by, False, n_known, excluded
        self._number, self._written = number, self._written_next  # not before: what was broken off is taken back

    def _fill(
        self, study: Study, held: CollectedAnswers, new: Ints, number: int, made: Snapshot
    ) -> tuple[Snapshot, str]:
        """Write soft labels and all other results but the snapshot itself; return it with all its figures, and what went
        wrong with the aggregator."""
        read = _elicit_by_form(held.answers)
        votes = _votes_without_repeats(held, read)
        fitted, by, alert = _fit_or_default(study, votes)
        if fitted is not None:
            touched = self._touched(held, fitted, new, by)
            snapshots.write_soft_labels(self.engine, number, _soft_label_rows(held, fitted, touched), self._name)
            settled = update_expected_gains(self.engine, study, held, votes, fitted)
            made = replace(made, settled=settled, **study_statistics.soft_label_histograms(fitted)._asdict())
        odd = study_statistics.flag_answers(study, held, read)
        made = replace(
            made,
            by=by,
            flags=dict(Counter(name for names in odd.values() for name in names)),
            agreement=study_statistics.compute_agreement(held, read, fitted),
            times=study_statistics.compute_times(held),
        )
        if study.arms:
            with self.engine.connect() as connection:
                made = replace(made, forms=compare_arms(connection, study, held, read))
        worker_results.write_flags(self.engine, new.tolist(), odd)
        worker_results.write_worker_scores(self.engine, study_statistics.compute_worker_scores(held, read, odd))
        return made, alert

    def _touched(self, held: CollectedAnswers, fitted: Fit, new: Ints, by: str) -> Ints:
        """Tasks whose soft labels may differ from the written ones: with new answers, or moved by the answers to others."""
        same_way = by == self._by and self._written is not None
        if same_way and by == DEFAULT_AGGREGATOR:  # it looks at each task by itself
            return new
        order = np.argsort(held.id_of_task)
        ids, soft = held.id_of_task[order], fitted.soft
        now_written = WrittenLabels(ids, np.round(soft.prob[order], 5).astype(np.float32), soft.labels)
        before, self._written_next = self._written, now_written
        if not same_way or before is None or not np.array_equal(before.labels, now_written.labels):
            return np.asarray(now_written.ids)
        place = np.minimum(np.searchsorted(before.ids, now_written.ids), max(len(before.ids) - 1, 0))
        same = (before.ids[place] == now_written.ids) & (before.prob[place] == now_written.prob).all(1)
        return np.union1d(new, now_written.ids[~same])


def _elicit_by_form(found: Answers) -> Elicited:
    """Votes of the answers, by the forms they were asked in; most studies have one."""
    assert found.form is not None
    names = list(dict.fromkeys(found.form.tolist()))
    return elicit_votes(found, names[0] if len(names) == 1 else "as-asked")


def _votes_without_repeats(held: CollectedAnswers, read: Elicited) -> Votes:
    """Votes without those of repeats."""
    assert read.votes.answer is not None
    return read.votes if held.is_first.all() else read.votes.where(held.is_first[read.votes.answer])


def _fit_or_default(study: Study, votes: Votes) -> tuple[Fit | None, str, str]:
    """Soft labels, by which method, and what went wrong with the one that was asked for."""
    wanted, alert = study.aggregator or DEFAULT_AGGREGATOR, ""
    if not len(votes):
        return None, wanted, ""
    if wanted != DEFAULT_AGGREGATOR:
        try:
            return fit(votes, wanted), wanted, ""
        except Exception as cause:  # noqa: BLE001 - the owner is told, and sees the mean meanwhile
            why = str(cause) if isinstance(cause, PlurivoxError) else f"{type(cause).__name__}: {cause}"
            alert = (
                f"The aggregator {wanted!r} of study.toml failed; soft labels are {DEFAULT_AGGREGATOR} meanwhile: {why}"
            )
    return fit(votes, DEFAULT_AGGREGATOR), DEFAULT_AGGREGATOR, alert


def _soft_label_rows(held: CollectedAnswers, fitted: Fit, touched: Ints) -> Iterator[SoftLabelRow]:
    """Of the tasks that were touched: labels with their intervals, most probable first."""
    n, ids, entropy = held.n_first, held.id_of_task, fitted.soft.entropy().round(6)  # (n_tasks,) each
    here = np.flatnonzero((n > 0) & np.isin(ids, touched))
    labels = held.answers.labels.tolist()
    for block in np.array_split(here, max(1, -(-len(here) // BLOCK_TASKS))):
        prob = np.asarray(fitted.soft.prob[block], np.float64)  # (n_block, n_labels)
        order = np.argsort(-prob, axis=1, kind="stable")[:, :MAX_LABELS]
        top = np.take_along_axis(prob, order, axis=1)
        low, high = jeffreys_interval(top, n[block][:, None])
        rows = np.stack([top, low, high], axis=2).round(5).tolist()
        for at, task in enumerate(block.tolist()):
            soft = [(labels[k], *three) for k, three in zip(order[at].tolist(), rows[at], strict=True)]
            yield SoftLabelRow(int(ids[task]), int(n[task]), float(entropy[task]), dump_soft(soft))
