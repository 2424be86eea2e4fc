"""Export, backup, restore and migrations of the database of a study."""

import json
import stat
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, insert, inspect, select, text

import plurivox as pv
from plurivox.core.answers import Answers
from plurivox.core.errors import InputError
from plurivox.web.jobs.result_snapshot import SnapshotComputer
from plurivox.web.server_settings import Settings
from plurivox.web.store.collect.leases import end_lease_and_release_unanswered_slots
from plurivox.web.store.collect.tasks_batches_quotas import NewTask
from plurivox.web.store.database import (
    WRITE_OPTIONS,
    current_revision,
    disable_statement_timeout_in_transaction,
    migrate,
)
from plurivox.web.store.report.stored_soft_labels_and_task_list import get_page_of_tasks
from plurivox.web.store.report.study_progress import study_progress
from plurivox.web.store.schema import answers, meta_data, sittings, slots, tasks, workers
from plurivox.web.study.backup import back_up_study_and_count_rows, restore_study_and_count_rows
from plurivox.web.study.config import parse_study, read_study
from plurivox.web.study.create_study import import_answers_collected_elsewhere
from plurivox.web.study.export import escape_spreadsheet_formula, export_study
from plurivox.web.study.read_task_and_answer_files import read_answers_or_none
from plurivox.web.study.secret_key import StudySecret
from plurivox.web.study.study_database import open_database
from plurivox.web.study.study_toml_writer import render_study_toml
from studies import fresh_database, plain_study, served, text_tasks

FORMULA = '=HYPERLINK("http://evil.test")'


def test_an_export_reads_back_as_answers_with_times_repeats_and_events(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(batch=4, repeats=2), text_tasks(4)) as study:
        person = study.enter()
        for slot in person.slots():
            event = {"seq": 0, "ms": 500, "kind": "pick", "label": "dog", "by": "touch"}
            person.answer(slot["slot"], "dog", submitted_ms=1500, hidden_ms=500, events=[event])
        last = person.get("/api/answers").json()["answers"][0]
        person.answer(last["slot"]["slot"], "cat", replaces=last["answer"])
        assert export_study(study.studio.engine, study.studio.study, tmp_path / "out") == 6
    data = pv.read(tmp_path / "out")
    found = data.answers
    assert found is not None and len(found) == 6 and found.labels.tolist() == ["cat", "dog", "ship"]
    assert sorted(found.position.tolist()) == [1, 2, 3, 4, 5, 6] and set(found.form.tolist()) == {"top-two"}
    assert len(set(found.sitting.tolist())) == 1 and (found.repeat_of >= 0).sum() == 2
    again = found.repeat_of >= 0
    assert (found.task[again] == found.task[found.repeat_of[again]]).all()
    assert sorted(found.seconds[~(found.seconds != found.seconds)].tolist()) == [1.0] * 5
    assert found.typed_texts_at_rank(0).tolist() == ["70"] * 6
    assert len(data.tables["views"]()) == 7 and len(data.tables["events"]()) == 6
    assert set(data.items["task"].to_list()) == {f"t{i:03d}" for i in range(4)}


def test_formulas_are_escaped_in_csv(tmp_path: Path) -> None:
    assert [escape_spreadsheet_formula(one) for one in ("=1", "+1", "-1", "@x", "\t=1", "a=1", "")] == [
        "'=1",
        "'+1",
        "'-1",
        "'@x",
        "'\t=1",
        "a=1",
        "",
    ]
    made = plain_study(labels=["@cat", "dog"])
    with served(tmp_path / "s", made, [NewTask(FORMULA, text="+cmd|' /C calc'!A0")]) as study:
        study.sign_in()
        person = study.enter()
        person.answer(person.slots()[0]["slot"], "@cat", mode="-x")
        said = study.http.get("/api/owner/export")
        assert said.headers["content-type"] == "application/zip"
        with zipfile.ZipFile(BytesIO(said.content)) as files:
            tables = [name for name in files.namelist() if name.endswith(".csv")]
            cells = [
                cell for name in tables for line in files.read(name).decode().splitlines() for cell in line.split(",")
            ]
        assert len(tables) >= 3 and not any(cell.lstrip('"').startswith(("=", "+", "@")) for cell in cells)
        export_study(study.studio.engine, study.studio.study, tmp_path / "exact")
    assert pv.read(tmp_path / "exact").answers.tasks.tolist() == [FORMULA]


def test_imported_answers_are_exported_unchanged(tmp_path: Path) -> None:
    crowd = pv.simulate_crowd("soft-answers", n_tasks=12, n_workers=5, n_labels=3, feedback=3, sitting=6, repeats=1)
    pv.write_crowd(crowd, tmp_path / "crowd")
    given = read_answers_or_none(tmp_path / "crowd")
    names = [NewTask(str(task), text="x") for task in given.tasks.tolist()]
    made = plain_study(labels=[str(label) for label in given.labels.tolist()], per_task=2)
    with served(tmp_path / "s", made, names) as study:
        keys, write = study.studio.keys, study.studio.writer.submit
        assert write(lambda c: import_answers_collected_elsewhere(c, made, keys, given)).result() == len(given)
        with pytest.raises(InputError, match="already has answers"):
            write(lambda c: import_answers_collected_elsewhere(c, made, keys, given)).result()
        # the third answer to each task is over the quota
        assert sum(row.extra for row in study.look(select(answers))) == 12
        assert {row.state for row in study.look(select(slots))} == {"done", "extra"}
        last = {max(given.when[given.worker == code]) for code in range(len(given.workers))}
        assert {row.seen for row in study.look(select(workers))} == last
        export_study(study.studio.engine, made, tmp_path / "out")
    found = pv.read(tmp_path / "out").answers
    assert (
        found.typed_texts_at_rank(0).tolist() == given.typed_texts_at_rank(0).tolist()
        and (found.repeat_of == given.repeat_of).all()
    )
    assert found.tasks[found.task].tolist() == [str(one) for one in given.tasks[given.task].tolist()]


def test_imported_answers_keep_percents_without_a_label_and_need_a_worker(tmp_path: Path) -> None:
    marks = [[("named", "cat", "70"), ("named", None, "30")], [("named", None, "5"), ("named", "dog", "60")]]
    given = Answers.of(["t000", "t001"], ["ann", "ann"], marks, labels=["cat", "dog", "ship"])
    with served(tmp_path / "s", plain_study(), text_tasks(2)) as study:
        made, write = study.studio, study.studio.writer.submit
        with pytest.raises(InputError, match="answers to the tasks 't001' have no worker"):
            unnamed = replace(given, worker=np.array([0, -1]))
            write(lambda c: import_answers_collected_elsewhere(c, made.study, made.keys, unnamed)).result()
        assert write(lambda c: import_answers_collected_elsewhere(c, made.study, made.keys, given)).result() == 2
        SnapshotComputer(made.engine).compute_and_publish_snapshot(made.study)
        export_study(made.engine, made.study, tmp_path / "out")
        study.sign_in()
        found = study.http.get("/api/owner/tasks").json()["tasks"]
        assert [one["top"][0]["label"] for one in found] == ["cat", "dog"]
    back = pv.read(tmp_path / "out").answers
    assert back.labels.tolist() == given.labels.tolist() and back.mark_label.tolist() == [0, -1, -1, 1]
    assert back.mark_typed.tolist() == ["70", "30", "5", "60"]


def test_imported_answers_reuse_released_slot_numbers(tmp_path: Path) -> None:
    with served(tmp_path / "a", plain_study(per_task=1), text_tasks(4)) as study:
        person = study.enter()
        for slot in person.slots():
            person.answer(slot["slot"])
        export_study(study.studio.engine, study.studio.study, tmp_path / "out")
    given = read_answers_or_none(tmp_path / "out")
    with served(tmp_path / "b", plain_study(per_task=2), text_tasks(4)) as study:
        gone = study.enter()
        gone.slots(), study.enter().slots()
        mine = study.look(select(sittings.c.id).order_by(sittings.c.id))[0].id
        study.studio.writer.submit(
            lambda c: end_lease_and_release_unanswered_slots(c, mine)
        ).result()  # slot numbers of this sitting are free, those of the other are not
        made = study.studio
        assert (
            made.writer.submit(lambda c: import_answers_collected_elsewhere(c, made.study, made.keys, given)).result()
            == 4
        )
        kept = study.look(select(slots.c.number, slots.c.answer_id).where(slots.c.state == "done"))
        assert {row.number for row in kept} == {1} and None not in {row.answer_id for row in kept}
        assert {row.given for row in study.look(select(tasks.c.given))} == {2}


def test_a_backup_of_either_database_is_restored_into_either(tmp_path: Path, postgres: str) -> None:
    database = fresh_database(postgres, empty=True)
    with served(tmp_path / "s", plain_study(repeats=1), database=database) as study:
        person = study.enter()
        for slot in person.slots():
            person.answer(slot["slot"])
        token = person.headers
        counts = back_up_study_and_count_rows(study.studio.settings, tmp_path / "backup")
        assert counts["answers"] == 5 and counts["workers"] == 1
    assert stat.S_IMODE((tmp_path / "backup" / "secret.key").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "backup" / "study.db").stat().st_mode) == 0o600
    for place, target in (("sqlite", ""), ("again", fresh_database(postgres, empty=True))):
        settings = Settings(folder=tmp_path / place, database=target)
        assert restore_study_and_count_rows(tmp_path / "backup", settings) == counts
        with served(tmp_path / place, database=target) as study:
            assert study.http.get("/api/me", headers=token).json()["stage"] == "done"  # worker tokens stay valid
            assert len(study.look(select(answers))) == 5
            other = study.enter()
            assert other.answer(other.slots()[0]["slot"]).status_code == 200  # new rows get new ids
        with pytest.raises(InputError, match="already contains a study"):
            restore_study_and_count_rows(tmp_path / "backup", settings)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_study_of_an_older_version_is_backed_up_and_its_backup_restored(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"), empty=True)
    old = Settings(folder=tmp_path / "old")
    old.folder.mkdir()
    (old.folder / "study.toml").write_text(render_study_toml(plain_study()))
    StudySecret.read_or_create_secret(old.folder)
    engine = open_database(old)
    migrate(engine, "0002")
    with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
        columns = "id, name, kind, stratum, practice, quota, given, rank"
        connection.execute(text(f"INSERT INTO tasks ({columns}) VALUES (97, 'a', 'text', '', 0, 3, 0, 0.5)"))
        connection.execute(text("INSERT INTO beliefs VALUES (97, 0.3, '[]')"))
    assert back_up_study_and_count_rows(old, tmp_path / "backup")["tasks"] == 1
    assert current_revision(engine) == "0002"  # a backup does not migrate the database
    assert restore_study_and_count_rows(old.folder, Settings(folder=tmp_path / "new", database=database))["tasks"] == 1
    for folder, where in ((tmp_path / "new", database), (tmp_path / "backup", "")):
        with served(folder, database=where) as study:
            assert [
                one.name for one in study.studio.read_sync(lambda c: get_page_of_tasks(c, None, 9, "given")).tasks
            ] == ["a"]
    engine.dispose()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_older_database_is_migrated_with_its_data(tmp_path: Path, kind: str, request: pytest.FixtureRequest) -> None:
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"), empty=True)
    engine = open_database(Settings(folder=tmp_path, database=database))
    migrate(engine, "0001")
    with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
        assert "audit" not in inspect(connection).get_table_names()
        connection.execute(insert(meta_data.tables["facts"]).values(name="state", value='"paused"'))
        for name, practice in (("b", 0), ("a", 0), ("p", 1)):
            columns = "id, name, kind, stratum, practice, quota, given, rank"
            values = f"{ord(name)}, '{name}', 'text', 'easy', {practice}, 3, 0, 0.5"
            connection.execute(text(f"INSERT INTO tasks ({columns}) VALUES ({values})"))
    migrate(engine)
    migrate(engine)  # migrating again changes nothing
    with engine.connect() as connection:
        assert connection.execute(text("SELECT value FROM facts")).scalar() == '"paused"'
        page = get_page_of_tasks(connection, None, 10, "given")
        assert sorted(one.name for one in page.tasks) == ["a", "b"]  # tasks are listed before a new snapshot exists
        assert [(one.stratum, one.tasks, one.wanted) for one in study_progress(connection).quotas] == [("easy", 2, 6)]
        assert _differences(connection) == []
    engine.dispose()


def test_migrations_have_no_statement_timeout(postgres: str, tmp_path: Path) -> None:
    engine = open_database(Settings(folder=tmp_path, database=fresh_database(postgres, empty=True)))
    with engine.connect() as connection:
        disable_statement_timeout_in_transaction(connection)
        assert connection.execute(text("SHOW statement_timeout")).scalar() == "0"
        connection.commit()
        assert connection.execute(text("SHOW statement_timeout")).scalar() == "10s"
    engine.dispose()


def _differences(connection: Connection) -> list[object]:
    """Return the differences between the migrated tables and the schema in the code."""
    return list(compare_metadata(MigrationContext.configure(connection, opts={"compare_type": False}), meta_data))


def test_study_toml_is_read_back_and_mistakes_are_explained(tmp_path: Path) -> None:
    made = plain_study(
        labels=['a "b"', "c\\d"],
        strata={"hard ones": 2, "easy": 1},
        quiz=[{"question": "?", "choices": ["1", "2"], "right": 0}],
    )
    (tmp_path / "study.toml").write_text(render_study_toml(made))
    assert read_study(tmp_path) == made
    base = json.loads(made.model_dump_json())
    for change, said in {
        "labels": (["x", "x"], "must be unique"),
        "form": ("top-three", "form must be"),
        "repeats": (9, "is more than the 3 tasks"),
        "completion": ({"redirect": "javascript:alert(1)"}, "must be an https:// address"),
        "frame_ancestors": (["https://a.test; script-src *"], "https"),
        "name": ("../x", "name can only contain letters"),
        "per_tsk": (3, "did you mean per_task"),
    }.items():
        with pytest.raises(InputError, match=said[1]):
            parse_study({**base, change: said[0]})
    (tmp_path / "study.toml").write_text("name = ")
    with pytest.raises(InputError, match="cannot be read"):
        read_study(tmp_path)
    with pytest.raises(InputError, match="plurivox studio new"):
        read_study(tmp_path / "nothing")
