"""The store without a server: tasks, sittings, answers, drafts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, func, select

from plurivox.assign import AssignedTask, Quota
from plurivox.web.store.collect import sittings_and_leased_slots as sitting_store
from plurivox.web.store.collect.arms import draw_arm_without_replacement_from_block, get_pool_of_open_tasks_for_worker
from plurivox.web.store.collect.sittings_and_leased_slots import (
    begin_sitting_and_count_slots_as_given,
    get_latest_sitting,
    hand_out_first_unanswered_slots,
)
from plurivox.web.store.collect.submissions import (
    Draft,
    Mark,
    Submission,
    find_answer_by_submission_key,
    get_draft_of_worker,
    insert_answer_and_delete_its_draft,
    list_worker_answers_of_latest_sitting,
    lock_and_get_slot_with_sitting_and_worker,
    set_slot_answer_and_get_updated_sitting,
    try_save_draft_in_leased_slot,
)
from plurivox.web.store.collect.tasks_batches_quotas import (
    Assignment,
    NewTask,
    add_tasks,
    update_quotas_and_queues_if_options_changed,
)
from plurivox.web.store.collect.workers import Worker, add_worker
from plurivox.web.store.database import WRITE_OPTIONS, create_sqlite_engine, current_unix_time, migrate
from plurivox.web.store.errors import Conflict, NotFound, NotSignedIn
from plurivox.web.store.schema import arm_tasks, tasks
from plurivox.web.store.study_state import require_open_study, set_study_state

LEASE = 600.0


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    """Yield a connection to a database with three tasks, each with a quota of two answers."""
    engine = create_sqlite_engine(tmp_path / "study.db")
    migrate(engine)
    with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
        add_tasks(connection, Assignment(2, Quota()), [NewTask(name, text=name) for name in ("a", "b", "c")])
        yield connection
    engine.dispose()


def sit(connection: Connection, worker: Worker, n: int = 3) -> sitting_store.Sitting:
    pool = get_pool_of_open_tasks_for_worker(connection, worker, ())
    assert pool is not None
    chosen = [AssignedTask(task) for task in pool.least_assigned_open_tasks(None, n)]
    return begin_sitting_and_count_slots_as_given(connection, worker.id, 1, chosen, pool, LEASE)


def test_a_sitting_is_answered_slot_by_slot(connection: Connection) -> None:
    worker = add_worker(connection, "w1", "tasks", "", None)
    sitting = sit(connection, worker)
    assert (sitting.number, sitting.total, sitting.done, sitting.all_slots_answered) == (1, 3, 0, False)
    for at, shown in enumerate(hand_out_first_unanswered_slots(connection, sitting.id, 10)):
        slot = lock_and_get_slot_with_sitting_and_worker(connection, shown.id, worker.id)
        assert slot.worker == worker and slot.sitting.done == at
        said = Submission(f"k{at}", slot.id, [Mark("named", "cat", "70")])
        answer = insert_answer_and_delete_its_draft(connection, slot, said, "top-two", None, extra=False)
        counted = set_slot_answer_and_get_updated_sitting(connection, slot, answer, False, LEASE)
        assert counted is not None and counted.done == at + 1
    latest = get_latest_sitting(connection, worker.id)
    assert latest is not None and latest.all_slots_answered and latest.until is None
    assert [one.key for one in list_worker_answers_of_latest_sitting(connection, worker.id, 2)] == ["k2", "k1"]
    assert connection.execute(select(func.sum(tasks.c.given))).scalar() == 3


def test_an_answer_is_found_by_its_key(connection: Connection) -> None:
    worker = add_worker(connection, "w1", "tasks", "", None)
    slot = lock_and_get_slot_with_sitting_and_worker(
        connection, hand_out_first_unanswered_slots(connection, sit(connection, worker).id, 1)[0].id, worker.id
    )
    said = Submission("k", slot.id, [Mark("named", "caté", "70"), Mark("never", "dog")])
    first = insert_answer_and_delete_its_draft(connection, slot, said, "top-two", None, extra=False)
    assert set_slot_answer_and_get_updated_sitting(connection, slot, first, False, LEASE) is not None
    saved = find_answer_by_submission_key(connection, worker.id, "k")
    assert saved is not None and saved.id == first and saved.has_same_marks_and_abstention(said)
    assert not saved.has_same_marks_and_abstention(Submission("k", slot.id, [Mark("named", "caté", "70")]))
    assert not saved.has_same_marks_and_abstention(Submission("k", slot.id, said.marks, abstain=True))
    assert find_answer_by_submission_key(connection, worker.id + 1, "k") is None
    again = insert_answer_and_delete_its_draft(
        connection, slot, Submission("k2", slot.id), "top-two", first, extra=False
    )
    # a replacement does not advance the sitting
    assert set_slot_answer_and_get_updated_sitting(connection, slot, again, False, LEASE) is None
    assert lock_and_get_slot_with_sitting_and_worker(connection, slot.id, worker.id).answer_id == again
    with pytest.raises(NotFound):
        lock_and_get_slot_with_sitting_and_worker(connection, slot.id + 1, worker.id)
    with pytest.raises(NotSignedIn):
        lock_and_get_slot_with_sitting_and_worker(connection, slot.id, worker.id + 1)


def test_a_draft_is_deleted_with_the_answer_to_its_slot(connection: Connection) -> None:
    worker = add_worker(connection, "w1", "tasks", "", None)
    one, other = hand_out_first_unanswered_slots(connection, sit(connection, worker).id, 2)
    assert try_save_draft_in_leased_slot(connection, worker.id, Draft(one.id, "begun"))
    assert try_save_draft_in_leased_slot(connection, worker.id, Draft(one.id, "longer"))
    insert_answer_and_delete_its_draft(
        connection,
        lock_and_get_slot_with_sitting_and_worker(connection, other.id, worker.id),
        Submission("k", other.id),
        "x",
        None,
        False,
    )
    assert get_draft_of_worker(connection, worker.id) == Draft(one.id, "longer")
    slot = lock_and_get_slot_with_sitting_and_worker(connection, one.id, worker.id)
    set_slot_answer_and_get_updated_sitting(
        connection,
        slot,
        insert_answer_and_delete_its_draft(connection, slot, Submission("l", one.id), "x", None, False),
        False,
        LEASE,
    )
    assert get_draft_of_worker(connection, worker.id) is None and not try_save_draft_in_leased_slot(
        connection, worker.id, Draft(one.id, "late")
    )


def test_an_answer_renews_the_lease_after_a_quarter_of_it(connection: Connection) -> None:
    worker = add_worker(connection, "w1", "tasks", "", None)
    sitting = sit(connection, worker)
    assert not sitting.needs_lease_renewal(LEASE) and sitting.needs_lease_renewal(2 * LEASE)
    slot = lock_and_get_slot_with_sitting_and_worker(
        connection, hand_out_first_unanswered_slots(connection, sitting.id, 1)[0].id, worker.id
    )
    answer = insert_answer_and_delete_its_draft(
        connection, slot, Submission("k", slot.id), "top-two", None, extra=False
    )
    set_slot_answer_and_get_updated_sitting(connection, slot, answer, False, 2 * LEASE)
    latest = get_latest_sitting(connection, worker.id)
    assert latest is not None and latest.until is not None and latest.until > current_unix_time() + 1.9 * LEASE


def test_quotas_follow_the_assignment(connection: Connection) -> None:
    update_quotas_and_queues_if_options_changed(connection, Assignment(5, Quota(), ["first", "second"]))
    assert set(connection.execute(select(tasks.c.quota)).scalars()) == {10}
    assert connection.execute(select(arm_tasks.c.arm, arm_tasks.c.quota)).all().count(("first", 5)) == 3
    drawn = [draw_arm_without_replacement_from_block(connection, {"first": 1, "second": 2}) for _ in range(6)]
    assert sorted(drawn) == ["first"] * 2 + ["second"] * 4
    stranger = Worker(1, "w", 0, "tasks", "active", "third")
    assert get_pool_of_open_tasks_for_worker(connection, stranger, ["first", "second"]) is None


def test_a_closed_study_shows_its_own_text(connection: Connection) -> None:
    require_open_study(connection)
    set_study_state(connection, "test", "paused")
    with pytest.raises(Conflict, match="Back on Monday"):
        require_open_study(connection, "Back on Monday.")
