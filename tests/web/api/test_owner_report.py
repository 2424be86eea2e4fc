"""The routes of the report: ask for one, see how far it is, open it without access to the studio, download it."""

import gzip
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select

from plurivox.web.services import report_requests
from plurivox.web.store.report import report_pages
from plurivox.web.store.report.report_pages import VotesRead
from plurivox.web.store.schema import audit
from studies import Served, plain_study, served, text_tasks

PAGE = "<!doctype html><title>Report on plain</title>"


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "s", plain_study(), text_tasks(4)) as one:
        one.sign_in()
        yield one


def answer(study: Served) -> None:
    person = study.enter()
    assert person.answer(person.slots()[0]["slot"]).status_code == 200


def make_page(study: Served) -> None:
    """Store a page for a report that was asked for, as its process does."""
    write = study.studio.writer.submit
    question = write(partial(report_pages.take_waiting_report_job, maker="m")).result()
    store = partial(report_pages.store_report_page_or_raise_outdated, maker="m", question=question)
    votes = VotesRead(1e9, answers=1, people=1, excluded=0, last_answer=1, recounted=0)
    write(partial(store, votes=votes, page=gzip.compress(PAGE.encode()))).result()


def ask(study: Served, question: str = "truth") -> dict[str, object]:
    said = study.http.post("/api/owner/report", json={"question": question}, headers=study.owner)
    assert said.status_code == 200, said.text
    return said.json()["reports"][question == "people"]


def test_an_owner_asks_for_a_report_and_opens_or_downloads_it(study: Served) -> None:
    answer(study)
    assert study.http.get("/api/owner/report/people").json()["error"] == "not-found"
    job = ask(study, "people")["job"]
    assert job["asked_by"] == "olga" and job["begun"] is None and job["failure"] == ""
    make_page(study)
    found = study.http.get("/api/owner/report").json()["reports"][1]
    assert found["question"] == "people" and found["job"] is None and found["page"]["outdated"] is False
    opened, saved = (study.http.get(f"/api/owner/report/people{more}") for more in ("", "?download=true"))
    assert opened.text == saved.text == PAGE and opened.headers["content-encoding"] == "gzip"
    assert (
        opened.headers["content-type"] == "text/html; charset=utf-8" and opened.headers["cache-control"] == "no-store"
    )
    assert saved.headers["content-disposition"] == 'attachment; filename="plain-report-people.html"'
    plain = study.http.get("/api/owner/report/people", headers={"Accept-Encoding": "identity"})
    assert plain.text == PAGE and "content-encoding" not in plain.headers
    lines = [(row.what, row.detail) for row in study.look(select(audit).where(audit.c.what.like("report%")))]
    assert lines == [(what, '{"question": "people"}') for what in ("report", "report downloaded")]


def test_a_page_is_sandboxed_and_replaces_no_other_header(study: Served) -> None:
    answer(study)
    ask(study)
    make_page(study)
    headers = study.http.get("/api/owner/report/truth").headers
    [policy] = headers.get_list("content-security-policy")
    assert "sandbox allow-scripts;" in policy and "allow-same-origin" not in policy and "default-src 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"
    assert "sandbox" not in study.http.get("/api/owner/report").headers["content-security-policy"]


def test_a_report_that_cannot_be_made_is_refused_with_what_to_do(
    study: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> str:
        said = study.http.post("/api/owner/report", json={"question": "truth"}, headers=study.owner)
        assert said.status_code == 409
        assert study.http.get("/api/owner/report").json()["obstacle"] == said.json()["detail"]
        return said.json()["error"] + ": " + said.json()["detail"]

    assert refused().startswith("no-answers: There are no answers yet")
    answer(study)
    monkeypatch.setattr(report_requests, "find_spec", lambda name: None if name == "matplotlib" else "found")
    assert "matplotlib is not installed" in refused() and "pip install 'plurivox[plot]'" in refused()
    assert study.http.get("/api/owner/report/everything").status_code == 422


def test_the_commands_name_the_folder_of_the_study_and_its_options(tmp_path: Path) -> None:
    made = plain_study(repeats=1, elicit="top-two[gamma=0.05]")
    with served(tmp_path / "my study", made, text_tasks(4)) as one:
        one.sign_in()
        commands = one.http.get("/api/owner/report").json()["reports"][1]["commands"]
        assert str(tmp_path) not in " ".join(commands)
    assert commands == [
        "plurivox studio export 'my study' -o data",
        "plurivox clean data --rules repeats-once -o cleaned",
        "plurivox elicit form-column cleaned --forms 'top-two[gamma=0.05]' -o votes",
        "plurivox report votes --for people -o report.html",
    ]
