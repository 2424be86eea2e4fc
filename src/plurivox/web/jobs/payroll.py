"""Compute the pay of each worker, keep the pay sheet in the database up to date, and write it as a file."""

import csv
import secrets
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine

from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError
from plurivox.web.jobs.pay_explanation import (
    HOUR_MS,
    NOTHING,
    amount_with_parts,
    explain_pay,
    is_time_paid,
    longest_page_ms,
    minutes_with_two_decimals,
    time_spent_and_paid,
)
from plurivox.web.jobs.worker_effort_for_pay import WorkCache, WorkSummary, sum_answers_time_and_matches_by_worker
from plurivox.web.store.database import WRITE_OPTIONS
from plurivox.web.store.report import stored_pay_sheet
from plurivox.web.store.report.answer_cache import AnswerCache
from plurivox.web.store.report.result_snapshots import block_and_count_erasures_plus_imports
from plurivox.web.store.report.stored_pay_sheet import PayLine, PlatformId
from plurivox.web.study.completion_pay_exclusion_config import Pay
from plurivox.web.study.config import Study
from plurivox.web.study.export import escape_spreadsheet_formula


def compute_pay_line_by_worker(connection: Connection, study: Study) -> dict[int, PayLine]:
    """Return the whole pay sheet, computed from the database: worker id -> pay line, for every worker with answers."""
    cache = WorkCache()
    cache.append_new_work_from_database(connection)
    return {
        worker: compute_pay_line(study.pay, work)
        for worker, work in sum_answers_time_and_matches_by_worker(cache, longest_page_ms(study.pay)).items()
    }


def compute_pay_line(pay_rules: Pay, work: WorkSummary) -> PayLine:
    """Return the base pay, bonus and total of one worker under the pay rules, with their parts, the reasons and an explanation.

    >>> rules = Pay(base="0.50", per_hour="8", bonus_per_hour="1", currency="USD")
    >>> line = compute_pay_line(rules, WorkSummary("w1", born=0, n_answers=27, active_ms=864_000, matched=20, compared=25))
    >>> line.base, line.bonus, line.total
    ('2.42', '0.19', '2.61')
    >>> print(*line.explanation, sep="\\n")
    base 2.42 = 0.50 for taking part + 1.92 for 14.40 active minutes at 8.00 per hour
    bonus 0.19 for 20 of 25 answers as most others: 14.40 active minutes at 1.00 per hour x 20/25
    """
    matched, compared = work.matched, work.compared
    spent, paid = time_spent_and_paid(pay_rules, work)  # milliseconds
    base = amount_with_parts(pay_rules.base, pay_rules.per_hour * paid / HOUR_MS)
    bonus = amount_with_parts(
        pay_rules.bonus_per_match * matched,
        pay_rules.bonus_per_hour * paid * matched / (HOUR_MS * max(compared, 1)),
    )
    reasons = [f"{work.n_answers} answer{'s' * (work.n_answers != 1)}", f"{matched} of {compared} as most others"]
    withheld = []
    if work.excluded:
        without_bonus = pay_rules.excluded == "without-bonus"
        withheld.append(f"excluded by {work.excluded}: {'no bonus' if without_bonus else 'no pay'}")
        base, bonus = (base if without_bonus else NOTHING), NOTHING
    if work.n_answers < pay_rules.least_answers:
        withheld.append(f"fewer than {pay_rules.least_answers} answers: no pay")
        base = bonus = NOTHING
    if not is_time_paid(pay_rules, base, bonus):
        paid = Decimal(0)
    elif paid < spent:
        reasons.append(f"at most {pay_rules.most_minutes:g} minutes are paid")
    return PayLine(
        worker=work.pseudonym,
        answers=work.n_answers,
        active_minutes=minutes_with_two_decimals(work.active_ms),
        total_minutes=minutes_with_two_decimals(work.ms_from_entry_to_last_activity),
        matched=matched,
        compared=compared,
        base=str(base.total),
        bonus=str(bonus.total),
        total=str(base.total + bonus.total),
        reasons=reasons + withheld,
        base_fixed=str(base.fixed),
        base_time=str(base.time),
        bonus_matches=str(bonus.fixed),
        bonus_time=str(bonus.time),
        paid_minutes=minutes_with_two_decimals(paid),
        claimed_minutes=minutes_with_two_decimals(work.claimed_ms),
        impossible_answers=work.impossible,
        impossible_pages=work.impossible_pages,
        explanation=explain_pay(pay_rules, work, base, bonus, withheld),
    )


class Payroll:
    """Updates the pay sheet in the database incrementally: only lines of workers whose work has changed are computed.

    `answers` may be a cache shared with other jobs; each answer is read once.
    """

    def __init__(self, engine: Engine, answers: AnswerCache | None = None) -> None:
        self.engine, self._name = engine, secrets.token_hex(8)
        self._answers = AnswerCache() if answers is None else answers
        self._forget_written_pay_lines((0, ""))

    def _forget_written_pay_lines(self, new_erasure_count_and_pay_rules: tuple[int, str]) -> None:
        """Forget which pay lines were written, so that all are computed again, and save the erasure count and pay rules."""
        self._basis, self._cache = new_erasure_count_and_pay_rules, WorkCache(self._answers)
        self._known: dict[int, tuple[WorkSummary, Decimal]] = {}  # worker id -> work and total of the written line
        self._paid: object = None  # state of the caches when the sheet was last written; None before the first time

    def update_pay_lines_of_changed_workers(self, study: Study) -> int:
        """Update the pay lines in the database of workers whose work has changed; return how many lines were computed."""
        if not study.pay.pays_anything:
            return 0
        read = self._read_new_work_and_return_counts_and_excluded_workers(study)
        if read == self._paid:
            return 0
        found = sum_answers_time_and_matches_by_worker(self._cache, longest_page_ms(study.pay))
        lines = {
            worker: compute_pay_line(study.pay, work)
            for worker, work in found.items()
            if worker not in self._known or self._known[worker][0] != work
        }
        known = {worker: line for worker, line in self._known.items() if worker in found}
        known |= {worker: (found[worker], Decimal(line.total)) for worker, line in lines.items()}
        total = sum((paid for _, paid in known.values()), Decimal(0))
        if lines or self._paid is None:
            with self.engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
                if block_and_count_erasures_plus_imports(connection) != self._basis[0]:
                    return 0  # a worker was erased in the meantime: the next round computes all lines
                if self._paid is None:
                    stored_pay_sheet.delete_pay_lines_except(connection, known)
                stored_pay_sheet.upsert_pay_lines_and_save_total_and_writer(
                    connection, lines, str(total), writer_job_id=self._name
                )
        self._known, self._paid = known, read
        return len(lines)

    def _read_new_work_and_return_counts_and_excluded_workers(self, study: Study) -> object:
        """Read new answers and visits from the database; return their numbers and the excluded workers.

        Forget the written lines if answers were erased, the pay rules have changed, or another server has written the sheet.
        """
        with self.engine.connect() as connection:
            self._cache.append_new_work_from_database(connection)
            basis = self._answers.erasures, study.pay.model_dump_json()
            if basis != self._basis or (
                self._paid is not None
                and stored_pay_sheet.id_of_last_job_that_wrote_pay_sheet(connection) != self._name
            ):
                self._forget_written_pay_lines(basis)
                self._cache.append_new_work_from_database(connection)
        return len(self._answers), len(self._cache.visits), self._answers.excluded


SHEET_COLUMNS = (
    "worker",
    "answers",
    "active_minutes",
    "total_minutes",
    "matched",
    "compared",
    "base",
    "bonus",
    "total",
)
PART_COLUMNS = (
    "base_fixed",
    "base_time",
    "bonus_matches",
    "bonus_time",
    "paid_minutes",
    "claimed_minutes",
    "impossible_answers",
    "impossible_pages",
)


def write_pay_sheet_and_return_summary(
    engine: Engine, study: Study, out: Path, only_platform_ids_and_bonuses: bool = False
) -> dict[str, Any]:
    """Write the pay of all workers to a CSV file; return the number of people, the total and the currency.

    With ids, each line is `id,amount` of a bonus above zero, for Prolific's bulk bonus payment; the base pay is paid there by
    approving the submission. Raise InputError if the study pays nothing.
    """
    if not study.pay.pays_anything:
        raise InputError("the study pays nothing; set the pay in [pay] of its study.toml, such as per_hour = 8")
    with engine.connect() as connection:
        lines = compute_pay_line_by_worker(connection, study)
        ids = stored_pay_sheet.platform_name_and_id_by_worker_id(connection) if only_platform_ids_and_bonuses else {}
    total = sum((Decimal(line.total) for line in lines.values()), Decimal(0))
    summary = {"people": len(lines), "total": str(total), "currency": study.pay.currency}
    rows = (
        _platform_id_and_bonus_rows(lines, ids, summary)
        if only_platform_ids_and_bonuses
        else _csv_rows_of_pay_sheet(lines, study.pay.currency)
    )
    with atomic_file(out) as part:
        if only_platform_ids_and_bonuses:
            part.chmod(0o600)
        with part.open("w", encoding="utf-8", newline="") as handle:
            csv.writer(handle, lineterminator="\n").writerows(rows)
    if only_platform_ids_and_bonuses and out.is_file():
        out.chmod(0o600)  # it identifies people
    return summary


def _csv_rows_of_pay_sheet(pay_line_by_worker: dict[int, PayLine], currency: str) -> list[Sequence[Any]]:
    """Return the CSV rows of the pay sheet, header first, sorted by pseudonym."""
    head = (*SHEET_COLUMNS, "currency", "reasons", *PART_COLUMNS, "explanation")
    rows = sorted(pay_line_by_worker.values(), key=lambda line: line.worker)
    return [
        head,
        *(
            (
                *(getattr(line, name) for name in SHEET_COLUMNS),
                escape_spreadsheet_formula(currency),
                escape_spreadsheet_formula("; ".join(line.reasons)),
                *(getattr(line, name) for name in PART_COLUMNS),
                escape_spreadsheet_formula("; ".join(line.explanation)),
            )
            for line in rows
        ),
    ]


def _platform_id_and_bonus_rows(
    pay_line_by_worker: dict[int, PayLine],
    platform_id_by_worker: dict[int, PlatformId],
    summary_to_update: dict[str, Any],
) -> list[Sequence[Any]]:
    """Return (platform id, bonus) rows of bonuses above zero; add the number of people without an id to `summary_to_update`.

    Raise InputError if people came from several platforms.
    """
    platforms = {known.platform for worker, known in platform_id_by_worker.items() if worker in pay_line_by_worker}
    if len(platforms) > 1:
        names = " and ".join(sorted(platforms))
        raise InputError(f"people came from {names}, but a bonus file is for one platform; write the sheet without ids")
    summary_to_update["without_id"] = sum(worker not in platform_id_by_worker for worker in pay_line_by_worker)
    paid = [
        (escape_spreadsheet_formula(platform_id_by_worker[worker].raw), line.bonus)
        for worker, line in pay_line_by_worker.items()
        if worker in platform_id_by_worker
    ]
    return [*sorted(pair for pair in paid if float(pair[1]) > 0)]
