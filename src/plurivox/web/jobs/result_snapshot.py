"""Compute a snapshot of the results, soft labels and statistics, from all answers, and write it to the database."""

import secrets
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from sqlalchemy import Connection, Engine

from plurivox.aggregate import DEFAULT_METHODS
from plurivox.core.array_types import Floats, Ints
from plurivox.core.results import Fit
from plurivox.web.jobs import study_statistics
from plurivox.web.jobs.arm_comparison import compare_arms
from plurivox.web.jobs.exclusion_rules import exclude_rule_breakers_and_return_count
from plurivox.web.jobs.expected_information_gain import write_expected_gains_return_stopping_summary
from plurivox.web.jobs.truth_and_people import (
    ProbabilitiesByTask,
    Truth,
    TruthComputer,
    fit_quantity_of_study,
    intervals_of_shares,
)
from plurivox.web.jobs.votes_of_answers import elicit_votes_by_form_of_each_answer, votes_without_repeats
from plurivox.web.store.report import result_snapshots, worker_scores_and_flags
from plurivox.web.store.report.answer_cache import AnswerCache, CollectedAnswers
from plurivox.web.store.report.result_snapshots import Snapshot, count_exclusions_plus_reinstatements
from plurivox.web.store.report.statistics_classes_and_queries import (
    StoppingSummary,
    count_tasks_without_free_slot_by_stratum,
)
from plurivox.web.store.report.stored_soft_labels_and_task_list import (
    SoftLabelRow,
    ids_of_tasks_with_nonempty_soft_label,
    label_probabilities_to_json,
    soft_label_intervals_to_json,
)
from plurivox.web.study.config import Study, aggregator_of_study
from plurivox.workflows import elicit_votes

MAX_LABELS = 50  # labels stored per task, the most probable ones
BLOCK_TASKS = 5_000  # tasks converted together
MIN_CHANGE = (
    0.0005  # a soft label in which no probability changes by more is not written again: pages show three digits
)


class SnapshotComputer:
    """Computes snapshots of a study's results (soft labels, statistics) one after the other, from a cache of answers."""

    def __init__(self, engine: Engine, answers: AnswerCache | None = None) -> None:
        self.engine, self._name = engine, secrets.token_hex(8)
        self._answers = AnswerCache() if answers is None else answers
        self._written: tuple[ProbabilitiesByTask, ProbabilitiesByTask] | None  # people and truth, as last written
        self._truth = TruthComputer()
        self._forget_last_snapshot((0, ""))

    def _forget_last_snapshot(self, new_erasure_count_and_config_digest: tuple[int, str]) -> None:
        """Forget the last snapshot, so that all is computed again, and save the erasure count and digest of study.toml."""
        self._basis, self._is_first = new_erasure_count_and_config_digest, True
        self._n_known, self._excluded = 0, set[int]()  # cached answers and exclusions in the last snapshot
        self._number, self._written = 0, None  # the last snapshot and its soft labels
        self._written_next: tuple[ProbabilitiesByTask, ProbabilitiesByTask] | None = None
        self._settled: StoppingSummary | None = None
        self._truth.forget()

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
                by=aggregator_of_study(study, "people") or DEFAULT_METHODS["people"],
                full_tasks=count_tasks_without_free_slot_by_stratum(connection),
                exclusion_changes=exclusion_changes,
            )
            labelled = ids_of_tasks_with_nonempty_soft_label(connection) if self._is_first else ()
        n_known, excluded = len(self._answers), {*self._answers.excluded}
        if excluded != self._excluded:
            self._truth.forget()
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
        self._is_first, self._n_known, self._excluded = False, n_known, excluded
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
        aggregators ("" if none failed)."""
        elicited = elicit_votes_by_form_of_each_answer(study, collected.answers)
        votes = votes_without_repeats(collected, elicited)
        first_labels = votes_without_repeats(collected, elicit_votes(collected.answers, "one-label"))
        # (n_tasks,) "can't tell" and "none of these" do not count as votes
        n_votes = np.rint(votes.support).astype(np.int64)
        without_votes = collected.database_id_of_each_task[n_votes == 0]
        people = fit_quantity_of_study(study, votes, "people")
        fitted, alert = people.fitted, people.alert
        result_snapshots.write_and_count_changed_soft_labels(
            self.engine,
            snapshot_number,
            map(SoftLabelRow, np.intersect1d(tasks_with_new_answers, without_votes).tolist()),
            self._name,
        )
        if fitted is not None:
            truth = self._truth.truth_of_tasks(study, votes, collected.database_id_of_each_task, n_votes > 0)
            alert = " ".join(filter(None, (alert, truth.alert)))
            changed = self._ids_of_tasks_with_new_answers_or_changed_soft_label(
                collected, fitted, truth, tasks_with_new_answers
            )
            result_snapshots.write_and_count_changed_soft_labels(
                self.engine,
                snapshot_number,
                _yield_soft_label_rows_of_changed_tasks(collected, fitted, truth, n_votes, changed),
                self._name,
            )
            gains_by = truth.fitted if aggregator_of_study(study, "truth") else fitted
            if gains_by is not None:
                self._settled = write_expected_gains_return_stopping_summary(
                    self.engine, study, collected, votes, gains_by
                )
            snapshot = replace(
                snapshot,
                by=people.by,
                weights_people=people.weights_people,
                settled=self._settled,
                **study_statistics.soft_label_histograms_and_label_shares(fitted, n_votes > 0)._asdict(),
                truth_by=truth.by,
                truth_weights_people=truth.weights_people,
                truth_due=truth.due,
                **{f"truth_{name}": value for name, value in truth.histograms._asdict().items()},
            )
        flags = study_statistics.compute_flags_by_answer_id(study, collected, elicited)
        worker_scores = study_statistics.compute_scores_counts_and_times_by_worker(
            study, collected, first_labels, flags
        )
        snapshot = replace(
            snapshot,
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
        self, collected: CollectedAnswers, people: Fit, truth: Truth, tasks_with_new_answers: Ints
    ) -> Ints:
        """Return the ids of tasks with new answers, or whose soft label differs from the one last written."""
        ids, labels = collected.database_id_of_each_task, people.soft.labels
        now = tuple(ProbabilitiesByTask.of(ids, prob, labels) for prob in (np.asarray(people.soft.prob), truth.prob))
        self._written_next = now[0], now[1]
        if self._written is None or not np.array_equal(self._written[0].labels, labels):
            return np.asarray(now[0].ids)
        is_new = np.isin(now[0].ids, tasks_with_new_answers)
        old = [one.rows_of(now[0].ids) for one in self._written]
        for before, one in zip(old, now, strict=True):  # written again if truth was computed for the first time, too
            is_new |= (~np.isclose(before, one.prob, rtol=0, atol=MIN_CHANGE, equal_nan=True)).any(1)
        for before, one in zip(old, now, strict=True):
            one.prob[~is_new] = before[~is_new]  # as written, so that small changes add up to one that is written
        return np.union1d(tasks_with_new_answers, now[0].ids[is_new])


def _yield_soft_label_rows_of_changed_tasks(
    collected: CollectedAnswers, people: Fit, truth: Truth, n_votes_of_each_task: Ints, changed_task_ids: Ints
) -> Iterator[SoftLabelRow]:
    """Yield the soft labels of each changed task with votes as a database row: labels with intervals (if any) for
    people, and probabilities for truth, the most probable first."""
    n, ids, entropy = n_votes_of_each_task, collected.database_id_of_each_task, people.soft.entropy().round(6)
    rows_of = np.flatnonzero((n > 0) & np.isin(ids, changed_task_ids))
    labels = collected.answers.labels.tolist()
    for block in np.array_split(rows_of, max(1, -(-len(rows_of) // BLOCK_TASKS))):
        order, top = _most_probable_labels(np.asarray(people.soft.prob[block], np.float64))
        rows = np.stack([top, *intervals_of_shares(people, top, block)], axis=2).round(5).tolist()
        right, probability = (one.tolist() for one in _most_probable_labels(np.asarray(truth.prob[block], np.float64)))
        for at, task in enumerate(block.tolist()):
            soft = [(labels[k], *three) for k, three in zip(order[at].tolist(), rows[at], strict=True)]
            is_true = [(labels[k], round(p, 5)) for k, p in zip(right[at], probability[at], strict=True) if p == p]
            yield SoftLabelRow(
                int(ids[task]),
                int(n[task]),
                float(entropy[task]),
                soft_label_intervals_to_json(soft),
                label_probabilities_to_json(is_true),
            )


def _most_probable_labels(prob: Floats) -> tuple[Ints, Floats]:
    """Return the codes of the most probable labels of each task (n_tasks, at most MAX_LABELS), and their probabilities."""
    order = np.argsort(-prob, axis=1, kind="stable")[:, :MAX_LABELS]
    return order, np.take_along_axis(prob, order, axis=1)
