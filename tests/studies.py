"""Create studies for tests and serve them over HTTP."""

import asyncio
import functools
import itertools
import os
import random
import secrets
import socket
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import psycopg
import pytest
import uvicorn
from argon2 import PasswordHasher
from sqlalchemy import Engine

from plurivox.web.api.response_builders import inputs_asked_for_response
from plurivox.web.open_study import Studio
from plurivox.web.server.multi_study import MultiStudyApp, create_multi_study_app, settings_with_own_base_url_per_study
from plurivox.web.server.uvicorn_server import serve_app_while_block_runs, serve_in_thread
from plurivox.web.server_settings import Settings
from plurivox.web.services import owner_sign_in
from plurivox.web.store import database, unpredictable_random_generator
from plurivox.web.store.admin import invites
from plurivox.web.store.collect.tasks_batches_quotas import NewTask
from plurivox.web.study import create_study
from plurivox.web.study.config import Study
from plurivox.web.study.create_study import make_study
from plurivox.web.study.study_database import open_database


async def nap(seconds: float) -> None:
    """Sleep a tenth of the time, so that uvicorn, which polls for shutdown every 0.1 s, stops sooner in tests."""
    await asyncio.sleep(seconds / 10)


@contextmanager
def seeded(seed: str) -> Iterator[None]:
    """Take all random draws, ids and tokens of studios in this process from one seeded generator."""
    with pytest.MonkeyPatch.context() as patch:
        rng = random.Random(seed)
        patch.setattr(unpredictable_random_generator, "rng", rng)
        patch.setattr(secrets, "randbits", rng.getrandbits)
        patch.setattr(secrets, "token_bytes", lambda n=None: rng.randbytes(32 if n is None else n))  # used by token_hex
        yield


@contextmanager
def running_multi_study(studies: Sequence[Settings], base_url: str = "") -> Iterator[tuple[str, MultiStudyApp]]:
    """Serve several studies from one thread of this process on a free port; yield the URL and the app."""
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{line.getsockname()[1]}"
        app = create_multi_study_app(settings_with_own_base_url_per_study(studies, base_url or url))
        with serve_app_while_block_runs(app, studies[0], line):
            yield url, app


@functools.cache
def empty_study() -> bytes:
    """Return the bytes of a migrated SQLite database without rows."""
    with tempfile.TemporaryDirectory() as folder:
        engine = open_database(Settings(folder=Path(folder), database=""))
        database.migrate(engine)
        engine.dispose()
        return (Path(folder) / "study.db").read_bytes()


def copy_tables(engine: Engine) -> None:
    """Create the tables by copying a migrated SQLite file, which is faster than migrating; else migrate."""
    file = Path(engine.url.database or "")
    if engine.dialect.name == "sqlite" and not file.stat().st_size:
        file.write_bytes(empty_study())
    elif engine.url.database not in filled or engine.get_execution_options().get("schema"):
        database.migrate(engine)


class ServerClock:
    """The clock of the studios in this process: the real time, plus the time that simulated people take for their answers."""

    def __init__(self) -> None:
        self.seconds_ahead = 0.0

    def time(self) -> float:
        return time.time() + self.seconds_ahead

    def let_pass(self, seconds: float) -> None:
        """Let some time pass at the server, without waiting."""
        self.seconds_ahead += seconds


# pytest imports this file twice, the second time under another name to look for doctests: both copies share one clock
server_clock: ServerClock = database.time if hasattr(database.time, "let_pass") else ServerClock()  # type: ignore
database.time = server_clock  # type: ignore[attr-defined]
filled: set[str] = set()  # names of PostgreSQL databases created from a migrated template
owner_sign_in.hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)  # weak password hashes keep tests fast
uvicorn.server.asyncio = SimpleNamespace(**{**vars(asyncio), "sleep": nap})
create_study.migrate = copy_tables
PLAIN: dict[str, Any] = {"consent": "", "instructions": "", "debrief": ""}
LIMITS: dict[str, Any] = {"requests_per_minute": 100_000, "enters_per_minute": 100_000, "logins_per_minute": 1000}
LIMITS |= {"arrivals_per_hour": 100_000}
# too high to be reached on a busy machine
LIMITS |= {"drafts_per_minute": 10_000, "write_seconds": 120, "body_seconds": 120}
PATIENCE = 600.0  # seconds until a request times out
numbers = itertools.count()  # counter for database names


def text_tasks(n: int, **more: Any) -> list[NewTask]:
    """Return n text tasks named t000, t001, ..."""
    return [NewTask(f"t{i:03d}", text=f"text {i}", **more) for i in range(n)]


def plain_study(**values: Any) -> Study:
    """Return a study config without consent, instructions, practice and debriefing; `values` override its fields."""
    fields = {
        "name": "plain",
        "labels": ["cat", "dog", "ship"],
        "per_task": 2,
        "batch": 4,
        "texts": PLAIN,
        "practice": 0,
        "unanswered_share": 1,  # people of most tests ask for tasks and do not answer them
    }
    return Study.model_validate({**fields, **values})


def admitting(prolific: str = "", mturk: str = "") -> dict[str, Any]:
    """Return the fields of a study that admits people of a study at Prolific and of a HIT at MTurk."""
    platforms = ["prolific"] * bool(prolific) + ["mturk"] * bool(mturk)
    return {
        "platforms": platforms,
        "prolific_studies": [prolific][: bool(prolific)],
        "mturk_hits": [mturk][: bool(mturk)],
    }


def asks(form: str, **values: Any) -> dict[str, Any]:
    """Return what a form asks for, as the API sends it to the task page."""
    return inputs_asked_for_response(plain_study(form=form, **values)).model_dump()


@functools.cache
def migrated(postgres: str) -> str:
    """Create a migrated PostgreSQL database without rows, the template of others; return its name."""
    address = fresh_database(postgres, empty=True)
    engine = open_database(Settings(folder=Path(), database=address))
    database.migrate(engine)
    engine.dispose()
    return str(engine.url.database)


def fresh_database(postgres: str, empty: bool = False) -> str:
    """Create a PostgreSQL database with all tables, or without tables if `empty`; return its URL."""
    name = f"studio_{os.getpid()}_{next(numbers)}"
    template = "template1" if empty else migrated(postgres)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")  # tests never lose power
        connection.execute("SELECT pg_reload_conf()")
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    if not empty:
        filled.add(name)
    return postgres.replace("/postgres?", f"/{name}?")


@dataclass
class Served:
    """A running studio and an HTTP client connected to it."""

    url: str
    studio: Studio
    http: httpx.Client
    app: Any
    owner: dict[str, str] = field(default_factory=dict)  # headers that owner writes need

    def sign_in(self) -> None:
        """Create the first owner and sign the client in."""
        token = self.studio.writer.submit(
            lambda connection: owner_sign_in.create_setup_token_unless_owner_exists(connection, self.studio.keys)
        ).result()
        body = {"token": token, "name": "olga", "password": "correct horse"}
        said = self.http.post("/api/owner/setup", json=body, headers={"Origin": self.url})
        assert said.status_code == 200, said.text
        self.owner = {"Origin": self.url, "X-Plurivox-Token": said.json()["csrf"]}

    def invite(self, uses: int = 1000) -> str:
        """Create an invite and return its signed id, as in the invite link."""
        made = invites.create_invite
        row = self.studio.writer.submit(lambda connection: made(connection, "test", "", uses)).result()
        return self.studio.keys.sign("invite", f"{row.id:x}")

    def enter(self, **way: Any) -> "Person":
        """Enter the study as a new worker, with a new invite unless `way` is given."""
        said = self.http.post("/api/enter", json=way or {"invite": self.invite()})
        assert said.status_code == 200, said.text
        return Person(self, said.json())

    def look(self, statement: Any) -> list[Any]:
        """Return the rows of a SELECT statement."""
        return self.studio.read_sync(lambda connection: list(connection.execute(statement)))


class Person:
    """The API calls of one worker."""

    def __init__(self, served: Served, entered: dict[str, Any]) -> None:
        self.served, self.entered = served, entered
        self.headers = {"Authorization": f"Bearer {entered['token']}"}

    def get(self, path: str) -> httpx.Response:
        return self.served.http.get(path, headers=self.headers)

    def post(self, path: str, body: Any = None) -> httpx.Response:
        return self.served.http.post(path, json=body, headers=self.headers)

    def slots(self, n: int = 10) -> list[dict[str, Any]]:
        said = self.get(f"/api/tasks?n={n}")
        assert said.status_code == 200, said.text
        return said.json()["slots"]

    def answer(self, slot: str, label: str = "cat", key: str | None = None, **more: Any) -> httpx.Response:
        """Submit an answer; the time that it is said to have taken passes at the server first."""
        server_clock.let_pass(more.get("submitted_ms", 0) / 1000)
        marks = (
            []
            if more.get("abstain") or more.get("none_of_these")
            else [{"kind": "named", "label": label, "typed": "70"}]
        )
        return self.post("/api/answers", {"key": key or secrets.token_hex(8), "slot": slot, "marks": marks, **more})


@contextmanager
def served(
    folder: Path, study: Study | None = None, tasks: Iterable[NewTask] | None = None, **settings: Any
) -> Iterator[Served]:
    """Serve the study in a folder on a free port; create the study first if there is none."""
    given = Settings(folder=folder, **{"is_leader": False, **LIMITS, **settings})
    if not (folder / "study.toml").is_file():
        make_study(given, study or plain_study(), text_tasks(12) if tasks is None else tasks)
    ahead = server_clock.seconds_ahead
    with serve_in_thread(given) as (url, app), httpx.Client(base_url=url, timeout=PATIENCE) as http:
        try:
            yield Served(url, app.state.studio, http, app)
        finally:
            server_clock.seconds_ahead = ahead  # other tests run servers in other processes, with the real time
