"""The report of a crowd whose faults are known: what it says, that its numbers are right, and that it changes nothing."""

import dataclasses
import pickle
import re
import shlex
from pathlib import Path

import click
import numpy as np
import pytest

import plurivox as pv
from plurivox.cli.main import main
from plurivox.core.errors import InputError, UnknownName
from plurivox.core.votes import Votes
from plurivox.workflows.make_report import Report, report
from plurivox.workflows.report.page_content import CopyText, Section, Steps, Table, TaskCards, Warnings
from report_inputs import GUESSERS, HOSTILE, doubtful_crowd, doubtful_dataset, small_images

METHODS = "vote-shares,dawid-skene"


@pytest.fixture(scope="module")
def made() -> Report:
    return report(doubtful_dataset(), methods=METHODS, images=small_images(), name_in_commands="votes.csv")


@pytest.fixture(scope="module")
def people() -> Report:
    votes, _ = doubtful_crowd()
    return report(votes, for_="people", methods=METHODS, texts={"task-00": HOSTILE})


def section(made: Report, id: str) -> Section:
    return next(one for one in made.page.sections if one.id == id)


def blocks(made: Report, id: str, kind: type) -> list:
    return [one for one in section(made, id).blocks if isinstance(one, kind)]


def commands(made: Report) -> set[str]:
    """Return every command in the contents of the page."""
    found: set[str] = set()

    def collect(thing: object) -> None:
        if dataclasses.is_dataclass(thing):
            found.update({text} if isinstance(text := getattr(thing, "command", ""), str) and text else set())
            for field in dataclasses.fields(thing):
                collect(getattr(thing, field.name))
        elif isinstance(thing, tuple | list):
            for one in thing:
                collect(one)

    collect(made.page.sections)
    return found


def test_the_workers_who_guess_are_named_first_with_the_command_that_removes_them(made: Report) -> None:
    table: Table = blocks(made, "workers", Table)[0]
    assert {row[0] for row in table.rows[:3]} == set(GUESSERS)
    assert {row[1] for row in table.rows[:3]} <= {"near random", "against the others"}
    assert all(row[1] not in ("near random", "against the others") for row in table.rows[3:])
    steps: Steps = blocks(made, "next-steps", Steps)[0]
    shown = [step.command for step in steps.steps]
    assert shown[0] == "plurivox report votes.csv --repeats first -o report.html"  # the crowd has repeated answers
    assert shown[1].startswith("plurivox recipe report-cards --data votes.csv --workers ")
    assert shown[2].startswith("plurivox clean listed-workers votes.csv --repeats first --workers ")
    assert all(name in section(made, "workers").answer for name in GUESSERS)


def test_problems_of_the_votes_are_told_the_serious_ones_first(made: Report) -> None:
    found = blocks(made, "problems", Warnings)[0].warnings
    assert [one.severity for one in found] == sorted(
        (one.severity for one in found), key=["serious", "caution", "note"].index
    )
    assert found[0].severity == "serious" and "at random" in found[0].text
    assert any("5 answers repeat an earlier one" in one.text for one in found)


def test_the_tasks_to_look_at_are_the_most_uncertain_ones(made: Report) -> None:
    votes, gold = doubtful_crowd()
    chosen = re.search(r"Use (\S+) for", section(made, "methods").answer)
    assert chosen is not None
    entropy = pv.fit(votes, chosen[1]).soft.entropy()
    cards: TaskCards = blocks(made, "tasks", TaskCards)[0]
    shown = [votes.tasks.tolist().index(card.task) for card in cards.cards]
    assert len(shown) == 10 and np.sort(entropy)[-10:].tolist() == pytest.approx(np.sort(entropy[shown]).tolist())
    for card in cards.cards:
        assert sum(n for _, n in card.votes) == votes.support[votes.tasks == card.task][0]
        assert card.gold == gold.hard()[gold.tasks == card.task][0]
        assert (card.image is None) == (card.task == "task-01") and card.remark


def test_the_numbers_of_the_page_are_those_of_the_workflows(made: Report) -> None:
    votes, gold = doubtful_crowd()
    alpha = pv.agreement(pv.Dataset("crowd", votes=votes))["krippendorff-alpha"]
    assert f"is {alpha.mean:.2f}" in section(made, "agreement").answer
    table: Table = blocks(made, "methods", Table)[0]
    row = next(row for row in table.rows if row[0] == "dawid-skene")
    column = [one.title for one in table.columns].index("accuracy")
    measured = pv.evaluate_labels(pv.fit(votes, "dawid-skene").soft, gold, measures="accuracy")
    assert row[column] == pytest.approx(measured["accuracy"].mean)


def test_it_says_what_it_is_about(made: Report, people: Report) -> None:
    assert made.summary()[0][1].startswith("About what is true") and section(made, "methods").quantity == "truth"
    assert people.summary()[0][1].startswith("About what people say") and section(people, "labels").quantity == "people"
    assert "Use calibrated-shares" in section(people, "methods").answer


def test_without_gold_labels_it_says_that_accuracy_is_estimated(people: Report) -> None:
    truth = report(doubtful_crowd()[0], methods=METHODS)
    assert "no gold labels" in section(truth, "data").answer and "gold" not in section(people, "data").answer
    assert (
        "expected accuracy" in section(truth, "methods").answer and "no gold labels" in section(truth, "labels").answer
    )


def test_the_paragraph_cites_what_it_names(made: Report) -> None:
    paragraph, bibtex = (one.text for one in blocks(made, "citation", CopyText))
    assert "dawid-skene (Dawid and Skene, 1979)" in paragraph and "@article{dawid1979," in bibtex
    assert bibtex.count("{") == bibtex.count("}")


def test_names_and_texts_appear_as_text_and_nothing_is_loaded(made: Report, people: Report) -> None:
    for page in (made.html, people.html):
        assert HOSTILE not in page and "&lt;script&gt;alert(1)" in page
        assert not re.search(r"""(?:src|href)=["'](?!data:|#|"|')""", page)
        assert "http://" not in page.replace("http://www.w3.org", "")


def test_the_same_votes_give_the_same_page_and_stay_as_they_are(people: Report) -> None:
    votes, _ = doubtful_crowd()
    before = pickle.dumps(votes)
    again = report(votes, for_="people", methods=METHODS, texts={"task-00": HOSTILE})
    assert pickle.dumps(votes) == before

    def contents(made: Report) -> object:  # without the times of the computations
        return [one for one in made.page.sections if one.id not in ("computation", "methods")]

    assert contents(again) == contents(people)


def test_it_is_written_as_html_only(made: Report, tmp_path: Path) -> None:
    made.write(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == made.html
    with pytest.raises(InputError, match=r"\.html"):
        made.write(tmp_path / "r.pdf")


def test_wrong_inputs_are_refused() -> None:
    with pytest.raises(UnknownName, match="truth"):
        report("toy", for_="trut")
    with pytest.raises(InputError, match="votes"):
        report(pv.Dataset("empty", votes=Votes.of([], [], [], labels=["a", "b"])))
    with pytest.raises(InputError, match="finished training"):
        report("toy", runs=".")


@pytest.mark.parametrize(
    "table",
    [
        {"task": ["a"], "worker": ["w"], "label": ["x"]},
        {"task": ["a", "a", "b"], "worker": ["w", "v", "w"], "label": ["x", "x", "x"]},
        {"task": ["a", "b", "c", "c"], "worker": ["w", "w", "w", "v"], "label": ["x", "y", "x", "y"]},
    ],
    ids=["one vote", "one label", "four votes"],
)
def test_tiny_data_have_a_report_too(table: dict[str, list[str]]) -> None:
    made = report(table, methods="vote-shares")
    assert not re.search(r"\bnan\b", " ".join(answer for _, answer in made.summary()))
    assert len(made.page.sections) >= 9


def test_counts_without_names_have_a_report_without_workers() -> None:
    counts = pv.counts({"task": ["a", "b", "c"], "cat": [30, 12, 3], "dog": [2, 11, 20]})
    made = report(counts)
    assert "without worker names" in made.summary()[0][1] and "--for truth" not in made.summary()[0][1]
    assert made.question == "people" and "workers" not in [one.id for one in made.page.sections]
    assert [row[0] for row in blocks(made, "methods", Table)[0].rows] == ["calibrated-shares", "vote-shares"]
    with pytest.raises(InputError, match="--for people"):
        report(counts, for_="truth")


def test_methods_that_take_too_long_are_left_out_and_told() -> None:
    made = report(doubtful_dataset(), methods="dawid-skene,glad,mace", method_seconds=0.0)
    told = [one.text for one in blocks(made, "problems", Warnings)[0].warnings]
    shown = [row[0] for row in blocks(made, "methods", Table)[0].rows]
    left_out = {"dawid-skene", "glad", "mace"} - set(shown)
    assert left_out and all(
        any(text.startswith(name) and "longer than 0 s" in text for text in told) for name in left_out
    )


def test_every_command_has_the_arguments_that_its_command_takes(
    made: Report, people: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("votes.csv", "gold.csv"):
        Path(name).touch()
    found = commands(made) | commands(people)
    assert len(found) > 15
    for line in found:
        parsed(shlex.split(line)[1:])


def parsed(words: list[str]) -> None:
    """Parse a command line without running it; an argument that does not fit is an error."""
    command: click.Command = main
    context = main.make_context("plurivox", list(words), resilient_parsing=True)
    while isinstance(command, click.Group):
        name, inner, words = command.resolve_command(context, list(words))
        assert inner is not None and name is not None
        command = inner
        context = click.Context(command, parent=context, info_name=name)
    command.make_context(context.info_name, list(words), parent=context.parent)
