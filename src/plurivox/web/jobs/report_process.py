"""The child process of a server that makes one report, within limits of time and memory.

Run as `python -m plurivox.web.jobs.report_process`.
"""

import logging
import os
import resource
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

from pydantic import BaseModel
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from plurivox.web.jobs.child_process import lower_priority_and_exit_with_parent
from plurivox.web.server_settings import Settings
from plurivox.web.store.database import WRITE_OPTIONS
from plurivox.web.store.report.report_pages import ReportQuestion, renew_report_job
from plurivox.web.study.study_database import open_database

RENEW_SECONDS = 2.0  # between renewals of the lease, which also save the progress
log = logging.getLogger(__name__)


class TakenReport(BaseModel):
    """The report to make, sent by the server: the question, and the name under which its job was taken."""

    question: ReportQuestion
    maker: str


def make_report_read_from_stdin() -> None:
    """Read Settings and a TakenReport, a line each, from stdin; make the report and store it, or why it could not be made."""
    lower_priority_and_exit_with_parent()
    settings = Settings.model_validate_json(sys.stdin.readline())
    taken = TakenReport.model_validate_json(sys.stdin.readline())
    limit_memory(settings.report_megabytes)
    engine = open_database(settings)
    lease = LeaseThread(engine, settings, taken.maker)
    lease.start()
    from plurivox.web.jobs.study_report import make_and_store_report_or_failure  # slow imports, under the lease

    make_and_store_report_or_failure(engine, settings, taken.question, taken.maker, lease.save_step)


def limit_memory(megabytes: int) -> None:
    """Limit the address space of this process, and let the kernel end it before the server if memory is short."""
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20, megabytes * 2**20))
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


class LeaseThread:
    """A thread that renews the lease of a report, and ends the process when it loses the report or is too slow."""

    def __init__(self, engine: Engine, settings: Settings, maker: str) -> None:
        self._engine, self._settings, self._maker = engine, settings, maker
        self._step, self._steps = 0, 0
        self._end = time.monotonic() + settings.report_seconds

    def start(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._renew_until_lost_or_too_slow, name="plurivox-lease", daemon=True).start()

    def save_step(self, step: int, total: int, value: float | None = None) -> None:
        """Progress callback of the report: note the step, which the next renewal of the lease saves."""
        del value
        self._step, self._steps = step, total

    def _renew_until_lost_or_too_slow(self) -> None:
        """Renew the lease every few seconds; end the process if a server has taken the report away, or time is up."""
        while (left := self._end - time.monotonic()) > 0:
            if not self._renew():
                os._exit(0)
            time.sleep(min(RENEW_SECONDS, left))
        try:
            from plurivox.web.jobs.study_report import store_report_failure, too_slow_failure

            store_report_failure(self._engine, self._maker, too_slow_failure(self._settings))
        finally:
            os._exit(0)

    def _renew(self) -> bool:
        """Renew the lease and save the progress; return False if the report was lost. A database that fails is tried again."""
        renew = partial(renew_report_job, maker=self._maker, step=self._step, steps=self._steps)
        try:
            with self._engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
                return renew(connection)
        except SQLAlchemyError:
            log.warning("the lease of a report could not be renewed")
            return True


if __name__ == "__main__":
    make_report_read_from_stdin()
