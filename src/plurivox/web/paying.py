"""The pay sheet: what every person is paid by the rules of the study, in exact decimals, and why.

An answer matches others if its top label is the one that most of the others who answered the same task have named first;
of labels that are equally frequent, any. Collins et al. (2022), section 4, paid 8 an hour and a bonus up to 9 an hour:
`per_hour = 8` and `bonus_per_hour = 1`. https://doi.org/10.1609/hcomp.v10i1.21986
"""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine

from plurivox.core.names import Bools, Ints
from plurivox.web.store import paying as store
from plurivox.web.store import publishing
from plurivox.web.store.database import WRITES
from plurivox.web.store.worked import Columns, Worked
from plurivox.web.study import Study
from plurivox.web.terms import Pay

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


def sheet(connection: Connection, study: Study) -> dict[int, dict[str, Any]]:
    """worker -> line, for everybody who has answered something."""
    worked = Worked()
    worked.read_on(connection)
    return {worker: pay_line(study.pay, one) for worker, one in work_of(worked).items()}


def work_of(worked: Worked) -> dict[int, Work]:
    """worker -> what they did, of everybody who has answered something but practice."""
    given, visited = worked.given, worked.visited
    ids, who = np.unique(given["worker"], return_inverse=True)
    n = len(ids)
    came = np.isin(visited["worker"], ids)
    guest = np.searchsorted(ids, visited["worker"][came])
    active = np.bincount(who, given["ms"], n) + np.bincount(guest, visited["ms"][came], n)
    last = np.zeros(n)
    np.maximum.at(last, who, given["at"])
    np.maximum.at(last, guest, visited["at"][came])
    said = _last_words(who, given)
    aside = np.isin(ids, np.fromiter(worked.excluded, np.int64, len(worked.excluded)))
    matched, compared = matches(given["task"][said], given["label"][said], aside[who[said]])
    same, others = (np.bincount(who[said], one, n) for one in (matched, compared))
    sums = (np.bincount(who, given["counts"], n), last, active, same, others)  # (n_workers,) each
    found = {}
    for worker, answers, at, ms, equal, held in zip(ids.tolist(), *(one.tolist() for one in sums), strict=True):
        if answers and worker in worked.people:
            pseudonym, born = worked.people[worker]
            why = worked.excluded.get(worker, "")
            found[worker] = Work(pseudonym, born, why, int(answers), ms, at, int(equal), int(held))
    return found


def _last_words(who: Ints, given: Columns) -> Ints:
    """The places of what each person last said of each task, repeats left out."""
    first = np.flatnonzero(given["counts"] & given["is_task"])
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


def pay_line(rules: Pay, one: Work) -> dict[str, Any]:
    """What a person is paid, and why.

    >>> rules = Pay(base="0.50", per_hour="8", bonus_per_hour="1", currency="USD")
    >>> line = pay_line(rules, Work("w1", born=0, n_answers=27, active_ms=864_000, matched=20, compared=25))
    >>> line["base"], line["bonus"], line["total"]
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
    return {
        "worker": one.pseudonym,
        "answers": one.n_answers,
        "active_minutes": str(_money(Decimal(round(one.active_ms)) / 60_000)),
        "total_minutes": str(_money(Decimal(round(one.total_ms)) / 60_000)),
        "matched": matched,
        "compared": compared,
        "base": str(base),
        "bonus": str(bonus),
        "total": str(base + bonus),
        "reasons": reasons,
    }


def _money(value: Decimal) -> Decimal:
    return value.quantize(CENT, ROUND_HALF_UP)


def total_of(lines: Iterable[Mapping[str, Any]]) -> Decimal:
    """All of it."""
    return sum((Decimal(line["total"]) for line in lines), Decimal(0))


def compute_pay(engine: Engine, study: Study) -> None:
    """For the owner's page: compute the sheet and keep it; nothing where the study pays nothing."""
    Payroll(engine).keep(study)


class Payroll:
    """The sheet of the owner's page, kept up to date: only lines of people whose work has changed are made anew."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self._name = engine, secrets.token_hex(8)
        self._begin((0, ""))

    def _begin(self, basis: tuple[int, str]) -> None:
        self._basis, self._worked = basis, Worked()
        self._known: dict[int, tuple[Work, Decimal]] = {}  # worker: of what the line in the store is made, its total
        self._is_first = self._is_behind = True  # behind: something was read that is not in the store yet

    def keep(self, study: Study) -> int:
        """Bring the sheet up to date; how many lines were made anew."""
        if not study.pay.says_something or not self._read_on(study):
            return 0
        found = work_of(self._worked)
        lines = {
            worker: pay_line(study.pay, one)
            for worker, one in found.items()
            if worker not in self._known or self._known[worker][0] != one
        }
        if not lines and not self._is_first:
            self._is_behind = False
            return 0
        known = {worker: kept for worker, kept in self._known.items() if worker in found}
        known |= {worker: (found[worker], Decimal(line["total"])) for worker, line in lines.items()}
        total = sum((paid for _, paid in known.values()), Decimal(0))
        with self.engine.connect().execution_options(**WRITES) as connection, connection.begin():
            if publishing.erased_by_now(connection) != self._basis[0]:
                return 0  # somebody was erased meanwhile: the next round begins anew
            if self._is_first:
                store.drop_others(connection, known)
            store.keep(connection, lines, str(total), by=self._name)
        self._known, self._is_first, self._is_behind = known, False, False
        return len(lines)

    def _read_on(self, study: Study) -> bool:
        """Whether there is something that the store does not hold; all is read anew where it is not as we left it."""
        with self.engine.connect() as connection:
            basis = publishing.erased(connection), study.pay.model_dump_json()
            if basis != self._basis or (not self._is_first and store.kept_by(connection) != self._name):
                self._begin(basis)
            was_behind, self._is_behind = self._is_behind, True  # until it is written, whatever goes wrong
            self._is_behind = self._worked.read_on(connection) or was_behind
        return self._is_behind
