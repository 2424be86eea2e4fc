"""What happens beside the requests: one server among all is the leader; it ends leases and has aggregates computed."""

import logging
import os
import secrets
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from sqlalchemy import Connection, func, insert, select, update

from plurivox.core.errors import InputError
from plurivox.web.context import Studio
from plurivox.web.faults import Refused
from plurivox.web.store.database import now
from plurivox.web.store.publishing import tell_trouble
from plurivox.web.store.reports import latest_snapshot
from plurivox.web.store.sittings import end_overdue
from plurivox.web.store.tables import answers, leaders
from plurivox.web.store.tallying import is_behind, move_on
from plurivox.web.study import Study, read_study

LEASE = 30.0  # seconds a leader may be silent before another takes over
REST = 3.0  # times what the last computation took: a quarter of one core at most
ONE_CORE = dict.fromkeys(("PLURIVOX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
log = logging.getLogger(__name__)


def lead(connection: Connection, holder: str, seconds: float = LEASE) -> bool:
    """Become the leader, or stay it; False where another one is."""
    mine = (leaders.c.holder == holder) | (leaders.c.until < now())
    values = {"holder": holder, "until": now() + seconds}
    if connection.execute(update(leaders).where(leaders.c.name == "studio", mine).values(values)).rowcount:
        return True
    if connection.execute(select(leaders.c.name)).first() is not None:
        return False
    connection.execute(insert(leaders).values(name="studio", **values))  # two at once: the key lets one in
    return True


def is_stale(connection: Connection, study: Study | None = None) -> bool:
    """Whether there are answers that the latest snapshot does not know, or study.toml says something else since."""
    newest = connection.execute(select(func.max(answers.c.id))).scalar() or 0
    _, known, body = latest_snapshot(connection)
    return newest != known or (study is not None and bool(body) and body.get("asked") != study.digest)


class Background:
    """A thread that looks after the study, and a process that computes."""

    def __init__(self, studio: Studio) -> None:
        self.studio, self.name = studio, f"{os.getpid()}-{secrets.token_hex(4)}"
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="plurivox-background", daemon=True)
        self._child: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()  # whoever stops us must not meet a process that is just beginning
        self._not_before = 0.0
        self._trouble = ""

    def start(self) -> None:
        """Begin, where this server may lead at all."""
        if self.studio.settings.is_leader:
            self._thread.start()

    def stop(self) -> None:
        """End, and let the process go; the thread may be waiting for it."""
        self._over.set()
        with self._lock:
            if self._child is not None:
                self._child.kill()
        if self._thread.is_alive():
            self._thread.join()
        self._let_go()

    def _let_go(self) -> None:
        with self._lock:
            child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            with suppress(BrokenPipeError):
                assert pipe is not None
                pipe.close()

    def _run(self) -> None:
        while not self._over.wait(self.studio.settings.snapshot_seconds):
            try:
                self.look_after()
            except Refused:  # the database is away: the next round may find it again
                continue
            except Exception:
                log.exception("the background failed")

    def look_after(self) -> None:
        """One round."""
        write = self.studio.writer.submit
        if not write(partial(lead, holder=self.name)).result():
            return
        write(end_overdue).result()
        if self.studio.look(is_behind):
            while write(move_on).result() and not self._over.is_set():
                write(partial(lead, holder=self.name)).result()
        if time.monotonic() < self._not_before:
            return
        began = time.monotonic()
        try:
            study = read_study(self.studio.settings.folder)
            if self.studio.look(partial(is_stale, study=study)):
                self._told(self._compute())
        except InputError as cause:
            self._told(str(cause))
        self._not_before = time.monotonic() + REST * (time.monotonic() - began)

    def _told(self, trouble: str) -> None:
        """Let the owner know what went wrong; what went well, the process has written itself."""
        if trouble and not self._over.is_set():
            if trouble != self._trouble:
                log.error("aggregates could not be computed: %s", trouble)
            message = f"Soft labels and scores could not be computed: {trouble}. What is shown is older."
            self.studio.writer.submit(partial(tell_trouble, message=message)).result()
        self._trouble = trouble

    def _compute(self) -> str:
        """Ask the process, and stay the leader until it answers; what went wrong."""
        child = self._process()
        if child is None:
            return ""
        assert child.stdin is not None and child.stdout is not None
        text = ""
        with suppress(BrokenPipeError):
            child.stdin.write("go\n")
            child.stdin.flush()
            with ThreadPoolExecutor(1, "plurivox-waiting") as waiting:
                said = waiting.submit(child.stdout.readline)
                while True:
                    try:
                        text = said.result(LEASE / 3).strip()
                        break
                    except TimeoutError:
                        self.studio.writer.submit(partial(lead, holder=self.name)).result()
        if not text:
            self._let_go()
            return "the process ended"
        return text.removeprefix("failed: ") if text.startswith("failed: ") else ""

    def _process(self) -> "subprocess.Popen[str] | None":
        """The process, begun anew where it has ended; none where all is over."""
        if self._child is not None and self._child.poll() is not None:
            self._let_go()
        with self._lock:
            if self._child is None and not self._over.is_set():
                self._child = subprocess.Popen(
                    [sys.executable, "-m", "plurivox.web.aggregating"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    env={**os.environ, **ONE_CORE},
                )
                assert self._child.stdin is not None
                self._child.stdin.write(self.studio.settings.model_dump_json() + "\n")  # not as words: others see those
            return self._child
