"""Kill servers while simulated workers answer, and check that no acknowledged answer is lost."""

import asyncio
import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import Engine, func, select

from interfaces.cli.cli_process import environment
from plurivox.web.client.simulated_workers import simulate_workers
from plurivox.web.client.worker_client import Client
from plurivox.web.server_settings import Settings
from plurivox.web.store.admin import invites
from plurivox.web.store.database import WRITE_OPTIONS
from plurivox.web.store.schema import answers, slots, tasks, workers
from plurivox.web.study.config import Study
from plurivox.web.study.create_study import make_study
from plurivox.web.study.secret_key import StudySecret
from plurivox.web.study.study_database import open_database
from studies import LIMITS, PATIENCE, text_tasks

HERE = Path(__file__).parent


@contextlib.contextmanager
def own_port() -> Iterator[int]:
    """Reserve a free port: no other process gets it, but a server with SO_REUSEADDR can listen on it."""
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        yield int(kept.getsockname()[1])


@functools.cache
def loaded() -> "subprocess.Popen[str]":
    """Start the process that forks servers; it ends with this process."""
    words = [sys.executable, str(HERE / "fork_server.py")]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())


class Servers:
    """Servers of one study, each in its own process and on its own port."""

    def __init__(self, settings: Settings, ports: list[int]) -> None:
        self.settings, self.ports = settings, ports
        self.pids = [0] * len(ports)
        self.loaded = loaded()

    def start(self, place: int = 0) -> None:
        """Start a server and wait until /health responds."""
        url = f"http://127.0.0.1:{self.ports[place]}"
        given = json.loads(self.settings.model_copy(update={"base_url": url}).model_dump_json())
        assert self.loaded.stdin is not None and self.loaded.stdout is not None
        self.loaded.stdin.write(json.dumps({**given, "port": self.ports[place]}) + "\n")
        self.loaded.stdin.flush()
        self.pids[place] = int(self.loaded.stdout.readline())
        while True:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{url}/health", timeout=PATIENCE).status_code == 200:
                    return
            os.kill(self.pids[place], 0)  # raises if the server process has died
            time.sleep(0.02)

    def kill(self, place: int = 0) -> None:
        """Kill a server with SIGKILL, so that it cannot clean up; wait until it no longer listens on its port."""
        os.kill(self.pids[place], signal.SIGKILL)
        self.pids[place] = 0
        with contextlib.suppress(ConnectionError):  # a busy machine takes a moment to end a process
            while True:
                socket.create_connection(("127.0.0.1", self.ports[place]), PATIENCE).close()
                time.sleep(0.005)

    def close(self) -> None:
        for pid in self.pids:
            if pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def studied(
    folder: Path, study: Study, n_tasks: int, database: str, n_servers: int = 1
) -> Iterator[tuple[Servers, str]]:
    """Create a study; yield its servers, not started yet, and an invite for all workers."""
    settings = Settings(folder=folder, database=database, is_leader=False, **LIMITS)
    loaded()  # imports run while the study is created
    make_study(settings, study, text_tasks(n_tasks))
    engine = open_database(settings)
    with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
        row = invites.create_invite(connection, "test", "", 100_000)
    engine.dispose()
    with contextlib.ExitStack() as stack:
        servers = Servers(settings, [stack.enter_context(own_port()) for _ in range(n_servers)])
        stack.callback(servers.close)
        yield servers, StudySecret.read_or_create_secret(folder).sign("invite", f"{row.id:x}")


class Load:
    """Simulated workers that answer in a thread."""

    def __init__(self, urls: Sequence[str], invite: str, n_workers: int, **how: Any) -> None:
        self.clients: list[Client] = []
        self.fault: BaseException | None = None
        share = -(-n_workers // len(urls))

        async def all_of_them() -> None:
            await asyncio.gather(
                *(
                    simulate_workers(url, invite, share, seed=i, clients=self.clients, patience=PATIENCE, **how)
                    for i, url in enumerate(urls)
                )
            )

        def run() -> None:
            try:
                asyncio.run(all_of_them())
            except Exception as cause:  # noqa: BLE001 - `finish` raises it
                self.fault = cause

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()

    @property
    def acknowledged(self) -> list[str]:
        return [key for client in list(self.clients) for key in client.acknowledged]

    def wait_for(self, n: int) -> None:
        """Wait until n answers are acknowledged or all workers have finished."""
        while sum(len(client.acknowledged) for client in list(self.clients)) < n and self.thread.is_alive():
            time.sleep(0.01)

    def finish(self) -> list[str]:
        self.thread.join(300)
        assert not self.thread.is_alive(), "the simulated workers did not finish within 300 s"
        if self.fault is not None:
            raise self.fault
        assert not any(client.outbox for client in self.clients)
        return self.acknowledged


def check(engine: Engine, acknowledged: Sequence[str], n_workers: int, full: bool = True) -> None:
    """Assert that no acknowledged answer is lost or stored twice, and no slot is lost or leased twice."""
    with engine.connect() as connection:
        stored = connection.execute(select(answers.c.key)).scalars().all()
        assert len(stored) == len(set(stored)), "an answer is stored twice"
        assert set(acknowledged) <= set(stored), "an acknowledged answer is lost"
        assert len(acknowledged) == len(set(acknowledged))
        live = (
            select(slots.c.task_id, func.count().label("n"))
            .where(slots.c.number.is_not(None))
            .group_by(slots.c.task_id)
        )
        counted = {row.task_id: row.n for row in connection.execute(live)}
        for row in connection.execute(select(tasks)):
            assert row.given == counted.get(row.id, 0) <= row.quota, "the count of a task is wrong or over its quota"
            assert not full or row.given == row.quota, "a task did not reach its quota"
        twice = select(slots.c.worker_id).where(slots.c.kind == "task").group_by(slots.c.worker_id, slots.c.task_id)
        assert connection.execute(twice.having(func.count() > 1)).all() == [], "a worker got a task twice"
        assert connection.execute(select(func.count()).select_from(workers)).scalar_one() == n_workers, (
            "the number of workers is wrong"
        )
        open_slots = select(func.count()).select_from(slots).where(slots.c.state == "leased")
        assert not full or connection.execute(open_slots).scalar_one() == 0
    engine.dispose()
