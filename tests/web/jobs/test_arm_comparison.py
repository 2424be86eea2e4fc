"""Comparison of arms on answers whose cost and accuracy are known."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import update

from interfaces.web.page_actions import resize
from plurivox.web.client.simulated_workers import run_async, simulate_workers
from plurivox.web.jobs.arm_comparison import median_and_cluster_bootstrap_interval
from plurivox.web.jobs.result_snapshot import SnapshotComputer
from plurivox.web.store.schema import workers
from studies import Person, Served, plain_study, served, server_clock, text_tasks

TRUTH = {f"text {i}": ["cat", "dog", "ship"][i % 3] for i in range(6)}
LABELS = ["cat", "dog", "ship"]


def work(person: Person) -> None:
    """Answer all slots: one-label takes 2 s and is certain, histogram takes 8 s and gives the right label 60%."""
    form = person.get("/api/me").json()["form"]
    for slot in person.slots():
        right = TRUTH[slot["task"]["text"]]
        wrong = next(label for label in LABELS if label != right)
        quick = form == "one-label"
        said = [(right, "")] if quick else [(right, "60"), (wrong, "40")]
        events = [{"seq": i, "ms": 10.0 * i, "kind": "pick", "by": "key"} for i in range(2 if quick else 9)]
        marks = [{"kind": "named", "label": label, "typed": typed} for label, typed in said]
        times = {"submitted_ms": 2000 if quick else 8000, "events": events}
        body = {"key": f"k{slot['slot']}", "slot": slot["slot"], "marks": marks, **times}
        server_clock.let_pass(times["submitted_ms"] / 1000)
        assert person.post("/api/answers", body).status_code == 200


def compared(study: Served) -> dict[str, Any]:
    SnapshotComputer(study.studio.engine).compute_and_publish_snapshot(study.studio.study)
    said = study.http.get("/api/owner/forms")
    assert said.status_code == 200, said.text
    return {one["arm"]: one for one in said.json()["arms"]}


def test_cost_and_accuracy_of_two_forms(tmp_path: Path) -> None:
    made = plain_study(forms=["one-label", "histogram"], per_task=4, batch=6)
    with served(tmp_path / "s", made, text_tasks(6)) as study:
        study.sign_in()
        assert study.http.get("/api/owner/forms").json()["arms"] == []
        for _ in range(8):
            work(study.enter())
        for _ in range(2):
            study.enter()
        gone = update(workers).where(workers.c.stage != "done").values(seen=1.0)
        study.studio.writer.submit(lambda c: c.execute(gone)).result()
        quick, slow = (compared(study)[name] for name in ("one-label", "histogram"))
        assert study.http.get("/api/owner/studies").json()[0]["arms"] == ["one-label", "histogram"]
    assert (quick["answers"], slow["answers"]) == (24, 24) and quick["people"] + slow["people"] == 10
    assert quick["seconds"] == [2, 2, 2] and slow["seconds"] == [8, 8, 8]
    assert (quick["inputs"], slow["inputs"]) == (2, 9)
    assert quick["entropy"] == 0 and slow["entropy"] == pytest.approx(0.673, abs=1e-3)
    assert quick["agreement"] == slow["agreement"] == 1  # of the labels named first
    assert quick["finished"] + slow["finished"] == 8 and quick["left"] + slow["left"] == 2
    assert quick["against"] == slow["against"] == "others" and quick["accuracy"] == slow["accuracy"] == 1
    # probability mass shared with the answers of the other arm
    assert quick["match"] == slow["match"] == pytest.approx(0.6)
    assert quick["per_minute"] == pytest.approx(4 * slow["per_minute"], rel=1e-3) and quick["per_minute"] > 1
    assert [m for m, _, _ in quick["curve"]] == [1, 2, 3, 4] and quick["curve"][1][1] == 4


def test_people_leave_without_a_new_answer_and_those_turned_away_have_not_finished(tmp_path: Path) -> None:
    made = plain_study(forms=["one-label", "histogram"], per_task=1, batch=2)
    with served(tmp_path / "s", made, text_tasks(2)) as study:
        study.sign_in()
        first, second = study.enter(), study.enter()
        work(first)
        second.answer(second.slots()[0]["slot"])
        assert [one["left"] for one in compared(study).values()] == [0, 0]
        server_clock.let_pass(made.lease_minutes * 60 + 1)
        full = study.enter(), study.enter()
        arms = {one["arm"]: one for one in study.http.get("/api/owner/forms").json()["arms"]}
    assert sum(one["left"] for one in arms.values()) == 1 and sum(one["finished"] for one in arms.values()) == 1
    assert sum(one["people"] for one in arms.values()) == 2 + len(full)


def test_a_study_with_one_form_compares_nothing(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(), text_tasks(4)) as study:
        study.sign_in()
        person = study.enter()
        person.answer(person.slots()[0]["slot"])
        assert compared(study) == {} and study.http.get("/api/owner/studies").json()[0]["arms"] == []


def test_the_bootstrap_of_the_median_resamples_whole_workers() -> None:
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(20), 30)
    own = rng.normal(10, 3, 20)[people]  # varies between workers, hardly within a worker
    middle, low, high = median_and_cluster_bootstrap_interval(own + rng.normal(0, 0.1, 600), people) or ()
    assert low < middle < high and high - low > 1
    alone = median_and_cluster_bootstrap_interval(np.array([5.0]), np.array([0]))
    assert alone == [5, 5, 5] and median_and_cluster_bootstrap_interval(np.zeros(0), np.zeros(0, int)) is None


def test_the_page_shows_the_arms(studio: Any, context: Any, barriers: Any) -> None:
    live = studio(n=6, forms=["top-two", "chips", "ranking"], per_task=3)
    run_async(simulate_workers(live.base, live.join.split("#invite=")[1], 9, seed=3, patience=600))
    SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(live.studio.study)
    page = context(bypass_csp=True).new_page()
    page.goto(live.setup)
    page.fill("#name", "olga")
    page.fill("#password", "correct horse")
    page.click("button.main")
    page.click("text=Forms compared")
    page.wait_for_selector("h1:has-text('Forms compared')")
    text = page.inner_text("main")
    assert all(name in text for name in ("top-two", "chips", "ranking", "Overlap by time", "Gain per minute"))
    assert page.eval_on_selector_all("polyline.trace", "all => all.length") == 3
    assert barriers(page) == []
    resize(page, 360, 640)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 360 and barriers(page) == []
