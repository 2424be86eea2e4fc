"""Reports for owners: which are there or being made, whether one can be made, and the request to make one."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import Connection

from plurivox.web.store.errors import Conflict
from plurivox.web.store.report import answer_counters, report_pages
from plurivox.web.store.report.answer_kinds import SOFT_LABEL_KINDS
from plurivox.web.store.report.report_pages import ReportJob, ReportPage, ReportQuestion
from plurivox.web.study.commands_after_export import commands_from_study_to_report
from plurivox.web.study.config import Study
from plurivox.workflows.make_report import INSTALL

PACKAGES = ("matplotlib", "jinja2", "PIL")  # that reports need


@dataclass(frozen=True)
class ReportOverview:
    """The report of each question: the page, the job that makes a new one, and the commands that make it elsewhere.

    `obstacle` says why no report can be made now and what to do; it is empty if one can.
    """

    pages: dict[ReportQuestion, ReportPage]
    jobs: dict[ReportQuestion, ReportJob]
    commands: dict[ReportQuestion, list[str]]
    obstacle: str


def get_report_overview(connection: Connection, study: Study, folder: Path) -> ReportOverview:
    """Return the reports of the study in a folder, and those that are being made."""
    questions = report_pages.REPORT_QUESTIONS
    return ReportOverview(
        pages={one.question: one for one in report_pages.list_report_pages(connection)},
        jobs={one.question: one for one in report_pages.list_report_jobs(connection)},
        commands={question: commands_from_study_to_report(study, folder, question) for question in questions},
        obstacle=_missing_package() or _missing_answers(connection),
    )


def ask_for_report_if_possible(connection: Connection, audit_actor: str, question: ReportQuestion) -> None:
    """Have the report on a question made in the background, unless it is being made; raise Conflict if it cannot be made."""
    if obstacle := _missing_package():
        raise Conflict("packages-missing", obstacle)
    if obstacle := _missing_answers(connection):
        raise Conflict("no-answers", obstacle)
    report_pages.ask_for_report(connection, audit_actor, question)


def _missing_package() -> str:
    """Return which package for reports this server does not have and how to install it; "" if it has all."""
    missing = next((name for name in PACKAGES if find_spec(name) is None), "")
    return (
        f"This server cannot make reports, because {missing} is not installed. Run {INSTALL} where the server runs, and "
        "restart the server."
        if missing
        else ""
    )


def _missing_answers(connection: Connection) -> str:
    """Return that the study has no answers for a report yet; "" if it has some."""
    counts = answer_counters.saved_counters_plus_uncounted_answers(connection)
    has_answers = any(counts["kind", kind] for kind in SOFT_LABEL_KINDS)
    return "" if has_answers else "There are no answers yet. A report can be made after the first ones."
