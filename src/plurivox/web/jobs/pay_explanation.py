"""Explain how the pay of a worker came about: amounts in cents with parts that add up, and a sentence for each."""

import math
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from plurivox.web.jobs.worker_effort_for_pay import WorkSummary
from plurivox.web.study.completion_pay_exclusion_config import Pay

CENT = Decimal("0.01")
MINUTE_MS, HOUR_MS = 60_000, 3_600_000  # milliseconds


class Amount(NamedTuple):
    """An amount of money in cents, and the two parts that add up to it."""

    fixed: Decimal  # for taking part, or for matches
    time: Decimal  # per hour
    total: Decimal


class WorkTime(NamedTuple):
    """The time of a worker that the pay rules count (active or total) and the part of it that is paid, in milliseconds."""

    spent: Decimal
    paid: Decimal  # up to the limit


NOTHING = Amount(*[Decimal("0.00")] * 3)


def round_half_up_to_cents(value: Decimal) -> Decimal:
    """Return an amount rounded half up to two decimals."""
    return value.quantize(CENT, ROUND_HALF_UP)


def amount_with_parts(fixed: Decimal, time: Decimal) -> Amount:
    """Return the sum of two amounts rounded to cents once, and the two parts in cents, which add up to it.

    >>> amount_with_parts(Decimal("0.004"), Decimal("0.004"))
    Amount(fixed=Decimal('0.00'), time=Decimal('0.01'), total=Decimal('0.01'))
    """
    total = round_half_up_to_cents(fixed + time)
    part = min(round_half_up_to_cents(fixed), total)
    return Amount(part, total - part, total)


def minutes_with_two_decimals(milliseconds: Decimal | float) -> str:
    """Return milliseconds as minutes with two decimals."""
    return str(round_half_up_to_cents(Decimal(round(milliseconds)) / MINUTE_MS))


def longest_page_ms(rules: Pay) -> float:
    """Return how many milliseconds of each page besides the tasks the pay rules count at most; inf if there is no limit."""
    return rules.most_page_minutes * MINUTE_MS or math.inf


def time_spent_and_paid(rules: Pay, work: WorkSummary) -> WorkTime:
    """Return the time of a worker that the pay rules count, and the part of it that is paid."""
    spent = Decimal(round(work.active_ms if rules.time == "active" else work.ms_from_entry_to_last_activity))
    limit = Decimal(str(rules.most_minutes)) * MINUTE_MS
    return WorkTime(spent, min(spent, limit) if limit else spent)


def is_time_paid(rules: Pay, base: Amount, bonus: Amount) -> bool:
    """Return whether time has a part in base pay or bonus under the pay rules: neither is withheld (NOTHING)."""
    return bool((rules.per_hour and base is not NOTHING) or (rules.bonus_per_hour and bonus is not NOTHING))


def explain_pay(rules: Pay, work: WorkSummary, base: Amount, bonus: Amount, why_nothing: list[str]) -> list[str]:
    """Return sentences that say how base pay and bonus came about, and which time was not counted."""
    lines = [*_base_sentences(rules, work, base), *_bonus_sentences(rules, work, bonus), *why_nothing]
    spent, paid = time_spent_and_paid(rules, work)
    if paid < spent and is_time_paid(rules, base, bonus):
        minutes = minutes_with_two_decimals(spent)
        lines.append(f"at most {rules.most_minutes:g} minutes are paid, of {minutes} {rules.time} minutes")
    if rules.time == "active":
        return lines + _active_time_sentences(rules, work)
    if (left_out := minutes_with_two_decimals(work.after_tasks_ms)) != "0.00":
        lines.append(f"at most {rules.most_page_minutes:g} minutes after the tasks count: {left_out} minutes left out")
    return lines


def _active_time_sentences(rules: Pay, work: WorkSummary) -> list[str]:
    """Return sentences that say which part of the active time is not from tasks, and what was left out and why."""
    lines = []
    if (pages := minutes_with_two_decimals(work.page_ms)) != "0.00":
        lines.append(f"{pages} of the active minutes are from pages besides the tasks, such as the instructions")
    if (left_out := minutes_with_two_decimals(work.page_excess_ms)) != "0.00":
        lines.append(f"at most {rules.most_page_minutes:g} minutes of each page count: {left_out} minutes left out")
    counts = ((work.impossible, "answer"), (work.impossible_pages, "page"))
    if claimants := [f"{n:,} {what}{'s' * (n != 1)}" for n, what in counts if n]:
        counted, claimed = map(minutes_with_two_decimals, (work.impossible_counted_ms, work.impossible_claimed_ms))
        lines.append(
            f"{' and '.join(claimants)} claimed more time than the server saw, or times that contradict each other: "
            f"{counted} minutes counted of {claimed}"
        )
    if (late := minutes_with_two_decimals(work.late_ms)) != "0.00":
        lines.append(f"time until an answer was changed after the tasks does not count: {late} minutes left out")
    if (overlap := minutes_with_two_decimals(work.overlap_ms)) != "0.00":
        lines.append(f"time claimed for several tasks at once counts once: {overlap} minutes left out")
    return lines


def _base_sentences(rules: Pay, work: WorkSummary, base: Amount) -> Iterator[str]:
    """Yield the sentence about the base pay, if the study has one and it is not withheld."""
    if base is NOTHING:
        return
    timed = _paid_minutes_at_rate(rules, work, rules.per_hour)
    if rules.base and rules.per_hour:
        yield f"base {base.total} = {base.fixed} for taking part + {base.time} for {timed}"
    elif rules.base or rules.per_hour:
        yield f"base {base.total} for {'taking part' if rules.base else timed}"


def _bonus_sentences(rules: Pay, work: WorkSummary, bonus: Amount) -> Iterator[str]:
    """Yield the sentence about the bonus, if the study has one and it is not withheld."""
    if bonus is NOTHING:
        return
    matches = f"{work.matched} of {work.compared} answers as most others"
    each = f"at {_rate(rules.bonus_per_match)} each"
    timed = _paid_minutes_at_rate(rules, work, rules.bonus_per_hour)
    share = f"x {work.matched}/{work.compared}" if work.compared else "x 0"
    if rules.bonus_per_match and rules.bonus_per_hour:
        yield f"bonus {bonus.total} = {bonus.fixed} for {matches} {each} + {bonus.time} for {timed} {share}"
    elif rules.bonus_per_match:
        yield f"bonus {bonus.total} for {matches} {each}"
    elif rules.bonus_per_hour:
        yield f"bonus {bonus.total} for {matches}: {timed} {share}"


def _paid_minutes_at_rate(rules: Pay, work: WorkSummary, per_hour: Decimal) -> str:
    """Return the paid time of a worker with the rate of pay, such as "14.40 active minutes at 8.00 per hour"."""
    minutes = minutes_with_two_decimals(time_spent_and_paid(rules, work).paid)
    return f"{minutes} {rules.time} minutes at {_rate(per_hour)} per hour"


def _rate(value: Decimal) -> str:
    """Return a rate of pay with two decimals, or more if it has more."""
    cents = value.quantize(CENT)
    return str(cents if cents == value else value.normalize())
