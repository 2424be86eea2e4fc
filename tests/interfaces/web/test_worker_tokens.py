"""A worker's token expires if it is not used; the personal link gives a new one."""

from pathlib import Path
from typing import Any

import pytest

from interfaces.web.page_actions import answer, saved, shown, until_true
from plurivox.web.api import route_dependencies
from plurivox.web.api.route_dependencies import BEARER, RENEWED_TOKEN_HEADER
from plurivox.web.client.simulated_workers import run_async
from plurivox.web.client.worker_client import Client
from plurivox.web.store.database import current_unix_time
from studies import PATIENCE, Person, Served, admitting, plain_study, served

DAY = 86400
PROLIFIC = {"pid": "5f00aa", "study": "st1", "session": "se1"}


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that moves the clock of `route_dependencies` forward by days."""
    gone = [0.0]
    monkeypatch.setattr(route_dependencies, "current_unix_time", lambda: current_unix_time() + gone[0])

    def pass_by(days: float) -> None:
        gone[0] += days * DAY

    return pass_by


def test_an_expired_token_is_replaced_by_the_personal_link(tmp_path: Path, later: Any) -> None:
    with served(tmp_path / "s") as study:
        person = study.enter()
        slot = person.slots()[0]["slot"]
        assert RENEWED_TOKEN_HEADER not in person.get("/api/me").headers
        later(31)
        for said in (person.get("/api/me"), person.get("/api/tasks"), person.answer(slot, key="late")):
            assert said.status_code == 401 and said.json()["error"] == "ended" and not said.json()["retry"]
            assert "personal link" in said.json()["detail"] and "30 days" in said.json()["detail"]
        again = study.enter(link=person.entered["personal_link"].split("#link=")[1])
        assert again.answer(slot, key="late").status_code == 200
        assert person.get("/api/me").status_code == 401  # the expired token stays invalid


def test_a_token_in_use_is_renewed(tmp_path: Path, later: Any) -> None:
    with served(tmp_path / "s", plain_study(token_days=10)) as study:
        person = study.enter()
        for _ in range(5):
            later(6)
            said = person.get("/api/me")
            assert said.status_code == 200
            person.headers = {"Authorization": f"Bearer {said.headers[RENEWED_TOKEN_HEADER]}"}
        later(11)
        assert person.get("/api/me").status_code == 401


def test_an_expired_token_continues_only_with_the_platforms_link(tmp_path: Path, later: Any) -> None:
    with served(tmp_path / "s", plain_study(**admitting("st1"))) as study:
        person = study.enter(platform=PROLIFIC)
        later(40)
        assert study.http.post("/api/enter", json={"platform": PROLIFIC}).status_code == 409
        said = study.http.post("/api/enter", json={"platform": PROLIFIC}, headers=person.headers)
        assert said.status_code == 200 and Person(study, said.json()).get("/api/me").status_code == 200


def test_a_token_without_a_date_is_expired(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        name = study.studio.keys.verify(BEARER, study.enter().entered["token"])
        assert name is not None
        for value in (name.rpartition(".")[0], name.partition(".")[0], name + ".1.2"):
            token = study.studio.keys.sign(BEARER, value)
            said = study.http.get("/api/me", headers={"Authorization": f"Bearer {token}"})
            assert (said.status_code, said.json()["error"]) == (401, "ended")


def test_the_client_takes_the_new_token(tmp_path: Path, later: Any) -> None:
    import httpx

    async def work(study: Served) -> list[str]:
        async with httpx.AsyncClient(base_url=study.url, timeout=PATIENCE) as http:
            client = Client(http)
            await client.enter_study(invite=study.invite())
            tokens = [client.token]
            for _ in range(3):
                later(20)
                await client.get_state()
                tokens.append(client.token)
            return tokens

    with served(tmp_path / "s") as study:
        assert len(set(run_async(work(study)))) == 4


def test_the_page_shows_the_expired_session_and_keeps_the_answer(tmp_path: Path, context: Any, later: Any) -> None:
    with served(tmp_path / "s", plain_study(batch=6)) as study:
        page = context().new_page()
        page.goto(f"{study.url}/join#invite={study.invite()}")
        answer(page, "1", "Enter")
        saved(page)
        shown(page)
        later(31)
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Your session has expired")
        assert "personal link" in page.inner_text("main") and page.query_selector("button") is None
        kept = "Object.keys(localStorage).filter((key) => key.startsWith('plurivox.outbox.')).length"
        assert page.evaluate(kept) == 1
        page.goto(f"{study.url}/work")
        page.wait_for_selector("text=Your session has expired")
        page.goto("about:blank")
        page.goto(f"{study.url}/join#link={link_of(study)}")
        shown(page)
        until_true(page, f"{kept} === 0")
        saved(page)
    assert len(study_answers(tmp_path / "s")) == 2


def link_of(study: Served) -> str:
    from sqlalchemy import select

    from plurivox.web.store.random_ids import encode_id
    from plurivox.web.store.schema import workers

    return study.studio.keys.sign(route_dependencies.LINK, encode_id(study.look(select(workers.c.id))[0][0]))


def study_answers(folder: Path) -> list[Any]:
    import sqlite3

    with sqlite3.connect(folder / "study.db") as other:
        rows = other.execute("SELECT key FROM answers").fetchall()
    other.close()
    return rows
