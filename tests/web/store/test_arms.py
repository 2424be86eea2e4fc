"""Several forms in one study: how workers draw arms, and how each arm fills its quota."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

import plurivox as pv
from plurivox.core.errors import InputError
from plurivox.web.client.simulated_workers import run_async, simulate_workers
from plurivox.web.store.admin.erase_worker import erase_worker_and_return_audit_line
from plurivox.web.store.collect.leases import end_some_overdue_leases_and_return_count
from plurivox.web.store.collect.tasks_batches_quotas import NewTask, insert_fixed_batches
from plurivox.web.store.schema import arm_tasks, sittings, slots, tasks, workers
from plurivox.web.study.assigner_from_config import answers_per_task_assigner_and_arm_names
from plurivox.web.study.config import parse_study, read_study
from plurivox.web.study.export import export_study
from plurivox.web.study.study_toml_writer import render_study_toml
from studies import Person, Served, fresh_database, plain_study, served, text_tasks

TWO = ["one-label", "ranking"]


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    return "" if request.param == "sqlite" else fresh_database(request.getfixturevalue("postgres"))


def form_of(person: Person) -> str:
    return str(person.get("/api/me").json()["form"])


def say(person: Person, slot: str, **more: Any) -> int:
    marks = [{"kind": "named", "label": "cat"}]
    return person.post("/api/answers", {"key": f"k{slot}", "slot": slot, "marks": marks, **more}).status_code


def counted(study: Served) -> dict[tuple[str, str], int]:
    """Count the slots by (arm, task) that count towards the quota."""
    wanted = select(workers.c.arm, tasks.c.name).join(slots, slots.c.worker_id == workers.c.id)
    wanted = wanted.join(tasks, tasks.c.id == slots.c.task_id).where(slots.c.number.is_not(None))
    return dict(Counter((arm, task) for arm, task in study.look(wanted)))


def books(study: Served) -> dict[tuple[str, str], int]:
    """Return the same counts as stored in `arm_tasks`."""
    wanted = select(arm_tasks.c.arm, tasks.c.name, arm_tasks.c.given).join(tasks, tasks.c.id == arm_tasks.c.task_id)
    return {(arm, task): given for arm, task, given in study.look(wanted) if given}


def let_leases_end(study: Served) -> None:
    def end(connection: Any) -> None:
        connection.execute(update(sittings).where(sittings.c.until.is_not(None)).values(until=1.0))
        end_some_overdue_leases_and_return_count(connection)

    study.studio.writer.submit(end).result()


def test_workers_draw_arms_in_blocks_and_keep_their_arm(tmp_path: Path, database: str) -> None:
    arms = [{"form": "one-label", "share": 2}, {"form": "ranking"}, {"name": "ten", "form": "chips", "chips": 10}]
    made = plain_study(arm=arms, per_task=100)
    with served(tmp_path / "s", made, database=database) as study:
        people = [study.enter() for _ in range(16)]
        drawn = [row.arm for row in study.look(select(workers).order_by(workers.c.born))]
        for at in range(0, 16, 4):
            assert Counter(drawn[at : at + 4]) == {"one-label": 2, "ranking": 1, "ten": 1}
        me = {person.entered["me"]["worker"]: person.get("/api/me").json() for person in people}
        for row in study.look(select(workers)):
            asked = me[row.pseudonym]
            assert (asked["form"], asked["chips"]) == {"ten": ("chips", 10)}.get(row.arm, (row.arm, 20))
        link = people[0].entered["personal_link"].split("#link=")[1]
        assert study.enter(link=link).entered["me"]["form"] == form_of(people[0])


def test_each_arm_fills_its_quota_and_is_then_full(tmp_path: Path, database: str) -> None:
    with served(tmp_path / "s", plain_study(forms=TWO, per_task=2), text_tasks(4), database=database) as study:
        for n in range(4):
            person = study.enter()
            assert [say(person, slot["slot"]) for slot in person.slots()] == [200] * 4, n
        assert counted(study) == {(arm, f"t{i:03d}"): 2 for arm in TWO for i in range(4)} == books(study)
        assert {(row.quota, row.given, row.queue) for row in study.look(select(tasks))} == {(4, 4, None)}
        assert study.enter().slots() == []


def test_an_answer_is_checked_and_stored_with_the_form_of_the_workers_arm(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(forms=TWO, per_task=3), text_tasks(4)) as study:
        people = {form_of(person): person for person in [study.enter() for _ in range(4)]}
        assert set(people) == set(TWO)
        both = [{"kind": "named", "label": "cat"}, {"kind": "named", "label": "dog"}]
        for form, said in (("one-label", 422), ("ranking", 200)):
            slot = people[form].slots()[0]["slot"]
            assert people[form].post("/api/answers", {"key": "k", "slot": slot, "marks": both}).status_code == said
        assert say(people["one-label"], people["one-label"].slots()[0]["slot"]) == 200
        assert export_study(study.studio.engine, study.studio.study, tmp_path / "out") == 2
    data = pv.read(tmp_path / "out")
    assert sorted(data.answers.form.tolist()) == sorted(TWO)
    views = data.tables["views"]().to_dicts()
    assert {(row["arm"], row["worker"]) for row in views} <= {
        (row["arm"], row["worker"]) for row in data.tables["arms"]().to_dicts()
    }
    assert {row["form"] for row in data.tables["arms"]().to_dicts()} == set(TWO)
    assert pv.elicit_votes(data.answers, "form-column").outcome_counts["read"] == 2


def test_unanswered_slots_are_released_to_the_same_arm(tmp_path: Path, database: str) -> None:
    with served(tmp_path / "s", plain_study(forms=TWO, per_task=1), text_tasks(4), database=database) as study:
        first, second = study.enter(), study.enter()
        late = first.slots()
        for slot in second.slots():
            say(second, slot["slot"])
        let_leases_end(study)
        assert set(counted(study)) == set(books(study)) == {(form_of(second), f"t{i:03d}") for i in range(4)}
        third = study.enter()
        assert form_of(third) == form_of(first)  # the other arm is full, so it is not drawn
        slots_ = third.slots()
        assert len(slots_) == 4 and all(say(third, slot["slot"]) == 200 for slot in slots_)
        assert say(first, late[0]["slot"]) == 200  # stored as an extra answer, because the arm is full
        assert [row.state for row in study.look(select(slots)) if f"{row.id:x}" == late[0]["slot"]] == ["extra"]
        assert set(counted(study).values()) == {1} and counted(study) == books(study)


def test_a_full_arm_is_not_drawn_until_a_worker_is_erased(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(forms=TWO, per_task=1), text_tasks(4)) as study:
        person = study.enter()
        for slot in person.slots():
            say(person, slot["slot"])
        others = {form_of(study.enter()) for _ in range(6)}
        assert others == {one for one in TWO if one != form_of(person)}
        study.studio.writer.submit(
            lambda c: erase_worker_and_return_audit_line(c, "test", person.entered["me"]["worker"])
        ).result()
        assert counted(study) == books(study) == {}
        assert {form_of(study.enter()) for _ in range(8)} == set(TWO)


def test_strata_and_fixed_batches_apply_in_every_arm(tmp_path: Path) -> None:
    mixed = [NewTask(f"{name}{i}", text="x", stratum=name) for name, n in (("hard", 4), ("easy", 2)) for i in range(n)]
    made = plain_study(forms=TWO, per_task=1, strata={"hard": 2, "easy": 1})
    with served(tmp_path / "a", made, mixed) as study:
        for n in range(1, 5):
            assert len(study.enter().slots()) == 3
            per_stratum = Counter(task[:4] for _, task in counted(study))
            assert per_stratum == {"hard": 2 * n, "easy": n} and counted(study) == books(study)
        assert books(study) == {(arm, one.name): 1 for arm in TWO for one in mixed}
    made = plain_study(forms=TWO, per_task=1)
    with served(tmp_path / "b", made, text_tasks(4)) as study:
        batches = {"one": ["t000", "t001"], "two": ["t002", "t003"]}
        study.studio.writer.submit(
            lambda c: insert_fixed_batches(c, answers_per_task_assigner_and_arm_names(made, has_batches=True), batches)
        ).result()
        for _ in range(4):
            assert len(study.enter().slots()) == 2
        assert counted(study) == {(arm, f"t{i:03d}"): 1 for arm in TWO for i in range(4)} == books(study)


def test_adding_arms_later_keeps_existing_answers(tmp_path: Path) -> None:
    made = plain_study(per_task=1, form="one-label")
    with served(tmp_path / "s", made, text_tasks(4)) as study:
        old = study.enter()
        begun = old.slots()
        say(old, begun[0]["slot"])
        assert study.look(select(arm_tasks)) == []
    (tmp_path / "s" / "study.toml").write_text(render_study_toml(plain_study(per_task=1, form="one-label", forms=TWO)))
    with served(tmp_path / "s") as study:
        old.served = study
        assert [say(old, slot["slot"]) for slot in begun[1:]] == [200] * 3 and form_of(old) == "one-label"
        for _ in range(2):
            person = study.enter()
            assert [say(person, slot["slot"]) for slot in person.slots()] == [200] * 4
        assert {row.given for row in study.look(select(tasks))} == {3}


def test_simulated_workers_answer_in_their_arm(tmp_path: Path) -> None:
    made = plain_study(forms=["top-two", "chips", "ranking"], per_task=2, labels=["cat", "dog", "ship", "bird"])
    with served(tmp_path / "s", made, text_tasks(4)) as study:
        run_async(simulate_workers(study.url, study.invite(), 6, seed=1, patience=600))
        assert set(books(study).values()) == {2} and len(books(study)) == 12
        assert export_study(study.studio.engine, made, tmp_path / "out") == 24
    read = pv.elicit_votes(pv.read(tmp_path / "out").answers, "form-column")
    assert read.outcome_counts["read"] == 24 and pv.fit(read.votes, "dawid-skene").soft.prob.shape == (4, 4)


def test_study_toml_with_arms_round_trips_and_reports_errors(tmp_path: Path) -> None:
    made = plain_study(arm=[{"form": "top-two", "wording": "first", "share": 3}, {"form": "ranking"}])
    (tmp_path / "study.toml").write_text(render_study_toml(made))
    assert read_study(tmp_path) == made and [one.name for one in made.arms] == ["top-two", "ranking"]
    assert made.config_of_arm("top-two").wording == "first" and made.config_of_arm("nothing") == made
    base = {"name": "x", "labels": ["a", "b"]}
    for wrong, why in (
        ({"forms": ["ranking"]}, "two or more"),
        ({"forms": ["ranking", "ranking"]}, "unique name"),
        ({"forms": TWO, "arm": [{"form": "ranking"}]}, "either forms or"),
        ({"forms": ["rank", "chips"]}, "forms"),
        ({"arm": [{"form": "chips", "chips": 30}, {"form": "ranking"}]}, "cannot be divided"),
        ({"chips": 30}, "cannot be divided"),
    ):
        with pytest.raises(InputError, match=why):
            parse_study({**base, **wrong})


def test_next_best_fills_every_arm_up_to_its_quota(tmp_path: Path, database: str) -> None:
    made = plain_study(forms=TWO, per_task=1, assign="next-best")
    with served(tmp_path / "s", made, text_tasks(4), database=database) as study:
        for _ in range(2):
            person = study.enter()
            assert [say(person, slot["slot"]) for slot in person.slots()] == [200] * 4
        assert counted(study) == {(arm, f"t{i:03d}"): 1 for arm in TWO for i in range(4)} == books(study)
        assert study.enter().entered["me"]["stage"] in ("tasks", "done")
