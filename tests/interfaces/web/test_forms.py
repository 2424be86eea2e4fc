"""Every form of the studio: simulated answers, export, soft labels, rejected marks."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plurivox as pv
from plurivox.cli._click import studio_flags
from plurivox.web.client.simulated_workers import run_async, simulate_mostly_correct_marks, simulate_workers
from plurivox.web.study.export import export_study
from plurivox.web.study.question_forms import FORMS
from studies import asks, plain_study, served, text_tasks

LABELS = ["bird", "cat", "dog", "frog", "ship"]


def mass_of(form: str, marks: list[dict[str, str]]) -> dict[str, float]:
    """Return the probability of each label in an answer, by the definition of its form."""
    named = [mark for mark in marks if mark["kind"] == "named"]
    n = len(named)
    if form in ("one-label", "select-top-two"):
        return {mark["label"]: 1 / n for mark in named}
    if form == "ranking":
        return {mark["label"]: 0.5**at / (2 - 0.5 ** (n - 1)) for at, mark in enumerate(named)}
    said = {mark["label"]: float(mark["typed"]) / 100 for mark in named}
    if form in ("histogram", "chips"):
        return said
    marked = {mark["label"] for mark in marks if mark["kind"] != "named"}
    open_ = [one for one in LABELS if one not in said and (one in marked) == (form == "also-possible")]
    left = 1 - sum(said.values())
    if not left and open_:  # 100 percent are assigned, but labels are not ruled out
        left, said = 0.1, {label: 0.9 * value for label, value in said.items()}
    if not open_:
        return {label: value / sum(said.values()) for label, value in said.items()}
    return said | {label: left / len(open_) for label in open_}


@pytest.mark.parametrize("form", FORMS)
def test_answers_of_simulated_workers_are_exported_unchanged(tmp_path: Path, form: str) -> None:
    made = plain_study(form=form, labels=LABELS, per_task=3, batch=6)
    with served(tmp_path / "s", made, text_tasks(6)) as study:
        run_async(simulate_workers(study.url, study.invite(), 3, seed=4, patience=600))
        assert export_study(study.studio.engine, made, tmp_path / "out") == 18
    data = pv.read(tmp_path / "out")
    views = {row["answer"]: row for row in data.tables["views"]().to_dicts()}
    said = [json.loads(views[key]["marks"]) for key in sorted(views)]
    read = pv.elicit_votes(data.answers, "form-column")
    assert (
        read.outcome_counts["read"] == 18 and "over-100" not in read.flag_counts and "under-100" not in read.flag_counts
    )
    votes = read.votes
    for at, marks in enumerate(said):
        mine = votes.answer == at
        found = dict(zip(votes.labels[votes.label[mine]].tolist(), votes.weight[mine].tolist(), strict=True))
        wanted = mass_of(form, [dict(zip(("kind", "label", "typed"), mark, strict=True)) for mark in marks])
        assert found == pytest.approx({label: p for label, p in wanted.items() if p}), (form, marks)
    soft = pv.fit(votes, "vote-shares").soft
    np.testing.assert_allclose(soft.prob.sum(1), 1)
    assert len(soft.tasks) == 6


@pytest.mark.parametrize(
    ("form", "marks", "why"),
    [
        ("ranking", [("named", "cat", "70")], "labels in order, without percents"),
        ("ranking", [("named", "cat", ""), ("never", "dog", "")], "labels in order, without percents"),
        ("ranking", [("never", "dog", "")], "choose a label"),
        ("select-top-two", [("named", one, "") for one in LABELS[:3]], "at most two"),
        ("top-one", [("named", "cat", "50"), ("named", "dog", "50")], "takes one label"),
        ("top-one", [("named", "cat", "101")], "between 0 and 100"),
        ("chips", [("named", "cat", "95")], "must add up to 100"),
        ("chips", [("named", "cat", "97"), ("named", "dog", "3")], "must be a multiple"),
        ("chips", [("named", "cat", "")], "a percent"),
    ],
)
def test_marks_that_a_form_cannot_produce_are_rejected(
    tmp_path: Path, form: str, marks: list[tuple[str, str, str]], why: str
) -> None:
    with served(tmp_path / "s", plain_study(form=form, labels=LABELS)) as study:
        person = study.enter()
        slot = person.slots()[0]["slot"]
        body = [dict(zip(("kind", "label", "typed"), mark, strict=True)) for mark in marks]
        said = person.post("/api/answers", {"key": "k1", "slot": slot, "marks": body})
        assert said.status_code == 422 and why in said.json()["detail"]


def test_the_command_line_knows_every_form() -> None:
    assert studio_flags.FORMS == FORMS


@pytest.mark.parametrize("chips", [5, 10, 25, 50])
def test_simulated_chips_are_whole_and_all_placed(chips: int) -> None:
    task: dict[str, Any] = {"text": "x", "text2": None, "media": None}
    for seed in range(30):
        typed = [
            int(mark["typed"])
            for mark in simulate_mostly_correct_marks(task, LABELS, asks("chips", chips=chips), random.Random(seed))
        ]
        assert sum(typed) == 100 and not any(one * chips % 100 for one in typed)
