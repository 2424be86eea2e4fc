"""Drafts: unfinished answers are returned to their worker, deleted with the answer, never counted."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from plurivox.web.store.admin.erase_worker import erase_worker_and_return_audit_line
from plurivox.web.store.schema import answers, drafts
from plurivox.web.study.export import export_study
from studies import fresh_database, plain_study, served


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    return "" if request.param == "sqlite" else fresh_database(request.getfixturevalue("postgres"))


def begin(person: Any, slot: str, body: str = '{"top": 1}') -> Any:
    return person.served.http.put("/api/draft", json={"slot": slot, "body": body}, headers=person.headers)


def test_a_draft_is_overwritten_returned_and_deleted_with_the_answer(tmp_path: Path, database: str) -> None:
    with served(tmp_path / "s", database=database) as study:
        person = study.enter()
        first, second = (one["slot"] for one in person.slots(2))
        assert person.get("/api/tasks").json()["draft"] is None
        for body in ('{"top": 1}', '{"top": 2}'):
            assert begin(person, first, body).json() == {"kept": True}
        assert person.get("/api/tasks").json()["draft"] == {"slot": first, "body": '{"top": 2}'}
        assert len(study.look(select(drafts))) == 1 and study.look(select(answers)) == []
        person.answer(second)
        assert person.get("/api/tasks").json()["draft"]["slot"] == first  # an answer to another slot keeps the draft
        person.answer(first)
        assert study.look(select(drafts)) == []
        assert begin(person, first).json() == {"kept": False}  # a draft that arrives after its answer is dropped
        assert (
            study.look(select(drafts)) == []
            and export_study(study.studio.engine, study.studio.study, tmp_path / "o") == 2
        )


def test_drafts_are_private_limited_and_erased(tmp_path: Path, still: None) -> None:
    with served(tmp_path / "s", plain_study(), drafts_per_minute=5) as study:
        person, other = study.enter(), study.enter()
        slot = person.slots(1)[0]["slot"]
        assert begin(other, slot).json() == {"kept": False} and begin(person, "zz").json() == {"kept": False}
        assert begin(person, slot, "x" * 9000).status_code == 422
        assert begin(person, slot).json() == {"kept": True}
        assert other.get("/api/tasks").json()["draft"] is None
        assert [begin(person, slot).status_code for _ in range(4)][-1] == 429
        assert person.answer(person.slots(2)[1]["slot"]).status_code == 200  # not limited like drafts
        name = person.entered["me"]["worker"]
        study.studio.writer.submit(
            lambda connection: erase_worker_and_return_audit_line(connection, "test", name)
        ).result()
        assert study.look(select(drafts)) == []
