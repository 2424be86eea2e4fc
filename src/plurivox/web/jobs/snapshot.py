"""Compute a snapshot: soft labels and statistics from all answers."""

import json
import logging
import secrets
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta
from sqlalchemy import Connection, Engine, func, select

from plurivox.core.answers import Answers
from plurivox.core.errors import PlurivoxError
from plurivox.core.results import Fit
from plurivox.core.types import Bools, Floats, Ints, Names
from plurivox.elicit import Elicited
from plurivox.elicit import methods as forms
from plurivox.web.jobs import study_statistics
from plurivox.web.jobs.arm_comparison import compare
from plurivox.web.jobs.exclusion import apply_rules
from plurivox.web.jobs.gains import write_gains
from plurivox.web.store.report import snapshots
from plurivox.web.store.report.answer_log import Collected, Reader
from plurivox.web.store.schema import answers
from plurivox.web.study.config import Study
from plurivox.workflows import fit

DEFAULT = "vote-shares"  # the mean of the soft answers
MOST = 50  # labels kept of a task, the most probable ones
BLOCK = 5_000  # tasks at a time
log = logging.getLogger(__name__)


def compute(engine: Engine, study: Study) -> None:
    """Read all answers, compute, write a snapshot."""
    Aggregates(engine).compute(study)


class Written(NamedTuple):
    """The beliefs of the last snapshot, as far as their digits are shown."""

    ids: Ints  # (n_tasks,) sorted
    prob: Any  # (n_tasks, n_labels)
    labels: Names


class Aggregates:
    """Computes snapshots one after the other, and remembers what it has read."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self._name = engine, secrets.token_hex(8)
        self._written: Written | None
        self.took: dict[str, float] = {}  # seconds of each step of the last one
        self._forget((0, ""))

    def _forget(self, basis: tuple[int, str]) -> None:
        self._reader, self._by, self._basis = Reader(), "", basis
        self._recounted, self._is_first = 0, True
        self._number, self._written = 0, None  # the last snapshot that was ours, and what it says
        self._written_next: Written | None = None
        self._pending: Ints = np.zeros(0, np.int64)

    def exclude(self, study: Study) -> int:
        """Leave out whoever breaks a rule of the study, by what has been read; how many people."""
        if not study.exclude.rules:
            return 0
        with self.engine.connect() as connection:
            found = self._read_on(connection, study).answers
        return apply_rules(self.engine, study, found)

    def _read_on(self, connection: Connection, study: Study) -> Collected:
        """All answers that count; each is read once, unless some are gone or study.toml has changed."""
        basis = snapshots.erased(connection), study.digest
        if basis != self._basis:
            self._forget(basis)
        self._recounted = snapshots.recounted(connection)  # before the answers: a change meanwhile is seen
        self._pending = np.union1d(self._pending, self._reader.read_on(connection))  # until it is published
        return self._reader.collected(connection, study)

    def compute(self, study: Study) -> None:
        """Read what is new, compute, write a snapshot."""
        began = time.perf_counter()
        self.took = {}
        with self.engine.connect() as connection:
            last = connection.execute(select(func.max(answers.c.id))).scalar() or 0
            held = self._read_on(connection, study)
            new, basis = self._pending, (self._basis[0], self._recounted)
            stages, full = study_statistics.stage_times(connection), snapshots.full_tasks(connection)
            believed = snapshots.believed(connection) if self._is_first else ()
        self._note("read", began)
        body: dict[str, Any] = {"answers": len(held.answers), "asked": study.digest, "stages": stages}
        body |= {"by": study.aggregator or DEFAULT, "full_tasks": full, "recounted": self._recounted}
        number = snapshots.begin(self.engine, self._name)
        if number != self._number + 1:  # another server has led meanwhile
            self._written = None
        empty = np.setdiff1d(np.union1d(new, np.array(believed, np.int64)), held.task_ids)
        snapshots.believe(self.engine, number, snapshots.nothing_of(empty.tolist()), self._name)
        trouble = self._fill(study, held, new, number, body) if len(held.answers) else ""
        body["seconds"] = round(time.perf_counter() - began, 3)
        snapshots.publish(self.engine, number, last, body, basis, trouble, self._name)
        self._by, self._pending, self._is_first = body["by"], new[:0], False
        self._number, self._written = number, self._written_next  # not before: what was broken off is taken back
        self._note("published", began)

    def _fill(self, study: Study, held: Collected, new: Ints, number: int, body: dict[str, Any]) -> str:
        """Everything but the snapshot itself; what went wrong."""
        began = time.perf_counter()
        read = _read(held.answers)
        odd = study_statistics.odd_answers(study, held, read)
        began = self._note("elicited", began)
        fitted, body["by"], trouble = _fit(study, read)
        began = self._note("fitted", began)
        body["flags"] = dict(Counter(name for names in odd.values() for name in names))
        body |= {"agreement": study_statistics.agreement(held, read, fitted), "times": study_statistics.times(held)}
        standings = study_statistics.of_workers(held, read, odd)
        began = self._note("summed up", began)
        if fitted is not None:
            body |= study_statistics.histograms(fitted)
            body |= write_gains(self.engine, study, held, fitted)
            touched = self._touched(held, fitted, new, body["by"])
            snapshots.believe(self.engine, number, _beliefs(held, fitted, touched), self._name)
        if study.arms:
            with self.engine.connect() as connection:
                body["forms"] = compare(connection, study, read)
        began = self._note("beliefs", began)
        snapshots.flag(self.engine, new.tolist(), odd)
        snapshots.stand(self.engine, standings)
        self._note("flags and workers", began)
        return trouble

    def _touched(self, held: Collected, fitted: Fit, new: Ints, by: str) -> Ints:
        """Tasks whose beliefs may differ from those that are written: with new answers, or moved by the answers to others."""
        same_way = by == self._by and self._written is not None
        if same_way and by == DEFAULT:  # it looks at each task by itself
            return new
        ids = _ids_of(held)
        order = np.argsort(ids)
        now_written = Written(ids[order], np.round(fitted.soft.prob[order], 5).astype(np.float32), fitted.soft.labels)
        before, self._written_next = self._written, now_written
        if not same_way or before is None or not np.array_equal(before.labels, now_written.labels):
            return np.asarray(now_written.ids)
        place = np.minimum(np.searchsorted(before.ids, now_written.ids), max(len(before.ids) - 1, 0))
        same = (before.ids[place] == now_written.ids) & (before.prob[place] == now_written.prob).all(1)
        return np.union1d(new, now_written.ids[~same])

    def _note(self, step: str, began: float) -> float:
        end = time.perf_counter()
        self.took[step] = round(end - began, 3)
        return end


def _read(found: Answers) -> Elicited:
    """Votes of the answers, by the forms they were asked in; most studies have one."""
    assert found.form is not None
    names = list(dict.fromkeys(found.form.tolist()))
    return forms.make(names[0] if len(names) == 1 else "as-asked").read(found)


def _is_first(found: Answers) -> Bools:
    """(n,) which are no repeats: a person says one thing about a task."""
    return np.ones(len(found), bool) if found.repeat_of is None else found.repeat_of < 0


def _fit(study: Study, read: Elicited) -> tuple[Fit | None, str, str]:
    """Soft labels, by which method, and what went wrong with the one that was asked for."""
    assert read.votes.answer is not None
    first = _is_first(read.answers)
    votes = read.votes if first.all() else read.votes.where(first[read.votes.answer])
    wanted, trouble = study.aggregator or DEFAULT, ""
    if not len(votes):
        return None, wanted, ""
    if wanted != DEFAULT:
        try:
            return fit(votes, wanted), wanted, ""
        except Exception as cause:  # noqa: BLE001 - the owner is told, and sees the mean meanwhile
            why = str(cause) if isinstance(cause, PlurivoxError) else f"{type(cause).__name__}: {cause}"
            trouble = f"The aggregator {wanted!r} of study.toml failed; soft labels are {DEFAULT} meanwhile: {why}"
    return fit(votes, DEFAULT), DEFAULT, trouble


def _ids_of(held: Collected) -> Ints:
    """(n_tasks,) in the store."""
    ids = np.zeros(len(held.answers.tasks), np.int64)
    ids[held.answers.task] = held.task_ids
    return ids


def _beliefs(held: Collected, fitted: Fit, touched: Ints) -> Iterator[snapshots.Belief]:
    """Of the tasks that were touched: labels with their intervals, most probable first."""
    found = held.answers
    n = np.bincount(found.task[_is_first(found)], minlength=len(found.tasks))  # (n_tasks,)
    ids = _ids_of(held)
    here = np.flatnonzero((n > 0) & np.isin(ids, touched))
    labels = found.labels.tolist()
    for block in np.array_split(here, max(1, -(-len(here) // BLOCK))):
        prob = np.asarray(fitted.soft.prob[block], np.float64)  # (n_block, n_labels)
        sure = np.round(-study_statistics.entropy_of(prob), 6) + 0.0
        order = np.argsort(-prob, axis=1, kind="stable")[:, :MOST]
        top = np.take_along_axis(prob, order, axis=1)
        low, high = interval(top, n[block][:, None])
        rows = np.stack([top, low, high], axis=2).round(5).tolist()
        for at, task in enumerate(block.tolist()):
            soft = [[labels[k], *three] for k, three in zip(order[at].tolist(), rows[at], strict=True)]
            yield {"task_id": int(ids[task]), "n": int(n[task]), "sure": float(sure[at]), "soft": json.dumps(soft)}


def interval(prob: Floats, n: Any) -> tuple[Floats, Floats]:
    """A 95% interval of a mean of n soft answers, as if each were a vote: Beta(n p + 1/2, n (1 - p) + 1/2)."""
    both, again = np.unique((prob + 1j * n).ravel(), return_inverse=True)  # many tasks share theirs: quantiles are slow
    a, b = both.imag * both.real + 0.5, both.imag * (1 - both.real) + 0.5
    low, high = (beta.ppf(q, a, b)[again].reshape(prob.shape) for q in (0.025, 0.975))
    return np.minimum(low, prob), np.maximum(high, prob)
