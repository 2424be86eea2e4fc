"""The background thread of a server: while it leads, it ends overdue leases, counts, and has a process compute."""

import json
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

from plurivox.core.errors import InputError
from plurivox.web.store.collect.leases import end_overdue_leases
from plurivox.web.store.database import now
from plurivox.web.store.errors import Unavailable
from plurivox.web.store.report.answer_counters import count_next_range, has_uncounted_answers
from plurivox.web.store.report.background_alerts import Alert, list_alerts, set_alert
from plurivox.web.store.report.snapshots import LEADER_LEASE_SECONDS, acquire_leadership, is_stale
from plurivox.web.studio import Studio
from plurivox.web.study.config import Study, read_study

IDLE_FACTOR = 3.0  # times what the last computation took: a quarter of one core at most
ONE_CORE = dict.fromkeys(("PLURIVOX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
ALERT_TEXTS = {  # by what goes wrong
    "study": "study.toml cannot be used: {}. What is shown is older.",
    "rules": "The exclusion rules could not be applied: {}.",
    "labels": "Soft labels and scores could not be computed: {}. What is shown is older.",
    "pay": "The pay sheet could not be computed: {}. What is shown is older.",
}
log = logging.getLogger(__name__)


class BackgroundThread:
    """A thread that runs a round every few seconds, and a child process that computes."""

    def __init__(self, studio: Studio) -> None:
        self.studio, self.name = studio, f"{os.getpid()}-{secrets.token_hex(4)}"
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="plurivox-background", daemon=True)
        self._child: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()  # whoever stops us must not meet a process that is just beginning
        self._not_before = 0.0
        self._told: dict[str, str] = {}  # what owners read, as of this round

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
        self._kill_child()

    def _kill_child(self) -> None:
        """Kill the child process, if there is one, and close its pipes."""
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
            self.run_round()

    def run_round(self) -> None:
        """Run one round; what goes wrong in it is told to the owner and logged, never raised."""
        try:
            leads = self.lead_round()
        except Unavailable:  # the database is away: the next round may find it again
            self._remember("database", "The database cannot be written or read.")
            return
        except Exception as cause:
            log.exception("the background failed")
            self._tell(
                "background", f"A round of the background failed: {type(cause).__name__}. What is shown may be older."
            )
            return
        self.studio.troubles.pop("database", None)
        if leads:
            self._tell("background", "")

    def lead_round(self) -> bool:
        """Run one round if this server leads: end overdue leases, count answers, and compute where the snapshot is stale.
        Return whether it leads."""
        write = self.studio.writer.submit
        if not write(partial(acquire_leadership, holder=self.name)).result():
            return False
        self._told = {
            one.of: one.what for one in self.studio.look(list_alerts)
        }  # whoever told it: we tell when it works
        write(end_overdue_leases).result()
        if self.studio.look(has_uncounted_answers):
            while write(count_next_range).result() and not self._over.is_set():
                write(partial(acquire_leadership, holder=self.name)).result()
        if time.monotonic() < self._not_before:
            return True
        began, failed = time.monotonic(), self._fails()
        try:
            study = read_study(self.studio.settings.folder)
        except InputError as cause:
            self._tell("study", ALERT_TEXTS["study"].format(cause))
        else:
            self._tell("study", "")
            if failed or self.studio.look(partial(is_stale, digest=study.digest)):
                self._compute(study)
        self._not_before = time.monotonic() + IDLE_FACTOR * (time.monotonic() - began)
        return True

    def _fails(self) -> bool:
        """Whether a step has failed and is to be tried again, though nothing new has come."""
        told = self._told.keys() | self.studio.troubles.keys()
        return not told.isdisjoint(("rules", "labels", "pay"))

    def _tell(self, of: str, what: str) -> None:
        """Let the owner know what goes wrong, or that it does no more; by memory where the store cannot be written."""
        if not what:
            self.studio.troubles.pop(of, None)
        if self._over.is_set() or self._told.get(of, "") == what:
            return
        if what:
            log.error(what)
        try:
            self.studio.writer.submit(partial(set_alert, of=of, what=what)).result()
        except Exception:  # the next round tries again
            log.exception("what goes wrong could not be written down")
            if what:
                self._remember(of, what)
            return
        self._told = {**self._told, of: what}
        self.studio.troubles.pop(of, None)

    def _remember(self, of: str, what: str) -> None:
        known = self.studio.troubles.get(of)
        if known is None or known.what != what:
            self.studio.troubles[of] = Alert(of, what, now())

    def _compute(self, study: Study) -> None:
        """Have the process compute, and tell what went wrong with each of its steps."""
        said = self._ask_child(study)
        if said is None or self._over.is_set():
            return
        for of, why in said.items():
            self._tell(of, ALERT_TEXTS[of].format(why) if why else "")

    def _ask_child(self, study: Study) -> dict[str, str] | None:
        """Send a study to the child process and return what went wrong, by step; renew the lease meanwhile. None where there is
        no process, because all is over."""
        child = self._started_child()
        if child is None:
            return None
        assert child.stdin is not None and child.stdout is not None
        text = ""
        with suppress(BrokenPipeError):
            child.stdin.write(study.model_dump_json() + "\n")
            child.stdin.flush()
            with ThreadPoolExecutor(1, "plurivox-waiting") as waiting:
                said = waiting.submit(child.stdout.readline)
                while True:
                    try:
                        text = said.result(LEADER_LEASE_SECONDS / 3).strip()
                        break
                    except TimeoutError:
                        self._renew_lease()
        if not text:
            code = child.poll()
            self._kill_child()
            return {"labels": f"the process that computes ended{'' if code is None else f' with {code}'}"}
        told: dict[str, str] = json.loads(text)
        return told

    def _renew_lease(self) -> None:
        """Renew the lease of the leader; where the database is away, the process will tell."""
        with suppress(Unavailable):
            self.studio.writer.submit(partial(acquire_leadership, holder=self.name)).result()

    def _started_child(self) -> "subprocess.Popen[str] | None":
        """The child process, started where there is none or it has ended; None where all is over."""
        if self._child is not None and self._child.poll() is not None:
            self._kill_child()
        with self._lock:
            if self._child is None and not self._over.is_set():
                self._child = subprocess.Popen(
                    [sys.executable, "-m", "plurivox.web.jobs.compute_process"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    env={**os.environ, **ONE_CORE},
                )
                assert self._child.stdin is not None
                self._child.stdin.write(self.studio.settings.model_dump_json() + "\n")  # not as words: others see those
            return self._child
