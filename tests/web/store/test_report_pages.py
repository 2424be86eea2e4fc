"""Reports in the database: one job per question, one process at a time under a lease, pages that are erased with a worker."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select

from plurivox.web.store.admin.erase_worker import erase_worker_and_return_audit_line, try_truncate_sqlite_wal
from plurivox.web.store.collect.excluded_workers import exclude_if_active_and_release_slots
from plurivox.web.store.database import WRITE_OPTIONS
from plurivox.web.store.errors import NotFound
from plurivox.web.store.report import report_pages
from plurivox.web.store.report.report_pages import MAX_TRIES, REPORT_LEASE_SECONDS, VotesRead
from plurivox.web.store.report.result_snapshots import Outdated
from plurivox.web.store.schema import audit, workers
from studies import Served, fresh_database, plain_study, served, server_clock, text_tasks

PAGE = b"a page about wSomebodysPseudonym"


@pytest.fixture(params=["sqlite", "postgresql"])
def study(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Served]:
    database = "" if request.param == "sqlite" else fresh_database(request.getfixturevalue("postgres"))
    with served(tmp_path / "s", plain_study(), text_tasks(4), database=database) as one:
        yield one


def write(study: Served, job: Callable[..., Any], *args: Any, **named: Any) -> Any:
    return study.studio.writer.submit(lambda connection: job(connection, *args, **named)).result()


def ask(study: Served, question: str = "truth") -> None:
    write(study, report_pages.ask_for_report, "olga", question)


def take(study: Served, maker: str) -> str | None:
    return write(study, report_pages.take_waiting_report_job, maker)


def store(study: Served, maker: str, question: str = "truth") -> None:
    newest = study.studio.read_sync(lambda c: c.execute(report_pages.NEWEST_ANSWER).first())
    votes = VotesRead(1e9, answers=4, people=1, excluded=0, last_answer=newest.id if newest else 0, recounted=0)
    write(study, report_pages.store_report_page_or_raise_outdated, maker, question, votes, PAGE)


def jobs(study: Served) -> list[report_pages.ReportJob]:
    return study.studio.read_sync(report_pages.list_report_jobs)


def page(study: Served, question: Any = "truth") -> bytes:
    return study.studio.read_sync(partial(report_pages.get_compressed_report_page, question=question))


def test_a_report_is_asked_for_once_made_and_replaced_by_the_next(study: Served) -> None:
    with pytest.raises(NotFound):
        page(study)
    ask(study)
    ask(study)  # by another owner, or a second click
    assert [one.what for one in study.look(select(audit).where(audit.c.what == "report"))] == ["report"]
    assert jobs(study)[0].begun is None and take(study, "a") == "truth"
    assert write(study, report_pages.renew_report_job, "a", 3, 21) is True
    [job] = jobs(study)
    assert job.begun is not None and (job.step, job.steps, job.asked_by) == (3, 21, "olga")
    store(study, "a")
    assert page(study) == PAGE and jobs(study) == []
    ask(study)
    assert page(study) == PAGE  # until the next is made
    take(study, "b")
    store(study, "b")
    assert len(study.studio.read_sync(report_pages.list_report_pages)) == 1


def test_no_second_report_is_made_while_one_is(study: Served) -> None:
    ask(study, "truth")
    ask(study, "people")
    assert take(study, "a") == "truth"
    assert take(study, "b") is None  # another server
    store(study, "a")
    assert take(study, "b") == "people"


def test_a_report_of_a_process_that_died_is_made_again_but_not_for_ever(study: Served) -> None:
    ask(study)
    for number in range(MAX_TRIES):
        assert take(study, f"process {number}") == "truth"
        server_clock.let_pass(REPORT_LEASE_SECONDS + 1)
        assert jobs(study)[0].begun is None  # it waits again
    assert take(study, "one more") is None
    assert "stopped twice" in jobs(study)[0].failure
    ask(study)
    assert jobs(study)[0].failure == "" and take(study, "again") == "truth"


def test_a_server_that_is_stopped_gives_the_report_back(study: Served) -> None:
    ask(study)
    for number in range(MAX_TRIES + 1):
        assert take(study, f"server {number}") == "truth"
        write(study, report_pages.release_report_job, f"server {number}")


def test_a_process_that_lost_its_report_stores_nothing(study: Served) -> None:
    ask(study)
    take(study, "slow")
    server_clock.let_pass(REPORT_LEASE_SECONDS + 1)
    take(study, "fast")
    assert write(study, report_pages.renew_report_job, "slow") is False
    with pytest.raises(Outdated):
        store(study, "slow")
    write(study, report_pages.fail_report_job, "slow", "too slow")
    assert jobs(study)[0].failure == ""
    store(study, "fast")
    assert page(study) == PAGE


def test_a_report_is_outdated_by_answers_and_by_exclusions(study: Served) -> None:
    def is_outdated() -> bool:
        return study.studio.read_sync(report_pages.list_report_pages)[0].is_outdated

    person = study.enter()
    ask(study)
    take(study, "a")
    store(study, "a")
    assert not is_outdated()
    person.answer(person.slots()[0]["slot"])
    assert is_outdated()
    ask(study)
    take(study, "b")
    store(study, "b")
    assert not is_outdated()
    write(study, exclude_if_active_and_release_slots, study.look(select(workers.c.id))[0].id, "too-fast", "")
    assert is_outdated()


def test_erasing_a_worker_deletes_the_pages_and_what_is_being_made(study: Served, tmp_path: Path) -> None:
    person = study.enter()
    for slot in person.slots():
        person.answer(slot["slot"])
    for question in ("truth", "people"):
        ask(study, question)
        take(study, question)
        if question == "truth":
            store(study, question)
    line = write(study, erase_worker_and_return_audit_line, "test", person.entered["me"]["worker"])
    assert line["gone"]["reports"] == 1
    with pytest.raises(NotFound):
        page(study)
    with pytest.raises(Outdated):  # it was being made from the answers of the worker
        store(study, "people", "people")
    assert take(study, "anew") == "people"
    if study.studio.engine.dialect.name == "sqlite":
        assert try_truncate_sqlite_wal(study.studio.engine)
        assert not any(PAGE in file.read_bytes() for file in (tmp_path / "s").iterdir())


def test_erasing_somebody_without_answers_keeps_the_pages(study: Served) -> None:
    ask(study)
    take(study, "a")
    store(study, "a")
    person = study.enter()
    write(study, erase_worker_and_return_audit_line, "test", person.entered["me"]["worker"])
    assert page(study) == PAGE


@pytest.fixture
def on_postgresql(tmp_path: Path, postgres: str) -> Iterator[Served]:
    with served(tmp_path / "s", plain_study(), text_tasks(4), database=fresh_database(postgres)) as one:
        yield one


def while_first_is_uncommitted(
    study: Served, first: Callable[[Connection], Any], second: Callable[[Connection], Any]
) -> Any:
    """Begin `second` in a transaction of its own before the one of `first` commits; return its result."""

    def in_transaction() -> Any:
        with study.studio.engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
            return second(connection)

    with ThreadPoolExecutor(1) as pool:
        with study.studio.engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
            first(connection)
            late = pool.submit(in_transaction)
            with pytest.raises(TimeoutError):
                late.result(0.2)  # it waits
        return late.result()


def test_of_two_servers_one_gets_the_report(on_postgresql: Served) -> None:
    ask(on_postgresql)
    take_by = [partial(report_pages.take_waiting_report_job, maker=name) for name in ("one", "other")]
    assert while_first_is_uncommitted(on_postgresql, *take_by) is None
    assert write(on_postgresql, report_pages.renew_report_job, "one") is True


def test_a_page_that_is_being_stored_is_erased_too(on_postgresql: Served) -> None:
    ask(on_postgresql)
    take(on_postgresql, "a")
    votes = VotesRead(1e9, answers=4, people=1, excluded=0, last_answer=0, recounted=0)
    storing = partial(
        report_pages.store_report_page_or_raise_outdated, maker="a", question="truth", votes=votes, page=PAGE
    )
    assert while_first_is_uncommitted(on_postgresql, storing, report_pages.delete_report_pages_and_restart_jobs) == 1
