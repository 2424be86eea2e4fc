"""Reports that owners ask for: a job per question, taken by one process under a lease, and the page that it stores.

A job waits until the leader takes it for a process (`take_waiting_report_job`). The process renews its lease while it works and
stores the page in place of the former one, or the failure. A job whose lease has ended is taken again, at most MAX_TRIES times.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

from sqlalchemy import Connection, Row, delete, insert, or_, select, update

from plurivox.web.store.admin.audit_log import append_to_audit_log
from plurivox.web.store.database import current_unix_time
from plurivox.web.store.errors import NotFound
from plurivox.web.store.report.result_snapshots import (
    NEWEST_ANSWER,
    Outdated,
    count_exclusions_plus_reinstatements,
)
from plurivox.web.store.schema import report_jobs, report_pages

ReportQuestion = Literal["truth", "people"]
REPORT_QUESTIONS: tuple[ReportQuestion, ...] = get_args(ReportQuestion)
REPORT_LEASE_SECONDS = 60.0  # longer than a process that computes may take to renew it
MAX_TRIES = 2  # by processes that ended without a page and without a failure
STOPPED_TWICE = (
    "The server stopped twice while the report was being made. If it had too little memory, make the report on another "
    "machine, by the commands below; else try again."
)
WAITS = report_jobs.c.failure == ""


@dataclass(frozen=True)
class ReportJob:
    """A report that waits, is being made, or failed; `failure` says why and what to do, and is empty unless it failed."""

    question: ReportQuestion
    asked_by: str
    asked: float
    begun: float | None  # when the process that makes it began; None while it waits for one
    step: int  # of `steps`, which is 0 until they are known
    steps: int
    failure: str


@dataclass(frozen=True)
class VotesRead:
    """What the votes of a report were made from, and when they were read."""

    read_at: float
    answers: int
    people: int
    excluded: int  # people whose answers are left out
    last_answer: int  # the highest id of an answer
    recounted: int  # see `count_exclusions_plus_reinstatements`


@dataclass(frozen=True)
class ReportPage:
    """A report that was made: the question, when, from which votes, and whether there are others now."""

    question: ReportQuestion
    made: float
    votes: VotesRead
    is_outdated: bool  # answers came, or people were excluded or reinstated, after the votes were read

    @classmethod
    def from_row(cls, row: Row[tuple[object, ...]], now: tuple[int, int]) -> Self:
        """Create a ReportPage from its database row; `now` is what `last_answer` and `recounted` are now."""
        names = VotesRead.__dataclass_fields__
        votes = VotesRead(**{name: getattr(row, name) for name in names})
        return cls(row.question, row.made, votes, now != (votes.last_answer, votes.recounted))


# ---- owners


def ask_for_report(connection: Connection, audit_actor: str, question: ReportQuestion) -> None:
    """Insert a job for the report on a question and log it in the audit log; do nothing if it waits or is being made."""
    this = report_jobs.c.question == question
    known = connection.execute(select(report_jobs.c.failure).where(this).with_for_update()).scalar()
    if known == "":
        return
    connection.execute(delete(report_jobs).where(this))
    row = {"question": question, "asked_by": audit_actor, "asked": current_unix_time()}
    connection.execute(insert(report_jobs).values(tries=0, step=0, steps=0, failure="", **row))
    append_to_audit_log(connection, audit_actor, "report", question=question)


def list_report_jobs(connection: Connection) -> list[ReportJob]:
    """Return the reports that wait, are being made or failed."""
    now, found = current_unix_time(), []
    for row in connection.execute(select(report_jobs)):
        is_running = row.until is not None and row.until > now
        begun, step, steps = (row.begun, row.step, row.steps) if is_running else (None, 0, 0)
        found.append(ReportJob(row.question, row.asked_by, row.asked, begun, step, steps, row.failure))
    return found


def list_report_pages(connection: Connection) -> list[ReportPage]:
    """Return the reports that were made, without their pages."""
    newest = connection.execute(NEWEST_ANSWER).first()
    now = newest.id if newest else 0, count_exclusions_plus_reinstatements(connection)
    columns = [column for column in report_pages.c if column.name != "page"]
    return [ReportPage.from_row(row, now) for row in connection.execute(select(*columns))]


def get_compressed_report_page(connection: Connection, question: ReportQuestion) -> bytes:
    """Return the page of a report as HTML compressed by gzip; raise NotFound if it was not made."""
    page = connection.execute(select(report_pages.c.page).where(report_pages.c.question == question)).scalar()
    if page is None:
        raise NotFound("report; make it on the page Report")
    return bytes(page)


# ---- the process that makes a report


def is_report_waiting(connection: Connection) -> bool:
    """Return whether a report waits for a process, or the lease of its process has ended."""
    return _first_waiting(connection.execute(select(report_jobs).where(WAITS)).all()) is not None


def take_waiting_report_job(connection: Connection, maker: str) -> ReportQuestion | None:
    """Take the report that has waited longest for the process `maker` and return its question.

    None if none waits, or a process of any server makes one. A report that was tried MAX_TRIES times fails instead.
    """
    jobs = connection.execute(select(report_jobs).where(WAITS).order_by(report_jobs.c.asked)).all()
    row, now = _first_waiting(jobs), current_unix_time()
    if row is None:
        return None
    ended = or_(report_jobs.c.until.is_(None), report_jobs.c.until <= now)  # if another server was not faster
    this = update(report_jobs).where(report_jobs.c.question == row.question, WAITS, ended)
    if row.tries >= MAX_TRIES:
        connection.execute(this.values(failure=STOPPED_TWICE, maker=None, until=None))
        return None
    lease = {"maker": maker, "until": now + REPORT_LEASE_SECONDS}
    taken = connection.execute(this.values(**lease, begun=now, tries=row.tries + 1, step=0, steps=0))
    return row.question if taken.rowcount else None


def _first_waiting(jobs: Sequence[Row[tuple[object, ...]]]) -> Row[tuple[object, ...]] | None:
    """Return the first of these jobs, or None if there is none or one of them is being made."""
    now = current_unix_time()
    is_running = any(row.until is not None and row.until > now for row in jobs)
    return None if is_running or not jobs else jobs[0]


def renew_report_job(connection: Connection, maker: str, step: int = 0, steps: int = 0) -> bool:
    """Renew the lease of the process that makes a report and save its progress; return False if it has lost the report."""
    values = {"until": current_unix_time() + REPORT_LEASE_SECONDS, "step": step, "steps": steps}
    return bool(connection.execute(update(report_jobs).where(report_jobs.c.maker == maker).values(values)).rowcount)


def release_report_job(connection: Connection, maker: str) -> None:
    """Let the report of a process wait again, since its server is being stopped; the try does not count."""
    values = {"maker": None, "until": None, "tries": report_jobs.c.tries - 1}
    connection.execute(update(report_jobs).where(report_jobs.c.maker == maker).values(values))


def fail_report_job(connection: Connection, maker: str, failure: str) -> None:
    """Save that a process could not make its report: what failed and what to do, in sentences."""
    values = {"maker": None, "until": None, "failure": failure}
    connection.execute(update(report_jobs).where(report_jobs.c.maker == maker).values(values))


def store_report_page_or_raise_outdated(
    connection: Connection, maker: str, question: ReportQuestion, votes: VotesRead, page: bytes
) -> None:
    """Store the page of a process in place of the former one and delete its job; raise Outdated if it has lost the report."""
    if not renew_report_job(connection, maker):  # which also blocks erasing a worker until the commit
        raise Outdated
    connection.execute(delete(report_pages).where(report_pages.c.question == question))
    row = {"question": question, "made": current_unix_time(), "page": page, **vars(votes)}
    connection.execute(insert(report_pages).values(row))
    connection.execute(delete(report_jobs).where(report_jobs.c.maker == maker))


# ---- erasing a worker


def delete_report_pages_and_restart_jobs(connection: Connection) -> int:
    """Delete all pages and return how many, and take each report that is being made from its process, which then waits again.

    Both contain the worker who is erased. The jobs come first: a process that is storing its page is waited for.
    """
    connection.execute(update(report_jobs).where(WAITS).values(maker=None, until=None, tries=0))
    return connection.execute(delete(report_pages)).rowcount
