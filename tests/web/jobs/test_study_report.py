"""The report of a study: from which votes, with which contents and commands, and what an owner reads if it fails."""

import gzip
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

import plurivox as pv
from plurivox.cli.main import main
from plurivox.core.errors import InputError
from plurivox.web.jobs import study_report
from plurivox.web.jobs.report_launcher import ReportLauncher
from plurivox.web.jobs.study_report import make_and_store_report_or_failure, read_votes_and_gold_of_study
from plurivox.web.store.collect.excluded_workers import exclude_if_active_and_release_slots
from plurivox.web.store.collect.tasks_batches_quotas import NewTask
from plurivox.web.store.report import report_pages, task_images_and_texts
from plurivox.web.store.schema import workers
from plurivox.web.study.commands_after_export import commands_from_study_to_report
from plurivox.web.study.image_preparation import validate_image_and_make_displayed_version
from report_pages import png
from studies import Served, plain_study, served, text_tasks

MAKER = "the process of this test"


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Served]:
    """A study with texts, a picture and gold labels, two people who answered and one who is excluded."""
    picture = validate_image_and_make_displayed_version(png(400, 300), "photo", 160)
    tasks = [*text_tasks(3, gold="cat"), NewTask("photo", medium=picture)]
    with served(tmp_path / "s", plain_study(per_task=3, repeats=2), tasks) as one:
        for label in ("cat", "cat", "dog"):
            person = one.enter()
            for slot in person.slots():
                person.answer(slot["slot"], label, submitted_ms=2000)
        last = one.look(select(workers.c.id).order_by(workers.c.born.desc()))[0].id
        one.studio.writer.submit(lambda c: exclude_if_active_and_release_slots(c, last, "too-fast", "")).result()
        yield one


def take(study: Served, question: str = "truth") -> None:
    write = study.studio.writer.submit
    write(partial(report_pages.ask_for_report, audit_actor="olga", question=question)).result()
    assert write(partial(report_pages.take_waiting_report_job, maker=MAKER)).result() == question


def failure(study: Served) -> str:
    [job] = study.studio.read_sync(report_pages.list_report_jobs)
    return job.failure


def make(study: Served, monkeypatch: pytest.MonkeyPatch, report: Callable[..., Any], **settings: Any) -> None:
    """Make the report with another function in place of `report`, which takes seconds."""
    monkeypatch.setattr(study_report, "report", report)
    given = study.studio.settings.model_copy(update=settings)
    make_and_store_report_or_failure(study.studio.engine, given, "truth", MAKER)


def test_a_report_is_made_from_the_studys_votes_contents_and_gold(
    study: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}
    take(study)
    make(study, monkeypatch, lambda data, **more: given.update(more, data=data) or SimpleNamespace(html="<p>é</p>"))
    assert (given["data"].votes.n_workers, len(given["data"].votes.tasks), given["for_"]) == (2, 4, "truth")
    assert "From 8 answers of 2 people" in given["remark"] and "those of 1 excluded person" in given["remark"]
    assert given["texts"]["t001"] == "text 1" and list(given["images"]) == ["photo"]
    assert given["images"]["photo"][:4] == b"\x89PNG" and set(given["gold"].tasks.tolist()) == {"t000", "t001", "t002"}
    page = study.studio.read_sync(partial(report_pages.get_compressed_report_page, question="truth"))
    assert gzip.decompress(page).decode() == "<p>é</p>"
    [made] = study.studio.read_sync(report_pages.list_report_pages)
    assert (made.votes.answers, made.votes.people, made.votes.excluded, made.is_outdated) == (8, 2, 1, False)


def test_the_commands_on_the_page_lead_to_the_same_votes_and_gold(
    study: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with study.studio.engine.connect() as connection:
        found = read_votes_and_gold_of_study(connection, study.studio.study)
    monkeypatch.chdir(tmp_path)
    *commands, report = commands_from_study_to_report(study.studio.study, study.studio.settings.folder, "truth")
    for command in commands:
        said = CliRunner().invoke(main, command.split()[1:])
        assert said.exit_code == 0, said.output
    data = pv.read(report.split()[2])
    for name in ("tasks", "workers", "labels", "task", "worker", "label", "weights"):
        np.testing.assert_array_equal(getattr(data.votes, name), getattr(found.votes, name), name)
    assert found.gold is not None and data.gold is not None
    assert data.gold.tasks.tolist() == found.gold.tasks.tolist()


def raising(cause: Exception) -> Callable[..., Any]:
    def report(*_: Any, **__: Any) -> None:
        raise cause

    return report


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (MemoryError(), "needs more memory than the 1,024 MB .* PLURIVOX_REPORT_MEGABYTES"),
        (InputError("a report needs votes"), "could not be made: a report needs votes."),
        (
            OperationalError("SELECT secret", {"raw": "pid"}, Exception("disk I/O error\nmore")),
            "disk I/O error. Try again",
        ),
        (KeyError("a name of somebody"), "could not be made: KeyError. Try again; .* server's log"),
    ],
    ids=["memory", "input", "database", "mistake"],
)
def test_a_failure_says_what_to_do_and_nothing_private(
    study: Served, monkeypatch: pytest.MonkeyPatch, cause: Exception, told: str
) -> None:
    take(study)
    make(study, monkeypatch, raising(cause), report_megabytes=1024)
    assert re.search(told, failure(study)), failure(study)
    assert not any(word in failure(study) for word in ("SELECT", "pid", "somebody", "more\n"))


def test_nothing_is_made_from_a_study_without_votes(tmp_path: Path) -> None:
    with served(tmp_path / "s") as empty:
        take(empty)
        make_and_store_report_or_failure(empty.studio.engine, empty.studio.settings, "truth", MAKER)
        assert failure(empty) == "The report could not be made: the study has no answers that count yet."


def test_a_process_that_dies_is_a_failure_and_one_that_is_stopped_is_not(study: Served) -> None:
    launcher = ReportLauncher(study.studio, "server")
    ask = partial(report_pages.ask_for_report, audit_actor="olga", question="people")
    study.studio.writer.submit(ask).result()
    launcher.start_or_check_process()
    assert launcher._child is not None
    launcher._child.kill()  # as the kernel does if memory is short
    launcher._child.wait()
    launcher.start_or_check_process()
    assert "ended with exit code -9" in failure(study) and "memory" in failure(study)
    study.studio.writer.submit(ask).result()
    launcher.start_or_check_process()
    other = ReportLauncher(study.studio, "another server")
    other.start_or_check_process()
    assert other._child is None
    launcher.stop()
    assert failure(study) == "" and study.studio.read_sync(report_pages.is_report_waiting)


def test_a_report_that_takes_too_long_is_ended(study: Served) -> None:
    study.studio.settings = study.studio.settings.model_copy(update={"report_seconds": 0.1})
    launcher = ReportLauncher(study.studio, "server")
    ask = partial(report_pages.ask_for_report, audit_actor="olga", question="truth")
    study.studio.writer.submit(ask).result()
    launcher.start_or_check_process()
    assert launcher._child is not None and launcher._child.wait(60) == 0
    assert "not finished within" in failure(study) and "PLURIVOX_REPORT_SECONDS" in failure(study)
    launcher.start_or_check_process()
    assert launcher._child is None  # it is not tried again


def test_contents_are_read_in_blocks_and_only_when_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(tmp_path / "s", None, text_tasks(120)) as one:
        _, texts = task_images_and_texts.images_and_texts_of_tasks(one.studio.engine)
        read: list[int] = []
        monkeypatch.setattr(
            texts, "_read", lambda c, names, real=texts._read: read.append(len(names)) or real(c, names)
        )
        assert len(texts) == 120 and "t007" in texts and "t999" not in texts and texts.get("t999") is None
        assert texts["t007"] == "text 7" and texts["t030"] == "text 30" and read == [50]
        assert list(texts.values()) == [f"text {i}" for i in range(120)]
        assert read[1:] == [50, 20]
