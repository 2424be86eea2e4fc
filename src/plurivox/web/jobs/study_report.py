"""The report on a study: read its votes, images and texts, make the page, and store it in the database."""

import gzip
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

import numpy as np
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from plurivox.core.errors import InputError, PlurivoxError
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import Dataset
from plurivox.web.jobs.votes_of_answers import elicit_votes_by_form_of_each_answer, votes_without_repeats
from plurivox.web.server_settings import Settings
from plurivox.web.store.database import READ_OPTIONS, WRITE_OPTIONS, current_unix_time, first_line_of_database_error
from plurivox.web.store.report.answer_cache import AnswerCache
from plurivox.web.store.report.report_pages import (
    ReportQuestion,
    VotesRead,
    fail_report_job,
    store_report_page_or_raise_outdated,
)
from plurivox.web.store.report.result_snapshots import Outdated, count_exclusions_plus_reinstatements
from plurivox.web.store.report.statistics_classes_and_queries import gold_labels_of_tasks_as_soft_labels
from plurivox.web.store.report.task_images_and_texts import images_and_texts_of_tasks
from plurivox.web.study.commands_after_export import VOTES, commands_from_study_to_report
from plurivox.web.study.config import Study, read_study
from plurivox.workflows.make_report import report

T = TypeVar("T")
TRY_AGAIN = "Try again; if it fails again, see the server's log."
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class StudyVotes:
    """The votes and gold labels of a study, and what they were read from."""

    votes: Votes
    gold: SoftLabels | None
    read: VotesRead


def read_votes_and_gold_of_study(connection: Connection, study: Study) -> StudyVotes:
    """Return the votes of a study as its soft labels use them: without repeats, practice, replaced answers and excluded people.

    Raise InputError if there are none.
    """
    recounted, now = count_exclusions_plus_reinstatements(connection), current_unix_time()
    cache = AnswerCache()
    cache.append_new_rows_and_return_count(connection)
    collected = cache.select_answers_that_count_from_cache(connection, study.labels)
    first = collected.non_repeat_answer_mask
    if not first.any():
        raise InputError("the study has no answers that count yet")
    votes = votes_without_repeats(collected, elicit_votes_by_form_of_each_answer(study, collected.answers))
    answered = cache.columns["worker"][~cache.columns["is_practice"]]
    read = VotesRead(
        read_at=now,
        answers=int(first.sum()),
        people=len(np.unique(collected.worker_ids[first])),
        excluded=len(np.intersect1d(answered, [*cache.excluded])),
        last_answer=int(cache.columns["id"].max(initial=0)),
        recounted=recounted,
    )
    return StudyVotes(votes, gold_labels_of_tasks_as_soft_labels(connection, study.labels), read)


def make_and_store_report(
    engine: Engine, settings: Settings, question: ReportQuestion, maker: str, progress: Progress = no_progress
) -> None:
    """Make the report on a question about the study of the settings and store it for its job; raise Outdated if it is lost."""
    study = read_study(settings.folder)
    with engine.connect().execution_options(**READ_OPTIONS) as connection:
        found = read_votes_and_gold_of_study(connection, study)
    images, texts = images_and_texts_of_tasks(engine)
    commands = commands_from_study_to_report(study, settings.folder, question)
    made = report(
        Dataset(study.name, votes=found.votes),
        for_=question,
        gold=found.gold,
        images=images,
        texts=texts,
        name_in_commands=VOTES,
        command=" && ".join(commands),
        remark=f"{_which_answers(found.read)} Commands on this page read the folder {VOTES}; the last section makes it.",
        progress=progress,
    )
    page = gzip.compress(made.html.encode(), mtime=0)
    _write(
        engine,
        partial(store_report_page_or_raise_outdated, maker=maker, question=question, votes=found.read, page=page),
    )


def _which_answers(read: VotesRead) -> str:
    """Return which answers a report is made from, and which are left out, in two sentences."""
    when = datetime.fromtimestamp(read.read_at, UTC).strftime("%Y-%m-%d %H:%M")
    people = "1 person" if read.people == 1 else f"{read.people:,} people"
    left_out = "practice, repeats and replaced answers"
    if read.excluded:
        left_out += f", and those of {read.excluded:,} excluded {'person' if read.excluded == 1 else 'people'}"
    return f"From {read.answers:,} answers of {people} in the studio, as of {when} UTC. Left out: {left_out}."


def make_and_store_report_or_failure(
    engine: Engine, settings: Settings, question: ReportQuestion, maker: str, progress: Progress = no_progress
) -> None:
    """Make and store the report on a question, or why it could not be made and what to do; nothing if its job is lost."""
    try:
        make_and_store_report(engine, settings, question, maker, progress)
    except Outdated:
        return
    except Exception as cause:  # the owner reads it, and the log has the rest
        if not isinstance(cause, PlurivoxError):
            log.exception("the report could not be made")
        store_report_failure(engine, maker, _failure_and_advice(settings, cause))


def store_report_failure(engine: Engine, maker: str, failure: str) -> None:
    """Store in the database why a report could not be made, and what to do."""
    _write(engine, partial(fail_report_job, maker=maker, failure=failure))


def too_slow_failure(settings: Settings) -> str:
    """Return the failure of a report that takes longer than the server allows, and what to do."""
    return (
        f"The report was not finished within {settings.report_seconds / 60:g} minutes. Set PLURIVOX_REPORT_SECONDS to a larger "
        "number and restart the server, or make the report by the commands below."
    )


def _failure_and_advice(settings: Settings, cause: Exception) -> str:
    """Return why a report could not be made and what to do, without private data."""
    if isinstance(cause, MemoryError):
        return (
            f"The report needs more memory than the {settings.report_megabytes:,} MB that it may use. Set "
            "PLURIVOX_REPORT_MEGABYTES to a larger number and restart the server, or make the report by the commands below."
        )
    if isinstance(cause, PlurivoxError):  # it says what to do
        return f"The report could not be made: {' '.join(str(cause).split()).rstrip('.')}."
    if isinstance(cause, SQLAlchemyError):
        return (
            f"The database failed while the report was being made: {first_line_of_database_error(cause)}. {TRY_AGAIN}"
        )
    return f"The report could not be made: {type(cause).__name__}. {TRY_AGAIN}"


def _write(engine: Engine, job: Callable[[Connection], T]) -> T:
    """Run a function that writes to the database in a transaction, and return its result."""
    with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
        return job(connection)
