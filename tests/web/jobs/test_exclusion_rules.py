"""Exclusion while the study runs: no new tasks, answers kept but not counted, slots released; owners can undo it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select, update

import plurivox as pv
from interfaces.web.page_actions import answer
from plurivox.core.errors import InputError
from plurivox.web.jobs.exclusion_rules import exclude_rule_breakers_and_return_count
from plurivox.web.jobs.result_snapshot import SnapshotComputer
from plurivox.web.store.admin.erase_worker import erase_worker_and_return_audit_line
from plurivox.web.store.collect.excluded_workers import lift_exclusion
from plurivox.web.store.collect.tasks_batches_quotas import NewTask, insert_fixed_batches
from plurivox.web.store.report.result_snapshots import is_result_snapshot_stale
from plurivox.web.store.schema import (
    OPEN_END,
    answers,
    audit,
    exclusions,
    flags,
    plans,
    slots,
    snapshots,
    soft_labels,
    standings,
    tasks,
    workers,
)
from plurivox.web.study.assigner_from_config import answers_per_task_assigner_and_arm_names
from plurivox.web.study.config import parse_study
from plurivox.web.study.export import export_study
from plurivox.web.study.read_task_and_answer_files import read_tasks
from studies import fresh_database, plain_study, served, text_tasks

KNOWN = [NewTask(f"t{i:03d}", text=f"text {i}", gold="cat") for i in range(4)]
RULES = {"rules": ["attention-checks[at_most=1]"], "least_answers": 2}


def fail(person: Any, n: int = 4) -> None:
    for slot in person.slots()[:n]:
        assert person.answer(slot["slot"], "dog").status_code == 200


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_worker_who_breaks_a_rule_is_excluded_and_others_fill_the_slots(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"))
    study = plain_study(per_task=1, exclude=RULES, completion={"code": "OK", "failed": "NO"}, sittings=2)
    with served(tmp_path / "s", study, KNOWN, database=database) as live:
        bad = live.enter()
        held = bad.slots()
        assert "gold" not in bad.get("/api/tasks").text and "gold" not in bad.get("/api/me").text
        for slot in held[:2]:
            bad.answer(slot["slot"], "dog", key=f"k{slot['slot']}")
        engine = live.studio.engine
        assert (
            exclude_rule_breakers_and_return_count(engine, study),
            exclude_rule_breakers_and_return_count(engine, study),
        ) == (
            1,
            0,
        )
        assert {row.given for row in live.look(select(tasks.c.given))} == {0}
        late = bad.answer(held[2]["slot"], "dog", ahead=2).json()  # the task on screen is stored, then the session ends
        assert late["extra"] and late["enough"] and late["stage"] == "done" and late["slots"] == []
        # corrections are stored too
        assert bad.answer(held[0]["slot"], "cat", replaces=f"k{held[0]['slot']}").status_code == 200
        assert bad.answer(held[1]["slot"], "dog", key=f"k{held[1]['slot']}").json()["again"]
        done = bad.post("/api/done").json()
        assert (done["how"], done["code"]) == ("failed", "NO") and done["text"] == study.texts.failed
        assert bad.get("/api/tasks").status_code == 409
        good = live.enter()
        assert len(good.slots()) == 4
        for slot in good.slots():
            good.answer(slot["slot"])
        assert good.slots() == [] and {row.given for row in live.look(select(tasks.c.given))} == {1}
        assert len(live.look(select(answers))) == 8  # answers of the excluded worker are not deleted
        assert export_study(engine, study, tmp_path / "out") == 4
        views = pv.io.read(tmp_path / "out").tables["views"]()
        assert sorted(views["excluded"].to_list()) == [False] * 4 + [True] * 4
        SnapshotComputer(engine).compute_and_publish_snapshot(study)
        assert exclude_rule_breakers_and_return_count(engine, study) == 0


def test_an_owner_sees_the_reason_and_can_lift_an_exclusion(tmp_path: Path) -> None:
    study = plain_study(per_task=1, exclude=RULES)
    with served(tmp_path / "s", study, KNOWN) as live:
        bad, engine = live.enter(), live.studio.engine
        fail(bad)
        exclude_rule_breakers_and_return_count(engine, study)
        SnapshotComputer(engine).compute_and_publish_snapshot(study)
        live.sign_in()
        said = live.http.get("/api/owner/exclusions").json()
        [one] = said["exclusions"]
        assert said["rules"] == RULES["rules"] and one["worker"] == bad.entered["me"]["worker"]
        assert one["reason"] == "failed 4 of 4 checks; at most 1 allowed" and one["lifted"] is None
        good = live.enter()
        for slot in good.slots():
            good.answer(slot["slot"])
        counts = lambda: [live.http.get("/api/owner/progress").json()[name] for name in ("answers", "late")]  # noqa: E731
        assert counts() == [4, 0]
        way = f"/api/owner/exclusions/{one['worker']}/lift"
        assert live.http.post(way).status_code == 403
        lifted = live.http.post(way, headers=live.owner).json()["exclusions"][0]["lifted"]
        assert counts() == [4, 4]
        assert lifted and live.http.post(way, headers=live.owner).status_code == 404
        mine = select(slots.c.state).where(slots.c.kind == "task")
        assert sorted(row.state for row in live.look(mine)) == ["done"] * 4 + ["extra"] * 4
        assert live.studio.read_sync(is_result_snapshot_stale)  # lifting an exclusion makes the snapshot stale
        # rules do not exclude a worker again after an owner lifted the exclusion
        assert exclude_rule_breakers_and_return_count(engine, study) == 0
        told = [row.what for row in live.look(select(audit))]
        assert "exclude" in told and "exclusion lifted" in told
        assert bad.post("/api/done").json()["how"] == "done"
        lines = live.http.get("/api/owner/workers").json()["workers"]
        assert {line["status"] for line in lines} == {"active"}


def test_a_fixed_batch_of_an_excluded_worker_is_assigned_again(tmp_path: Path) -> None:
    study = plain_study(per_task=1, exclude=RULES)
    with served(tmp_path / "s", study, KNOWN) as live:
        names = [one.name for one in KNOWN]
        live.studio.writer.submit(
            lambda c: insert_fixed_batches(
                c, answers_per_task_assigner_and_arm_names(study, has_batches=True), {"one": names}
            )
        ).result()
        bad = live.enter()
        fail(bad)
        assert live.enter().slots() == [] and live.look(select(plans.c.queue)) == [(None,)]
        exclude_rule_breakers_and_return_count(live.studio.engine, study)
        assert len(live.enter().slots()) == 4


def test_soft_labels_ignore_answers_of_excluded_workers(tmp_path: Path) -> None:
    study = plain_study(per_task=1, exclude=RULES)
    with served(tmp_path / "s", study, KNOWN) as live:
        bad, engine = live.enter(), live.studio.engine
        for slot in bad.slots():
            bad.answer(slot["slot"], "dog", submitted_ms=1.0)
        SnapshotComputer(engine).compute_and_publish_snapshot(study)
        assert [len(live.look(select(one))) for one in (flags, standings)] == [4, 1]
        exclude_rule_breakers_and_return_count(engine, study)
        SnapshotComputer(engine).compute_and_publish_snapshot(study)
        assert [len(live.look(select(one))) for one in (flags, standings)] == [0, 0]
        assert {(row.n, row.soft) for row in live.look(select(soft_labels).where(soft_labels.c.until == OPEN_END))} == {
            (0, "[]")
        }


@pytest.mark.parametrize("again", [False, True])
def test_owners_see_the_former_results_until_they_are_recomputed(tmp_path: Path, again: bool) -> None:
    study = plain_study(per_task=2, exclude=RULES, too_fast_seconds=0)
    with served(tmp_path / "s", study, KNOWN) as live:
        live.sign_in()
        good, bad, engine = live.enter(), live.enter(), live.studio.engine
        for slot in good.slots():
            good.answer(slot["slot"])
        fail(bad)
        aggregates = SnapshotComputer(engine)
        aggregates.compute_and_publish_snapshot(study)
        see = lambda page: live.http.get(f"/api/owner/{page}").json()  # noqa: E731
        pages = ("agreement", "times", "tasks?order=entropy")
        before = [see(page) for page in pages]
        assert before[0]["scores"] and before[2]["tasks"][0]["top"] and not see("snapshot")["recomputing"]
        assert aggregates.exclude_workers_by_rules(study) == 1
        # results of the previous snapshot; "recomputing" is checked below
        assert [see(page) for page in pages[:2]] == before[:2]
        assert [one["top"] for one in see(pages[2])["tasks"]] == [one["top"] for one in before[2]["tasks"]]
        told = see("snapshot")
        assert told["recomputing"] and told["pending"] and told["answers"] == 8
        assert see("flagged")["flagged"] == [] and live.studio.read_sync(
            lambda c: is_result_snapshot_stale(c, study.config_digest)
        )
        # with `again`, a new process recomputes too
        (SnapshotComputer(engine) if again else aggregates).compute_and_publish_snapshot(study)
        told = see("snapshot")
        assert not told["recomputing"] and not told["pending"] and told["answers"] == 4
        assert {one["top"][0]["label"] for one in see(pages[2])["tasks"]} == {"cat"}
        mine = bad.entered["me"]["worker"]
        live.studio.writer.submit(lambda c: lift_exclusion(c, "olga", mine)).result()
        assert see("snapshot")["recomputing"] and see("snapshot")["answers"] == 4
        aggregates.compute_and_publish_snapshot(study)
        assert not see("snapshot")["recomputing"] and see("snapshot")["answers"] == 8


def test_rules_use_the_cached_answers_and_the_next_round_recomputes(tmp_path: Path) -> None:
    study = plain_study(per_task=2, exclude=RULES)
    with served(tmp_path / "s", study, KNOWN) as live:
        aggregates, good, bad = SnapshotComputer(live.studio.engine), live.enter(), live.enter()
        for slot in good.slots():
            good.answer(slot["slot"])
        assert aggregates.exclude_workers_by_rules(study) == 0
        aggregates.compute_and_publish_snapshot(study)
        fail(bad)
        assert (
            aggregates.exclude_workers_by_rules(study),
            aggregates.exclude_workers_by_rules(study),
        ) == (1, 0)
        aggregates.compute_and_publish_snapshot(study)
        assert {row.n for row in live.look(select(soft_labels).where(soft_labels.c.until == OPEN_END))} == {1}


def test_erasing_a_worker_deletes_the_reasons_of_an_exclusion(tmp_path: Path) -> None:
    study = plain_study(exclude=RULES)
    with served(tmp_path / "s", study, KNOWN) as live:
        bad, other = live.enter(), live.enter()
        fail(bad), fail(other)
        assert exclude_rule_breakers_and_return_count(live.studio.engine, study) == 2
        mine = bad.entered["me"]["worker"]
        told = live.studio.writer.submit(lambda c: erase_worker_and_return_audit_line(c, "test", mine)).result()
        assert told["gone"]["lines of the audit"] == 1 and live.look(select(exclusions.c.reason)) != []
        assert [row.what for row in live.look(select(audit)) if mine in row.detail] == ["erase"]


def test_failing_the_quiz_does_not_make_the_snapshot_stale(tmp_path: Path) -> None:
    asked = {"question": "Which?", "choices": ["this", "that"], "right": 1}
    study = plain_study(exclude={"quiz_tries": 1}, quiz=[asked])
    with served(tmp_path / "s", study, KNOWN) as live:
        good, lost = live.enter(), live.enter()
        good.post("/api/me/stage", {"stage": "quiz", "quiz": [1]})
        good.answer(good.slots()[0]["slot"])
        SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(study)
        assert lost.post("/api/me/stage", {"stage": "quiz", "quiz": [0]}).json()["me"]["stage"] == "done"
        assert len(live.look(select(exclusions))) == len(live.look(select(snapshots))) == 1
        who = lost.entered["me"]["worker"]
        live.studio.writer.submit(lambda c: lift_exclusion(c, "owner", who)).result()
        # the quiz rule no longer applies after an owner lifted the exclusion
        wrong = lost.post("/api/me/stage", {"stage": "quiz", "quiz": [0]}).json()
        assert wrong["wrong"] == [0] and wrong["me"]["stage"] == "quiz"
        assert lost.post("/api/me/stage", {"stage": "quiz", "quiz": [1]}).json()["me"]["stage"] == "tasks"


def test_rules_still_run_if_a_gold_label_was_removed_from_the_labels(tmp_path: Path) -> None:
    study = plain_study(per_task=1, exclude=RULES)
    with served(tmp_path / "s", study, [*KNOWN, NewTask("x", text="x", gold="ship")]) as live:
        fail(live.enter())
        assert (
            exclude_rule_breakers_and_return_count(
                live.studio.engine, plain_study(labels=["cat", "dog"], exclude=RULES)
            )
            == 1
        )


def test_a_slot_leased_during_an_exclusion_is_released(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(per_task=1), KNOWN) as live:
        bad = live.enter()
        held = bad.slots()
        out = update(workers).values(status="excluded")  # as another server does that has not read these slots
        live.studio.writer.submit(lambda c: c.execute(out)).result()
        assert bad.answer(held[0]["slot"]).json()["extra"]
        assert sorted(row.given for row in live.look(select(tasks.c.given))) == [0, 1, 1, 1]
        assert len(live.enter().slots()) == 1


def test_rules_wait_for_data_and_spare_workers_with_few_answers(tmp_path: Path) -> None:
    study = plain_study(exclude={"rules": ["inconsistent-repeats", "too-fast[share=0.4]"], "least_answers": 3})
    with served(tmp_path / "s", study, text_tasks(4)) as live:
        hasty = live.enter()
        for n, slot in enumerate(hasty.slots(), start=1):
            hasty.answer(slot["slot"], submitted_ms=200.0)
            assert exclude_rule_breakers_and_return_count(live.studio.engine, study) == (n == 3)
        assert live.look(select(exclusions.c.rule)) == [("too-fast[share=0.4]",)]
    with pytest.raises(InputError, match="no clean method 'nothing'"):
        parse_study({"name": "x", "labels": ["a", "b"], "exclude": {"rules": ["nothing"]}})


@pytest.mark.parametrize(("rule", "n_excluded"), [("too-fast[share=0.4]", 2), ("too-fast[seconds=1,share=0.4]", 1)])
def test_flags_scores_and_rules_have_one_limit_for_too_fast_answers(tmp_path: Path, rule: str, n_excluded: int) -> None:
    """The study's limit is 3 seconds; a rule may set its own. The third worker is too fast in one of four answers."""
    study = plain_study(per_task=3, too_fast_seconds=3, exclude={"rules": [rule], "least_answers": 3})
    with served(tmp_path / "s", study, text_tasks(4)) as live:
        live.sign_in()
        times = {}
        for ms in ([500.0] * 4, [2900.0] * 4, [2999.0, 3000.0, 3100.0, 9000.0]):
            person = live.enter()
            times[person.entered["me"]["worker"]] = ms
            for slot, one in zip(person.slots(), ms, strict=True):
                person.answer(slot["slot"], submitted_ms=one)
        SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(study)
        assert live.http.get("/api/owner/flagged").json()["counts"]["too-fast"] == 9
        found = live.http.get("/api/owner/workers").json()
        assert found["too_fast_seconds"] == 3
        for line in found["workers"]:
            share = np.mean(np.array(times[line["worker"]]) < 3000)
            assert line["scores"]["too-fast"] == share and line["flag_counts"]["too-fast"] == 4 * share
        assert exclude_rule_breakers_and_return_count(live.studio.engine, study) == n_excluded


def test_gold_labels_are_imported_with_tasks_and_must_be_labels_of_the_study(tmp_path: Path) -> None:
    file = tmp_path / "items.csv"
    file.write_text("task,text,known\na,one,cat\nb,two,\n")
    assert [one.gold for one in read_tasks(file, plain_study())] == ["cat", None]
    file.write_text("task,text,gold\na,one,cow\n")
    with pytest.raises(InputError, match="'cow', which is not a label"):
        list(read_tasks(file, plain_study()))


def test_the_page_of_an_excluded_worker_ends_after_the_current_task(studio: Any, context: Any) -> None:
    rules = {"rules": ["too-fast[seconds=1000,share=0.1]"], "least_answers": 1}
    live = studio(n=5, kind="text", exclude=rules, completion={"code": "OK", "failed": "SORRY"})
    page = context().new_page()
    page.goto(live.join)
    answer(page, "1", "Enter")
    page.wait_for_selector(".saved[data-is=kept]")
    assert exclude_rule_breakers_and_return_count(live.studio.engine, live.studio.study) == 1
    answer(page, "1", "Enter")  # the task that was on screen when the worker was excluded
    page.wait_for_selector(".saved[data-is=kept]")
    answer(page, "1", "Enter")
    page.get_by_role("heading", name="The study ends here").wait_for()
    assert page.inner_text(".code") == "SORRY" and "ends here for you" in page.inner_text("main")
    assert len(live.answers()) == 3
