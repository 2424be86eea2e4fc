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

from plurivox.web.context import Studio
from plurivox.web.faults import Refused
from plurivox.web.store.database import now
from plurivox.web.store.sittings import end_overdue
from plurivox.web.store.tables import answers, leaders, snapshots

LEASE = 30.0  # seconds a leader may be silent before another takes over
REST = 3.0  # times what the last computation took
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


def is_stale(connection: Connection) -> bool:
    """Whether there are answers that the latest snapshot does not know."""
    newest = connection.execute(select(func.max(answers.c.id))).scalar() or 0
    known = connection.execute(select(snapshots.c.last_answer).order_by(snapshots.c.id.desc()).limit(1)).scalar()
    return newest != (known or 0)


class Background:
    """A thread that looks after the study, and a process that computes."""

    def __init__(self, studio: Studio) -> None:
        self.studio, self.name = studio, f"{os.getpid()}-{secrets.token_hex(4)}"
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="plurivox-background", daemon=True)
        self._child: subprocess.Popen[str] | None = None
        self._not_before = 0.0

    def start(self) -> None:
        """Begin, where this server may lead at all."""
        if self.studio.settings.is_leader:
            self._thread.start()

    def stop(self) -> None:
        """End, and let the process go."""
        self._over.set()
        if self._child is not None:
            self._child.kill()
        if self._thread.is_alive():
            self._thread.join()
        self._let_go()

    def _let_go(self) -> None:
        if self._child is not None:
            self._child.kill()
            for pipe in (self._child.stdin, self._child.stdout):
                with suppress(BrokenPipeError):
                    assert pipe is not None
                    pipe.close()
            self._child.wait()
            self._child = None

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
        if time.monotonic() >= self._not_before and self.studio.look(is_stale):
            began = time.monotonic()
            self._compute()
            self._not_before = time.monotonic() + REST * (time.monotonic() - began)

    def _compute(self) -> None:
        """Ask the process, and stay the leader until it answers."""
        child = self._process()
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write("go\n")
        child.stdin.flush()
        with ThreadPoolExecutor(1, "plurivox-waiting") as waiting:
            said = waiting.submit(child.stdout.readline)
            while not self._over.is_set():
                try:
                    text = said.result(LEASE / 3).strip()
                    break
                except TimeoutError:
                    self.studio.writer.submit(partial(lead, holder=self.name)).result()
            else:
                return
        if text != "done" and not self._over.is_set():
            log.error("aggregates could not be computed: %s", text or "the process ended")
            if not text:
                self._let_go()

    def _process(self) -> "subprocess.Popen[str]":
        if self._child is not None and self._child.poll() is not None:
            self._let_go()
        if self._child is None:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "plurivox.web.aggregating"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert self._child.stdin is not None
            self._child.stdin.write(self.studio.settings.model_dump_json() + "\n")  # not as words: others see those
        return self._child
