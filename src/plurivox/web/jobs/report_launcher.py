"""The part of the background thread that starts, checks and ends the process that makes a report."""

import secrets
import subprocess
import time
from contextlib import suppress
from functools import partial

from plurivox.web.jobs.child_process import start_child_process
from plurivox.web.jobs.report_process import TakenReport
from plurivox.web.open_study import Studio
from plurivox.web.store.errors import Unavailable
from plurivox.web.store.report.report_pages import (
    ReportQuestion,
    fail_report_job,
    is_report_waiting,
    release_report_job,
    take_waiting_report_job,
)

GRACE_SECONDS = 60.0  # after the limit at which the process ends itself
ENDED = (
    "The process that made the report ended with exit code {}. It may need more memory than the server has, or than "
    "PLURIVOX_REPORT_MEGABYTES allows: see the server's log, or make the report on another machine, by the commands below."
)


class ReportLauncher:
    """Starts a process for a report that waits, one at a time; a process that ends without a page is a failure."""

    def __init__(self, studio: Studio, server_name: str) -> None:
        self._studio, self._server_name = studio, server_name
        self._child: subprocess.Popen[str] | None = None
        self._maker, self._end = "", 0.0  # of the child process: the name of its lease, and when it must have ended

    def start_or_check_process(self) -> None:
        """Start a process if a report waits and none runs; store the failure of one that has ended or takes too long."""
        if self._child is not None and self._child.poll() is None and time.monotonic() > self._end:
            self._child.kill()
            self._child.wait()
        if self._child is not None and (code := self._child.poll()) is not None:
            self._child = None
            if code:
                fail = partial(fail_report_job, maker=self._maker, failure=ENDED.format(code))
                self._studio.writer.submit(fail).result()
        if self._child is None and self._studio.read_sync(is_report_waiting):
            self._take_report_and_start_process()

    def stop(self) -> None:
        """Kill the process, if one runs; its report then waits for a server to be started."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        with suppress(Unavailable):  # then its lease ends by itself
            self._studio.writer.submit(partial(release_report_job, maker=self._maker)).result()

    def _take_report_and_start_process(self) -> None:
        """Take the report that waits, unless another server was faster, and start the process that makes it."""
        self._maker = f"{self._server_name}-{secrets.token_hex(4)}"
        take = partial(take_waiting_report_job, maker=self._maker)
        question: ReportQuestion | None = self._studio.writer.submit(take).result()
        if question is None:
            return
        settings = self._studio.settings
        self._child = start_child_process("plurivox.web.jobs.report_process", settings, subprocess.DEVNULL)
        self._end = time.monotonic() + settings.report_seconds + GRACE_SECONDS
        assert self._child.stdin is not None
        with suppress(BrokenPipeError), self._child.stdin as line:
            line.write(TakenReport(question=question, maker=self._maker).model_dump_json() + "\n")
