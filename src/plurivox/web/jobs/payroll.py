"""Pay per worker, kept up to date, and the pay sheet as a file."""

import csv
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine

from plurivox.core.atomic_write import whole_file
from plurivox.core.errors import InputError
from plurivox.core.types import Bools, Ints
from plurivox.web.store.database import WRITES
from plurivox.web.store.report import pay_sheet
from plurivox.web.store.report.answer_log import AnswerLog
from plurivox.web.store.report.pay_sheet import PayLine, Person, PlatformId
from plurivox.web.store.report.row_log import Columns, RowLog
from plurivox.web.store.report.snapshot_writer import erased_by_now
from plurivox.web.study.config import Study
from plurivox.web.study.export import inert
from plurivox.web.study.terms import Pay

CENT = Decimal("0.01")
HOUR = Decimal(3_600_000)  # milliseconds


@dataclass(frozen=True)
class Work:
    """What one person did."""

    pseudonym: str
    born: float
    excluded: str = ""  # why
    n_answers: int = 0  # repeats too
    active_ms: float = 0.0
    last: float = 0.0
    matched: int = 0  # answers that match others
    compared: int = 0  # answers to tasks that others have answered

    @property
    def total_ms(self) -> float:
        """From the first page to the last, pauses too."""
        return max(0.0, self.last - self.born) * 1000


@dataclass
class WorkLog:
    """What pay is computed from: all answers and visits to pages, and who gave them. `answers` may be shared."""

    answers: AnswerLog = field(default_factory=AnswerLog)
    visits: RowLog = field(default_factory=pay_sheet.visit_log)
    people: dict[int, Person] = field(default_factory=dict)

    def read_new(self, connection: Connection) -> None:
        """Append what is not here yet, in place."""
        self.answers.read_new(connection)
        self.visits.read_new(connection)
        new = {*np.unique(self.answers.columns["worker"]).tolist()} - self.people.keys()
        self.people |= pay_sheet.people(connection, new)


def sheet(connection: Connection, study: Study) -> dict[int, PayLine]:
    """worker -> line, for everybody who has answered something."""
    log = WorkLog()
    log.read_new(connection)
    return {worker: pay_line(study.pay, one) for worker, one in work_of(log).items()}


def work_of(log: WorkLog) -> dict[int, Work]:
    """worker -> what they did, of everybody who has answered something but practice."""
    given, visited, excluded = log.answers.columns, log.visits.columns, log.answers.excluded
    counts = given["is_latest"] & ~given["is_practice"]
    ids, who = np.unique(given["worker"], return_inverse=True)
    n = len(ids)
    came = np.isin(visited["worker"], ids)
    guest = np.searchsorted(ids, visited["worker"][came])
    spent = np.maximum(0.0, np.nan_to_num(given["submitted"] - given["hidden"]))  # milliseconds; 0 where unknown
    active = np.bincount(who, spent, n) + np.bincount(guest, np.nan_to_num(visited["ms"][came]), n)
    last = np.zeros(n)
    np.maximum.at(last, who, given["at"])
    np.maximum.at(last, guest, visited["at"][came])
    said = _last_words(who, given, counts & given["is_task"])
    aside = np.isin(ids, np.fromiter(excluded, np.int64, len(excluded)))
    matched, compared = matches(given["task"][said], given["top"][said], aside[who[said]])
    same, others = (np.bincount(who[said], one, n) for one in (matched, compared))
    sums = (np.bincount(who, counts, n), last, active, same, others)  # (n_workers,) each
    found = {}
    for worker, answers, at, ms, equal, held in zip(ids.tolist(), *(one.tolist() for one in sums), strict=True):
        if answers and worker in log.people:
            one, why = log.people[worker], excluded.get(worker, "")
            found[worker] = Work(one.pseudonym, one.born, why, int(answers), ms, at, int(equal), int(held))
    return found


def _last_words(who: Ints, given: Columns, counts: Bools) -> Ints:
    """The places of what each person last said of each task, among the answers that count."""
    first = np.flatnonzero(counts)
    order = first[np.lexsort((given["id"][first], given["task"][first], who[first]))]
    task, person = given["task"][order], who[order]
    is_last = np.ones(len(order), bool)
    is_last[:-1] = (task[1:] != task[:-1]) | (person[1:] != person[:-1])
    return np.asarray(order[is_last])


def matches(task: Ints, label: Ints, aside: Bools) -> tuple[Bools, Bools]:
    """(n,) which answers match others, and (n,) which are to tasks that others have answered.

    A row is what one person says of one task: the label named first, -1 where none was. An answer matches if no label was
    named first by more of the others; those `aside` are nobody's others.

    >>> task, label = np.array([7, 7, 7, 8, 8]), np.array([0, 0, 1, 0, 1])
    >>> matches(task, label, np.zeros(5, bool))[0].tolist()  # without me, one of the first two and the third tie
    [True, True, False, False, False]
    """
    n_labels = int(label.max(initial=0)) + 1
    _, place = np.unique(task, return_inverse=True)
    counted = ~aside & (label >= 0)
    n_tasks = int(place.max(initial=-1)) + 1
    pair = place * n_labels + np.maximum(label, 0)
    there, times = np.unique(pair[counted], return_counts=True)
    order = np.lexsort((times, there // n_labels))  # by task, the most frequent label last
    held, often = there[order], times[order]
    of = held // n_labels
    first, second, best = (np.zeros(n_tasks, np.int64) for _ in range(3))
    last = np.append(of[1:] != of[:-1], True) if len(of) else np.zeros(0, bool)
    first[of[last]], best[of[last]] = often[last], held[last] % n_labels
    before = np.flatnonzero(~last & np.append(last[1:], False))  # the second most frequent
    second[of[before]] = often[before]
    at = np.minimum(np.searchsorted(there, pair), max(len(there) - 1, 0))
    own = np.where(there[at] == pair, times[at], 0) if len(there) else np.zeros(len(pair), np.int64)
    mine = np.where(label >= 0, own - counted, 0)  # how many others said the same
    rest = np.where((label == best[place]) & (label >= 0), second[place], first[place])
    most = np.maximum(rest, mine)
    return (label >= 0) & (most > 0) & (mine == most), most > 0


def pay_line(rules: Pay, one: Work) -> PayLine:
    """What a person is paid, and why.

    >>> rules = Pay(base="0.50", per_hour="8", bonus_per_hour="1", currency="USD")
    >>> line = pay_line(rules, Work("w1", born=0, n_answers=27, active_ms=864_000, matched=20, compared=25))
    >>> line.base, line.bonus, line.total
    ('2.42', '0.19', '2.61')
    """
    matched, compared = one.matched, one.compared
    spent = Decimal(round(one.active_ms if rules.time == "active" else one.total_ms))
    cap = Decimal(str(rules.most_minutes)) * 60_000
    hours = (min(spent, cap) if cap else spent) / HOUR
    base = rules.base + rules.per_hour * hours
    share = Decimal(matched) / compared if compared else Decimal(0)
    bonus = rules.bonus_per_match * matched + rules.bonus_per_hour * hours * share
    reasons = [f"{one.n_answers} answers", f"{matched} of {compared} as most others"]
    if cap and spent > cap:
        reasons.append(f"{rules.most_minutes:g} minutes are paid at most")
    if one.excluded:
        reasons.append(f"excluded by {one.excluded}: {'no bonus' if rules.excluded == 'without-bonus' else 'no pay'}")
        base, bonus = (base if rules.excluded == "without-bonus" else Decimal(0)), Decimal(0)
    if one.n_answers < rules.least_answers:
        reasons.append(f"fewer than {rules.least_answers} answers: no pay")
        base = bonus = Decimal(0)
    base, bonus = _money(base), _money(bonus)
    return PayLine(
        worker=one.pseudonym,
        answers=one.n_answers,
        active_minutes=str(_money(Decimal(round(one.active_ms)) / 60_000)),
        total_minutes=str(_money(Decimal(round(one.total_ms)) / 60_000)),
        matched=matched,
        compared=compared,
        base=str(base),
        bonus=str(bonus),
        total=str(base + bonus),
        reasons=reasons,
    )


def _money(value: Decimal) -> Decimal:
    return value.quantize(CENT, ROUND_HALF_UP)


def compute_pay(engine: Engine, study: Study) -> None:
    """For the owner's page: compute the sheet and keep it; nothing where the study pays nothing."""
    Payroll(engine).keep(study)


class Payroll:
    """The sheet of the owner's page, kept up to date: only lines of people whose work has changed are made anew.

    `answers` may be shared with other jobs; each answer is read once.
    """

    def __init__(self, engine: Engine, answers: AnswerLog | None = None) -> None:
        self.engine, self._name = engine, secrets.token_hex(8)
        self._answers = AnswerLog() if answers is None else answers
        self._begin((0, ""))

    def _begin(self, basis: tuple[int, str]) -> None:
        self._basis, self._log = basis, WorkLog(self._answers)
        self._known: dict[int, tuple[Work, Decimal]] = {}  # worker: of what the line in the store is made, its total
        self._paid: object = None  # how far the logs were read for the sheet in the store; None before the first

    def keep(self, study: Study) -> int:
        """Bring the sheet up to date; how many lines were made anew."""
        if not study.pay.says_something:
            return 0
        read = self._read(study)
        if read == self._paid:
            return 0
        found = work_of(self._log)
        lines = {
            worker: pay_line(study.pay, one)
            for worker, one in found.items()
            if worker not in self._known or self._known[worker][0] != one
        }
        known = {worker: kept for worker, kept in self._known.items() if worker in found}
        known |= {worker: (found[worker], Decimal(line.total)) for worker, line in lines.items()}
        total = sum((paid for _, paid in known.values()), Decimal(0))
        if lines or self._paid is None:
            with self.engine.connect().execution_options(**WRITES) as connection, connection.begin():
                if erased_by_now(connection) != self._basis[0]:
                    return 0  # somebody was erased meanwhile: the next round begins anew
                if self._paid is None:
                    pay_sheet.drop_others(connection, known)
                pay_sheet.keep(connection, lines, str(total), by=self._name)
        self._known, self._paid = known, read
        return len(lines)

    def _read(self, study: Study) -> object:
        """Read what is new; how far. The sheet is begun anew where the one in the store is not as we left it."""
        with self.engine.connect() as connection:
            self._log.read_new(connection)
            basis = self._answers.erased, study.pay.model_dump_json()
            if basis != self._basis or (self._paid is not None and pay_sheet.kept_by(connection) != self._name):
                self._begin(basis)
                self._log.read_new(connection)
        return len(self._answers), len(self._log.visits), self._answers.excluded


COLUMNS = ("worker", "answers", "active_minutes", "total_minutes", "matched", "compared", "base", "bonus", "total")


def write_pay(engine: Engine, study: Study, out: Path, with_ids: bool = False) -> dict[str, Any]:
    """Write the sheet; how many people and how much. With ids it is `id,amount` a line, of bonuses above zero: what
    Prolific's bulk bonus takes; what is paid for taking part is paid there by approving."""
    if not study.pay.says_something:
        raise InputError("the study pays nothing; say what in [pay] of its study.toml, such as per_hour = 8")
    with engine.connect() as connection:
        lines = sheet(connection, study)
        ids = pay_sheet.platform_ids(connection) if with_ids else {}
    total = sum((Decimal(line.total) for line in lines.values()), Decimal(0))
    told = {"people": len(lines), "total": str(total), "currency": study.pay.currency}
    rows = _bonuses(lines, ids, told) if with_ids else _lines(lines, study.pay.currency)
    with whole_file(out) as part:
        if with_ids:
            part.chmod(0o600)
        with part.open("w", encoding="utf-8", newline="") as handle:
            csv.writer(handle, lineterminator="\n").writerows(rows)
    if with_ids and out.is_file():
        out.chmod(0o600)  # it leads back to people
    return told


def _lines(lines: dict[int, PayLine], currency: str) -> list[Sequence[Any]]:
    head = (*COLUMNS, "currency", "reasons")
    rows = sorted(lines.values(), key=lambda line: line.worker)
    return [
        head,
        *(
            (*(getattr(line, name) for name in COLUMNS), inert(currency), inert("; ".join(line.reasons)))
            for line in rows
        ),
    ]


def _bonuses(lines: dict[int, PayLine], ids: dict[int, PlatformId], told: dict[str, Any]) -> list[Sequence[Any]]:
    """(id, bonus) of those above zero; `told` gets the number of people without an id."""
    platforms = {known.platform for worker, known in ids.items() if worker in lines}
    if len(platforms) > 1:
        raise InputError(f"people came from {' and '.join(sorted(platforms))}; one file cannot go to both")
    told["without_id"] = sum(worker not in ids for worker in lines)
    paid = [(inert(ids[worker].raw), line.bonus) for worker, line in lines.items() if worker in ids]
    return [*sorted(pair for pair in paid if float(pair[1]) > 0)]
