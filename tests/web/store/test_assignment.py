"""Assignment of tasks: every assigner fills the quotas; workers wait, resume or are turned away."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, update

from plurivox.core.errors import InputError
from plurivox.web.jobs.result_snapshot import SnapshotComputer
from plurivox.web.store.admin.erase_worker import erase_worker_and_return_audit_line
from plurivox.web.store.collect import task_queue
from plurivox.web.store.collect.excluded_workers import exclude_if_active_and_release_slots, lift_exclusion
from plurivox.web.store.collect.leases import end_some_overdue_leases_and_return_count
from plurivox.web.store.collect.tasks_batches_quotas import NewTask
from plurivox.web.store.schema import answers, arm_tasks, plan_tasks, plans, sittings, slots, tasks, workers
from plurivox.web.study.create_study import insert_tasks_and_batches
from plurivox.web.study.study_toml_writer import render_study_toml
from studies import Person, Served, admitting, fresh_database, plain_study, seeded, served, text_tasks

pytestmark = pytest.mark.long

CODE = {"code": "PAID", "redirect": "https://app.prolific.com/submissions/complete?cc=PAID"}
OVERLAP = {"one": ["t000", "t001", "t002"], "two": ["t002", "t003"], "three": ["t000", "t003", "t004", "t005"]}
PERSON = {"pid": "p1", "study": "s1", "session": "x1"}


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    return "" if request.param == "sqlite" else fresh_database(request.getfixturevalue("postgres"))


def let_leases_end(study: Served) -> None:
    study.studio.writer.submit(
        lambda c: c.execute(update(sittings).where(sittings.c.until > 0).values(until=1.0))
    ).result()
    while study.studio.writer.submit(end_some_overdue_leases_and_return_count).result():
        pass


def answer_all(person: Person, label: str = "cat") -> int:
    given = person.slots(10)
    for slot in given:
        assert person.answer(slot["slot"], label).status_code == 200
    return len(given)


def holds(study: Served) -> None:
    """Assert the invariants of the tables: counts match slots, quotas hold, no worker has a task twice."""
    counted = dict(study.look(select(slots.c.task_id, func.count(slots.c.number)).group_by(slots.c.task_id)))
    for row in study.look(select(tasks.c.id, tasks.c.given, tasks.c.quota, tasks.c.queue)):
        assert row.given == counted.get(row.id, 0) <= row.quota
        assert (row.queue is None) == (row.given >= row.quota)
    arm = select(slots.c.task_id, workers.c.arm, func.count(slots.c.number)).join(
        workers, workers.c.id == slots.c.worker_id
    )
    by_arm = {row[:2]: row[2] for row in study.look(arm.group_by(slots.c.task_id, workers.c.arm))}
    for row in study.look(select(arm_tasks)):
        assert row.given == by_arm.get((row.task_id, row.arm), 0) <= row.quota
        assert (row.queue is None) == (row.given >= row.quota)
    pairs = Counter((row.worker_id, row.task_id) for row in study.look(select(slots).where(slots.c.kind == "task")))
    assert max(pairs.values(), default=1) == 1
    wanting = select(plan_tasks.c.plan_id).join(tasks, tasks.c.id == plan_tasks.c.task_id)
    wanting = wanting.where(tasks.c.given < tasks.c.quota)
    assert study.look(select(plans.c.id).where(plans.c.queue.is_(None), plans.c.id.in_(wanting))) == []


# ---- no task is open


def test_a_worker_waits_for_leased_tasks_and_gets_expired_ones(tmp_path: Path, database: str) -> None:
    made = plain_study(per_task=1, batch=3, completion=CODE, **admitting("s1"))
    with served(tmp_path / "s", made, text_tasks(3), database=database) as study:
        slow, late = study.enter(), study.enter(platform=PERSON)
        slow.slots()
        said = late.get("/api/tasks").json()
        assert said["slots"] == [] and not said["enough"] and late.get("/api/me").json()["stage"] == "tasks"
        ends = study.look(select(sittings.c.until))[0].until
        waiting = said["waiting"]
        assert waiting["until"] == ends and 5 <= waiting["again_seconds"] <= 30 and waiting["answered"] == 0
        assert late.post("/api/me/stage", {"stage": "tasks"}).json()["error"] == "full"
        assert late.post("/api/done").status_code == 409
        let_leases_end(study)
        assert len(late.slots()) == 3
        assert late.post("/api/me/stage", {"stage": "tasks"}).json()["error"] == "not-yet"
        assert answer_all(late) == 3 and late.post("/api/done").json()["code"] == "PAID"


def test_a_waiting_worker_with_answers_may_finish(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(per_task=1, batch=2, sittings=3, completion=CODE), text_tasks(4)) as study:
        person, other = study.enter(), study.enter()
        person.slots()
        other.slots()
        answer_all(person)
        assert person.get("/api/tasks").json()["waiting"]["answered"] == 2
        assert person.post("/api/me/stage", {"stage": "tasks"}).json()["me"]["stage"] == "done"
        assert person.post("/api/done").json() == {**CODE, "how": "done", "text": "", "submit": None}
        assert answer_all(other) == 2 and other.get("/api/tasks").json()["enough"]  # no lease is left to wait for
        assert other.get("/api/me").json()["stage"] == "done"


def test_a_full_study_gives_no_completion_code_without_answers(tmp_path: Path, database: str) -> None:
    texts = {"consent": "May we?", "instructions": "", "debrief": "Thanks.", "full": "Too late."}
    made = plain_study(per_task=1, batch=3, completion=CODE, texts=texts, **admitting("s1"))
    with served(tmp_path / "s", made, text_tasks(3), database=database) as study:
        first, early = study.enter(), study.enter(platform=PERSON)
        for person in (first, early):
            person.post("/api/me/stage", {"stage": "consent", "agreed": True})
        assert answer_all(first) == 3
        assert early.get("/api/tasks").json()["enough"]
        late = study.enter(platform={**PERSON, "pid": "p2"})  # the study is full: stage done before the instructions
        for person in (early, late):
            assert person.get("/api/me").json()["stage"] == "done"
            nothing = {"code": "", "redirect": "", "how": "full", "text": "Too late.", "submit": None}
            assert person.post("/api/done").json() == nothing
        first.post("/api/me/stage", {"stage": "debrief"})
        assert first.post("/api/done").json()["code"] == "PAID"


def test_an_expired_sitting_without_answers_gives_no_completion_code(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(per_task=1, batch=2, completion=CODE), text_tasks(2)) as study:
        idle = study.enter()
        idle.slots()
        let_leases_end(study)
        assert answer_all(study.enter()) == 2
        assert idle.get("/api/tasks").json()["enough"] and idle.post("/api/done").json()["how"] == "full"


def test_a_sitting_without_answers_does_not_count(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(per_task=1, batch=2), text_tasks(4)) as study:
        idle, other = study.enter(), study.enter()
        taken = {slot["task"]["text"] for slot in idle.slots()}
        let_leases_end(study)
        while taken - {row.text for row in study.look(select(tasks.c.text).where(tasks.c.queue.is_(None)))}:
            answer_all(other)
            other = study.enter()
        assert len(idle.slots()) == 4 - len(study.look(select(answers)))


# ---- quotas fill up


def test_batches_that_share_tasks_fill_up(tmp_path: Path, database: str) -> None:
    """Workers enter, leave, answer late and are erased; no worker gets a task twice, and all quotas are filled."""
    rng = random.Random(5)
    with served(tmp_path / "s", plain_study(per_task=3, sittings=2), text_tasks(6), database=database) as study:
        insert_tasks_and_batches(study.studio.settings, study.studio.study, [], OVERLAP)
        wanted = {row.name: row.quota for row in study.look(select(tasks.c.name, tasks.c.quota))}
        assert wanted == {"t000": 6, "t001": 3, "t002": 6, "t003": 6, "t004": 3, "t005": 3}
        left: list[tuple[Person, list[Any]]] = []
        for step in range(60):
            person = study.enter()
            given = person.slots()
            if step < 12 and rng.random() < 0.4:
                left.append((person, given))
            else:
                for slot in given:
                    person.answer(slot["slot"])
                answer_all(person)
            if step in (5, 11):
                let_leases_end(study)
            if step == 8:
                name = person.get("/api/me").json()["worker"]
                study.studio.writer.submit(
                    lambda c, name=name: erase_worker_and_return_audit_line(c, "test", name)
                ).result()
            if step == 12:
                for late, slots_then in left:
                    for slot in slots_then:
                        assert late.answer(slot["slot"]).status_code == 200
            holds(study)
            if {row.queue for row in study.look(select(plans.c.queue))} == {None}:
                break
        assert {row.name: row.given for row in study.look(select(tasks.c.name, tasks.c.given))} == wanted
        done = select(func.count()).where(slots.c.number.is_not(None), slots.c.state == "done")
        assert study.look(done)[0][0] == sum(wanted.values())


def test_a_full_batch_reopens_for_workers_new_to_its_tasks(tmp_path: Path) -> None:
    """After the worker of a batch is erased, another worker can get the batch."""
    with served(tmp_path / "s", plain_study(per_task=1, sittings=3), text_tasks(3)) as study:
        insert_tasks_and_batches(
            study.studio.settings, study.studio.study, [], {"a": ["t000", "t001"], "b": ["t000", "t002"]}
        )
        people = [study.enter() for _ in range(3)]
        assert answer_all(people[0]) == 2 and answer_all(people[1]) == 2
        name = people[0].get("/api/me").json()["worker"]
        study.studio.writer.submit(lambda c: erase_worker_and_return_audit_line(c, "test", name)).result()
        holds(study)
        assert answer_all(people[2]) == 2 and {row.queue for row in study.look(select(plans.c.queue))} == {None}


WAYS: dict[str, dict[str, Any]] = {
    "quota": {},
    "strata": {"strata": {"hard": 2, "easy": 1}},
    "batches": {},
    "next-best": {"assign": "next-best[least=0]"},
    "arms": {"arm": [{"name": name, "form": "top-two"} for name in ("left", "right")]},
}
DEEDS = ["come", "ask", "ask", "answer", "answer", "answer", "expire", "exclude", "lift", "erase"]


def decide(study: Served, what: str, who: str) -> None:
    """Exclude a worker, lift the exclusion or erase the worker."""
    person = study.look(select(workers.c.id, workers.c.status).where(workers.c.pseudonym == who))[0]
    if what == "exclude":
        study.studio.writer.submit(
            lambda c: exclude_if_active_and_release_slots(c, person.id, "rule", "reason")
        ).result()
    elif what == "lift" and person.status == "excluded":
        study.studio.writer.submit(lambda c: lift_exclusion(c, "owner", who)).result()
    elif what == "erase":
        study.studio.writer.submit(lambda c: erase_worker_and_return_audit_line(c, "test", who)).result()


def run_random_steps(study: Served, steps: list[tuple[str, int]]) -> None:
    """Run steps (enter, answer, expire, exclude, lift, erase) and check the invariants after each."""
    people: list[Person] = []
    had: dict[int, list[str]] = {}
    for what, which in steps:
        if what == "come" or not people:
            people.append(study.enter())
            what = "ask"
            which = len(people) - 1
        place = which % len(people)
        if what == "ask":
            said = people[place].get("/api/tasks?n=10").json()
            had.setdefault(place, []).extend(slot["slot"] for slot in said.get("slots", []))
        elif what == "answer" and had.get(place):
            assert people[place].answer(had[place].pop(which % len(had[place]))).status_code == 200
        elif what == "expire":
            let_leases_end(study)
        elif what in ("exclude", "lift", "erase"):
            decide(study, what, people[place].entered["me"]["worker"])
            if what == "erase":
                had[place] = []
        holds(study)
    let_leases_end(study)
    for _ in range(40):
        if not answer_all(study.enter()):
            break
    holds(study)
    assert study.look(select(tasks.c.id).where(tasks.c.given < tasks.c.quota)) == []


STEPS = st.lists(st.tuples(st.sampled_from(DEEDS), st.integers(0, 9)), max_size=30)


def new_tasks() -> list[NewTask]:
    return [NewTask(f"t{i:03d}", text=f"text {i}", stratum="easy" if i % 3 == 0 else "hard") for i in range(6)]


SLOW = {"batches", "next-best", "strata"}


@pytest.mark.parametrize("way", [pytest.param(way, marks=[pytest.mark.slow] * (way in SLOW)) for way in sorted(WAYS)])
def test_quotas_hold_for_any_sequence_of_worker_actions(tmp_path_factory: pytest.TempPathFactory, way: str) -> None:
    @settings(max_examples=6, deadline=None)
    @given(steps=STEPS)
    def run_steps(steps: list[tuple[str, int]]) -> None:
        made = plain_study(batch=3, per_task=2, sittings=2, repeats=1, **WAYS[way])
        with seeded(way), served(tmp_path_factory.mktemp("steps") / "s", made, new_tasks()) as study:
            if way == "batches":
                insert_tasks_and_batches(study.studio.settings, made, [], OVERLAP)
            run_random_steps(study, steps)

    run_steps()


@pytest.mark.slow
@pytest.mark.parametrize("way", sorted(WAYS))
def test_quotas_hold_for_any_sequence_of_worker_actions_on_postgresql(tmp_path: Path, postgres: str, way: str) -> None:
    rng = random.Random(way)
    steps = [(rng.choice(DEEDS), rng.randrange(10)) for _ in range(50)]
    made = plain_study(batch=3, per_task=2, sittings=2, repeats=1, **WAYS[way])
    with served(tmp_path / "s", made, new_tasks(), database=fresh_database(postgres)) as study:
        if way == "batches":
            insert_tasks_and_batches(study.studio.settings, made, [], OVERLAP)
        run_random_steps(study, steps)


# ---- next-best


@pytest.mark.parametrize(("kind", "aggregator"), [("sqlite", ""), ("postgresql", ""), ("sqlite", "dawid-skene")])
def test_next_best_asks_more_about_uncertain_tasks_and_stops(
    tmp_path: Path, request: pytest.FixtureRequest, kind: str, aggregator: str
) -> None:
    """Workers agree on even tasks and disagree on odd ones."""
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"))
    made = plain_study(
        per_task=8,
        batch=4,
        assign="next-best[least=0.02]",
        form="one-label",
        aggregator=aggregator,
        labels=["cat", "dog"],
    )
    with served(tmp_path / "s", made, text_tasks(8), database=database) as study:
        told = Counter[int]()
        for turn in range(30):
            person = study.enter()
            given = person.slots()
            for slot in given:
                number = int(slot["task"]["text"].split()[1])
                label = "cat" if number % 2 == 0 else ("cat", "dog")[told[number] % 2]
                told[number] += 1
                person.answer(slot["slot"], marks=[{"kind": "named", "label": label}])
            if turn == 1:
                assert {row.given for row in study.look(select(tasks.c.given))} == {1}  # one answer per task first
            SnapshotComputer(study.studio.engine).compute_and_publish_snapshot(made)
            if not given:
                break
        counts = {row.name: row.given for row in study.look(select(tasks.c.name, tasks.c.given))}
        clear, doubtful = ([counts[f"t{i:03d}"] for i in range(odd, 8, 2)] for odd in (0, 1))
        assert max(clear) < 8 and min(*clear, *doubtful) >= 3, counts
        assert min(doubtful) > max(clear), counts  # holds with Dawid-Skene too, which weights workers
        study.sign_in()
        settled = study.http.get("/api/owner/progress").json()["settled"]
        open_now = study.look(select(tasks).where(tasks.c.queue.is_not(None)))
        assert settled["least"] == 0.02 and settled["tasks"] == len(open_now) >= 4
        assert settled["spared"] == sum(row.quota - row.given for row in open_now)
        assert person.post("/api/done").json()["how"] == "full"


# ---- random draws


@pytest.mark.slow
@pytest.mark.parametrize("way", sorted(WAYS))
def test_a_seeded_study_assigns_the_same_tasks_again(tmp_path: Path, way: str) -> None:
    """All random draws come from one generator, which tests can seed."""
    made = plain_study(batch=3, per_task=2, sittings=2, repeats=1, **WAYS[way])

    def deal(folder: Path, seed: str) -> list[Any]:
        with seeded(seed), served(folder, made, new_tasks()) as study:
            if way == "batches":
                insert_tasks_and_batches(study.studio.settings, made, [], OVERLAP)
            people = [study.enter() for _ in range(4)]
            dealt = [(person.entered["me"], person.slots()) for person in people]
            let_leases_end(study)
            return [*dealt, *(study.enter().slots() for _ in range(3))]

    one, again, other = (deal(tmp_path / name, seed) for name, seed in [("a", "1"), ("b", "1"), ("c", "2")])
    assert one == again != other


# ---- study.toml


def test_the_assigner_is_inferred_or_named(tmp_path: Path) -> None:
    new = [NewTask(f"{kind}{i}", text=f"{kind} {i}", stratum=kind) for kind in ("hard", "easy") for i in range(6)]
    with served(tmp_path / "s", plain_study(strata={"hard": 2, "easy": 1}, batch=9, per_task=50), new) as study:
        assert len(study.enter().slots()) == 3
    for word, n in {
        "quota": 9,
        "quota[batch=5]": 5,
        "tasks-per-stratum[counts=[hard=1,easy=1]]": 2,
        "next-best": 9,
        "": 3,
    }.items():
        edited = plain_study(strata={"hard": 2, "easy": 1}, batch=9, per_task=50, assign=word)
        (tmp_path / "s" / "study.toml").write_text(render_study_toml(edited))
        with served(tmp_path / "s") as study:
            assert len(study.enter().slots()) == n, word
            queues = {row.queue for row in study.look(select(tasks.c.queue))}
            assert queues == ({"hard", "easy"} if n < 4 else {""})


def test_an_impossible_assigner_is_reported(tmp_path: Path) -> None:
    for word, said in {"fastest": "fastest", "quota[size=3]": "size", "tasks-per-stratum": "needs"}.items():
        with pytest.raises(ValueError, match=said):
            plain_study(assign=word)
    with pytest.raises(InputError, match="has no batches"), served(tmp_path / "s", plain_study(assign="batches")):
        pass


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        (task_queue.FEWEST_GIVEN, "ix_tasks_queue"),
        (task_queue.BY_GAIN, "ix_tasks_gain"),
        (task_queue.NEXT_BATCH, "ix_plans_queue"),
    ],
)
def test_no_query_for_open_tasks_sorts_all_tasks(tmp_path: Path, statement: Any, index: str) -> None:
    with served(tmp_path / "s", plain_study(assign="next-best")) as study:
        made = statement.compile(study.studio.engine)
        values = {**made.params, "queue": "", "worker": 1, "n": 5, "least": 0.1}
        given = tuple(values[name] for name in made.positiontup or ())
        found = study.studio.read_sync(lambda c: c.exec_driver_sql(f"EXPLAIN QUERY PLAN {made}", given).all())
        told = " | ".join(row[-1] for row in found)
        assert f"INDEX {index} (" in told and "TEMP B-TREE" not in told and "SCAN tasks" not in told, told
