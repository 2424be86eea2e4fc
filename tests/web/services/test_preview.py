"""The owner's preview: what workers would see, from any study in any state, without a trace in the database."""

import hashlib
import secrets
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select

from plurivox.web.services import preview
from plurivox.web.store import study_state
from plurivox.web.store.collect.submissions import Mark, Submission
from plurivox.web.store.collect.tasks_batches_quotas import NewTask, insert_fixed_batches
from plurivox.web.store.errors import Invalid
from plurivox.web.store.schema import meta_data
from plurivox.web.study.assigner_from_config import answers_per_task_assigner_and_arm_names
from plurivox.web.study.config import Study
from plurivox.web.study.question_forms import FORMS
from studies import Served, fresh_database, plain_study, served, text_tasks
from web.services.test_submit_answer import FITTING, REFUSED

QUIZ = [{"question": "Sure?", "choices": ["Yes", "No"], "right": 1, "why": "Think again."}]
WHOLE: dict[str, Any] = {
    "texts": {"consent": "Agree?", "instructions": "Look.", "debrief": "Thanks."},
    "quiz": QUIZ,
    "practice": 2,
    "repeats": 1,
    "completion": {"code": "C1", "redirect": "https://app.prolific.com/submissions/complete", "failed": "F1"},
    "exclude": {"quiz_tries": 2},
}


def hash_of_each_table(study: Served) -> dict[str, str]:
    """Return {table: hash of all its rows}."""

    def read(connection: Connection) -> dict[str, str]:
        rows = {table.name: sorted(map(repr, connection.execute(select(table)))) for table in meta_data.sorted_tables}
        return {name: hashlib.sha256(repr(some).encode()).hexdigest() for name, some in rows.items()}

    return study.studio.read_sync(read)


def post_answer(study: Served, slot: str, *marks: dict[str, str], arm: str = "", **more: Any) -> Any:
    """Send an answer to the preview as the signed-in owner."""
    body = {"key": secrets.token_hex(8), "slot": slot, "marks": marks, **more}
    return study.http.post("/api/owner/preview/answer", params={"arm": arm}, json=body, headers=study.owner)


def named(label: str, typed: str = "") -> dict[str, str]:
    return {"kind": "named", "label": label, "typed": typed}


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("state", ["open", "paused", "closed", "full"])
def test_a_preview_changes_no_table_in_any_state_of_the_study(
    tmp_path: Path, kind: str, state: str, request: pytest.FixtureRequest
) -> None:
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"))
    made = plain_study(**WHOLE, per_task=1)
    tasks = [
        *text_tasks(4),
        *(NewTask(f"p{i}", text="easy", practice=True) for i in range(2)),
    ]
    with served(tmp_path / "s", made, tasks, database=database) as study:
        study.sign_in()
        if state == "full":
            fill(study)
        else:
            study.studio.writer.submit(lambda c: study_state.set_study_state(c, "test", state)).result()
        before = hash_of_each_table(study)
        seen = study.http.get("/api/owner/preview").json()
        assert [one["stage"] for one in seen["states"]] == seen["states"][0]["stages"]
        assert {one["state"] for one in seen["states"]} == {"open"}
        assert (len(seen["practice"]), len(seen["tasks"])) == (2, 5)
        for one in (*seen["practice"], *seen["tasks"]):
            assert post_answer(study, one["slot"]["slot"], named("cat", "70")).status_code == 200
        assert post_answer(study, "1", named("cat", "170")).status_code == 422
        assert hash_of_each_table(study) == before


def fill(study: Served) -> None:
    """Answer every task of the study as its quota asks for."""
    person = study.enter()
    for stage, more in (("consent", {"agreed": True}), ("instructions", {}), ("quiz", {"quiz": [1]})):
        assert person.post("/api/me/stage", {"stage": stage, **more}).status_code == 200
    while slots := (person.slots() if person.get("/api/me").json()["stage"] in ("practice", "tasks") else []):
        for slot in slots:
            assert person.answer(slot["slot"]).status_code == 200
    assert study.enter().get("/api/me").json()["stage"] == "done"


def test_the_preview_shows_each_stage_as_workers_get_it(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(**(WHOLE | {"practice": 0})), text_tasks(6)) as study:
        study.sign_in()
        seen = study.http.get("/api/owner/preview").json()
        worker = study.enter().entered["me"]
        private = ("worker", "labels")
        first = {name: value for name, value in seen["states"][0].items() if name not in private}
        assert first == {name: value for name, value in worker.items() if name not in private}
        assert sorted(seen["states"][0]["labels"]) == sorted(worker["labels"])
        texts = {one["stage"]: one["text"] for one in seen["states"]}
        assert [texts[stage] for stage in ("consent", "instructions", "debrief")] == ["Agree?", "Look.", "Thanks."]
        assert seen["quiz"] == [{"right": 1, "why": "Think again."}] and seen["quiz_tries"] == 2
        assert [one["quiz"] for one in seen["states"]].count([]) == 5  # the questions are at the stage quiz only
        ends = {how: (one["code"], one["redirect"].partition("?")[2]) for how, one in seen["endings"].items()}
        assert ends == {"done": ("C1", "cc=C1"), "failed": ("F1", "cc=F1"), "full": ("", "")}
        assert all(one["submit"] is None for one in seen["endings"].values())
        orders = {tuple(study.http.get("/api/owner/preview").json()["states"][0]["labels"]) for _ in range(20)}
        assert len(orders) > 1  # as for different people


def test_the_preview_has_one_sitting_as_the_assigner_would_choose_it(tmp_path: Path) -> None:
    tasks = [
        *text_tasks(30),
        *(NewTask(f"h{i}", text="hard", stratum="hard") for i in range(8)),
    ]
    with served(tmp_path / "quota", plain_study(batch=7, repeats=2), text_tasks(30)) as study:
        found = study.studio.read_sync(lambda c: preview.build_preview(c, study.studio.study))
        kinds = Counter(one.slot.kind for one in found.tasks)
        names = [one.name for one in found.tasks]
        assert kinds == {"task": 7, "repeat": 2} and len(set(names)) == 7
        assert [one.slot.position for one in found.tasks] == list(range(1, 10))
        assert all(first != second for first, second in pairwise(names))
        others = study.studio.read_sync(lambda c: preview.build_preview(c, study.studio.study))
        assert {one.name for one in others.tasks} != set(names)  # a new sample
    with served(tmp_path / "strata", plain_study(strata={"hard": 3, "": 2}), tasks) as study:
        found = study.studio.read_sync(lambda c: preview.build_preview(c, study.studio.study))
        assert Counter(one.name[0] for one in found.tasks) == {"h": 3, "t": 2}
    with served(tmp_path / "gain", plain_study(assign="next-best", batch=5), text_tasks(9)) as study:
        found = study.studio.read_sync(lambda c: preview.build_preview(c, study.studio.study))
        assert len(found.tasks) == 5
    with served(tmp_path / "batches", plain_study(repeats=1), text_tasks(9)) as study:
        batches, made = {"a": ["t000", "t001", "t002"], "b": ["t003", "t004", "t005", "t006"]}, study.studio.study
        assignment = answers_per_task_assigner_and_arm_names(made, has_batches=True)
        study.studio.writer.submit(lambda c: insert_fixed_batches(c, assignment, batches)).result()
        found = study.studio.read_sync(lambda c: preview.build_preview(c, made))
        assert {one.name for one in found.tasks} in (set(batches["a"]), set(batches["b"]))
    with served(tmp_path / "long", plain_study(batch=150), text_tasks(200)) as study:
        found = study.studio.read_sync(lambda c: preview.build_preview(c, study.studio.study))
        assert len(found.tasks) == preview.MAX_TASKS


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_becomes_what_elicit_reads_from_it(form: str) -> None:
    reading = preview.read_answer_without_saving(plain_study(form=form), None, FITTING[form])
    assert reading.outcome == "read" and sum(reading.probabilities.values()) == pytest.approx(1)
    assert max(reading.probabilities, key=lambda label: reading.probabilities[label]) == "cat"


def test_an_answer_of_60_and_40_percent_keeps_a_tenth_for_the_other_labels() -> None:
    study = Study(name="s", labels=["cat", "dog", "ship", "car", "bus"], form="top-two")
    marks = [Mark("named", "cat", "60"), Mark("named", "dog", "40")]
    soft = preview.read_answer_without_saving(study, None, Submission("k", 1, marks)).probabilities
    assert soft == pytest.approx({"cat": 0.54, "dog": 0.36, "ship": 0.1 / 3, "car": 0.1 / 3, "bus": 0.1 / 3})
    cannot_tell = preview.read_answer_without_saving(study, None, Submission("k", 1, abstain=True))
    assert (cannot_tell.outcome, cannot_tell.probabilities) == ("abstained", {})


@pytest.mark.parametrize(("form", "answer", "why"), REFUSED, ids=[f"{one[0]}: {one[2]}" for one in REFUSED])
def test_the_preview_refuses_what_the_study_refuses(form: str, answer: Submission, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        preview.read_answer_without_saving(plain_study(form=form), None, answer)


def test_each_arm_has_its_preview(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(forms=["top-two", "one-label"]), text_tasks(6)) as study:
        study.sign_in()
        first = study.http.get("/api/owner/preview").json()
        other = study.http.get("/api/owner/preview", params={"arm": "one-label"}).json()
        assert (first["arm"], first["arms"]) == ("top-two", ["top-two", "one-label"])
        assert [one["states"][0]["form"] for one in (first, other)] == ["top-two", "one-label"]
        assert post_answer(study, "1", named("cat", "70"), arm="top-two").json()["form"] == "top-two"
        refused = post_answer(study, "1", named("cat", "70"), arm="one-label")
        assert (refused.status_code, refused.json()["error"]) == (422, "invalid")
        assert study.http.get("/api/owner/preview", params={"arm": "chips"}).status_code == 404


@pytest.mark.parametrize("seen", ["", "/study"], ids=["stripped", "kept"])
def test_the_page_works_below_a_path(tmp_path: Path, seen: str) -> None:
    with served(tmp_path / "s", base_url="https://lab.example/study") as study:
        page = study.http.get(f"{seen}/owner-preview")
        assert page.status_code == 200 and 'src="static/preview.js?v=' in page.text
        assert study.http.get(f"{seen}/owner-preview/").headers["location"] == "/study/owner-preview"
        assert study.http.get(f"{seen}/static/preview.js").status_code == 200
        assert study.http.get(f"{seen}/api/owner/preview").status_code == 401


def test_only_owners_get_the_preview(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        person = study.enter()
        assert person.get("/api/owner/preview").status_code == 401
        study.sign_in()
        assert study.http.get("/owner-preview").headers["x-frame-options"] == "DENY"
        body = {"key": "k", "slot": "1", "marks": [named("cat", "70")]}
        unsigned = study.http.post("/api/owner/preview/answer", json=body, headers={"Origin": study.url})
        assert (unsigned.status_code, unsigned.json()["error"]) == (403, "no-token")
