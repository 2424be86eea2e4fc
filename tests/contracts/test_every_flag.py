"""Contract tests of the flags of answers: owners get a sentence for every flag that a form or the studio can set."""

import re
from pathlib import Path
from typing import Any

import pytest

from plurivox.elicit import FLAGS
from studies import plain_study, served, text_tasks

pytest.importorskip("fastapi")

from plurivox.web.jobs.result_snapshot import SnapshotComputer
from plurivox.web.study.answer_flags import STUDIO_FLAGS, flag_meanings

CODE = re.compile(r"\b[a-z]+(?:-[a-z]+)*-[a-z]+\b")


@pytest.mark.parametrize("name", [*FLAGS, *STUDIO_FLAGS])
def test_every_flag_has_a_sentence(name: str) -> None:
    meaning = flag_meanings(plain_study(), [name])[name]
    assert len(meaning.split()) >= 4 and meaning[0].upper() == meaning[0], meaning
    assert not {*CODE.findall(meaning)} & {*FLAGS, *STUDIO_FLAGS}, meaning
    assert "{" not in meaning


def answer_all(person: Any, **answer: Any) -> None:
    """Answer all tasks of a person."""
    for slot in person.slots():
        said = person.answer(slot["slot"], **answer)
        assert said.status_code == 200, said.text


def test_every_flag_of_a_study_is_sent_with_its_sentence(tmp_path: Path) -> None:
    """Hasty answers, a picture that did not load, another label on a repeat, a top label with a low percent."""
    study = plain_study(batch=4, repeats=1, per_task=4, too_fast_seconds=2.5)
    with served(tmp_path / "s", study, text_tasks(4)) as live:
        live.sign_in()
        answer_all(live.enter(), submitted_ms=2400)
        answer_all(live.enter(), events=[{"seq": 0, "ms": 5, "kind": "unseen"}])
        answer_all(live.enter(), marks=[{"kind": "named", "label": "cat", "typed": "20"}])
        person, seen = live.enter(), set()
        for slot in person.slots():
            person.answer(slot["slot"], "dog" if slot["task"]["text"] in seen else "cat")
            seen.add(slot["task"]["text"])
        SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(study)
        flagged = live.http.get("/api/owner/flagged?limit=100").json()
        assert {"too-fast", "picture-not-seen", "changed-on-repeat", "spread-above-top"} <= flagged["counts"].keys()
        assert flagged["meanings"].keys() == flagged["counts"].keys()
        assert flagged["meanings"]["too-fast"] == "Answered in less than 2.5 seconds"
        task = live.http.get(f"/api/owner/tasks/{flagged['flagged'][0]['task']}").json()
        names = {name for one in task["answers"] for name in one["flags"]}
        assert names and names <= task["meanings"].keys()
        found = live.http.get("/api/owner/workers?order=flags").json()
        counts = {name for one in found["workers"] for name in one["flag_counts"]}
        assert counts == found["meanings"].keys() == flagged["counts"].keys()
        assert sum(one["flag_counts"].get("too-fast", 0) for one in found["workers"]) == flagged["counts"]["too-fast"]
