"""Owner pages: live counts and results of the background jobs; one leader among several servers."""

import subprocess
import sys
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from sqlalchemy import select

import plurivox as pv
from interfaces.cli.cli_process import environment
from plurivox.engine.beta_intervals import jeffreys_interval_95
from plurivox.web.jobs.background_thread import BackgroundThread
from plurivox.web.jobs.result_snapshot import SnapshotComputer
from plurivox.web.store.admin.erase_worker import erase_worker_and_return_audit_line
from plurivox.web.store.database import current_unix_time
from plurivox.web.store.report.result_snapshots import acquire_or_renew_leader_lease, is_result_snapshot_stale
from plurivox.web.store.schema import answers, audit, leaders, raw_ids, slots, snapshots, tasks, workers
from plurivox.web.study.export import export_study
from studies import Person, Served, admitting, plain_study, served, text_tasks


def filled(study: Served, n_people: int = 3) -> None:
    """Let workers answer all tasks; they agree on t000 (cat) only."""
    for i in range(n_people):
        person = study.enter(platform={"pid": f"pid{i}", "study": "a", "session": "b"})
        for slot in person.slots():
            label = "cat" if slot["task"]["text"] == "text 0" else ("cat", "dog", "ship")[i]
            times = {"submitted_ms": 400 if i == 2 else 3000 + i, "first_input_ms": 250}
            person.answer(slot["slot"], label, events=[{"seq": 0, "ms": 200, "kind": "pick"}], **times)


def test_every_page_of_the_owner_before_and_after_answers(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(**admitting("a"), per_task=3, batch=4, repeats=1), text_tasks(4)) as study:
        study.sign_in()
        pages = (
            "studies",
            "progress",
            "tasks",
            "workers",
            "agreement",
            "times",
            "flagged",
            "snapshot",
            "invites",
            "audit",
        )
        for page in pages:
            assert study.http.get(f"/api/owner/{page}").status_code == 200, page
        filled(study)
        assert study.http.get("/api/owner/snapshot").json()["pending"] is True
        SnapshotComputer(study.studio.engine).compute_and_publish_snapshot(study.studio.study)
        found = {page: study.http.get(f"/api/owner/{page}").json() for page in pages}
        assert found["progress"]["answers"] == found["progress"]["wanted"] == 12
        assert found["progress"]["repeats"] == 3 and found["progress"]["workers"] == {"done": 3}
        assert found["progress"]["quotas"][0] == {
            "stratum": "", "tasks": 4, "wanted": 12, "given": 12, "leased": 0, "full_tasks": 4,
        }  # fmt: skip
        first = found["tasks"]["tasks"][0]
        assert first["name"] == "t000" and first["top"][0]["label"] == "cat"
        top = first["top"][0]
        assert top["low"] < top["p"] < top["high"] <= 1
        assert found["snapshot"]["answers"] == 15 and found["snapshot"]["pending"] is False
        assert sum(found["snapshot"]["entropy"]) == 4 and found["agreement"]["repeats_same_top"] == 1.0
        assert -1 <= found["agreement"]["scores"]["krippendorff-alpha"] < 0.5
        assert found["times"]["first_input"] == 0.25 and found["times"]["top_label"] == 0.2
        assert [place for place, _, n in found["times"]["by_position"]] == [1, 2, 3, 4, 5]
        assert found["flagged"]["counts"] == {"too-fast": 5}
        lines = found["workers"]["workers"]
        assert sorted(line["median_seconds"] for line in lines) == [0.4, 3.0, 3.001]
        assert set(lines[0]["scores"]) == {"agreement-with-rest", "repeat-consistency", "too-fast"}
        detail = study.http.get(f"/api/owner/tasks/{first['task']}").json()
        assert len(detail["soft"]) == 3 and {one["marks"][0]["label"] for one in detail["answers"]} == {"cat"}
        assert study.http.get("/api/owner/tasks/nothing").status_code == 404


def test_repeats_of_a_worker_are_not_answers_of_another_in_the_agreement(tmp_path: Path) -> None:
    """Three workers who never agree, with tasks shown twice: repeats counted as people would raise alpha."""
    with served(tmp_path / "s", plain_study(form="one-label", per_task=3, batch=3, repeats=3), text_tasks(3)) as study:
        study.sign_in()
        for i in range(3):
            person = study.enter()
            for slot in person.slots():
                person.answer(slot["slot"], marks=[{"kind": "named", "label": ("cat", "dog", "ship")[i]}])
        SnapshotComputer(study.studio.engine).compute_and_publish_snapshot(study.studio.study)
        found = study.http.get("/api/owner/agreement").json()
        assert found["repeats"] == 6 and found["repeats_same_top"] == 1
        first_answers = krippendorff.alpha(np.repeat([[0], [1], [2]], 3, axis=1), level_of_measurement="nominal")
        assert found["scores"]["krippendorff-alpha"] == pytest.approx(first_answers, abs=1e-5)
        assert found["scores"]["observed-agreement"] == 0
        assert sum(n for _, _, n in found["by_hour"]) == 9


def test_people_who_name_the_same_labels_agree_fully_whatever_their_percents(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(per_task=3, batch=4), text_tasks(4)) as live:
        live.sign_in()
        for percent in ("55", "70", "100"):
            person = live.enter()
            for slot in person.slots():
                label = "cat" if slot["task"]["text"] < "text 2" else "dog"
                person.answer(slot["slot"], marks=[{"kind": "named", "label": label, "typed": percent}])
        SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(live.studio.study)
        scores = live.http.get("/api/owner/agreement").json()["scores"]
        assert scores == {"krippendorff-alpha": 1, "observed-agreement": 1}
        workers = live.http.get("/api/owner/workers").json()["workers"]
        assert [one["scores"]["agreement-with-rest"] for one in workers] == [1, 1, 1]


def test_two_people_who_never_agree_do_not_agree_because_they_repeat_themselves(tmp_path: Path) -> None:
    """Four tasks, of which three are shown twice: alpha is -.75, and -.238 if repeats were other people's answers."""
    study = plain_study(form="one-label", per_task=2, batch=4, repeats=3)
    with served(tmp_path / "s", study, text_tasks(4)) as live:
        live.sign_in()
        for label in ("cat", "dog"):
            person = live.enter()
            for slot in person.slots():
                person.answer(slot["slot"], marks=[{"kind": "named", "label": label}])
        SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(study)
        scores = live.http.get("/api/owner/agreement").json()["scores"]
        export_study(live.studio.engine, study, tmp_path / "out")
        answers = pv.read(tmp_path / "out").answers
        tops = answers.label_codes_at_rank(0)

        def alpha(rows: np.ndarray) -> float:
            counts = np.zeros((4, 3))
            np.add.at(counts, (answers.task[rows], tops[rows]), 1)
            return krippendorff.alpha(value_counts=counts, level_of_measurement="nominal")

        first, every = alpha(answers.repeat_of < 0), alpha(answers.repeat_of > -2)
        assert first == pytest.approx(-0.75) and every > -0.4
        assert scores["krippendorff-alpha"] == pytest.approx(first, abs=1e-5) and scores["observed-agreement"] == 0
        votes = pv.elicit_votes(answers, "form-column").votes
        for repeats, expected in (("first", first), ("all", every)):
            assert pv.agreement(votes, repeats=repeats, resamples=0)["krippendorff-alpha"].mean == pytest.approx(
                expected
            )
            assert pv.score(votes, "krippendorff-alpha", repeated=repeats, resamples=0).raw == pytest.approx(expected)
        assert pv.describe(answers).figures.top_agreement == 0


def test_a_first_answer_that_is_changed_after_its_repeat_is_still_the_first(tmp_path: Path) -> None:
    study = plain_study(form="one-label", per_task=2, batch=3, repeats=1)
    with served(tmp_path / "s", study, text_tasks(3)) as live:
        live.sign_in()
        for changed in (False, True):
            person, shown = live.enter(), {}
            for slot in person.slots():
                again = slot["task"]["text"] in shown
                label = "dog" if again and changed else "cat"
                person.answer(slot["slot"], marks=[{"kind": "named", "label": label}])
                if again and changed:  # back to the first answer, which stays what it was
                    person.answer(shown[slot["task"]["text"]], marks=[{"kind": "named", "label": "cat"}])
                shown.setdefault(slot["task"]["text"], slot["slot"])
        SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(study)
        assert live.http.get("/api/owner/agreement").json()["scores"]["observed-agreement"] == 1
        lines = live.http.get("/api/owner/workers").json()["workers"]
        assert [one["scores"]["agreement-with-rest"] for one in lines] == [1, 1]


def slots_by_text(person: Person) -> dict[str, list[str]]:
    """Return text of a task -> the slots in which a person sees it, the repeat last."""
    seen: dict[str, list[str]] = {}
    for slot in person.slots():
        seen.setdefault(slot["task"]["text"], []).append(slot["slot"])
    return seen


def test_a_repeat_is_no_answer_of_its_own_if_the_answer_that_it_repeats_is_missing(tmp_path: Path) -> None:
    study = plain_study(form="one-label", per_task=2, batch=4, repeats=3, aggregator="vote-shares")
    with served(tmp_path / "s", study, text_tasks(4)) as live:
        live.sign_in()
        whole, partial = live.enter(), live.enter()
        for label, person, rows in (("cat", whole, slice(2)), ("dog", partial, slice(1, 2))):
            for seen in slots_by_text(person).values():
                for slot in seen[rows]:
                    assert person.answer(slot, marks=[{"kind": "named", "label": label}]).status_code == 200
        SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(study)
        page = live.http.get("/api/owner/tasks").json()["tasks"]
        agreement = live.http.get("/api/owner/agreement").json()
        export_study(live.studio.engine, study, tmp_path / "out")
    assert all([one["label"] for one in task["top"] if one["p"] > 0] == ["cat"] for task in page)
    assert (agreement["repeats"], agreement["repeats_compared"], agreement["scores"]) == (6, 3, {})
    exported = pv.read(tmp_path / "out")
    assert len(exported.answers) == 7 and len(exported.tables["views"]()) == 10


def test_repeats_are_compared_where_both_answers_name_a_label(tmp_path: Path) -> None:
    study = plain_study(form="one-label", per_task=3, batch=5, repeats=4, too_fast_seconds=0)
    with served(tmp_path / "s", study, text_tasks(5)) as live:
        live.sign_in()
        cat, dog = ({"marks": [{"kind": "named", "label": label}]} for label in ("cat", "dog"))
        person, nothing = live.enter(), {"abstain": True}
        said = [(cat, cat), (cat, dog), (nothing, nothing), (cat, nothing)]
        shown_twice = [pair for pair in slots_by_text(person).values() if len(pair) == 2]
        for (first, again), answers_of_pair in zip(shown_twice, said, strict=True):
            for slot, more in zip((first, again), answers_of_pair, strict=True):
                assert person.answer(slot, **more).status_code == 200
        SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(study)
        agreement = live.http.get("/api/owner/agreement").json()
        flagged = live.http.get("/api/owner/flagged").json()
        (worker,) = live.http.get("/api/owner/workers").json()["workers"]
    assert (agreement["repeats"], agreement["repeats_compared"], agreement["repeats_same_top"]) == (4, 2, 0.5)
    assert worker["repeats"] == 2 and worker["scores"]["repeat-consistency"] == 0.5
    assert flagged["counts"] == {"changed-on-repeat": 1}


def test_agreement_is_undefined_without_a_warning_while_all_votes_are_alike(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(form="one-label", batch=3), text_tasks(3)) as study:
        study.sign_in()
        for _ in range(2):
            person = study.enter()
            for slot in person.slots():
                person.answer(slot["slot"], marks=[{"kind": "named", "label": "cat"}])
        # pytest turns any warning into an error
        SnapshotComputer(study.studio.engine).compute_and_publish_snapshot(study.studio.study)
        scores = study.http.get("/api/owner/agreement").json()["scores"]
        assert scores == {"krippendorff-alpha": None, "observed-agreement": 1.0}


def test_workers_have_the_published_agreement_and_the_worst_comes_first(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(form="one-label", batch=3, per_task=3), text_tasks(3)) as study:
        study.sign_in()
        labels = {}
        for label in ("cat", "dog", "cat"):
            person = study.enter()
            labels[person.entered["me"]["worker"]] = label
            for slot in person.slots():
                person.answer(slot["slot"], marks=[{"kind": "named", "label": label}])
        SnapshotComputer(study.studio.engine).compute_and_publish_snapshot(study.studio.study)
        lines = study.http.get("/api/owner/workers?order=agreement-with-rest").json()["workers"]
        shown = [(labels[one["worker"]], one["scores"]["agreement-with-rest"]) for one in lines]
        assert shown == [("dog", 0.0), ("cat", 0.5), ("cat", 0.5)]


def test_lists_are_paged(tmp_path: Path) -> None:
    with served(tmp_path / "s", None, text_tasks(7)) as study:
        study.sign_in()
        for order in ("name", "entropy", "given"):
            names, after = [], ""
            while after is not None:
                said = study.http.get(f"/api/owner/tasks?limit=3&order={order}{after}").json()
                names += [one["name"] for one in said["tasks"]]
                after = f"&after={said['next']}" if said["next"] else None
            assert sorted(names) == [f"t{i:03d}" for i in range(7)] and (order != "name" or names == sorted(names))
        people = sorted(study.enter().entered["me"]["worker"] for _ in range(5))
        first = study.http.get("/api/owner/workers?limit=3").json()
        rest = study.http.get(f"/api/owner/workers?limit=3&after={first['next']}").json()
        assert [one["worker"] for one in first["workers"] + rest["workers"]] == people and rest["next"] is None


def test_erasing_a_worker_keeps_the_pseudonym_and_an_audit_line(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(**admitting("a"), per_task=3, repeats=1), text_tasks(4)) as study:
        filled(study)
        person = study.http.post("/api/enter", json={"platform": {"pid": "pid1", "study": "a", "session": "b"}})
        assert person.status_code == 409
        SnapshotComputer(study.studio.engine).compute_and_publish_snapshot(study.studio.study)
        told = study.studio.writer.submit(lambda c: erase_worker_and_return_audit_line(c, "test", "pid1")).result()
        assert told["gone"] == {"answers": 5, "visits": 1, "platform ids": 1} and told["slots given back"] == 4
        assert len(study.look(select(answers))) == 10 and {row.raw for row in study.look(select(raw_ids))} == {
            "pid0",
            "pid2",
        }
        assert {row.given for row in study.look(select(tasks))} == {2} and len(study.look(select(slots))) == 10
        assert [row.status for row in study.look(select(workers)) if row.pseudonym == told["worker"]] == ["erased"]
        assert "erase" in [row.what for row in study.look(select(audit))] and study.look(select(snapshots)) == []
        again = study.http.post("/api/enter", json={"platform": {"pid": "pid1", "study": "a", "session": "b"}})
        assert again.status_code in (403, 409)
        assert len(study.enter().slots()) == 5  # four tasks and a repeat: the erased worker's slots are free


def test_another_server_becomes_leader_when_the_lease_expires(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        write = study.studio.writer.submit
        assert (
            write(lambda c: acquire_or_renew_leader_lease(c, "one")).result()
            and not write(lambda c: acquire_or_renew_leader_lease(c, "two")).result()
        )
        assert write(lambda c: acquire_or_renew_leader_lease(c, "one", lease_seconds=-1)).result()
        assert (
            write(lambda c: acquire_or_renew_leader_lease(c, "two")).result()
            and not write(lambda c: acquire_or_renew_leader_lease(c, "one")).result()
        )
        assert [row.holder for row in study.look(select(leaders))] == ["two"]


def test_the_background_computes_in_a_process_of_its_own(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(**admitting("a"), per_task=3), text_tasks(4)) as study:
        filled(study)
        background = BackgroundThread(study.studio)
        try:
            background.try_to_lead_and_run_jobs()
            assert not study.studio.read_sync(is_result_snapshot_stale)
            first = study.look(select(snapshots))
            background.try_to_lead_and_run_jobs()
            assert study.look(select(snapshots)) == first  # no new answers: no new snapshot
        finally:
            background.stop_thread_and_child_process()


def test_a_broken_process_is_replaced(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with served(tmp_path / "s", plain_study(**admitting("a"), per_task=3), text_tasks(4)) as study:
        background = BackgroundThread(study.studio)
        background._child = subprocess.Popen(
            [sys.executable, "-c", "input()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        background._compute_results_and_set_alerts(study.studio.study)
        assert "could not be computed: the computing process ended" in caplog.text and background._child is None
        study.sign_in()
        [told] = study.http.get("/api/owner/snapshot").json()["troubles"]
        assert "the computing process ended" in told["what"] and "restart the server" in told["to_do"]


def test_the_interval_contains_the_mean_and_narrows() -> None:
    import numpy as np

    prob = np.array([[0.0, 0.3, 1.0]])
    few, many = jeffreys_interval_95(prob, np.array([[3]])), jeffreys_interval_95(prob, np.array([[300]]))
    assert (few[0] <= prob).all() and (few[1] >= prob).all() and ((many[1] - many[0]) < (few[1] - few[0])).all()


def test_progress_counts_answers_per_hour(tmp_path: Path) -> None:
    with served(tmp_path / "s", None, text_tasks(4)) as study:
        study.sign_in()
        person = study.enter()
        for slot in person.slots():
            person.answer(slot["slot"])
        hours = study.http.get("/api/owner/progress").json()["per_hour"]
        assert sum(n for _, n in hours) == 4 and abs(hours[-1][0] - current_unix_time()) < 7200
