"""The page of a task says how its soft label was made; what it shows of each answer is what `plurivox elicit` makes of it."""

import shlex
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sqlalchemy import select

import plurivox as pv
from plurivox.cli.main import main
from plurivox.core.answers import Answers
from plurivox.core.array_types import TEXT
from plurivox.core.errors import InputError, PlurivoxError
from plurivox.elicit import methods
from plurivox.engine.beta_intervals import jeffreys_interval_95
from plurivox.web.jobs.result_snapshot import SnapshotComputer
from plurivox.web.store.collect.excluded_workers import exclude_if_active_and_release_slots
from plurivox.web.store.schema import workers
from plurivox.web.study.config import check_aggregator_exists, parse_study
from plurivox.web.study.create_study import import_answers_collected_elsewhere
from plurivox.web.study.export import export_study
from plurivox.web.study.question_forms import FORMS
from plurivox.workflows import TRUTH_AND_PEOPLE
from studies import Person, Served, plain_study, served, text_tasks

LABELS = ["bird", "cat", "dog", "frog", "ship"]


def marks_for(asks: dict[str, Any], n: int) -> list[dict[str, str]]:
    """Return a valid answer to a form: one to three labels, percents and ticks as far as it asks for them."""
    n_labels = [1, 2, 3][n % 3] if asks["labels"] is None else 1 + n % asks["labels"]
    typed = [["100"], ["60", "40"], ["50", "30", "20"]][n_labels - 1]
    if asks["labels"] is not None and n_labels == 1 and n % 4 == 2:
        typed = ["70"]
    named = [{"kind": "named", "label": LABELS[(n + k) % 5]} for k in range(n_labels)]
    if asks["percents"]:
        named = [{**one, "typed": text} for one, text in zip(named, typed, strict=True)]
    ticked = [{"kind": asks["ticks"], "label": LABELS[(n + 3) % 5]}] if asks["ticks"] and n % 2 else []
    return [*named, *ticked]


def answer_all(person: Person, start: int = 0) -> None:
    """Answer all tasks of a person in different ways."""
    me = person.entered["me"]
    for n, slot in enumerate(person.slots()):
        mode = {"mode": "histogram"} if me["form"] == "histogram" else {}
        body = {"key": f"k{start + n:03d}", "slot": slot["slot"], "marks": marks_for(me["asks"], start + n), **mode}
        said = person.post("/api/answers", body)
        assert said.status_code == 200, said.text


def task_pages(live: Served) -> list[dict[str, Any]]:
    """Return what the owner's API says of every task."""
    lines = live.http.get("/api/owner/tasks").json()["tasks"]
    return [live.http.get(f"/api/owner/tasks/{one['task']}").json() for one in lines]


def shown(pages: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, float]]:
    """Return (task, worker) -> the distribution that the page shows for the answer."""
    return {
        (page["line"]["name"], one["worker"]): {share["label"]: share["p"] for share in one["becomes"]}
        for page in pages
        for one in page["answers"]
        if one["becomes"]
    }


def elicited(live: Served, folder: Path) -> dict[tuple[str, str], dict[str, float]]:
    """Export the study and run the command that the export names next; return (task, worker) -> distribution."""
    runner = CliRunner()
    settings = live.studio.settings
    said = runner.invoke(main, ["studio", "export", str(settings.folder), "-o", str(folder)], catch_exceptions=False)
    command = shlex.split(said.output.partition("next: ")[2])
    assert command[:3] == ["plurivox", "elicit", "form-column"], said.output
    out = str(folder.parent / "votes")
    assert runner.invoke(main, [*command[1:-1], out], catch_exceptions=False).exit_code == 0
    votes = pv.io.read(out).votes
    assert votes is not None
    found: dict[tuple[str, str], dict[str, float]] = {}
    names = (votes.tasks[votes.task], votes.workers[votes.worker], votes.labels[votes.label], votes.weights)
    for task, worker, label, weight in zip(*(one.tolist() for one in names), strict=True):
        found.setdefault((task, worker), {})[label] = weight
    return found


def check_shown_is_elicited(live: Served, folder: Path) -> list[dict[str, Any]]:
    """Check every distribution on the pages, and that a soft label is their mean; return the pages."""
    SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(live.studio.study)
    pages = task_pages(live)
    ours, theirs = shown(pages), elicited(live, folder)
    assert ours.keys() == theirs.keys()
    for key, share in theirs.items():
        assert ours[key] == pytest.approx(share, abs=1e-5), key
    for page in pages:
        mine = [share for (task, _), share in theirs.items() if task == page["line"]["name"]]
        assert page["soft_label_answers"] == len(mine) and not page["pending"]
        for one in page["labels"]:
            mean = np.mean([share.get(one["label"], 0.0) for share in mine])
            assert one["mean"] == pytest.approx(mean, abs=1e-5) == one["p"]
        assert len(mine) == 1 or f"mean of {len(mine)} answers" in " ".join(page["how"])
    return pages


@pytest.mark.parametrize("form", FORMS)
def test_each_answer_is_shown_with_the_distribution_that_elicit_makes_of_it(tmp_path: Path, form: str) -> None:
    study = plain_study(labels=LABELS, form=form, per_task=3, batch=6, aggregator="vote-shares")
    with served(tmp_path / "s", study, text_tasks(6)) as live:
        live.sign_in()
        for start in (0, 7, 14):
            answer_all(live.enter(), start)
        [page, *_] = check_shown_is_elicited(live, tmp_path / "out")
        name = page["answers"][0]["form"]
        assert page["how"][0] == f"Each answer becomes a distribution over the labels. {methods.make(name).explain()}"


@pytest.mark.parametrize("elicit", ["", "top-two[gamma=0.3], ranking[weights=borda]"])
def test_forms_and_options_of_a_study_with_arms_are_told_apart(tmp_path: Path, elicit: str) -> None:
    study = plain_study(labels=LABELS, forms=list(FORMS), per_task=1, batch=2, elicit=elicit, aggregator="vote-shares")
    with served(tmp_path / "s", study, text_tasks(2)) as live:
        live.sign_in()
        for n in range(len(FORMS)):
            answer_all(live.enter(), 3 * n + 1)
        pages = check_shown_is_elicited(live, tmp_path / "out")
        told = "\n".join(pages[0]["how"])
        specs = {spec.partition("[")[0]: spec for spec in elicit.split(", ") if spec}
        for name in {one["form"] for one in pages[0]["answers"]}:
            assert f"{name}: {methods.make(specs.get(name, name)).explain()}" in told
        assert ("30% (gamma = 0.3)" in told) == bool(elicit) and "10% (gamma = 0.1)" in told


def test_imported_answers_in_any_form_are_read_as_elicit_reads_them(tmp_path: Path) -> None:
    names = [name for name in methods if name != "form-column"]
    said = [[("named", "cat", "60"), ("named", "dog", "8p"), ("never", "ship", "")]] * len(names)
    form = np.array(names, dtype=TEXT)
    given = Answers.of(task=["t000"] * len(names), worker=names, marks=said, labels=[*LABELS, "yak"], form=form)
    with served(tmp_path / "s", plain_study(labels=LABELS, aggregator="vote-shares"), text_tasks(1)) as live:
        live.sign_in()
        studio = live.studio
        studio.writer.submit(lambda c: import_answers_collected_elsewhere(c, studio.study, studio.keys, given)).result()
        check_shown_is_elicited(live, tmp_path / "out")


def test_votes_are_beside_beliefs_and_gamma_is_explained(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(labels=LABELS, aggregator="vote-shares"), text_tasks(1)) as live:
        live.sign_in()
        person = live.enter()
        [slot] = person.slots()
        marks = [{"kind": "named", "label": "cat", "typed": "60"}, {"kind": "named", "label": "dog", "typed": "40"}]
        person.post("/api/answers", {"key": "k1", "slot": slot["slot"], "marks": marks})
        SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(live.studio.study)
        [page] = task_pages(live)
        found = {one["label"]: [one[name] for name in ("votes", "vote_share", "belief")] for one in page["labels"]}
        assert found["cat"] == [1, 1.0, 0.6] and found["dog"] == [0, 0.0, 0.4] and found["ship"] == [0, 0.0, 0.0]
        assert [round(one["p"], 2) for one in page["labels"]] == [0.54, 0.36, 0.03, 0.03, 0.03]
        assert page["gamma"] and page["further_labels"] == 0
        assert "share 10% (gamma = 0.1)" in page["how"][0] and page["how"][3].startswith(
            "People: the distribution of the only answer"
        )
        other = live.enter()
        other.post("/api/answers", {"key": "k2", "slot": other.slots()[0]["slot"], "marks": marks[:1]})
        assert task_pages(live)[0]["pending"]  # the soft label is still that of one answer


def test_a_soft_label_is_pending_after_an_answer_changed_and_after_an_exclusion(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(labels=LABELS, per_task=2), text_tasks(1)) as live:
        live.sign_in()
        person, other, computer = live.enter(), live.enter(), SnapshotComputer(live.studio.engine)
        [slot] = person.slots()
        person.answer(slot["slot"], "cat")
        other.answer(other.slots()[0]["slot"], "cat")
        computer.compute_and_publish_snapshot(live.studio.study)
        assert not task_pages(live)[0]["pending"]
        assert person.answer(slot["slot"], "dog").status_code == 200  # as many answers as before
        assert task_pages(live)[0]["pending"]
        computer.compute_and_publish_snapshot(live.studio.study)
        assert not task_pages(live)[0]["pending"]
        [worker] = live.look(select(workers.c.id).where(workers.c.pseudonym == other.entered["me"]["worker"]))
        exclude = partial(exclude_if_active_and_release_slots, worker=worker[0], rule="manual", reason="test")
        assert live.studio.writer.submit(exclude).result()
        assert task_pages(live)[0]["pending"]
        computer.compute_and_publish_snapshot(live.studio.study)
        assert not task_pages(live)[0]["pending"]


def test_a_task_without_a_label_named_has_no_soft_label(tmp_path: Path) -> None:
    study = plain_study(labels=LABELS)
    with served(tmp_path / "s", study, text_tasks(2)) as live:
        live.sign_in()
        person, computer = live.enter(), SnapshotComputer(live.studio.engine)
        first, second = person.slots()
        person.answer(first["slot"], "cat", key="k1")
        person.answer(second["slot"], "dog", key="k2")
        computer.compute_and_publish_snapshot(study)
        person.answer(second["slot"], abstain=True, replaces="k2")
        computer.compute_and_publish_snapshot(study)
        full, empty = sorted(task_pages(live), key=lambda page: -page["soft_label_answers"])
        assert full["soft_label_answers"] == 1 and len(full["soft"]) == 5
        assert (empty["soft_label_answers"], empty["soft"], empty["line"]["entropy"]) == (0, [], None)
        assert "No answer names a label yet, so there is no soft label." in empty["how"]
        assert sorted(one["counted_as"] for one in empty["answers"]) == ["counts", "replaced"]
        # nor is it in the charts
        assert sum(live.http.get("/api/owner/snapshot").json()["entropy"]) == 1


def test_every_task_has_soft_labels_for_truth_and_for_people(tmp_path: Path) -> None:
    """In the API and in the export, by the default methods and by those that study.toml names, with one sentence."""
    study = plain_study(labels=LABELS, form="one-label", per_task=3)
    with served(tmp_path / "s", study, text_tasks(4)) as live:
        live.sign_in()
        for start in (0, 4, 5):
            answer_all(live.enter(), start)
        for named in ("", "dawid-skene", "softmax-shares", "softmax-shares, dawid-skene[max_iter=20]"):
            used = study.model_copy(update={"aggregator": named})
            SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(used)
            export_study(live.studio.engine, used, tmp_path / "out", replace=True)
            votes = pv.elicit_votes(pv.read(tmp_path / "out").answers, "one-label").votes
            by = {pv.aggregate.methods.make(spec).estimated_quantity(): spec for spec in named.split(", ") if spec}
            both, told = pv.fit_both(votes, **by), live.http.get("/api/owner/snapshot").json()
            assert {"truth": told["truth_by"], "people": told["by"]} == pv.aggregate.DEFAULT_METHODS | by
            assert told["difference"] == TRUTH_AND_PEOPLE and TRUTH_AND_PEOPLE in told["how"]
            for quantity, fitted in (("truth", both.truth), ("people", both.people)):
                exported = pv.read_soft(tmp_path / "out" / f"labels_{quantity}.parquet")
                assert exported.estimates == quantity
                aligned = exported.on(fitted.soft.tasks).on_labels(fitted.soft.labels)
                np.testing.assert_allclose(aligned.prob, fitted.soft.prob, atol=2e-5)
            for page, line in zip(task_pages(live), live.http.get("/api/owner/tasks").json()["tasks"], strict=True):
                task = both.truth.soft.tasks.tolist().index(line["name"])
                truth = dict(zip(both.truth.soft.labels.tolist(), both.truth.soft.prob[task].tolist(), strict=True))
                assert {one["label"]: one["p"] for one in page["truth"]} == pytest.approx(truth, abs=1e-5)
                assert page["truth"][:3] == line["truth"] and page["soft"][:3] == line["top"]
                assert page["difference"] == TRUTH_AND_PEOPLE and TRUTH_AND_PEOPLE in page["how"]


@pytest.mark.parametrize("aggregator", ["", "vote-shares", "softmax-shares"])
def test_the_interval_of_a_share_fits_the_aggregator(tmp_path: Path, aggregator: str) -> None:
    """By default that of its posterior; of vote shares the Jeffreys interval; none if a method does not tell."""
    study = plain_study(labels=LABELS, form="one-label", per_task=3, aggregator=aggregator)
    with served(tmp_path / "s", study, text_tasks(4)) as live:
        live.sign_in()
        for start in (0, 4, 5):
            answer_all(live.enter(), start)
        SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(study)
        shown = [one for page in task_pages(live) for one in page["soft"]]
        if aggregator == "softmax-shares":
            assert {(one["low"], one["high"]) for one in shown} == {(None, None)}
            return
        assert all(0 <= one["low"] <= one["p"] <= one["high"] <= 1 for one in shown)
        if aggregator == "vote-shares":
            low, high = jeffreys_interval_95(np.array([one["p"] for one in shown]), 3)
            assert [one["low"] for one in shown] == pytest.approx(low.tolist(), abs=1e-4)
            assert [one["high"] for one in shown] == pytest.approx(high.tolist(), abs=1e-4)


def test_a_study_names_at_most_one_aggregator_for_each_question() -> None:
    check_aggregator_exists(plain_study(aggregator="vote-shares, glad[max_iter=5]"))
    with pytest.raises(InputError, match="two methods for truth"):
        check_aggregator_exists(plain_study(aggregator="glad, dawid-skene"))
    with pytest.raises(PlurivoxError, match="glod"):
        check_aggregator_exists(plain_study(aggregator="vote-shares, glod"))


@pytest.mark.parametrize(
    ("aggregator", "words"),
    [
        ("dawid-skene", "gives the answers of reliable people more weight"),
        ("majority-vote", "majority-vote: “"),
        ("", "Even if all agree, they may all be misled: no label gets "),
    ],
)
def test_other_aggregators_are_explained(tmp_path: Path, aggregator: str, words: str) -> None:
    study = plain_study(labels=LABELS, aggregator=aggregator)
    with served(tmp_path / "s", study, text_tasks(4)) as live:
        live.sign_in()
        for start in (0, 4):
            answer_all(live.enter(), start)
        SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(study)
        assert words in task_pages(live)[0]["how"][2]
        assert words in live.http.get("/api/owner/snapshot").json()["how"]


def test_elicit_of_study_toml_is_checked() -> None:
    values = {"name": "a", "labels": ["x", "y"]}
    assert parse_study({**values, "elicit": "t2-clamp[gamma=0]"}).elicit_form("top-two").explain().count("get nothing")
    for wrong, told in (("top-tow", "top-two"), ("top-two[gama=1]", "gamma"), ("top-two[gamma=2]", "gamma")):
        with pytest.raises(InputError, match=told):
            parse_study({**values, "elicit": wrong})


def test_every_form_explains_itself() -> None:
    for name in methods:
        text = methods.make(name).explain()
        assert text.endswith(".") and name not in text, name


def test_the_label_table_says_how_many_labels_it_leaves_out_and_gamma_is_told_apart(
    tmp_path: Path, context: Any
) -> None:
    labels = [f"label {i:02d}" for i in range(53)]
    with served(tmp_path / "s", plain_study(labels=labels, form="one-label"), text_tasks(1)) as live:
        live.sign_in()
        person = live.enter()
        marks = [{"kind": "named", "label": "label 07"}]
        person.post("/api/answers", {"key": "k1", "slot": person.slots()[0]["slot"], "marks": marks})
        [page] = task_pages(live)
        assert len(page["labels"]) == 50 and page["further_labels"] == 3 and not page["gamma"]
        seen = context().new_page()
        seen.goto(f"{live.url}/owner")
        seen.fill("#name", "olga")
        seen.fill("#password", "correct horse")
        seen.keyboard.press("Enter")
        seen.wait_for_selector(".figures")
        seen.goto(f"{live.url}/owner#/task/{page['line']['task']}")
        seen.get_by_text("The 50 most probable labels are shown, 3 further labels are not.").wait_for()
        assert "before gamma" not in seen.inner_text("main")
