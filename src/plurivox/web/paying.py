"""The pay sheet: what every person is paid by the rules of the study, in exact decimals, and why.

An answer matches others if its top label is the one that most of the others who answered the same task have named first;
of labels that are equally frequent, any. Collins et al. (2022), section 4, paid 8 an hour and a bonus up to 9 an hour:
`per_hour = 8` and `bonus_per_hour = 1`. https://doi.org/10.1609/hcomp.v10i1.21986
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from sqlalchemy import Connection, Engine, select

from plurivox.web.store import paying as store
from plurivox.web.store.database import WRITES
from plurivox.web.store.tables import answers, exclusions, slots, visits, workers
from plurivox.web.study import Study
from plurivox.web.terms import Pay

CENT = Decimal("0.01")
HOUR = Decimal(3_600_000)  # milliseconds
AT_ONCE = 5_000
Said = dict[int, str]  # task: the label named first; "" where none was


@dataclass
class Work:
    """What one person did."""

    pseudonym: str
    born: float
    excluded: str = ""  # why
    said: Said = field(default_factory=dict)
    n_answers: int = 0  # repeats too
    active_ms: float = 0.0
    last: float = 0.0

    @property
    def total_ms(self) -> float:
        """From the first page to the last, pauses too."""
        return max(0.0, self.last - self.born) * 1000


def sheet(connection: Connection, study: Study) -> dict[int, dict[str, Any]]:
    """worker -> line, for everybody who has answered something."""
    people = work_of(connection)
    crowd: dict[int, Counter[str]] = {}
    for one in people.values():
        for task, label in one.said.items():
            if not one.excluded and label:
                crowd.setdefault(task, Counter())[label] += 1
    return {worker: pay_line(study.pay, one, *matches(one, crowd)) for worker, one in people.items() if one.n_answers}


def work_of(connection: Connection) -> dict[int, Work]:
    """worker -> what they did; those who withdrew are not there."""
    found = {
        row.id: Work(row.pseudonym, row.born)
        for row in connection.execute(select(workers).where(workers.c.status != "erased"))
    }
    why = select(exclusions.c.worker_id, exclusions.c.rule).where(exclusions.c.lifted.is_(None))
    for row in connection.execute(why):
        if row.worker_id in found:
            found[row.worker_id].excluded = row.rule
    given = (
        select(answers.c.id, answers.c.worker_id, answers.c.task_id, answers.c.marks, answers.c.received)
        .add_columns(answers.c.submitted_ms, answers.c.hidden_ms, slots.c.kind, slots.c.answer_id)
        .join(slots, slots.c.id == answers.c.slot_id)
    )
    for row in connection.execution_options(yield_per=AT_ONCE).execute(given):
        if (one := found.get(row.worker_id)) is None:
            continue  # came after we looked
        one.active_ms += max(0.0, (row.submitted_ms or 0.0) - row.hidden_ms)
        one.last = max(one.last, row.received)
        if row.answer_id == row.id and row.kind != "practice":
            one.n_answers += 1
            if row.kind == "task":
                one.said[row.task_id] = _top(row.marks)
    for visit in connection.execute(select(visits.c.worker_id, visits.c.at, visits.c.ms)):
        if (one := found.get(visit.worker_id)) is not None:
            one.active_ms += visit.ms or 0.0
            one.last = max(one.last, visit.at)
    return found


def _top(marks: str) -> str:
    return next((label for kind, label, _ in json.loads(marks) if kind == "named"), "")


def matches(one: Work, crowd: Mapping[int, Counter[str]]) -> tuple[int, int]:
    """(answers that match others, answers to tasks that others have answered)."""
    matched = compared = 0
    for task, label in one.said.items():
        others = Counter(crowd.get(task, {}))
        if label and not one.excluded:
            others[label] -= 1  # without this person
        most = max(others.values(), default=0)
        compared += most > 0
        matched += bool(label) and most > 0 and others[label] == most
    return matched, compared


def pay_line(rules: Pay, one: Work, matched: int, compared: int) -> dict[str, Any]:
    """What a person is paid, and why.

    >>> rules = Pay(base="0.50", per_hour="8", bonus_per_hour="1", currency="USD")
    >>> line = pay_line(rules, Work("w1", born=0, n_answers=27, active_ms=864_000), matched=20, compared=25)
    >>> line["base"], line["bonus"], line["total"]
    ('2.42', '0.19', '2.61')
    """
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
    if not study.pay.says_something:
        return
    with engine.connect() as connection:
        lines = sheet(connection, study)
    with engine.connect().execution_options(**WRITES) as connection, connection.begin():
        store.keep(connection, lines, str(total_of(lines.values())))
