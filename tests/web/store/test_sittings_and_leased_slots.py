"""Sittings and leases: which worker gets which task, in which order, and what happens to unanswered slots."""

from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import select, update

from plurivox.web.store.collect.leases import end_some_overdue_leases_and_return_count
from plurivox.web.store.collect.tasks_batches_quotas import NewTask
from plurivox.web.store.random_ids import encode_id
from plurivox.web.store.report.answer_cache import read_answers_that_count_latest_per_slot
from plurivox.web.store.schema import answers, sittings, slots, tasks
from plurivox.web.study.create_study import insert_tasks_and_batches
from plurivox.web.study.study_toml_writer import render_study_toml
from studies import Person, Served, fresh_database, plain_study, served, server_clock, text_tasks


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    return "" if request.param == "sqlite" else fresh_database(request.getfixturevalue("postgres"))


def let_leases_end(study: Served) -> None:
    study.studio.writer.submit(lambda connection: connection.execute(update(sittings).values(until=1.0))).result()
    study.studio.writer.submit(end_some_overdue_leases_and_return_count).result()


def test_quotas_fill_up_and_no_worker_gets_a_task_twice(tmp_path: Path, database: str) -> None:
    with served(tmp_path / "s", plain_study(per_task=2, batch=4), text_tasks(8), database=database) as study:
        for _ in range(4):
            person = study.enter()
            for slot in person.slots():
                assert person.answer(slot["slot"]).status_code == 200
            assert person.get("/api/me").json()["stage"] == "done"
        late = study.enter()
        assert late.get("/api/me").json()["stage"] == "tasks" and late.get("/api/tasks").json()["enough"]
        assert {row.given for row in study.look(select(tasks.c.given))} == {2}
        pairs = Counter((row.task_id, row.worker_id) for row in study.look(select(slots)))
        assert set(pairs.values()) == {1}
        assert {row.number for row in study.look(select(slots.c.number))} == {1, 2}


def test_the_lease_grows_with_the_answers_given(tmp_path: Path, database: str) -> None:
    """One quick answer does not hold a whole batch for an hour."""
    with served(tmp_path / "s", plain_study(batch=8), text_tasks(8), database=database) as study:
        minutes = []
        person = study.enter()
        for slot in person.slots(8)[:3]:
            [row] = study.look(select(sittings.c.until))
            minutes.append(round((row.until - server_clock.time()) / 60))
            person.answer(slot["slot"])
        assert minutes == [5, 10, 15]


def test_repeats_come_later_at_random_places_without_a_hint(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(batch=10, repeats=3, per_task=50), text_tasks(10)) as study:
        places = set()
        for _ in range(6):
            person = study.enter()
            given = person.slots(10)
            assert set(given[0]) == {"slot", "task", "position", "practice"}
            for slot in given:
                person.answer(slot["slot"])
            for slot in person.slots(10):
                person.answer(slot["slot"])
        rows = {row.id: row for row in study.look(select(slots))}
        repeats = [row for row in rows.values() if row.kind == "repeat"]
        assert len(repeats) == 18
        for row in repeats:
            first = rows[row.repeat_of]
            assert first.task_id == row.task_id and row.position >= first.position + 2 and row.number is None
            places.add((first.position, row.position))
        assert len(places) > 6


def test_the_order_of_tasks_and_labels_differs_between_workers(tmp_path: Path) -> None:
    labels = [f"label {i}" for i in range(8)]
    with served(tmp_path / "s", plain_study(batch=10, per_task=50, labels=labels), text_tasks(10)) as study:
        people = [study.enter() for _ in range(4)]
        orders = [tuple(person.get("/api/me").json()["labels"]) for person in people]
        assert len(set(orders)) > 2 and all(sorted(order) == labels for order in orders)
        assert tuple(people[0].get("/api/me").json()["labels"]) == orders[0]
        assert len({tuple(slot["task"]["text"] for slot in person.slots()) for person in people}) > 2
        assert people[0].slots() == people[0].slots()


def test_every_sitting_has_the_tasks_per_stratum(tmp_path: Path) -> None:
    new = [NewTask(f"{kind}{i}", text=f"{kind} {i}", stratum=kind) for kind in ("hard", "easy") for i in range(12)]
    with served(tmp_path / "s", plain_study(strata={"hard": 5, "easy": 2}), new) as study:
        for _ in range(3):
            kinds = Counter(slot["task"]["text"].split()[0] for slot in study.enter().slots())
            assert kinds == {"hard": 5, "easy": 2}


def test_fixed_batches_stay_together_and_are_assigned_per_task_times(tmp_path: Path) -> None:
    batches = {"one": ["t000", "t001", "t002"], "two": ["t003", "t004"]}
    with served(tmp_path / "s", plain_study(per_task=2), text_tasks(6)) as study:
        insert_tasks_and_batches(study.studio.settings, study.studio.study, [], batches)
        seen = Counter()
        for _ in range(4):
            person = study.enter()
            given = person.slots()
            seen[frozenset(slot["task"]["text"] for slot in given)] += 1
            for slot in given:
                person.answer(slot["slot"])
        wanted = {frozenset({"text 0", "text 1", "text 2"}): 2, frozenset({"text 3", "text 4"}): 2}
        assert seen == wanted
        assert study.enter().get("/api/tasks").json()["enough"]


def test_editing_study_toml_changes_quotas_strata_and_labels(tmp_path: Path) -> None:
    new = [NewTask(f"{kind}{i}", text=f"{kind} {i}", stratum=kind) for kind in ("hard", "easy") for i in range(3)]
    with served(tmp_path / "s", plain_study(per_task=1, batch=6), new) as study:
        person = study.enter()
        for slot in person.slots():
            person.answer(slot["slot"], "ship")
        assert study.enter().get("/api/tasks").json()["enough"]
    edited = plain_study(per_task=2, strata={"hard": 2, "easy": 1}, labels=["cat", "dog"], texts={"debrief": "Thanks."})
    (tmp_path / "s" / "study.toml").write_text(render_study_toml(edited))
    with served(tmp_path / "s") as study:
        person = study.enter(link=person.entered["personal_link"].split("link=")[1])
        assert person.entered["me"]["stage"] == "done"
        other = study.enter()
        other.post("/api/me/stage", {"stage": "consent", "agreed": True})
        other.post("/api/me/stage", {"stage": "instructions"})
        assert Counter(slot["task"]["text"].split()[0] for slot in other.slots()) == {"hard": 2, "easy": 1}
        held = study.studio.read_sync(
            lambda connection: read_answers_that_count_latest_per_slot(connection, edited.labels)
        )
        assert held.answers.labels.tolist() == ["cat", "dog", "ship"]


def test_practice_comes_first_and_does_not_count(tmp_path: Path) -> None:
    new = [*text_tasks(4), NewTask("p", text="try", practice=True), NewTask("q", text="this", practice=True)]
    with served(tmp_path / "s", plain_study(practice=2), new) as study:
        person = study.enter()
        assert person.get("/api/me").json()["stage"] == "practice"
        first = person.slots()
        assert [slot["practice"] for slot in first] == [True, True]
        said = [person.answer(slot["slot"]).json() for slot in first]
        assert said[-1]["stage"] == "tasks" and said[-1]["progress"] == {
            "done": 2,
            "total": 2,
            "sitting": 1,
            "sittings": 1,
        }
        assert [slot["practice"] for slot in person.slots()] == [False] * 4
        assert person.get("/api/me").json()["progress"]["done"] == 0


def test_an_ended_lease_releases_its_slots_and_late_answers_are_saved(tmp_path: Path, database: str) -> None:
    with served(tmp_path / "s", plain_study(per_task=1, batch=3), text_tasks(3), database=database) as study:
        slow, quick = study.enter(), study.enter()
        given = slow.slots()
        assert quick.get("/api/tasks").json()["slots"] == []  # all slots are leased to the slow worker
        let_leases_end(study)
        other = study.enter()
        for slot in other.slots()[:2]:
            assert other.answer(slot["slot"]).json()["extra"] is False
        said = [slow.answer(slot["slot"]).json()["extra"] for slot in given]
        assert sorted(said) == [True, True, True]  # two tasks are full, the third is leased to another worker
        assert study.look(select(tasks.c.given).where(tasks.c.given > tasks.c.quota)) == []
        assert len(study.look(select(answers))) == 5


def test_a_worker_resumes_an_expired_sitting_with_the_open_tasks(tmp_path: Path, database: str) -> None:
    with served(tmp_path / "s", plain_study(per_task=1, batch=4, repeats=1), text_tasks(4), database=database) as study:
        person = study.enter()
        first = person.slots()
        assert len(first) == 5
        person.answer(first[0]["slot"])
        let_leases_end(study)
        assert [row.given for row in study.look(select(tasks.c.given).order_by(tasks.c.given))] == [0, 0, 0, 1]
        assert [slot["slot"] for slot in person.slots()] == [slot["slot"] for slot in first[1:]]
        assert person.answer(first[1]["slot"]).json()["extra"] is False
        for slot in person.slots():
            person.answer(slot["slot"])
        assert person.get("/api/me").json()["stage"] == "done"
        assert {row.given for row in study.look(select(tasks.c.given))} == {1}


def test_answers_renew_the_lease(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        person = study.enter()
        given = person.slots()
        study.studio.writer.submit(lambda c: c.execute(update(sittings).values(until=sittings.c.begun + 1))).result()
        person.answer(given[0]["slot"])
        row = study.look(select(sittings))[0]
        assert row.until > row.begun + 500


def test_several_sittings_follow_each_other(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(sittings=2, batch=3), text_tasks(7)) as study:
        person = study.enter()
        for sitting in (1, 2):
            given = person.slots()
            assert len(given) == 3 and person.get("/api/me").json()["progress"]["sitting"] == sitting
            said = [person.answer(slot["slot"]).json() for slot in given]
        assert said[-1]["enough"] and said[-1]["stage"] == "done"


def test_paused_and_closed_studies_assign_no_tasks_but_accept_answers(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        study.sign_in()
        person = study.enter()
        slot = person.slots()[0]["slot"]
        study.http.post("/api/owner/state", json={"state": "paused"}, headers=study.owner)
        assert person.get("/api/tasks").json()["error"] == "paused"
        assert person.get("/api/me").json()["state"] == "paused"
        assert person.answer(slot).status_code == 200
        assert study.http.post("/api/enter", json={"invite": study.invite()}).status_code == 409
        study.http.post("/api/owner/state", json={"state": "open"}, headers=study.owner)
        assert len(person.slots()) == 3


def test_a_lowered_quota_keeps_full_tasks_closed_when_slots_are_released(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(per_task=2), text_tasks(4)) as study:
        quick = study.enter()
        for slot in quick.slots():
            quick.answer(slot["slot"])
        study.enter().slots()  # a worker who leases slots and never answers
    (tmp_path / "s" / "study.toml").write_text(render_study_toml(plain_study(per_task=1)))
    with served(tmp_path / "s") as study:
        let_leases_end(study)
        assert {(row.given, row.queue) for row in study.look(select(tasks.c.given, tasks.c.queue))} == {(1, None)}
        assert study.enter().get("/api/tasks").json()["enough"]


def handed_out(study: Served) -> dict[str, float | None]:
    """Return slot -> when it was handed out, by the ids of the API."""
    return {encode_id(row.id): row.handed_out for row in study.look(select(slots.c.id, slots.c.handed_out))}


def test_a_slot_records_when_it_was_first_sent(tmp_path: Path, database: str) -> None:
    with served(tmp_path / "s", plain_study(batch=4), text_tasks(4), database=database) as study:
        person = study.enter()
        first, second = person.slots(2)
        before = handed_out(study)
        assert {name for name, at in before.items() if at is not None} == {first["slot"], second["slot"]}
        server_clock.let_pass(30)
        assert person.slots(2) == [first, second] and handed_out(study) == before  # sent again
        (_, third) = person.answer(first["slot"], ahead=2).json()["slots"]
        after = handed_out(study)
        sent = after[third["slot"]]
        assert sent is not None and before[first["slot"]] is not None and sent - before[first["slot"]] >= 30
        assert {name: after[name] for name in before if before[name] is not None} == {
            name: at for name, at in before.items() if at is not None
        }


def test_a_slot_leased_again_keeps_when_it_was_first_sent(tmp_path: Path, database: str) -> None:
    with served(tmp_path / "s", plain_study(batch=3), text_tasks(3), database=database) as study:
        person = study.enter()
        drafted = person.slots(3)[0]
        before = handed_out(study)
        save_draft(person, drafted["slot"])
        server_clock.let_pass(600)
        let_leases_end(study)
        person.slots(3)
        assert handed_out(study) == before  # the page may have shown it all along, and the draft contains that time
        late = study.enter()
        slot = late.slots(1)[0]["slot"]
        sent = handed_out(study)[slot]
        let_leases_end(study)
        assert (
            late.answer(slot).status_code == 200 and handed_out(study)[slot] == sent
        )  # was on the screen all the time


def save_draft(person: Person, slot: str) -> None:
    body = {"slot": slot, "body": "{}"}
    assert person.served.http.put("/api/draft", json=body, headers=person.headers).json() == {"kept": True}
