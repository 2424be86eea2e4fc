"""No secrets or ids in logs, exports, responses or readable files; erased data are gone."""

import io
import logging
import secrets
import stat
import tempfile
import threading
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from sqlalchemy import func, select, update

from plurivox.cli.main import main
from plurivox.core.errors import InputError
from plurivox.web.server_settings import Settings
from plurivox.web.services import owner_sign_in, worker_stages
from plurivox.web.store import study_state
from plurivox.web.store.admin.erase_worker import (
    TABLES_OF_WORKER,
    erase_worker_and_return_audit_line,
    try_truncate_sqlite_wal,
)
from plurivox.web.store.report import study_progress
from plurivox.web.store.schema import answers, audit, meta_data, slots, standings, tasks, workers
from plurivox.web.study import export
from plurivox.web.study.backup import back_up_study_and_count_rows, restore_study_and_count_rows
from plurivox.web.study.study_database import open_database
from studies import PATIENCE, Person, Served, admitting, fresh_database, plain_study, served

PID, PASSWORD, COMMENT = "5f0aPIDofSomebody77", "correct horse", "my comment 8841"
OPEN = admitting("stOfSomebody")


def platform(pid: str = PID) -> dict[str, Any]:
    return {"platform": {"pid": pid, "study": "stOfSomebody", "session": "seOfSomebody"}}


def whole_flow(study: Served) -> list[str]:
    """Do everything that a worker and an owner can do, including errors; return all secrets that were used."""
    token = study.studio.writer.submit(
        lambda connection: owner_sign_in.create_setup_token_unless_owner_exists(connection, study.studio.keys)
    ).result()
    origin = {"Origin": study.url}
    study.http.post("/api/owner/setup", json={"token": token, "name": "olga", "password": PASSWORD}, headers=origin)
    said = study.http.post("/api/owner/login", json={"name": "olga", "password": PASSWORD}, headers=origin)
    study.http.post("/api/owner/login", json={"name": "olga", "password": "wrong" + PASSWORD}, headers=origin)
    csrf, cookie = said.json()["csrf"], study.http.cookies["plurivox_owner"]
    study.owner = {**origin, "X-Plurivox-Token": csrf}
    invite = study.invite()
    study.http.post("/api/enter", json={"invite": invite + "x"})
    study.http.get("/join", params={"PROLIFIC_PID": PID})
    person = study.enter(**platform(), key=(key := secrets.token_hex(16)))
    study.http.post("/api/enter", json=platform())
    study.http.post(
        "/api/enter",
        content=b'{"platform": {"pid": "' + PID.encode() + b'", ',
        headers={"Content-Type": "application/json"},
    )
    person.post("/api/me/stage", {"stage": "consent", "agreed": True})
    for slot in person.slots():
        person.answer(slot["slot"], mode="keyboard")
        person.answer(slot["slot"] + "0")
    person.post("/api/me/stage", {"stage": "debrief", "comment": COMMENT})
    study.http.get("/api/me", headers={"Authorization": person.headers["Authorization"] + "x"})
    link = person.entered["personal_link"].split("link=")[1]
    return [token, PASSWORD, csrf, cookie, invite, PID, "seOfSomebody", person.entered["token"], link, key]


STUDY: dict[str, Any] = {"texts": {"consent": "Agreed?", "instructions": "", "debrief": "Thanks."}}


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_logs_contain_no_secrets_and_no_ids(
    tmp_path: Path,
    kind: str,
    request: pytest.FixtureRequest,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"))
    caplog.set_level(logging.DEBUG)
    with served(tmp_path / "s", plain_study(**STUDY, **OPEN), database=database, body_limit=3000) as study:
        used = whole_flow(study)
        # as after a new study secret: the same platform id gets another pseudonym, and a unique constraint rejects it
        study.studio.writer.submit(lambda c: c.execute(update(workers).values(pseudonym="another"))).result()
        assert study.http.post("/api/enter", json=platform()).status_code == 500
        monkeypatch.setattr(study_state, "get_study_state", lambda _: 1 / 0)
        assert study.http.post("/api/enter", json=platform("other" + PID)).status_code == 500
        study.http.post("/api/enter", content=PID.encode() * 1000, headers={"Content-Type": "application/json"})
    ours = [record for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    lines = "\n".join(logging.Formatter("%(message)s").format(record) for record in ours)
    assert "a request failed" in lines and "the database rejected" in lines
    assert [secret for secret in used if secret in lines] == []
    assert str(study.studio.settings.database_url_without_schema) not in lines


def test_error_responses_reveal_no_internals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError(f"{tmp_path} SELECT password FROM owners")

    with served(tmp_path / "s") as study:
        study.sign_in()
        person = study.enter()
        monkeypatch.setattr(study_progress, "study_progress", broken)
        monkeypatch.setattr(worker_stages, "current_stage_study_state_and_sitting", broken)
        said = [
            study.http.get("/api/owner/progress"),
            person.get("/api/me"),
            person.post("/api/answers", {"x" * 9000: 1}),
        ]
        assert [one.status_code for one in said] == [500, 500, 422]
        for one in said:
            assert set(one.json()) == {"error", "detail", "retry"} and len(one.text) < 800
            assert not any(word in one.text for word in (str(tmp_path), "SELECT", "Traceback", "plurivox", ".py"))
            assert "server" not in one.headers and "x-powered-by" not in one.headers


def test_an_export_contains_no_ids_tokens_or_hashes(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(**STUDY, **OPEN)) as study:
        used = whole_flow(study)
        for form in ("csv", "parquet"):
            said = study.http.get(f"/api/owner/export?form={form}")
            with zipfile.ZipFile(io.BytesIO(said.content)) as files:
                names = files.namelist()
                text = b"".join(files.read(name) for name in names)
            assert said.headers["content-disposition"] == 'attachment; filename="plain.zip"'
            assert all(name.startswith("plain/") and ".." not in name for name in names)
            client_keys = [row.door for row in study.look(select(workers.c.door)) if row.door]
            assert not any(one.encode() in text for one in (*used, *client_keys, "argon2"))
            assert form == "parquet" or COMMENT.encode() in text


def test_an_export_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    with served(tmp_path / "s") as study:
        study.sign_in()
        assert study.http.get("/api/owner/export").status_code == 200
        monkeypatch.setattr(export, "export_study", lambda *_, **__: 1 / 0)
        assert study.http.get("/api/owner/export").status_code == 500
    assert list((tmp_path / "temporary").iterdir()) == []


def test_only_their_owner_may_read_the_files(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        study.enter()
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "s").iterdir()}
    held = {name: mode for name, mode in modes.items() if name not in ("study.toml", "study.db.lock")}
    assert {"secret.key", "study.db", "study.db-wal"} <= set(held)
    assert set(held.values()) == {0o600}, held


def test_erased_data_are_in_no_file(tmp_path: Path) -> None:
    def left() -> list[str]:
        files = {file.name: file.read_bytes() for file in (tmp_path / "s").iterdir()}
        return [
            name
            for name, data in files.items()
            if PID.encode() in data or COMMENT.encode() in data or b"myMode7" in data
        ]

    with served(tmp_path / "s", plain_study(**STUDY, **OPEN)) as study:
        for pid in ("someone", PID, "else"):
            person = study.enter(**platform(pid))
            person.post("/api/me/stage", {"stage": "consent", "agreed": True})
            events = [
                {"seq": i, "ms": i, "kind": "pick", "value": "myMode7" if pid == PID else "x"} for i in range(300)
            ]
            for slot in person.slots():
                # over one database page
                person.answer(slot["slot"], mode="myMode7" if pid == PID else "x", events=events)
            person.post("/api/me/stage", {"stage": "debrief", "comment": COMMENT if pid == PID else "fine"})
        assert left()
        study.studio.writer.submit(lambda c: erase_worker_and_return_audit_line(c, "test", PID)).result()
        assert try_truncate_sqlite_wal(study.studio.engine) is True
        assert left() == []
        line = study.look(select(audit).where(audit.c.what == "erase"))[0]
        assert '"answers": 4' in line.detail and PID not in line.detail


def test_erasing_by_pseudonym_ignores_a_platform_id_with_the_same_text(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(**OPEN)) as study:
        for i in range(8):  # repeated, as the order of the rows is random
            victim = study.enter(**platform(f"p{i}"))
            name = victim.entered["me"]["worker"]
            liar = study.enter(**platform(name))
            assert (
                study.studio.writer.submit(
                    lambda c, name=name: erase_worker_and_return_audit_line(c, "test", name)
                ).result()["worker"]
                == name
            )
            assert liar.get("/api/me").status_code == 200 and victim.get("/api/me").status_code == 403


def test_the_command_erases_while_the_server_runs(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(**OPEN)) as study:
        person = study.enter(**platform())
        person.answer(person.slots()[0]["slot"])
        said = CliRunner().invoke(main, ["studio", "erase", str(tmp_path / "s"), PID, "--json"])
        assert said.exit_code == 0, said.output
        assert person.get("/api/me").json()["error"] == "withdrawn"
        assert person.answer("0" * 16).json()["error"] == "withdrawn"
        assert PID.encode() not in b"".join(file.read_bytes() for file in (tmp_path / "s").glob("study.db*"))


def test_a_backup_while_people_answer_is_consistent(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(per_task=400, batch=10)) as study:
        stop, begun = threading.Event(), threading.Event()

        def answer() -> None:
            with httpx.Client(base_url=study.url, timeout=PATIENCE) as http:
                own = Served(study.url, study.studio, http, study.app)
                while not stop.is_set():
                    person: Person = own.enter()
                    for slot in person.slots():
                        person.answer(slot["slot"])
                    begun.set()

        thread = threading.Thread(target=answer)
        thread.start()
        assert begun.wait(PATIENCE)
        counts = back_up_study_and_count_rows(study.studio.settings, tmp_path / "backup")
        stop.set()
        thread.join()
        every = [tuple(row) for row in study.look(select(answers).order_by(answers.c.id))]
    settings = Settings(folder=tmp_path / "again", database="")
    assert restore_study_and_count_rows(tmp_path / "backup", settings) == counts
    engine = open_database(settings)
    with engine.connect() as connection:
        kept = [tuple(row) for row in connection.execute(select(answers).order_by(answers.c.id))]
        assert 0 < len(kept) == counts["answers"] and kept == every[: len(kept)]
        held = dict(
            connection.execute(
                select(slots.c.task_id, func.count()).where(slots.c.number > 0).group_by(slots.c.task_id)
            ).all()
        )
        assert all(row.given == held.get(row.id, 0) for row in connection.execute(select(tasks)))
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
        assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []
    engine.dispose()


def test_a_backup_is_restored_only_into_an_empty_database(tmp_path: Path, postgres: str) -> None:
    with served(tmp_path / "s") as study:
        back_up_study_and_count_rows(study.studio.settings, tmp_path / "backup")
    database = fresh_database(postgres, empty=True)
    with served(tmp_path / "other", plain_study(name="other"), database=database) as study:
        before = {table.name: len(study.look(select(table))) for table in meta_data.sorted_tables}
        with pytest.raises(InputError, match="the target database is not empty"):
            restore_study_and_count_rows(tmp_path / "backup", Settings(folder=tmp_path / "new", database=database))
        assert before == {table.name: len(study.look(select(table))) for table in meta_data.sorted_tables}
    assert not (tmp_path / "new").exists()


def test_erasing_covers_every_table_with_workers() -> None:
    pointing = {table for table in meta_data.tables.values() if "worker_id" in table.columns}
    assert pointing == {*TABLES_OF_WORKER, standings}
