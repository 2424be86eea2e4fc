"""One round of the computing process: each answer is read once and elicited once, study.toml is parsed once."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from plurivox.elicit import Form
from plurivox.web.jobs import background_thread
from plurivox.web.jobs.background_thread import BackgroundThread
from plurivox.web.jobs.compute_process import RoundRunner
from plurivox.web.store.report.answer_cache import AnswerCache
from plurivox.web.store.schema import answers, snapshots
from plurivox.web.study.config import Study, read_study
from studies import Served, fresh_database, plain_study, served, text_tasks

PAID: dict[str, Any] = {"pay": {"base": "0.10", "per_hour": "8"}, "exclude": {"rules": ["too-fast[seconds=0.1]"]}}


def answer_all(study: Served) -> None:
    person = study.enter()
    for slot in person.slots():
        assert person.answer(slot["slot"], submitted_ms=2000).status_code == 200


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_each_answer_is_read_once_for_rules_labels_and_pay(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = "" if kind == "sqlite" else fresh_database(request.getfixturevalue("postgres"))
    parse, read = AnswerCache._convert_query_columns_to_arrays, Counter[int]()

    def count(log: AnswerCache, columns: Any) -> Any:
        read.update(columns[0])
        return parse(log, columns)

    monkeypatch.setattr(AnswerCache, "_convert_query_columns_to_arrays", count)
    with served(tmp_path / "s", plain_study(per_task=9, **PAID), text_tasks(4), database=database) as study:
        computation = RoundRunner(study.studio.engine)
        for _ in range(3):
            answer_all(study)
            assert computation.run_jobs_and_get_error_or_empty_by_job(study.studio.study) == {
                "rules": "",
                "labels": "",
                "pay": "",
            }
        assert read == Counter(row.id for row in study.look(select(answers.c.id))) and len(read) == 12
        study.sign_in()
        assert study.http.get("/api/owner/snapshot").json()["answers"] == 12
        assert study.http.get("/api/owner/pay").json()["people"] == 3


def test_next_best_reuses_the_votes_of_the_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elicited, elicit = [], Form.read
    monkeypatch.setattr(Form, "read", lambda form, given: elicited.append(form) or elicit(form, given))
    with served(tmp_path / "s", plain_study(assign="next-best", per_task=5), text_tasks(4)) as study:
        computation = RoundRunner(study.studio.engine)
        for _ in range(2):
            answer_all(study)
            del elicited[:]
            assert not any(computation.run_jobs_and_get_error_or_empty_by_job(study.studio.study).values())
            assert [form.name() for form in elicited] == ["top-two", "one-label"]  # soft labels and gains; agreement
        study.sign_in()
        assert study.http.get("/api/owner/progress").json()["settled"]["least"] > 0


def test_study_toml_is_parsed_once_per_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed, asked = list[Path](), list[Study]()
    with served(tmp_path / "s", plain_study(**PAID), text_tasks(4)) as study:
        answer_all(study)
        background, computation = BackgroundThread(study.studio), RoundRunner(study.studio.engine)
        monkeypatch.setattr(background_thread, "read_study", lambda folder: parsed.append(folder) or read_study(folder))
        monkeypatch.setattr(
            background,
            "_run_child_and_get_error_or_empty_by_job",
            lambda one: asked.append(one) or computation.run_jobs_and_get_error_or_empty_by_job(one),
        )
        background.run_jobs_and_turn_errors_into_alerts()
        assert len(parsed) == len(asked) == 1 and len(study.look(select(snapshots))) == 1


@pytest.mark.parametrize("more", [PAID, {"forms": ["one-label", "chips"]}, {"strata": {"": 4}, "phrase": {"top": "?"}}])
def test_a_study_survives_serialization_to_the_process(more: dict[str, Any]) -> None:
    made = plain_study(**more)
    sent = Study.model_validate_json(made.model_dump_json())
    assert sent == made and sent.config_digest == made.config_digest
