"""Concurrent requests: two servers on one PostgreSQL, double clicks, repeated answers, clocks set back."""

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, func, insert, select, update

from plurivox.web.services import owner_sign_in
from plurivox.web.services.next_tasks import get_or_lease_next_task_slots
from plurivox.web.services.submit_answer import SubmitResult, submit_answer
from plurivox.web.services.worker_stages import record_visit_and_move_to_next_stage
from plurivox.web.store import database
from plurivox.web.store.admin import owner_accounts_and_sessions as owner_store
from plurivox.web.store.admin.audit_log import SignInOrigin
from plurivox.web.store.collect import leases, submissions
from plurivox.web.store.collect import sittings_and_leased_slots as sitting_store
from plurivox.web.store.collect import workers as worker_store
from plurivox.web.store.collect.submissions import Mark, Submission
from plurivox.web.store.database import WRITE_OPTIONS
from plurivox.web.store.schema import answers, owners, sessions, sittings, slots, tasks, visits, workers
from plurivox.web.study.config import Study
from studies import PATIENCE, Person, Served, admitting, fresh_database, plain_study, served, text_tasks

TIMES = 4  # repetitions of races with a random outcome
PAGES = {"consent": "Agreed?", "instructions": "Look.", "debrief": "Thanks."}


@pytest.fixture
def both(tmp_path: Path, postgres: str) -> Iterator[Callable[..., tuple[Served, Served]]]:
    """Start two servers of one study on one PostgreSQL database."""
    with ExitStack() as stack:

        def start(study: Study, n: int = 6) -> tuple[Served, Served]:
            place = fresh_database(postgres)
            one, other = (
                stack.enter_context(served(tmp_path / "s", study, text_tasks(n), database=place)) for _ in range(2)
            )
            return one, other

        yield start


def at_once(*calls: Callable[[], httpx.Response]) -> list[httpx.Response]:
    """Run all calls at the same time and return their responses."""
    gate = threading.Barrier(len(calls))

    def run(call: Callable[[], httpx.Response]) -> httpx.Response:
        gate.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def post(study: Served, path: str, body: Any, **headers: str) -> Callable[[], httpx.Response]:
    return lambda: httpx.post(study.url + path, json=body, headers=headers, timeout=PATIENCE)


def whole(study: Served) -> None:
    """Assert that the count of each task equals its slots and is within the quota."""
    held = Counter(row.task_id for row in study.look(select(slots)) if row.number is not None)
    assert all(row.given == held[row.id] <= row.quota for row in study.look(select(tasks)))


def one_after_the_other(study: Served, first: Callable[[Connection], Any], second: Callable[[Connection], Any]) -> None:
    """Start `second` in another transaction before the one of `first` commits, as on two servers."""
    with study.studio.engine.connect().execution_options(**WRITE_OPTIONS) as early, ThreadPoolExecutor(1) as pool:

        def late() -> None:
            with study.studio.engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
                second(connection)

        with early.begin():
            first(early)
            waiting = pool.submit(late)
            waits = (
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            )
            while not waiting.done() and not study.studio.read_sync(lambda c: c.exec_driver_sql(waits).scalar()):
                pass
        waiting.result(PATIENCE)


def said(person: Person, slot: str, key: str, label: str = "cat") -> Callable[[Connection], SubmitResult]:
    """Return a job that submits an answer, as the server runs it."""
    worker = int(person.entered["token"].split(".")[0], 16)
    answer = Submission(key, int(slot, 16), [Mark("named", label, "70")])
    return partial(submit_answer, study=person.served.studio.study, worker=worker, submission=answer)


def body_of(slot: str, key: str) -> dict[str, Any]:
    """Return the body of an answer as the page sends it."""
    return {"key": key, "slot": slot, "marks": [{"kind": "named", "label": "cat", "typed": "70"}]}


def test_a_key_identifies_one_answer_of_a_worker(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        person = study.enter()
        slot = person.slots()[0]["slot"]
        assert person.answer(slot, key="k", abstain=True).status_code == 200
        assert person.answer(slot, key="k", abstain=True).json()["again"] is True
        assert person.answer(slot, key="k", none_of_these=True).json()["error"] == "key-used"
        other = study.enter()
        # keys are unique per worker only
        assert other.answer(other.slots()[0]["slot"], key="k").json()["again"] is False
        assert len(study.look(select(answers))) == 2


def test_a_late_answer_does_not_end_the_sitting_for_the_tasks_that_are_left(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(per_task=1, batch=4), text_tasks(4)) as study:
        person = study.enter()
        given = person.slots()
        study.studio.writer.submit(lambda c: c.execute(update(sittings).values(until=1.0))).result()
        study.studio.writer.submit(leases.end_some_overdue_leases_and_return_count).result()
        assert person.answer(given[0]["slot"]).json()["extra"] is False  # the outbox is sent first
        assert [slot["slot"] for slot in person.slots()] == [slot["slot"] for slot in given[1:]]
        assert person.get("/api/me").json()["stage"] == "tasks"


def test_two_late_answers_to_one_slot_on_two_servers_count_once(both: Any) -> None:
    study, _ = both(plain_study(per_task=3, batch=2), 2)
    person = study.enter()
    slot = person.slots()[0]["slot"]
    study.studio.writer.submit(lambda c: c.execute(update(sittings).values(until=1.0))).result()
    study.studio.writer.submit(leases.end_some_overdue_leases_and_return_count).result()
    one_after_the_other(study, said(person, slot, "first"), said(person, slot, "second", "dog"))
    whole(study)
    rows = study.look(select(answers).order_by(answers.c.id))
    assert [row.replaces for row in rows] == [None, rows[0].id]  # the second replaces the first
    assert [row.answer_id for row in study.look(select(slots)) if row.state == "done"] == [rows[1].id]


def test_an_answer_sent_while_its_lease_ends_is_counted_once(both: Any) -> None:
    study, _ = both(plain_study(per_task=1, batch=2), 2)
    person = study.enter()
    slot = person.slots()[0]["slot"]
    study.studio.writer.submit(lambda c: c.execute(update(sittings).values(until=1.0))).result()
    one_after_the_other(study, leases.end_some_overdue_leases_and_return_count, said(person, slot, "k"))
    whole(study)
    assert [row.state for row in study.look(select(slots).where(slots.c.answer_id.is_not(None)))] == ["done"]


def test_two_servers_lease_each_slot_once_after_an_expired_lease(both: Any) -> None:
    study, _ = both(plain_study(per_task=3, batch=2), 2)
    person = study.enter()
    person.slots()
    study.studio.writer.submit(lambda c: c.execute(update(sittings).values(until=1.0))).result()
    study.studio.writer.submit(leases.end_some_overdue_leases_and_return_count).result()
    worker = int(person.entered["token"].split(".")[0], 16)
    ask = partial(get_or_lease_next_task_slots, study=study.studio.study, worker=worker, max_slots=3)
    one_after_the_other(study, ask, ask)
    whole(study)
    assert len(person.slots()) == 2


def test_answers_and_tasks_of_one_person_on_two_servers_at_once(both: Any) -> None:
    one, other = both(plain_study(per_task=2, batch=6))
    person = one.enter()
    asked = at_once(
        *(
            lambda url=url: httpx.get(f"{url}/api/tasks?n=10", headers=person.headers, timeout=PATIENCE)
            for url in (one.url, other.url)
        )
    )
    assert [reply.status_code for reply in asked] == [200, 200] and asked[0].json() == asked[1].json()
    for at, slot in enumerate(asked[0].json()["slots"]):
        body = body_of(slot["slot"], f"k{at}")
        keys = (f"k{at}", f"k{at}", f"again{at}")
        calls = [
            post(study, "/api/answers", body | {"key": key}, **person.headers) for study in (one, other) for key in keys
        ]
        replies = at_once(*calls)
        assert {reply.status_code for reply in replies} == {200}, [reply.text for reply in replies]
        assert sum(not reply.json()["again"] for reply in replies) == 2
    assert one.look(select(func.count()).select_from(answers)) == [(12,)]
    assert person.get("/api/me").json()["stage"] == "done"
    whole(one)


def test_a_double_click_advances_one_stage_even_on_two_servers(both: Any) -> None:
    one, other = both(plain_study(texts=PAGES))
    for _ in range(TIMES):
        person = one.enter()
        agree = {"stage": "consent", "agreed": True}
        replies = at_once(
            *(post(study, "/api/me/stage", agree, **person.headers) for study in (one, other, one, other))
        )
        assert {reply.status_code for reply in replies} <= {200, 409}
        assert {reply.json()["me"]["stage"] for reply in replies} == {"instructions"}
        assert person.get("/api/me").json()["stage"] == "instructions"
    assert len(one.look(select(visits))) == TIMES  # each stage change is recorded once


def test_an_outdated_tab_does_not_move_a_worker_back(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(texts=PAGES)) as study:
        person = study.enter()
        stale = study.studio.read_sync(
            lambda c: worker_store.get_worker(c, c.execute(select(workers.c.id)).scalar_one())
        )
        person.post("/api/me/stage", {"stage": "consent", "agreed": True})
        person.post("/api/me/stage", {"stage": "instructions"})
        found = study.studio.writer.submit(
            lambda c: record_visit_and_move_to_next_stage(c, study.studio.study, stale)
        ).result()
        assert found.stage == person.get("/api/me").json()["stage"] == "tasks"


def test_entering_twice_at_once_creates_one_worker(both: Any) -> None:
    one, other = both(plain_study(**admitting("s")))
    for at in range(TIMES):
        way = {"platform": {"pid": f"pid{at}", "study": "s", "session": "t"}}
        strangers = at_once(*(post(study, "/api/enter", way) for study in (one, other, one, other)))
        assert sorted(reply.status_code for reply in strangers) == [200, 409, 409, 409]
        for same in ({"platform": way["platform"] | {"pid": f"own{at}"}}, {"invite": one.invite(1)}):
            replies = at_once(*(post(study, "/api/enter", same | {"key": f"{at}" * 20}) for study in (one, other, one)))
            assert {reply.status_code for reply in replies} == {200}
            assert len({reply.json()["me"]["worker"] for reply in replies}) == 1
    assert len(one.look(select(workers))) == 3 * TIMES


def test_the_last_use_of_an_invite_admits_one_worker(both: Any) -> None:
    one, other = both(plain_study())
    for _ in range(TIMES):
        way = {"invite": one.invite(1)}
        replies = at_once(*(post(study, "/api/enter", way) for study in (one, other, one, other)))
        assert sorted(reply.status_code for reply in replies) == [200, 403, 403, 403]


def test_a_setup_token_used_twice_at_once_makes_one_owner(both: Any) -> None:
    one, other = both(plain_study())
    token = one.studio.writer.submit(
        lambda c: owner_sign_in.create_setup_token_unless_owner_exists(c, one.studio.keys)
    ).result()
    calls = [
        post(
            study, "/api/owner/setup", {"token": token, "name": f"o{at}", "password": "correct horse"}, Origin=study.url
        )
        for at, study in enumerate((one, other, one, other))
    ]
    assert sorted(reply.status_code for reply in at_once(*calls)) == [200, 403, 403, 403]
    assert len(one.look(select(owners))) == 1
    assert (
        one.studio.writer.submit(
            lambda c: owner_sign_in.create_setup_token_unless_owner_exists(c, one.studio.keys)
        ).result()
        is None
    )


def test_an_answer_without_received_acknowledgement_counts_once(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        person = study.enter()
        slot = person.slots()[0]["slot"]
        body = json.dumps(body_of(slot, "k")).encode()
        head = f"POST /api/answers HTTP/1.1\r\nHost: x\r\nAuthorization: {person.headers['Authorization']}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", int(study.url.rsplit(":", 1)[1]))) as line:
            line.sendall(head.encode() + body)
        end = threading.Event()
        while not study.look(select(answers)):
            end.wait(0.01)
        assert person.answer(slot, key="k").json() | {"progress": 0} == person.answer(slot, key="k").json() | {
            "progress": 0
        }
        assert person.answer(slot, key="k").json()["again"] is True and len(study.look(select(answers))) == 1


def test_answers_are_stored_while_the_clock_goes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, shift = database.current_unix_time, [0.0]
    for module in (submissions, worker_store, sitting_store, leases, owner_store):
        monkeypatch.setattr(module, "current_unix_time", lambda: real() + shift[0])
    with served(tmp_path / "s", plain_study(sittings=2)) as study:
        study.sign_in()
        person, seen = study.enter(), []
        for at in range(8):
            shift[0] = -86_400.0 * at
            slot = person.slots(1)[0]
            seen.append(slot["slot"])
            reply = person.answer(slot["slot"], "cat", key=f"k{at}")
            assert reply.status_code == 200 and reply.json()["extra"] is False
            person.answer(slot["slot"], "dog", key=f"again{at}", replaces=f"k{at}")
        assert len(set(seen)) == 8 and person.get("/api/me").json()["stage"] == "done"
        last = select(answers.c.marks).join(slots, slots.c.answer_id == answers.c.id)
        assert all('"dog"' in row.marks for row in study.look(last))
        assert study.http.get("/api/owner/progress").json()["answers"] == 8
        whole(study)


def test_concurrent_sign_ins_of_one_owner_do_not_deadlock(tmp_path: Path, postgres: str) -> None:
    with served(tmp_path / "s", database=fresh_database(postgres), write_seconds=20) as study:
        study.sign_in()
        row = {"hidden": "x", "owner_id": 1, "csrf": "", "until": time.time() + 60}
        with study.studio.engine.connect() as one, study.studio.engine.connect() as other:
            one.execute(insert(sessions).values(row))  # holds a lock on the owner row until it commits
            owner_sign_in.begin_owner_session_and_return_tokens(
                other, study.studio.keys, 1, 1.0, "home", SignInOrigin("olga", "127.0.0.1")
            )
            other.commit()
            one.commit()
        assert len(study.look(select(sessions))) == 3
