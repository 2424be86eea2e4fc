"""Answers over HTTP: stored once, replaced by new ones, rejected if invalid."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from plurivox.web.store.schema import answers, visits
from plurivox.web.study.config import Question
from studies import PLAIN, plain_study, served, text_tasks


def test_the_same_key_twice_is_one_answer(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        person = study.enter()
        slot, other = (one["slot"] for one in person.slots(2))
        first, second = (person.answer(slot, key="k1").json() for _ in range(2))
        assert (first["again"], second["again"]) == (False, True)
        assert first | {"again": 0} == second | {"again": 0} and first["progress"]["done"] == 1
        assert person.answer(slot, "dog", key="k1").json()["error"] == "key-used"
        assert person.answer(other, key="k1").status_code == 409
        assert study.enter().answer(slot, key="k1").status_code == 404
        assert len(study.look(select(answers))) == 1


def test_changing_an_answer_adds_one_and_the_last_counts(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        person = study.enter()
        slot, other = (one["slot"] for one in person.slots(2))
        person.answer(slot, "cat", key="first")
        said = person.answer(slot, "dog", key="second", replaces="first")
        assert said.json()["progress"]["done"] == 1
        assert person.answer(slot, "ship", key="third").status_code == 200  # a device that has not seen "second"
        mine = person.get("/api/answers").json()["answers"]
        assert [(one["answer"], one["marks"][0]["label"]) for one in mine] == [("third", "ship")]
        rows = study.look(select(answers).order_by(answers.c.id))
        assert [row.replaces for row in rows] == [None, rows[0].id, rows[1].id]
        assert person.answer(other, replaces="first").status_code == 404
        assert person.answer(other, replaces="nothing").status_code == 404


def test_answers_store_times_and_events_and_return_the_next_slots(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        person = study.enter()
        slots = person.slots(3)
        event = {"seq": 0, "ms": 812.5, "kind": "pick", "label": "cat", "by": "key"}
        more = {"first_input_ms": 812.5, "submitted_ms": 2000, "hidden_ms": 100, "mode": "keyboard", "shown_at": 1.7e9}
        said = person.answer(
            slots[0]["slot"], ahead=2, events=[event], label_order=["dog", "cat", "ship"], **more
        ).json()
        assert [one["slot"] for one in said["slots"]] == [one["slot"] for one in slots[1:]]
        row = study.look(select(answers))[0]
        assert json.loads(row.events) == [event | {"value": None}]
        assert {name: getattr(row, name) for name in more} == more
        assert json.loads(row.label_order) == ["dog", "cat", "ship"]


NAMED = {"kind": "named", "label": "cat", "typed": "60"}
GOOD: dict[str, list[Any]] = {
    "one-label": [[{"kind": "named", "label": "cat"}]],
    "top-two": [
        [NAMED],
        [NAMED | {"typed": ""}],
        [NAMED, {"kind": "never", "label": "dog"}],
        [NAMED | {"typed": "33.5"}],
    ],
    "also-possible": [[NAMED, {"kind": "possible", "label": "dog"}]],
    "histogram": [[NAMED, {"kind": "named", "label": "dog", "typed": "40"}]],
}
BAD: dict[str, list[Any]] = {
    "one-label": [[NAMED], [{"kind": "named", "label": "cat"}, {"kind": "never", "label": "dog"}]],
    "top-two": [
        [],
        [{"kind": "never", "label": "dog"}],
        [NAMED, NAMED],
        [NAMED, {"kind": "never", "label": "cat"}],
        [NAMED, {"kind": "named", "label": "dog", "typed": "50"}],
        [NAMED, {"kind": "possible", "label": "dog"}],
        [NAMED | {"typed": "101"}],
        [NAMED | {"typed": "-5"}],
        [NAMED | {"typed": "1e2"}],
        [NAMED | {"typed": "٣٠"}],
        [NAMED | {"typed": "NaN"}],
        [NAMED | {"label": "<script>alert(1)</script>"}],
        [NAMED | {"label": "cat\u0000"}],
        [NAMED | {"kind": "perhaps"}],
        [NAMED | {"more": 1}],
        [NAMED | {"label": ""}],
        [NAMED | {"label": "c" * 100_000}],
        [[NAMED]],
        [NAMED] * 3000,
    ],
    "also-possible": [[NAMED, {"kind": "never", "label": "dog"}]],
    "histogram": [[NAMED], [NAMED, {"kind": "named", "label": "dog", "typed": "39.99"}], [NAMED | {"typed": ""}]],
}


@pytest.mark.parametrize("form", GOOD)
def test_a_form_takes_what_its_page_can_enter_and_refuses_the_rest(tmp_path: Path, form: str) -> None:
    with served(tmp_path / "s", plain_study(form=form)) as study:
        person = study.enter()
        slot = person.slots(1)[0]["slot"]
        for i, marks in enumerate(BAD[form]):
            said = person.post("/api/answers", {"key": f"bad{i}", "slot": slot, "marks": marks})
            assert said.status_code == 422 and said.json()["error"] == "invalid" and not said.json()["retry"], marks
        assert study.look(select(answers)) == []
        for i, marks in enumerate(GOOD[form]):
            assert person.post("/api/answers", {"key": f"k{i}", "slot": slot, "marks": marks}).status_code == 200, marks
        for word in ("abstain", "none_of_these"):
            assert person.answer(slot, **{word: True}).status_code == 200
            body = {"key": f"x{word}", "slot": slot, "marks": GOOD[form][0], word: True}
            assert person.post("/api/answers", body).status_code == 422


def test_hostile_bodies_are_refused_cleanly(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        person = study.enter()
        slot = person.slots(1)[0]["slot"]
        good = {"key": "k", "slot": slot, "marks": [NAMED]}
        worse: list[Any] = [
            {"key": "../../etc/passwd"}, {"key": "k" * 65}, {"slot": "'; DROP TABLE answers; --"}, {"slot": "ffff" * 16},
            {"slot": "zzzzzzzzzzzzzzzz"}, {"hidden_ms": -1}, {"hidden_ms": 1e300}, {"submitted_ms": "NaN"}, {"ahead": 10**9},
            {"mode": "\x00"}, {"events": [{"seq": 0, "ms": 0, "kind": "x"}] * 2000}, {"label_order": ["no such label"]},
            {"shown_at": -1}, {"replaces": "\ud800"}, {"\ud800": 1},
        ]  # fmt: skip
        for more in worse:
            body = json.dumps({**good, **more}).encode()
            headers = {**person.headers, "Content-Type": "application/json"}
            said = study.http.post("/api/answers", content=body, headers=headers)
            assert said.status_code in (404, 422), (more, said.text)
            assert set(said.json()) == {"error", "detail", "retry"}
        for raw in (b"", b"[]", b"{", b"\xff\xfe", b'{"key": NaN}', b"[" * 20_000):
            said = study.http.post(
                "/api/answers", content=raw, headers={**person.headers, "Content-Type": "application/json"}
            )
            assert said.status_code in (400, 422) and set(said.json()) == {"error", "detail", "retry"}, raw[:10]
        assert study.look(select(answers)) == []


def test_all_stages_from_consent_to_the_code(tmp_path: Path) -> None:
    quiz = [Question(question="2 + 2?", choices=["3", "4"], right=1, why="count again")]
    texts = {"consent": "Do you agree?", "instructions": "Look.", "debrief": "Thanks."}
    completion = {"code": "C0DE", "redirect": "https://app.prolific.com/submissions/complete?cc=C0DE"}
    made = plain_study(quiz=quiz, texts=texts, completion=completion, batch=1)
    with served(tmp_path / "s", made, text_tasks(2)) as study:
        person = study.enter()
        me = person.get("/api/me").json()
        assert (me["stage"], me["text"], me["quiz"]) == ("consent", "Do you agree?", [])
        assert me["stages"] == ["consent", "instructions", "quiz", "tasks", "debrief", "done"]
        early = person.get("/api/tasks")
        assert early.status_code == 409 and early.json()["me"]["stage"] == "consent"
        assert person.post("/api/me/stage", {"stage": "consent"}).status_code == 422
        assert person.post("/api/me/stage", {"stage": "quiz", "quiz": [1]}).status_code == 409
        assert person.post("/api/me/stage", {"stage": "consent", "agreed": True, "ms": 4000}).status_code == 200
        asked = person.post("/api/me/stage", {"stage": "instructions", "ms": 9000}).json()["me"]
        assert asked["quiz"] == [{"question": "2 + 2?", "choices": ["3", "4"]}]
        assert person.post("/api/me/stage", {"stage": "quiz", "quiz": []}).status_code == 422
        wrong = person.post("/api/me/stage", {"stage": "quiz", "quiz": [0]}).json()
        assert (wrong["wrong"], wrong["why"], wrong["me"]["stage"]) == ([0], ["count again"], "quiz")
        assert person.post("/api/me/stage", {"stage": "quiz", "quiz": [1]}).json()["me"]["stage"] == "tasks"
        assert person.post("/api/done").status_code == 409  # no completion code before the last answer
        assert person.answer(person.slots()[0]["slot"]).json()["stage"] == "debrief"
        person.post("/api/me/stage", {"stage": "debrief", "comment": "=1+1"})
        assert person.post("/api/done").json().items() >= completion.items()
        assert [row.stage for row in study.look(select(visits.c.stage).order_by(visits.c.id))] == [
            "consent", "instructions", "quiz", "quiz", "tasks", "debrief",
        ]  # fmt: skip


def test_a_study_without_texts_begins_with_its_tasks(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(texts=PLAIN)) as study:
        assert study.enter().entered["me"]["stage"] == "tasks"


def test_the_number_of_changes_of_an_answer_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plurivox.web.services.submit_answer.MAX_ANSWERS", 3)
    with served(tmp_path / "s") as study:
        person = study.enter()
        one, other = (slot["slot"] for slot in person.slots(2))
        said = [person.answer(one, key=f"k{i}").status_code for i in range(5)]
        assert said == [200, 200, 200, 409, 409]
        assert person.answer(one, key="k1").json()["again"]  # a resend after a lost response is still recognised
        assert person.answer(other).status_code == 200
        assert len(study.look(select(answers))) == 4
