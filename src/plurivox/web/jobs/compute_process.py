"""The child process of a server that runs the computing jobs: one round per line on standard input.

Run as `python -m plurivox.web.jobs.compute_process`.
"""

import json
import logging
import sys
from collections.abc import Callable

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from plurivox.core.errors import PlurivoxError
from plurivox.web.jobs.child_process import lower_priority_and_exit_with_parent
from plurivox.web.jobs.payroll import Payroll
from plurivox.web.jobs.result_snapshot import SnapshotComputer
from plurivox.web.server_settings import Settings
from plurivox.web.store.database import first_line_of_database_error
from plurivox.web.store.report.answer_cache import AnswerCache
from plurivox.web.store.report.result_snapshots import Outdated
from plurivox.web.study.config import Study
from plurivox.web.study.study_database import open_database

log = logging.getLogger(__name__)


def run_jobs_of_each_study_read_from_stdin() -> None:
    """Read Settings, then one study per line, from stdin; run the jobs of each and print their errors as a JSON line."""
    lower_priority_and_exit_with_parent()
    runner = RoundRunner(open_database(Settings.model_validate_json(sys.stdin.readline())))
    for line in sys.stdin:
        sys.stdout.write(
            json.dumps(runner.run_jobs_and_get_error_or_empty_by_job(Study.model_validate_json(line))) + "\n"
        )
        sys.stdout.flush()


class RoundRunner:
    """Runs exclusion rules, snapshot and pay of a study, round by round, with a shared in-memory cache of answers."""

    def __init__(self, engine: Engine) -> None:
        answers = AnswerCache()
        self.snapshots, self.payroll = SnapshotComputer(engine, answers), Payroll(engine, answers)

    def run_jobs_and_get_error_or_empty_by_job(self, study: Study) -> dict[str, str]:
        """Exclude workers by rules, compute a snapshot, update the pay sheet; return job name -> error, "" if there was none.

        A job that fails does not stop the others. An outdated one is left out: the next round runs it again.
        """
        jobs: dict[str, Callable[[Study], object]] = {
            "rules": self.snapshots.exclude_workers_by_rules,
            "labels": self.snapshots.compute_and_publish_snapshot,
            "pay": self.payroll.update_pay_lines_of_changed_workers,
        }
        errors = {}
        for name, job in jobs.items():
            try:
                job(study)
                errors[name] = ""
            except Outdated:
                continue
            except Exception as cause:  # the server shows it as an alert and goes on
                log.exception("the background job %s failed", name)
                errors[name] = _one_line_error_without_private_data(cause)
        return errors


def _one_line_error_without_private_data(cause: Exception) -> str:
    """Return an error in one line, without private data: the database's message, a PlurivoxError's text, or the type."""
    if isinstance(cause, SQLAlchemyError):
        return first_line_of_database_error(cause)
    return " ".join(str(cause).split()) if isinstance(cause, PlurivoxError) else type(cause).__name__


if __name__ == "__main__":
    run_jobs_of_each_study_read_from_stdin()
