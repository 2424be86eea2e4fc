"""The computing process: one round per line on standard input. Run as `python -m plurivox.web.jobs.compute_process`."""

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from plurivox.core.errors import PlurivoxError
from plurivox.web.jobs.payroll import Payroll
from plurivox.web.jobs.snapshot import SnapshotComputer
from plurivox.web.settings import Settings
from plurivox.web.store.database import database_message
from plurivox.web.store.report.answer_cache import AnswerCache
from plurivox.web.store.report.snapshots import Outdated
from plurivox.web.study.config import Study
from plurivox.web.study.study_database import open_database

log = logging.getLogger(__name__)
NICENESS = 10  # after the server, where both want the same core


def _exit_with_parent(parent: int) -> None:
    """A server that is killed cannot tell: leave in the middle, before another server's process begins."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def main() -> None:
    """Settings in the first line; then a study in every line: compute for it, and answer with a line."""
    os.nice(NICENESS)
    threading.Thread(target=_exit_with_parent, args=(os.getppid(),), daemon=True).start()
    computation = RoundRunner(open_database(Settings.model_validate_json(sys.stdin.readline())))
    for line in sys.stdin:
        sys.stdout.write(json.dumps(computation.one_round(Study.model_validate_json(line))) + "\n")
        sys.stdout.flush()


class RoundRunner:
    """Everything that is computed of a study, round after round; its steps share one log, so each answer is read once."""

    def __init__(self, engine: Engine) -> None:
        answers = AnswerCache()
        self.snapshots, self.payroll = SnapshotComputer(engine, answers), Payroll(engine, answers)

    def one_round(self, study: Study) -> dict[str, str]:
        """Exclude, compute, pay: what went wrong with each, empty where nothing did. One that fails stops no other."""
        steps: dict[str, Callable[[Study], object]] = {
            "rules": self.snapshots.exclude,
            "labels": self.snapshots.compute,
            "pay": self.payroll.keep,
        }
        told = {}
        for name, step in steps.items():
            try:
                step(study)
                told[name] = ""
            except Outdated:  # the next round begins with what counts now
                continue
            except Exception as cause:  # the server reads it and goes on
                log.exception("%s: a step of the background failed", name)
                told[name] = _error_line(cause)
        return told


def _error_line(cause: Exception) -> str:
    """What went wrong, in one line; of a database, without what people wrote."""
    if isinstance(cause, SQLAlchemyError):
        return database_message(cause)
    return " ".join(str(cause).split()) if isinstance(cause, PlurivoxError) else type(cause).__name__


if __name__ == "__main__":
    main()
