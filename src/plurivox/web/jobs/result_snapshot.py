"""Compute a snapshot of the results, soft labels and statistics, from all answers, and write it to the database."""

import secrets
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, Engine

from plurivox.core.answers import Answers
from plurivox.core.array_types import Ints, Names
from plurivox.core.errors import PlurivoxError
from plurivox.core.results import Fit
from plurivox.core.votes import Votes
from plurivox.elicit import Elicited
from plurivox.engine.beta_intervals import jeffreys_interval_95
from plurivox.web.jobs import study_statistics
from plurivox.web.jobs.arm_comparison import compare_arms
from plurivox.web.jobs.exclusion_rules import exclude_rule_breakers_and_return_count
from plurivox.web.jobs.expected_information_gain import write_expected_gains_return_stopping_summary
from plurivox.web.store.report import result_snapshots, worker_scores_and_flags
from plurivox.web.store.report.answer_cache import AnswerCache, CollectedAnswers
from plurivox.web.store.report.result_snapshots import Snapshot, count_exclusions_plus_reinstatements
from plurivox.web.store.report.statistics_classes_and_queries import count_tasks_without_free_slot_by_stratum
from plurivox.web.store.report.stored_soft_labels_and_task_list import (
    SoftLabelRow,
    ids_of_tasks_with_nonempty_soft_label,
    soft_label_intervals_to_json,
)
from plurivox.web.study.config import Study
from plurivox.workflows import elicit_votes, fit

DEFAULT_AGGREGATOR = "vote-shares"  # the mean of the soft answers
MAX_LABELS = 50  # labels stored per task, the most probable ones
BLOCK_TASKS = 5_000  # tasks converted together


class WrittenLabels(NamedTuple):
    """The soft labels of all tasks in the last snapshot, rounded to 5 digits, to find out which ones change."""

    ids: Ints  # (n_tasks,) sorted
    prob: Any  # (n_tasks, n_labels)
    labels: Names


class SnapshotComputer:
    """Computes snapshots of a study's results (soft labels, statistics) one after the other, from a cache of answers."""

    def __init__(self, engine: Engine, answers: AnswerCache | None = None) -> None:
        self.engine, self._name = engine, secrets.token_hex(8)
        self._answers = AnswerCache() if answers is None else answers
        self._written: WrittenLabels | None
        self._forget_last_snapshot((0, ""))

    def _forget_last_snapshot(self, new_erasure_count_and_config_digest: tuple[int, str]) -> None:
        """Forget the last snapshot, so that all is computed again, and save the erasure count and digest of study.toml."""
        self._basis, self._by, self._is_first = new_erasure_count_and_config_digest, "", True
        self._n_known, self._excluded = 0, set[int]()  # cached answers and exclusions in the last snapshot
        self._number, self._written = 0, None  # the last snapshot and its soft labels
        self._written_next: WrittenLabels | None = None

    def exclude_workers_by_rules(self, study: Study) -> int:
        """Read new answers, exclude the workers who break an exclusion rule of the study, and return how many."""
        if not study.exclude.rules:
            return 0
        with self.engine.connect() as connection:
            collected = self._update_cache_and_get_counted_answers(connection, study)
        return exclude_rule_breakers_and_return_count(self.engine, study, collected)

    def _update_cache_and_get_counted_answers(self, connection: Connection, study: Study) -> CollectedAnswers:
        """Read new answers and return all that count; forget the last snapshot if answers were erased or study.toml changed."""
        self._answers.append_new_rows_and_return_count(connection)
        basis = self._answers.erasures, study.config_digest
        if basis != self._basis:
            self._forget_last_snapshot(basis)
        return self._answers.select_answers_that_count_from_cache(connection, study.labels)

    def _ids_of_tasks_with_new_answers_or_changed_exclusions(self) -> Ints:
        """Return the ids of tasks with new answers since the last snapshot, or answers of workers excluded or reinstated."""
        cache = self._answers
        is_new = cache.mask_of_answers_by_workers([*self._excluded.symmetric_difference(cache.excluded)])
        is_new[self._n_known :] = True
        return np.unique(cache.columns["task"][is_new & ~cache.columns["is_practice"]])

    def compute_and_publish_snapshot(self, study: Study) -> None:
        """Read new answers, compute soft labels and statistics, and publish a snapshot; raise Outdated if superseded."""
        began = time.perf_counter()
        with self.engine.connect() as connection:
            # first: `publish_snapshot_or_raise_outdated` detects later changes
            exclusion_changes = count_exclusions_plus_reinstatements(connection)
            collected, new = (
                self._update_cache_and_get_counted_answers(connection, study),
                self._ids_of_tasks_with_new_answers_or_changed_exclusions(),
            )
            snapshot = Snapshot(
                last_answer=int(self._answers.columns["id"].max(initial=0)),
                answers=len(collected.answers),
                asked=study.config_digest,
                stages=study_statistics.median_seconds_by_stage(connection),
                by=study.aggregator or DEFAULT_AGGREGATOR,
                full_tasks=count_tasks_without_free_slot_by_stratum(connection),
                exclusion_changes=exclusion_changes,
            )
            labelled = ids_of_tasks_with_nonempty_soft_label(connection) if self._is_first else ()
        n_known, excluded = len(self._answers), {*self._answers.excluded}
        number = result_snapshots.undo_partial_and_reserve_snapshot_number(self.engine, self._name)
        if number != self._number + 1:  # another server has been leader
            self._written = None
        empty = np.setdiff1d(np.union1d(new, np.array(labelled, np.int64)), collected.task_ids)
        result_snapshots.write_and_count_changed_soft_labels(
            self.engine, number, map(SoftLabelRow, empty.tolist()), self._name
        )
        alert = ""
        if len(collected.answers):
            snapshot, alert = self._write_results_and_return_full_snapshot_and_alert(
                study, collected, new, number, snapshot
            )
        snapshot = replace(snapshot, seconds=round(time.perf_counter() - began, 3))
        result_snapshots.publish_snapshot_or_raise_outdated(
            self.engine, number, snapshot, self._basis[0], alert, self._name
        )
        self._by, self._is_first, self._n_known, self._excluded = snapshot.by, False, n_known, excluded
        self._number, self._written = number, self._written_next  # only now: an unpublished snapshot is undone

    def _write_results_and_return_full_snapshot_and_alert(
        self,
        study: Study,
        collected: CollectedAnswers,
        tasks_with_new_answers: Ints,
        snapshot_number: int,
        snapshot: Snapshot,
    ) -> tuple[Snapshot, str]:
        """Write soft labels, gains, flags and scores; return the snapshot with all statistics, and the alert of the
        aggregator ("" if it did not fail)."""
        elicited = _elicit_votes_by_form_of_each_answer(study, collected.answers)
        votes = _votes_without_repeats(collected, elicited)
        first_labels = _votes_without_repeats(collected, elicit_votes(collected.answers, "one-label"))
        # (n_tasks,) "can't tell" and "none of these" do not count as votes
        n_votes = np.rint(votes.support).astype(np.int64)
        without_votes = collected.database_id_of_each_task[n_votes == 0]
        fitted, by, alert = _fit_study_aggregator_or_vote_shares_if_it_fails(study, votes)
        result_snapshots.write_and_count_changed_soft_labels(
            self.engine,
            snapshot_number,
            map(SoftLabelRow, np.intersect1d(tasks_with_new_answers, without_votes).tolist()),
            self._name,
        )
        if fitted is not None:
            changed = self._ids_of_tasks_with_new_answers_or_changed_soft_label(
                collected, fitted, tasks_with_new_answers, by
            )
            result_snapshots.write_and_count_changed_soft_labels(
                self.engine,
                snapshot_number,
                _yield_soft_label_rows_of_changed_tasks(collected, fitted, n_votes, changed),
                self._name,
            )
            settled = write_expected_gains_return_stopping_summary(self.engine, study, collected, votes, fitted)
            snapshot = replace(
                snapshot,
                settled=settled,
                **study_statistics.soft_label_histograms_and_label_shares(fitted, n_votes > 0)._asdict(),
            )
        flags = study_statistics.compute_flags_by_answer_id(study, collected, elicited)
        worker_scores = study_statistics.compute_scores_counts_and_times_by_worker(
            study, collected, first_labels, flags
        )
        snapshot = replace(
            snapshot,
            by=by,
            weights_people=fitted is not None and not (fitted.confusion is None and fitted.ability is None),
            flags=dict(Counter(name for names in flags.values() for name in names)),
            agreement=replace(
                study_statistics.compute_agreement_statistics(collected, first_labels, fitted),
                median_of_workers=study_statistics.median_agreement_of_workers(worker_scores),
            ),
            times=study_statistics.median_times_overall_and_by_position(collected),
        )
        if study.arms:
            with self.engine.connect() as connection:
                snapshot = replace(snapshot, forms=compare_arms(connection, study, collected, elicited))
        worker_scores_and_flags.replace_flags_of_answers_to_tasks(self.engine, tasks_with_new_answers.tolist(), flags)
        worker_scores_and_flags.replace_scores_of_all_workers(self.engine, worker_scores)
        return snapshot, alert

    def _ids_of_tasks_with_new_answers_or_changed_soft_label(
        self, collected: CollectedAnswers, fitted: Fit, tasks_with_new_answers: Ints, aggregator: str
    ) -> Ints:
        """Return the ids of tasks with new answers, or whose soft label differs from the last snapshot."""
        same_way = aggregator == self._by and self._written is not None
        if same_way and aggregator == DEFAULT_AGGREGATOR:  # a task depends on its own votes only
            return tasks_with_new_answers
        order = np.argsort(collected.database_id_of_each_task)
        ids, soft = collected.database_id_of_each_task[order], fitted.soft
        now_written = WrittenLabels(ids, np.round(soft.prob[order], 5).astype(np.float32), soft.labels)
        before, self._written_next = self._written, now_written
        if not same_way or before is None or not np.array_equal(before.labels, now_written.labels):
            return np.asarray(now_written.ids)
        place = np.minimum(np.searchsorted(before.ids, now_written.ids), max(len(before.ids) - 1, 0))
        same = (before.ids[place] == now_written.ids) & (before.prob[place] == now_written.prob).all(1)
        return np.union1d(tasks_with_new_answers, now_written.ids[~same])


def _elicit_votes_by_form_of_each_answer(study: Study, answers: Answers) -> Elicited:
    """Convert answers to votes, each by the answer form in which it was given, with the study's options of that form."""
    assert answers.form is not None
    names = list(dict.fromkeys(answers.form.tolist()))
    if len(names) == 1:
        return elicit_votes(answers, study.elicit_form(names[0]))
    return elicit_votes(answers, "form-column", forms=study.elicit)


def _votes_without_repeats(collected: CollectedAnswers, elicited: Elicited) -> Votes:
    """Return the votes elicited from answers, without those from repeated tasks."""
    assert elicited.votes.answer is not None
    return (
        elicited.votes
        if collected.non_repeat_answer_mask.all()
        else elicited.votes.where(collected.non_repeat_answer_mask[elicited.votes.answer])
    )


def _fit_study_aggregator_or_vote_shares_if_it_fails(study: Study, votes: Votes) -> tuple[Fit | None, str, str]:
    """Fit the aggregator of the study, or vote shares if that fails; return the fit, the method used, and the alert text."""
    wanted, alert = study.aggregator or DEFAULT_AGGREGATOR, ""
    if not len(votes):
        return None, wanted, ""
    if wanted != DEFAULT_AGGREGATOR:
        try:
            return fit(votes, wanted), wanted, ""
        except Exception as cause:  # noqa: BLE001 - the owner gets an alert, and vote shares in the meantime
            why = str(cause) if isinstance(cause, PlurivoxError) else f"{type(cause).__name__}: {cause}"
            alert = (
                f"The aggregator {wanted!r} of study.toml failed; soft labels are {DEFAULT_AGGREGATOR} for now: {why}"
            )
    return fit(votes, DEFAULT_AGGREGATOR), DEFAULT_AGGREGATOR, alert


def _yield_soft_label_rows_of_changed_tasks(
    collected: CollectedAnswers, fitted: Fit, n_votes_of_each_task: Ints, changed_task_ids: Ints
) -> Iterator[SoftLabelRow]:
    """Yield the soft label of each changed task with votes as a database row: labels with intervals, most probable first."""
    n, ids, entropy = n_votes_of_each_task, collected.database_id_of_each_task, fitted.soft.entropy().round(6)
    rows_of = np.flatnonzero((n > 0) & np.isin(ids, changed_task_ids))
    labels = collected.answers.labels.tolist()
    for block in np.array_split(rows_of, max(1, -(-len(rows_of) // BLOCK_TASKS))):
        prob = np.asarray(fitted.soft.prob[block], np.float64)  # (n_block, n_labels)
        order = np.argsort(-prob, axis=1, kind="stable")[:, :MAX_LABELS]
        top = np.take_along_axis(prob, order, axis=1)
        low, high = jeffreys_interval_95(top, n[block][:, None])
        rows = np.stack([top, low, high], axis=2).round(5).tolist()
        for at, task in enumerate(block.tolist()):
            soft = [(labels[k], *three) for k, three in zip(order[at].tolist(), rows[at], strict=True)]
            yield SoftLabelRow(int(ids[task]), int(n[task]), float(entropy[task]), soft_label_intervals_to_json(soft))
