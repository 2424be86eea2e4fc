"""Pay per worker, kept up to date, and the pay sheet as a file."""

import csv
import secrets
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine

from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError
from plurivox.web.jobs.paid_work import Work, WorkLog, work_of
from plurivox.web.store.database import WRITES
from plurivox.web.store.report import pay_sheet
from plurivox.web.store.report.answer_log import AnswerLog
from plurivox.web.store.report.pay_sheet import PayLine, PlatformId
from plurivox.web.store.report.snapshots import lock_erasures
from plurivox.web.study.config import Study
from plurivox.web.study.config_sections import Pay
from plurivox.web.study.export import escape_formula

CENT = Decimal("0.01")
HOUR = Decimal(3_600_000)  # milliseconds


def sheet(connection: Connection, study: Study) -> dict[int, PayLine]:
    """worker -> line, for everybody who has answered something."""
    log = WorkLog()
    log.read_new(connection)
    return {worker: pay_line(study.pay, one) for worker, one in work_of(log).items()}


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
        if not study.pay.pays_anything:
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
                if lock_erasures(connection) != self._basis[0]:
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
    if not study.pay.pays_anything:
        raise InputError("the study pays nothing; say what in [pay] of its study.toml, such as per_hour = 8")
    with engine.connect() as connection:
        lines = sheet(connection, study)
        ids = pay_sheet.platform_ids(connection) if with_ids else {}
    total = sum((Decimal(line.total) for line in lines.values()), Decimal(0))
    told = {"people": len(lines), "total": str(total), "currency": study.pay.currency}
    rows = _bonuses(lines, ids, told) if with_ids else _lines(lines, study.pay.currency)
    with atomic_file(out) as part:
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
            (
                *(getattr(line, name) for name in COLUMNS),
                escape_formula(currency),
                escape_formula("; ".join(line.reasons)),
            )
            for line in rows
        ),
    ]


def _bonuses(lines: dict[int, PayLine], ids: dict[int, PlatformId], told: dict[str, Any]) -> list[Sequence[Any]]:
    """(id, bonus) of those above zero; `told` gets the number of people without an id."""
    platforms = {known.platform for worker, known in ids.items() if worker in lines}
    if len(platforms) > 1:
        raise InputError(f"people came from {' and '.join(sorted(platforms))}; one file cannot go to both")
    told["without_id"] = sum(worker not in ids for worker in lines)
    paid = [(escape_formula(ids[worker].raw), line.bonus) for worker, line in lines.items() if worker in ids]
    return [*sorted(pair for pair in paid if float(pair[1]) > 0)]
