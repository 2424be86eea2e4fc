"""describe, convert, simulate, datasets: the commands around the data."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from plurivox import read_soft

Call = Callable[..., Result]


def test_describe_shows_statistics_of_votes(call: Call, votes_file: Path) -> None:
    shown = call("describe", votes_file).stdout.splitlines()
    assert shown[0].split() == ["tasks", "3"] and "votes per task" in shown[4]
    # all values are aligned in one column
    assert len({line.index(line.split("  ")[-1].strip()) for line in shown}) == 1
    facts = json.loads(call("describe", votes_file, "--json").stdout)
    assert (facts["n_tasks"], facts["n_workers"], facts["worker_accuracy"]) == (3, 3, None)


def test_describe_uses_the_gold_of_a_data_set(call: Call) -> None:
    assert json.loads(call("describe", "toy", "--json").stdout)["worker_accuracy"] is not None


def test_describe_takes_gold_from_a_file(call: Call, votes_file: Path, tmp_path: Path) -> None:
    (tmp_path / "known.csv").write_text("task,label\na,cat\n")
    facts = json.loads(call("describe", votes_file, "--gold", tmp_path / "known.csv", "--json").stdout)
    assert facts["n_gold"] == 1 and facts["majority_accuracy"] == 1


def test_describe_shows_statistics_of_answers(call: Call, tmp_path: Path) -> None:
    head = "task,worker,form,top,top_percent,second,second_percent\n"
    (tmp_path / "answers.csv").write_text(head + "a,ann,top-two,cat,8p,dog,90\na,bo,one-label,cat,,,\n")
    shown = call("describe", tmp_path)
    assert shown.exit_code == 0 and "one-label 1, top-two 1" in shown.stdout
    assert "repaired" in shown.stdout and "how form-column converts them" in shown.stdout
    facts = json.loads(call("describe", tmp_path, "--json").stdout)
    assert (facts["n_answers"], facts["odd"]["over-100"]) == (2, 1)
    (tmp_path / "answers.csv").write_text("task,worker,form,top,top_percent\na,ann,guess,cat,70\n")
    told = call("describe", tmp_path)
    assert told.exit_code == 0 and "there is no form 'guess'" in told.stderr and "odd entries" not in told.stdout


def test_describe_reports_similar_labels(call: Call, tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("task,worker,label\na,ann,cat\na,bo, Cat\na,cy,?\n")
    said = call("describe", tmp_path / "votes.csv").stderr
    assert "count as different labels: ' Cat', 'cat'" in said and "(--missing '?')" in said


def test_describe_chooses_between_votes_and_answers(call: Call, tmp_path: Path) -> None:
    call("simulate", "soft-answers", "-o", tmp_path / "crowd", "--n-tasks", 5, "--n-workers", 4, "--feedback", 2)
    assert "n_votes" in json.loads(call("describe", tmp_path / "crowd", "--json").stdout)
    assert "n_answers" in json.loads(call("describe", tmp_path / "crowd", "--part", "answers", "--json").stdout)
    assert "toy has no answers" in call("describe", "toy", "--part", "answers").stderr


def test_convert_round_trip(call: Call, votes_file: Path, tmp_path: Path) -> None:
    parquet, back = tmp_path / "votes.parquet", tmp_path / "back.csv"
    assert call("convert", votes_file, parquet).stdout == f"read {votes_file}; wrote {parquet}\n"
    assert call("convert", parquet, back).exit_code == 0
    assert sorted(back.read_text().splitlines()) == sorted(votes_file.read_text().splitlines())


def test_a_folder_given_as_a_dot_is_named_after_itself(
    call: Call, votes_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(votes_file.parent)
    assert json.loads(call("describe", ".", "--json").stdout)["name"] == votes_file.parent.name


def test_counts_that_cover_more_tasks_are_used_with_a_note(call: Call, tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("task,worker,label\na,ann,x\na,bo,y\n")
    (tmp_path / "counts.csv").write_text("task,x,y\na,5,1\nb,2,4\n")
    (tmp_path / "gold.csv").write_text("task,label\na,x\nb,y\n")
    said = (
        f"note: {tmp_path.name}: counts cover 2 tasks, votes 1; the counts are used; "
        "select the votes with part='votes' (--part votes)\n"
    )
    out = tmp_path / "soft.npy"
    assert call("describe", tmp_path).stderr == call("aggregate", "vote-shares", tmp_path, "-o", out).stderr == said
    assert call("describe", tmp_path, "--part", "votes").stderr == ""
    assert call("compare", tmp_path, "--methods", "vote-shares").stderr == said
    assert call("compare", tmp_path, "--methods", "wawa", "--part", "votes").exit_code == 0


def test_data_that_a_file_format_cannot_store_are_noted(call: Call, tmp_path: Path) -> None:
    said = call("convert", "toy", tmp_path / "toy.csv")
    assert said.exit_code == 0 and "note: toy.csv contains only the votes; not written: gold" in said.stderr
    assert call("convert", "toy", tmp_path / "toy").stderr == ""


def test_a_simulated_crowd_is_a_data_set(call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "crowd"
    words = ("simulate", "hammer-spammer", "-o", folder, "--n-tasks", 20, "--ratio", 0, "--seed", 1)
    made = call(*words)
    assert (
        made.stdout
        == f"hammer-spammer[n-tasks=20,seed=1,ratio=0.0]: 200 votes of 30 workers on 20 tasks; wrote {folder}\n"
    )
    facts = json.loads(call("describe", folder, "--json").stdout)
    assert facts["vote_accuracy"] == 1 and facts["n_tasks"] == 20
    again = call(*words)
    assert again.exit_code == 2 and "is not empty" in again.stderr
    assert call(*words, "--force").exit_code == 0


def test_datasets_are_listed_installed_and_inspected(
    call: Call, votes_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLURIVOX_DATA", str(tmp_path / "shelf"))
    assert (
        call("datasets", "install", "mine", "--from", votes_file).stdout
        == f"installed mine in {tmp_path / 'shelf' / 'mine'}\n"
    )
    assert call("datasets", "list").stdout.split() == ["mine", "toy"]
    assert json.loads(call("datasets", "info", "mine", "--json").stdout)["tasks"] == 3
    assert "3" in call("datasets", "info", "mine").stdout
    assert call("aggregate", "vote-shares", "mine", "-o", tmp_path / "soft.csv").exit_code == 0
    assert "did you mean 'mine'" in call("datasets", "info", "mien").stderr
    assert "(--force)" in call("datasets", "install", "mine", "--from", votes_file).stderr
    assert call("datasets", "install", "mine", "--from", votes_file, "--force").exit_code == 0


def test_completion_offers_data_sets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from interfaces.cli.test_help import completed

    monkeypatch.setenv("PLURIVOX_DATA", str(tmp_path))
    assert completed("datasets", "info", incomplete="to") == {"toy"}
    # data sets, and the start itself for file names
    assert completed("aggregate", "vote-shares", incomplete="to") == {
        "toy",
        "to",
    }


SETS = ("cifar10h", "labelme", "adult2", "popquorn_offensive", "masc_wordsense")


@pytest.fixture(params=SETS)
def real(request: pytest.FixtureRequest) -> str:
    """Return the name of a real data set; skip the test if it is not installed."""
    if not (Path(os.environ.get("PLURIVOX_DATA", "")) / request.param).is_dir():
        pytest.skip(f"{request.param} is not under PLURIVOX_DATA")
    return str(request.param)


def test_the_methods_work_on_real_data(call: Call, real: str, tmp_path: Path) -> None:
    part = ("--part", "votes") if real == "cifar10h" else ()
    n_tasks = json.loads(call("describe", real, *part, "--json").stdout)["n_tasks"]
    for method in ("majority-vote", "vote-shares", "wawa"):
        done = call("aggregate", method, real, "-o", tmp_path / "soft.parquet", "--json", *part)
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["tasks"] == n_tasks > 0
    assert "n_tasks" in json.loads(call("describe", real, "--json").stdout)  # also without --part
    if part:
        assert call("aggregate", "wawa", real, "-o", tmp_path / "w.csv").stderr.endswith("(--part votes)\n")


@pytest.mark.parametrize("out", ["folder", "votes.csv"])
def test_real_data_round_trip(call: Call, real: str, tmp_path: Path, out: str) -> None:
    part = ("--part", "votes") if real == "cifar10h" else ()
    before = json.loads(call("describe", real, *part, "--json").stdout)
    done = call("convert", real, tmp_path / out, *part, "--json")
    assert done.exit_code == 0 and json.loads(done.stdout)["out"] == str(tmp_path / out), done.output
    after = json.loads(call("describe", tmp_path / out, "--json").stdout)
    same = ("n_tasks", "n_workers", "n_votes", "observed_agreement", "n_labels")
    assert {name: after[name] for name in same} == pytest.approx({name: before[name] for name in same})
    if out == "folder":
        assert after["worker_accuracy"] == before["worker_accuracy"]


def test_convert_for_people_and_for_truth(call: Call, votes_file: Path, tmp_path: Path) -> None:
    fit, shares = tmp_path / "fit.npz", tmp_path / "shares.csv"
    assert call("aggregate", "dawid-skene", votes_file, "-o", tmp_path / "soft.csv", "--save", fit).exit_code == 0
    done = call("convert", fit, tmp_path / "people.csv", "--for", "people", "--votes", votes_file, "--json")
    assert json.loads(done.stdout)["estimates"] == "people"
    assert read_soft(tmp_path / "people.csv").estimates == "people"
    call("aggregate", "vote-shares", votes_file, "-o", shares)
    done = call("convert", shares, tmp_path / "truth.npz", "--for", "truth", "--model", fit, "--votes", votes_file)
    assert done.stdout == f"estimates of truth: 3 tasks; wrote {tmp_path / 'truth.npz'}\n"
    assert read_soft(tmp_path / "truth.npz").estimates == "truth"
    refused = call("convert", shares, tmp_path / "people.csv", "--votes", votes_file)
    assert refused.exit_code == 2 and "add --for people or --for truth" in refused.stderr


@pytest.mark.parametrize(
    "text",
    [
        "task,x,y\na,0.25,0.75\nb,1,0\n",
        "task,p:x,p:y\na,0.25,0.75\nb,1,0\n",
        "task,label,p\na,x,0.25\na,y,0.75\nb,x,1\n",
    ],
)
def test_soft_labels_of_any_layout_are_converted(call: Call, tmp_path: Path, text: str) -> None:
    path = tmp_path / "soft.csv"
    path.write_text(text)
    for ending in ("parquet", "jsonl", "npz"):
        assert call("convert", path, tmp_path / f"out.{ending}").exit_code == 0
        path = tmp_path / f"out.{ending}"
    assert call("convert", path, "-o", tmp_path / "out.npy").exit_code == 0
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), [[0.25, 0.75], [1, 0]])
    assert call("convert", path, "-").stdout.startswith("task,label,confidence,p:x,p:y\na,y,0.75,0.25,0.75\n")


def test_votes_are_not_written_as_a_matrix_without_names(call: Call, votes_file: Path, tmp_path: Path) -> None:
    done = call("convert", votes_file, tmp_path / "v.npy")
    assert done.exit_code == 2 and "a .npy file is a matrix of soft labels" in done.stderr
