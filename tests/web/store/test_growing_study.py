"""Counters, lists, snapshots and alerts of a study that grows while they are read."""

import contextlib
import json
import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import httpx
import numpy as np
import pytest
from sqlalchemy import select, text, update

from interfaces.web.server_kills import studied
from plurivox.aggregate import DEFAULT_METHODS
from plurivox.web.jobs import background_thread, child_process, truth_and_people
from plurivox.web.jobs.background_thread import BackgroundThread
from plurivox.web.jobs.compute_process import RoundRunner
from plurivox.web.jobs.result_snapshot import SnapshotComputer
from plurivox.web.store.admin.erase_worker import erase_worker_and_return_audit_line
from plurivox.web.store.collect.excluded_workers import exclude_if_active_and_release_slots, lift_exclusion
from plurivox.web.store.collect.leases import end_lease_and_release_unanswered_slots
from plurivox.web.store.collect.tasks_batches_quotas import NewTask
from plurivox.web.store.database import batched
from plurivox.web.store.errors import Unavailable
from plurivox.web.store.report import answer_counters, study_progress, worker_scores_and_flags
from plurivox.web.store.report import result_snapshots as publishing
from plurivox.web.store.report.answer_cache import AnswerCache, read_answers_that_count_latest_per_slot
from plurivox.web.store.report.background_alerts import list_job_alerts, set_or_delete_alert_of_job
from plurivox.web.store.report.result_snapshots import Snapshot, acquire_or_renew_leader_lease, is_result_snapshot_stale
from plurivox.web.store.report.stored_soft_labels_and_task_list import SoftLabelRow, get_page_of_tasks
from plurivox.web.store.report.worker_scores_and_flags import WorkerOrder
from plurivox.web.store.schema import (
    OPEN_END,
    answers,
    flags,
    sittings,
    slots,
    snapshots,
    soft_labels,
    standings,
    tasks,
    workers,
)
from studies import PATIENCE, Person, Served, admitting, fresh_database, plain_study, served, text_tasks

pytestmark = pytest.mark.long

LABELS = ("cat", "dog", "ship")


def plain_counts(study: Served) -> dict[str, Any]:
    """Count everything from the tables, as a reference for `study_progress`."""
    kinds = Counter((row.kind, row.state) for row in study.look(select(slots)))
    done = select(tasks.c.stratum).join(slots, slots.c.task_id == tasks.c.id).where(slots.c.kind == "task")
    said = study.look(select(answers))
    first_answers = select(answers).join(slots, slots.c.id == answers.c.slot_id).where(answers.c.replaces.is_(None))
    first_answers = first_answers.where(slots.c.kind != "practice", slots.c.state != "excluded")
    return {
        "answers": kinds["task", "done"],
        "repeats": kinds["repeat", "done"],
        "practice": kinds["practice", "done"],
        "late": kinds["task", "extra"],
        "replaced": len(said) - len({row.slot_id for row in said}),
        "excluded": kinds["task", "excluded"] + kinds["repeat", "excluded"],
        "all_answers": len(said),
        "given": Counter(row.stratum for row in study.look(done.where(slots.c.state == "done"))),
        "leased": Counter(row.stratum for row in study.look(done.where(slots.c.state == "leased"))),
        "hours": Counter(row.received // 3600 * 3600 for row in study.look(first_answers)),
    }


def live_counts(study: Served) -> dict[str, Any]:
    """Return the same counts from `study_progress`, which owners see."""
    told = study.studio.read_sync(study_progress.study_progress)
    names = ("answers", "repeats", "practice", "late", "replaced", "excluded", "all_answers")
    found: dict[str, Any] = {name: getattr(told, name) for name in names}
    for name in ("given", "leased"):
        found[name] = Counter({one.stratum: n for one in told.quotas if (n := getattr(one, name))})
    return found | {"hours": Counter(dict(told.per_hour))}


def act(study: Served, crowd: list[Person], rng: random.Random) -> None:
    """Do one random action: enter, answer, replace, expire, exclude, lift, erase or update counters."""
    write = study.studio.writer.submit
    if not crowd or rng.random() < 0.1:
        return crowd.append(study.enter())
    person = rng.choice(crowd)
    what = rng.random()
    mine = person.entered["me"]["worker"]
    if what < 0.12 and (sat := study.look(select(sittings.c.id).order_by(sittings.c.id))):
        one = rng.choice(sat).id
        write(lambda c: end_lease_and_release_unanswered_slots(c, one)).result()
    elif what < 0.15:
        crowd.remove(person)
        write(lambda c: erase_worker_and_return_audit_line(c, "test", mine)).result()
    elif what < 0.2:
        [one] = study.look(select(workers.c.id, workers.c.status).where(workers.c.pseudonym == mine))
        out = one.status == "active"
        write(
            lambda c: (
                exclude_if_active_and_release_slots(c, one.id, "rule", "") if out else lift_exclusion(c, "owner", mine)
            )
        ).result()
    elif what < 0.35:
        write(answer_counters.count_next_answers_and_return_has_more).result()
    elif what < 0.45 and (last := person.get("/api/answers").json()["answers"]):
        one = rng.choice(last)
        person.answer(one["slot"]["slot"], rng.choice(LABELS), replaces=one["answer"])
    else:
        said = person.get(f"/api/tasks?n={rng.randint(1, 3)}").json()
        for slot in said.get("slots", []):
            person.answer(slot["slot"], rng.choice(LABELS))
    return None


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_running_counters_equal_plain_counts_after_any_events(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"))
    monkeypatch.setattr(answer_counters, "COMMIT_SECONDS", 0.05)
    made = plain_study(strata={"easy": 2, "hard": 1}, per_task=3, repeats=1, practice=1, sittings=3)
    new = [NewTask(f"t{i}", text="x", stratum=("easy", "hard")[i % 3 == 0]) for i in range(9)]
    new.append(NewTask("p", text="x", practice=True))
    with served(tmp_path / "s", made, new, database=database) as study:
        rng, crowd = random.Random(4), []
        for step in range(45):
            act(study, crowd, rng)
            if step % 4 == 0:
                assert live_counts(study) == plain_counts(study), step
        while study.studio.writer.submit(answer_counters.count_next_answers_and_return_has_more).result():
            pass
        assert live_counts(study) == plain_counts(study)
        told = study.studio.read_sync(study_progress.study_progress)
        assert told.wanted == 27 and [one.tasks for one in told.quotas] == [6, 3]


def test_many_answers_are_counted_over_several_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_counters, "MAX_RANGE", 3)
    with served(tmp_path / "s", plain_study(batch=8), text_tasks(8)) as study:
        person = study.enter()
        for slot in person.slots():
            person.answer(slot["slot"])
        # a request counts at most MAX_RANGE new answers
        assert study.studio.read_sync(study_progress.study_progress).answers == 3
        rounds = 1
        while study.studio.writer.submit(answer_counters.count_next_answers_and_return_has_more).result():
            rounds += 1
        assert rounds == 3 and study.studio.read_sync(study_progress.study_progress).answers == 8


def test_reused_ids_of_erased_answers_are_counted(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        for _ in range(2):
            person = study.enter()
            for slot in person.slots():
                person.answer(slot["slot"])
        study.studio.writer.submit(answer_counters.count_next_answers_and_return_has_more).result()
        study.studio.writer.submit(
            lambda c: erase_worker_and_return_audit_line(c, "test", person.entered["me"]["worker"])
        ).result()
        other = study.enter()
        for slot in other.slots()[:3]:
            other.answer(slot["slot"])
        assert live_counts(study) == plain_counts(study)


def test_references_to_slots_have_an_index(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        for child, column in (("answers", "slot_id"), ("slots", "repeat_of")):
            plan = f"EXPLAIN QUERY PLAN SELECT 1 FROM {child} WHERE {column} = 1"  # foreign key check of DELETE
            [row] = study.studio.read_sync(lambda c, plan=plan: c.exec_driver_sql(plan).all())
            assert f"ix_{child}_{column}" in row[-1]


def listed(study: Served, order: Any, between: Any = None, limit: int = 3) -> list[str]:
    """Read a list page by page and return all names; call `between` after each page."""
    names, after = [], None
    while True:
        page = study.studio.read_sync(lambda c, at=after: get_page_of_tasks(c, at, limit, order))
        names += [one.name for one in page.tasks]
        if page.next is None:
            return names
        after = page.next
        if between is not None:
            between()


def test_pages_list_each_task_once_while_answers_come_in(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(per_task=6, batch=5, sittings=4), text_tasks(14)) as study:
        rng = random.Random(1)
        aggregates = SnapshotComputer(study.studio.engine)

        def answer() -> None:
            person = study.enter()
            for slot in person.slots():
                person.answer(slot["slot"], rng.choice(LABELS))
            aggregates.compute_and_publish_snapshot(study.studio.study)

        answer()
        for order in ("name", "entropy", "given"):
            before = listed(study, order, limit=5)
            assert listed(study, order, answer, limit=5) == before and sorted(before) == [
                f"t{i:03d}" for i in range(14)
            ]
        known = study.look(select(soft_labels).where(soft_labels.c.until == OPEN_END))
        by_hand = Counter(row.task_id for row in study.look(select(answers)))
        assert {row.task_id: row.n for row in known if row.n} == dict(by_hand) and len(known) == 14
        page = study.studio.read_sync(lambda c: get_page_of_tasks(c, None, 14, "entropy"))
        there = [one.entropy for one in page.tasks if one.entropy is not None]
        assert there == sorted(there, reverse=True) and len(there) == len(by_hand)


def test_a_cursor_of_an_old_snapshot_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "KEEP_SECONDS", 0.0)
    with served(tmp_path / "s", None, text_tasks(6)) as study:
        study.sign_in()
        first = study.http.get("/api/owner/tasks?order=given&limit=2").json()
        person = study.enter()
        for slot in person.slots():
            person.answer(slot["slot"])
            SnapshotComputer(study.studio.engine).compute_and_publish_snapshot(study.studio.study)
        said = study.http.get(f"/api/owner/tasks?order=given&limit=2&after={first['next']}")
        assert said.status_code == 409 and "first page" in said.json()["detail"]
        # old snapshots are deleted
        assert len(study.look(select(soft_labels))) == 6 and len(study.look(select(snapshots))) == 1
        for after in ("x", "1_2", "0_nan_0", "-1_0_0", "99_0_0", "0_1e400_0"):
            assert study.http.get(f"/api/owner/tasks?order=entropy&after={after}").status_code == 422, after


def test_tasks_and_workers_are_found_by_prefix(tmp_path: Path) -> None:
    names = ["a%b", "a_c", "ab", "b", "é1", "é2"]
    with served(tmp_path / "s", None, [NewTask(name, text="x") for name in names]) as study:
        study.sign_in()

        def found(prefix: str) -> list[str]:
            said = study.http.get("/api/owner/tasks", params={"prefix": prefix}).json()
            return [one["name"] for one in said["tasks"]]

        assert [found(one) for one in ("a", "a%", "é", "zz", "")] == [names[:3], ["a%b"], names[4:], [], names]
        who = sorted(study.enter().entered["me"]["worker"] for _ in range(4))
        said = study.http.get("/api/owner/workers", params={"prefix": who[1][:9]}).json()
        assert [one["worker"] for one in said["workers"]] == [who[1]]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_workers_can_be_sorted_by_any_score(tmp_path: Path, kind: str, request: pytest.FixtureRequest) -> None:
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"))
    with served(tmp_path / "s", plain_study(per_task=9, **admitting("a")), text_tasks(4), database=database) as study:
        study.sign_in()
        for i in range(5):
            person = study.enter(platform={"pid": f"secret-pid-{i}", "study": "a", "session": "b"})
            for slot in person.slots()[: i or None]:
                person.answer(slot["slot"], submitted_ms=1000 + 100 * i)
        study.enter()
        study.enter()
        study.enter()
        SnapshotComputer(study.studio.engine).compute_and_publish_snapshot(study.studio.study)
        for order in get_args(WorkerOrder):
            lines, after = [], ""
            while after is not None:
                said = study.http.get(f"/api/owner/workers?limit=2&order={order}{after}").json()
                lines += said["workers"]
                after = f"&after={said['next']}" if said["next"] else None
            assert len({one["worker"] for one in lines}) == len(lines) == 8, order
            if order in ("answers", "seconds"):
                field = {"answers": "answers", "seconds": "median_seconds"}[order]
                values = [one[field] for one in lines if one["median_seconds"]]
                assert values == sorted(values, reverse=True) and lines[-1]["median_seconds"] is None
        pages = ("studies", "progress", "tasks", "workers", "agreement", "times", "flagged", "snapshot", "audit")
        assert not any("secret-pid" in study.http.get(f"/api/owner/{page}").text for page in pages)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_incremental_reading_equals_reading_all(tmp_path: Path, kind: str, request: pytest.FixtureRequest) -> None:
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"))
    with served(tmp_path / "s", plain_study(per_task=9, repeats=2), text_tasks(6), database=database) as study:
        log, rng = AnswerCache(), random.Random(2)
        for _ in range(3):
            person = study.enter()
            for slot in person.slots():
                person.answer(slot["slot"], rng.choice(LABELS), submitted_ms=1000, hidden_ms=rng.choice([0, 2000]))
            last = person.get("/api/answers").json()["answers"][-1]
            person.answer(last["slot"]["slot"], "ship", replaces=last["answer"], abstain=rng.random() < 0.5)
            with study.studio.engine.connect() as connection:
                log.append_new_rows_and_return_count(connection)
                piecewise = log.select_answers_that_count_from_cache(connection, LABELS)
                whole = read_answers_that_count_latest_per_slot(connection, LABELS)
        order = np.argsort(piecewise.ids)
        one, other = piecewise.answers.columns(), whole.answers.columns()
        place = np.append(np.argsort(order), -1)  # new position of each row of `piecewise` after sorting; -1 stays -1
        for name in other:
            mine = one[name][order] if name != "repeat_of" else place[one[name][order]]
            assert np.array_equal(mine, other[name], equal_nan=other[name].dtype.kind == "f"), name
        assert (piecewise.ids[order] == whole.ids).all() and len(whole.ids) == 18


def test_only_tasks_with_new_answers_get_new_soft_labels(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(per_task=9, batch=2, sittings=3), text_tasks(6)) as study:
        aggregates = SnapshotComputer(study.studio.engine)
        person = study.enter()
        for _ in range(3):
            for slot in person.slots():
                person.answer(slot["slot"], "cat", submitted_ms=100)
            aggregates.compute_and_publish_snapshot(study.studio.study)
        held = study.look(select(soft_labels).where(soft_labels.c.until == OPEN_END))
        # the worker model for truth may change the other tasks, too
        assert max(row.since for row in held) == 3 and len(held) == 6
        assert len(study.look(select(flags))) == 6 and [row.flags for row in study.look(select(standings))] == [6]
        one_go = SnapshotComputer(study.studio.engine)
        one_go.compute_and_publish_snapshot(study.studio.study)
        # a new process computes the same
        assert study.look(select(soft_labels).where(soft_labels.c.until == OPEN_END)) == held


def test_an_interrupted_snapshot_is_undone(tmp_path: Path) -> None:
    with served(tmp_path / "s", None, text_tasks(4)) as study:
        person = study.enter()
        for slot in person.slots():
            person.answer(slot["slot"])
        SnapshotComputer(study.studio.engine).compute_and_publish_snapshot(study.studio.study)
        before = study.look(select(soft_labels).order_by(soft_labels.c.task_id))
        number = publishing.undo_partial_and_reserve_snapshot_number(study.studio.engine)
        wrong = [SoftLabelRow(row.task_id, 9, 0.5, "[]") for row in before]
        assert publishing.write_and_count_changed_soft_labels(study.studio.engine, number, wrong) == 4
        assert {
            one.name for one in study.studio.read_sync(lambda c: get_page_of_tasks(c, None, 9, "entropy")).tasks
        } == {f"t{i:03d}" for i in range(4)}
        assert publishing.undo_partial_and_reserve_snapshot_number(study.studio.engine) == number
        assert study.look(select(soft_labels).order_by(soft_labels.c.task_id)) == before


def test_soft_labels_are_hidden_until_their_snapshot_is_published(tmp_path: Path) -> None:
    with served(tmp_path / "s", None, text_tasks(4)) as study:
        engine = study.studio.engine
        study.sign_in()

        def seen() -> list[Any]:
            lists = [study.http.get(f"/api/owner/tasks?order={order}").json() for order in ("name", "entropy", "given")]
            tasks = sorted(one["task"] for one in lists[0]["tasks"])
            return [*lists, *(study.http.get(f"/api/owner/tasks/{task}").json() for task in tasks)]

        new = [SoftLabelRow(row.id, 9, 0.5, '[["cat", 1.0, 0.9, 1.0]]') for row in study.look(select(tasks.c.id))]
        before, number = seen(), publishing.undo_partial_and_reserve_snapshot_number(engine)
        assert publishing.write_and_count_changed_soft_labels(engine, number, new) == 4
        assert seen() == before
        publishing.publish_snapshot_or_raise_outdated(engine, number, Snapshot())
        assert [one["line"]["top"][0]["label"] for one in seen()[3:]] == ["cat"] * 4


def test_fencing_stops_a_delayed_former_leader_from_writing(tmp_path: Path) -> None:
    with served(tmp_path / "s", None, text_tasks(4)) as study:
        engine = study.studio.engine
        new = [SoftLabelRow(row.id, 9, 0.5, "[]") for row in study.look(select(tasks.c.id))]
        held_up = publishing.undo_partial_and_reserve_snapshot_number(engine, "one")
        assert publishing.write_and_count_changed_soft_labels(engine, held_up, new[:2], "one") == 2
        number = publishing.undo_partial_and_reserve_snapshot_number(engine, "other")
        for late in (
            lambda: publishing.write_and_count_changed_soft_labels(engine, held_up, new, "one"),
            lambda: publishing.publish_snapshot_or_raise_outdated(engine, held_up, Snapshot(), writer_id="one"),
        ):
            with pytest.raises(publishing.Outdated):
                late()
        assert not study.look(select(soft_labels).where(soft_labels.c.n == 9)) and not study.look(select(snapshots))
        assert publishing.write_and_count_changed_soft_labels(engine, number, new, "other") == 4
        publishing.publish_snapshot_or_raise_outdated(engine, number, Snapshot(), writer_id="other")
        assert len(study.look(select(snapshots))) == 1


def test_publishing_waits_for_a_running_erasure(tmp_path: Path, postgres: str) -> None:
    with served(tmp_path / "s", None, text_tasks(4), database=fresh_database(postgres)) as study:
        person, engine = study.enter(), study.studio.engine
        person.answer(person.slots()[0]["slot"])
        number, name = publishing.undo_partial_and_reserve_snapshot_number(engine), person.entered["me"]["worker"]
        waits = text("SELECT COUNT(*) FROM pg_locks WHERE NOT granted")
        with ThreadPoolExecutor(1) as threads, engine.connect() as connection:
            with connection.begin():
                erase_worker_and_return_audit_line(connection, "test", name)  # deletes all snapshots, not committed yet
                late = threads.submit(
                    publishing.publish_snapshot_or_raise_outdated, engine, number, Snapshot(last_answer=1)
                )
                _until(lambda: late.done() or study.look(waits)[0][0])
            with pytest.raises(publishing.Outdated):
                late.result()
        assert study.look(select(snapshots)) == []


def test_no_snapshot_is_published_with_answers_of_a_worker_erased_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(tmp_path / "s", None, text_tasks(4)) as study:
        person, other = study.enter(), study.enter()
        for one in (person, other):
            for slot in one.slots():
                one.answer(slot["slot"])
        aggregates, name = SnapshotComputer(study.studio.engine), person.entered["me"]["worker"]
        flag = worker_scores_and_flags.replace_flags_of_answers_to_tasks

        def late(*given: Any) -> None:
            study.studio.writer.submit(lambda c: erase_worker_and_return_audit_line(c, "test", name)).result()
            monkeypatch.setattr(worker_scores_and_flags, "replace_flags_of_answers_to_tasks", flag)

        monkeypatch.setattr(worker_scores_and_flags, "replace_flags_of_answers_to_tasks", late)
        with pytest.raises(publishing.Outdated):
            aggregates.compute_and_publish_snapshot(study.studio.study)
        assert study.look(select(snapshots)) == []
        aggregates.compute_and_publish_snapshot(study.studio.study)
        held = study.look(select(soft_labels).where(soft_labels.c.until == OPEN_END))
        assert sorted(row.n for row in held) == [1] * 4 and len(study.look(select(standings))) == 1


def test_answers_are_accepted_while_a_snapshot_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Soft labels are written in several transactions, and nothing is locked between them."""
    monkeypatch.setattr(publishing, "ROWS_PER_TRANSACTION", 3)
    with served(tmp_path / "s", plain_study(per_task=50, batch=10), text_tasks(12)) as study:
        rows = [SoftLabelRow(row.id, 1, 0.5, "[]") for row in study.look(select(tasks.c.id))]
        person = study.enter()
        waiting, seen = person.slots(), []

        def come_between(new: Any, size: int) -> Iterator[Any]:
            for part in batched(new, size):
                yield part
                assert person.answer(waiting.pop()["slot"]).status_code == 200
                seen.append(len(study.look(select(soft_labels).where(soft_labels.c.since == 1))))

        monkeypatch.setattr(publishing, "batched", come_between)
        assert (
            publishing.write_and_count_changed_soft_labels(
                study.studio.engine, publishing.undo_partial_and_reserve_snapshot_number(study.studio.engine), rows
            )
            == 12
        )
        assert seen == [3, 6, 9, 12] and len(study.look(select(answers))) == 4


def test_a_failing_aggregator_alerts_the_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(votes: Any, method: str) -> Any:
        if method == "dawid-skene":
            raise ValueError("bad luck")
        return real(votes, method)

    real = truth_and_people.fit
    monkeypatch.setattr(truth_and_people, "fit", fail)
    with served(tmp_path / "s", plain_study(aggregator="dawid-skene"), text_tasks(4)) as study:
        study.sign_in()
        person = study.enter()
        for slot in person.slots():
            person.answer(slot["slot"])
        SnapshotComputer(study.studio.engine).compute_and_publish_snapshot(study.studio.study)
        told = study.http.get("/api/owner/snapshot").json()
        [alert] = told["troubles"]
        assert "'dawid-skene' failed: ValueError: bad luck" in alert["what"]
        assert f"soft labels for truth are {DEFAULT_METHODS['truth']}" in alert["what"]
        assert told["truth_by"] == DEFAULT_METHODS["truth"] and "another aggregator" in alert["to_do"]
        SnapshotComputer(study.studio.engine).compute_and_publish_snapshot(study.studio.study)
        assert study.http.get("/api/owner/snapshot").json()["troubles"] == [alert]  # not repeated in every round
        mended = study.studio.study.model_copy(update={"aggregator": ""})
        SnapshotComputer(study.studio.engine).compute_and_publish_snapshot(mended)
        assert study.http.get("/api/owner/snapshot").json()["troubles"] == []


def _children(parent: int) -> set[int]:
    """Return the ids of the child processes of a process."""
    found = set()
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(file.read_text().rpartition(")")[2].split()[1]) == parent:
                found.add(int(file.parent.name))
    return found


def _until(what: Any, seconds: float = 300.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, f"the condition was not met within {seconds} s"
        time.sleep(0.05)
    return found


@pytest.mark.slow
def test_the_computing_process_ends_with_a_killed_server(tmp_path: Path) -> None:
    with studied(tmp_path / "s", plain_study(), 4, "") as (servers, invite):
        servers.settings = servers.settings.model_copy(update={"is_leader": True, "snapshot_seconds": 0.1})
        servers.start()
        with httpx.Client(base_url=f"http://127.0.0.1:{servers.ports[0]}", timeout=PATIENCE) as http:
            token = http.post("/api/enter", json={"invite": invite}).json()["token"]
            who = {"Authorization": f"Bearer {token}"}
            slot = http.get("/api/tasks?n=1", headers=who).json()["slots"][0]["slot"]
            marks = [{"kind": "named", "label": "cat", "typed": "70"}]
            http.post("/api/answers", json={"key": "k", "slot": slot, "marks": marks}, headers=who)
            children = _until(lambda: _children(servers.pids[0]))
        servers.kill()
        _until(lambda: not any(Path(f"/proc/{child}").exists() for child in children))


def test_stopping_during_a_computation_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(tmp_path / "s", snapshot_seconds=0.01, is_leader=False) as study:
        person = study.enter()
        person.answer(person.slots()[0]["slot"])
        started: list[Any] = []

        def start(*words: Any, **how: Any) -> Any:
            started.append(subprocess.Popen(*words, **how))
            return started[-1]

        monkeypatch.setattr(child_process, "subprocess", SimpleNamespace(Popen=start, PIPE=subprocess.PIPE))
        for wait in (False, True):
            background = BackgroundThread(study.studio)
            background._thread.start()
            if wait:
                _until(lambda one=background: one._child)
            background.stop_thread_and_child_process()
            assert background._child is None and not background._thread.is_alive()
            assert all(child.returncode is not None for child in started)  # ended, and waited for
        assert started


def test_the_next_computation_waits_three_times_as_long_as_the_last_one_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(tmp_path / "s", None, text_tasks(4)) as study:
        person = study.enter()
        person.answer(person.slots()[0]["slot"])
        background, now, computed = BackgroundThread(study.studio), [100.0], []

        def compute_for_two_seconds(_: Any) -> None:
            computed.append(now[0])
            now[0] += 2

        monkeypatch.setattr(background, "_compute_results_and_set_alerts", compute_for_two_seconds)
        monkeypatch.setattr(background_thread, "time", SimpleNamespace(monotonic=lambda: now[0]))
        for now[0] in (100.0, 103.0, 107.9, 108.1):
            background.try_to_lead_and_run_jobs()
        assert computed == [100.0, 108.1]


def alerts(study: Served) -> list[str]:
    """Return the texts of the alerts that owners see."""
    return [one["what"] for one in study.http.get("/api/owner/snapshot").json()["troubles"]]


@pytest.mark.slow
def test_an_unreadable_study_toml_alerts_until_it_is_corrected(tmp_path: Path) -> None:
    with served(tmp_path / "s", None, text_tasks(4)) as study:
        study.sign_in()
        person = study.enter()
        person.answer(person.slots()[0]["slot"])
        background, file = BackgroundThread(study.studio), tmp_path / "s" / "study.toml"
        before = file.read_text()
        try:
            file.write_text("name = ")
            background.try_to_lead_and_run_jobs()
            assert "cannot be read" in alerts(study)[0]
            file.write_text(before.replace('aggregator = ""', 'aggregator = "dawid-skeen"'))
            background._not_before = 0.0
            background.try_to_lead_and_run_jobs()
            assert "dawid-skeen" in alerts(study)[0]
            file.write_text(before)
            background._not_before = time.monotonic() + 3600
            background.try_to_lead_and_run_jobs()  # too early: the round is skipped
            assert "dawid-skeen" in alerts(study)[0]
            background._not_before = 0.0
            background.try_to_lead_and_run_jobs()
            assert alerts(study) == []
        finally:
            background.stop_thread_and_child_process()


def test_failed_background_rounds_alert_until_one_succeeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(tmp_path / "s", None, text_tasks(4)) as study:
        study.sign_in()
        background = BackgroundThread(study.studio)

        def broken(connection: Any) -> int:
            raise ValueError("of somebody's answer")

        monkeypatch.setattr(background_thread, "end_some_overdue_leases_and_return_count", broken)
        background.run_jobs_and_turn_errors_into_alerts()
        [told] = study.http.get("/api/owner/snapshot").json()["troubles"]
        assert "ValueError" in told["what"] and "somebody" not in told["what"] and "in every round" in told["to_do"]
        background.run_jobs_and_turn_errors_into_alerts()
        assert study.http.get("/api/owner/snapshot").json()["troubles"] == [told]  # keeps the time of the first failure
        monkeypatch.undo()
        background.run_jobs_and_turn_errors_into_alerts()
        assert alerts(study) == []


def test_an_unwritable_database_alerts_from_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(tmp_path / "s", None, text_tasks(4)) as study:
        study.sign_in()
        background, writer = BackgroundThread(study.studio), study.studio.writer

        def full(job: Any) -> Any:
            raise Unavailable()

        with monkeypatch.context() as patch:
            patch.setattr(writer, "submit", full)
            background.run_jobs_and_turn_errors_into_alerts()
            [told] = study.http.get("/api/owner/snapshot").json()["troubles"]
            assert "database" in told["what"] and "disk" in told["to_do"]
            background.run_jobs_and_turn_errors_into_alerts()
            assert study.http.get("/api/owner/snapshot").json()["troubles"] == [told]
        background.run_jobs_and_turn_errors_into_alerts()
        assert alerts(study) == []


def test_a_failed_job_does_not_stop_others_and_is_retried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(tmp_path / "s", plain_study(pay={"base": "1"}), text_tasks(4)) as study:
        study.sign_in()
        person = study.enter()
        person.answer(person.slots()[0]["slot"])
        background, computation = BackgroundThread(study.studio), RoundRunner(study.studio.engine)
        payroll = computation.payroll
        monkeypatch.setattr(
            background, "_run_child_and_get_error_or_empty_by_job", computation.run_jobs_and_get_error_or_empty_by_job
        )

        def broken(connection: Any) -> bool:
            raise KeyError("x")

        with monkeypatch.context() as patch:
            patch.setattr(payroll._cache.visits, "append_new_rows_and_return_count", broken)
            patch.setattr(payroll, "_forget_written_pay_lines", lambda basis: None)
            background.run_jobs_and_turn_errors_into_alerts()
            assert "pay sheet could not be computed: KeyError" in alerts(study)[0]
            assert study.http.get("/api/owner/snapshot").json()["answers"] == 1  # the other jobs have run
        other = BackgroundThread(study.studio)  # the same server after a restart
        other.name = background.name
        monkeypatch.setattr(
            other, "_run_child_and_get_error_or_empty_by_job", computation.run_jobs_and_get_error_or_empty_by_job
        )
        other.run_jobs_and_turn_errors_into_alerts()
        assert alerts(study) == [] and study.http.get("/api/owner/pay").json()["people"] == 1


def test_alerts_of_another_server_are_removed_when_it_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(tmp_path / "s", None, text_tasks(4)) as study:
        study.sign_in()
        leader, other = BackgroundThread(study.studio), BackgroundThread(study.studio)
        leader.run_jobs_and_turn_errors_into_alerts()
        with monkeypatch.context() as patch:
            patch.setattr(other, "try_to_lead_and_run_jobs", lambda: 1 // 0)
            other.run_jobs_and_turn_errors_into_alerts()
        assert "ZeroDivisionError" in alerts(study)[0]
        other.run_jobs_and_turn_errors_into_alerts()  # is not the leader
        leader.run_jobs_and_turn_errors_into_alerts()
        assert alerts(study) == []
        with monkeypatch.context() as patch:  # removing an alert that cannot be saved adds none
            leader._alerts = {"pay": "x"}
            patch.setattr(study.studio.writer, "submit", lambda job: 1 // 0)
            leader._save_or_delete_alert("pay", "")
            assert study.studio.alerts == {}


def test_concurrent_alerts_do_not_block_each_other(tmp_path: Path, postgres: str) -> None:
    with served(tmp_path / "s", None, text_tasks(4), database=fresh_database(postgres), write_seconds=20) as study:
        with study.studio.engine.connect() as one, study.studio.engine.connect() as other:
            set_or_delete_alert_of_job(one, "pay", "no money")
            set_or_delete_alert_of_job(other, "aggregator", "no luck")  # before the first transaction commits
            one.commit()
            other.commit()
        assert [told.what for told in study.studio.read_sync(list_job_alerts)] == ["no money", "no luck"]


def test_a_missing_leader_alerts(tmp_path: Path) -> None:
    with served(tmp_path / "s", None, text_tasks(4)) as study:
        study.sign_in()
        person = study.enter()
        person.answer(person.slots()[0]["slot"])
        study.studio.writer.submit(lambda c: acquire_or_renew_leader_lease(c, "gone", -1000.0)).result()
        [told] = study.http.get("/api/owner/snapshot").json()["troubles"]
        assert "No server is computing" in told["what"] and "Restart" in told["to_do"]
        study.studio.writer.submit(lambda c: acquire_or_renew_leader_lease(c, "new")).result()
        assert alerts(study) == []


def test_a_snapshot_is_recomputed_once_for_answers_committed_late(tmp_path: Path, postgres: str) -> None:
    """An answer with a smaller id than the newest one may commit after the snapshot."""
    with served(tmp_path / "s", None, text_tasks(4), database=fresh_database(postgres)) as study:
        person = study.enter()
        person.answer(person.slots()[0]["slot"])
        aggregates = SnapshotComputer(study.studio.engine)
        aggregates.compute_and_publish_snapshot(study.studio.study)
        assert not study.studio.read_sync(is_result_snapshot_stale)
        long_ago = time.time() - 10 * answer_counters.COMMIT_SECONDS
        for change in (update(answers).values(received=long_ago), update(snapshots).values(at=long_ago + 1)):
            study.studio.writer.submit(lambda c, change=change: c.execute(change)).result()
        assert study.studio.read_sync(is_result_snapshot_stale)
        aggregates.compute_and_publish_snapshot(study.studio.study)
        assert not study.studio.read_sync(is_result_snapshot_stale)  # one recomputation is enough


@pytest.mark.parametrize("aggregator", ["", "dawid-skene"])
def test_only_changed_soft_labels_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, aggregator: str) -> None:
    made = plain_study(per_task=9, batch=6, sittings=3, aggregator=aggregator, form="one-label")
    with served(tmp_path / "s", made, text_tasks(12)) as study:
        written: list[int] = []
        write_rows = publishing.write_and_count_changed_soft_labels

        def count_rows(engine: Any, number: int, new: Any, by: str) -> int:
            rows = list(new)
            written.append(len(rows))
            return write_rows(engine, number, rows, by)

        monkeypatch.setattr(publishing, "write_and_count_changed_soft_labels", count_rows)
        one, other = SnapshotComputer(study.studio.engine), SnapshotComputer(study.studio.engine)

        def named(slot: Any) -> dict[str, str]:
            return {"kind": "named", "label": LABELS[int(slot["task"]["text"].split()[1]) % 2]}

        def renewed(by: SnapshotComputer) -> int:
            del written[:]
            by.compute_and_publish_snapshot(study.studio.study)
            return sum(written)

        people = [study.enter() for _ in range(3)]
        for person in people:
            for slot in person.slots():
                person.answer(slot["slot"], marks=[named(slot)])
        n = len({row.task_id for row in study.look(select(answers.c.task_id))})
        assert renewed(one) == n and renewed(one) == 0
        last = people[0].get("/api/answers").json()["answers"][0]
        people[0].answer(last["slot"]["slot"], replaces=last["answer"], marks=[named(last["slot"])])
        assert renewed(one) == 1
        assert renewed(other) == n  # a new leader writes all rows, and so does the first one afterwards
        held = study.look(select(soft_labels).where(soft_labels.c.until == OPEN_END))
        assert renewed(one) == n and study.look(select(soft_labels).where(soft_labels.c.until == OPEN_END)) == held


def test_a_snapshot_of_an_older_version_is_computed_again(tmp_path: Path) -> None:
    with served(tmp_path / "s", None, text_tasks(4)) as study:
        person = study.enter()
        for slot in person.slots():
            person.answer(slot["slot"])
        SnapshotComputer(study.studio.engine).compute_and_publish_snapshot(study.studio.study)
        [row] = study.look(select(snapshots))
        body = {
            name: value for name, value in json.loads(row.body).items() if "truth" not in name and name != "version"
        }
        for change in (update(snapshots).values(body=json.dumps(body)), update(soft_labels).values(truth="[]")):
            study.studio.writer.submit(lambda c, change=change: c.execute(change)).result()
        assert study.studio.read_sync(is_result_snapshot_stale)
        SnapshotComputer(study.studio.engine).compute_and_publish_snapshot(study.studio.study)
        assert not study.studio.read_sync(is_result_snapshot_stale)
        truths = {row.truth for row in study.look(select(soft_labels).where(soft_labels.c.until == OPEN_END))}
        assert truths and "[]" not in truths


def test_truth_that_takes_long_is_not_computed_in_every_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(truth_and_people, "MIN_SECONDS", 0.0)
    monkeypatch.setattr(truth_and_people, "IDLE_FACTOR", 1e6)
    with served(tmp_path / "s", plain_study(per_task=9, batch=2, sittings=3), text_tasks(6)) as study:
        study.sign_in()
        aggregates, person, known = SnapshotComputer(study.studio.engine), study.enter(), []
        for _ in range(3):  # the first fit of a process is not timed, the second is, and the third is put off
            for slot in person.slots():
                person.answer(slot["slot"], "cat")
            aggregates.compute_and_publish_snapshot(study.studio.study)
            held = study.look(select(soft_labels).where(soft_labels.c.until == OPEN_END, soft_labels.c.n > 0))
            known.append((len(held), sum(row.truth != "[]" for row in held)))
        assert known == [(2, 2), (4, 4), (6, 4)]
        assert "still to be added" in study.http.get("/api/owner/snapshot").json()["how"]
        assert not study.studio.read_sync(is_result_snapshot_stale)
        now = time.time() + 1e9
        for module in (truth_and_people, publishing):
            monkeypatch.setattr(module, "current_unix_time", lambda: now)
        assert study.studio.read_sync(is_result_snapshot_stale)  # it is due, though no answer came
        aggregates.compute_and_publish_snapshot(study.studio.study)
        held = study.look(select(soft_labels).where(soft_labels.c.until == OPEN_END, soft_labels.c.n > 0))
        assert all(row.truth != "[]" for row in held) and not study.studio.read_sync(is_result_snapshot_stale)
