"""`plurivox evaluate` run as a user would."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

Call = Callable[..., Result]
SOFT = "task,p:cat,p:dog\na,.9,.1\nb,.4,.6\nc,.2,.8\n"


@pytest.fixture
def soft_file(tmp_path: Path) -> Path:
    path = tmp_path / "soft.csv"
    path.write_text(SOFT)
    return path


@pytest.fixture
def gold_file(tmp_path: Path) -> Path:
    path = tmp_path / "gold.csv"
    path.write_text("task,label\na,cat\nb,cat\nc,dog\n")
    return path


def test_a_prediction_against_gold_labels(call: Call, soft_file: Path, gold_file: Path) -> None:
    done = call("evaluate", soft_file, gold_file)
    assert done.exit_code == 0, done.output
    assert "accuracy           0.6667" in done.stdout and "95% interval" in done.stdout
    assert "always 'cat', the most frequent label: accuracy 0.6667" in done.stdout
    assert "soft measures are left out" in done.stderr and "cross-entropy" not in done.stdout


def test_soft_measures_against_votes_with_their_lower_bound(
    call: Call, soft_file: Path, gold_file: Path, votes_file: Path
) -> None:
    said = call("evaluate", soft_file, gold_file, "--against", votes_file, "--measures", "accuracy,soft", "--json")
    found = json.loads(said.stdout)
    rows = dict(zip(found["rows"]["measure"], found["rows"]["value"], strict=True))
    assert rows["total-variation"] == pytest.approx(((0.9 - 2 / 3) + 0.1 + 0.2) / 3)
    assert rows["kl-divergence-floor"] == pytest.approx((1 / 6 + 1 / 4 + 0) / 3)
    assert found["majority"] == {"label": "cat", "accuracy": pytest.approx(2 / 3)}


def test_votes_as_truth_and_as_prediction(call: Call, soft_file: Path, votes_file: Path) -> None:
    said = call("evaluate", soft_file, votes_file, "--measures", "accuracy", "--ties", "share", "--json")
    assert json.loads(said.stdout)["rows"]["value"] == [pytest.approx(2 / 3)]
    itself = call("evaluate", votes_file, votes_file)
    assert itself.exit_code == 0 and "compared with itself" in itself.stderr


def test_packed_inputs_contain_gold_and_votes(call: Call, soft_file: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed.npz"
    votes = {"vote_task": list("aab"), "vote_worker": [1, 2, 1], "vote_label": ["cat", "dog", "dog"]}
    np.savez(packed, x=np.eye(3), task=list("abc"), y=["cat", "cat", "dog"], **votes)
    said = call("evaluate", soft_file, packed, "--against", packed, "--measures", "accuracy,total-variation", "--json")
    found = json.loads(said.stdout)["rows"]
    assert dict(zip(found["measure"], found["value"], strict=True))["total-variation"] == pytest.approx((0.4 + 0.4) / 2)
    assert found["value"][0] == pytest.approx(2 / 3) and found["n"][:2] == [3, 2]
    (tmp_path / "torn.npz").write_bytes(packed.read_bytes()[:50])
    torn = call("evaluate", soft_file, tmp_path / "torn.npz")
    assert torn.exit_code == 2 and "damaged" in torn.stderr


def test_the_gold_labels_of_a_data_set_are_the_truth(call: Call, tmp_path: Path) -> None:
    out = tmp_path / "soft.npz"
    assert call("aggregate", "vote-shares", "toy", "-o", out).exit_code == 0
    done = call("evaluate", out, "toy", "--against", "toy", "--repeats", 20)
    assert done.exit_code == 0 and "entropy-correlation" in done.stdout


def test_a_data_set_gives_gold_and_votes_as_references(call: Call, tmp_path: Path) -> None:
    out = tmp_path / "soft.csv"
    assert call("aggregate", "dawid-skene", "toy", "-o", out).exit_code == 0
    said = call("evaluate", out, "toy", "--measures", "nll,cross-entropy", "--repeats", 0)
    lines = {line.split()[0]: line.split()[-1] for line in said.stdout.splitlines()}
    assert lines["nll"] == "gold" and lines["cross-entropy"] == "votes"
    assert "if the prediction was made from the votes" in said.stderr
    gold = json.loads(
        call(
            "evaluate", out, "toy", "--measures", "cross-entropy", "--against", "gold", "--repeats", 0, "--json"
        ).stdout
    )
    assert gold["rows"]["against"] == ["gold (one-hot)"] and "one-hot labels" in " ".join(gold["notes"])
    absent = call("evaluate", out, "toy", "--against", "soft")
    assert absent.exit_code == 2 and "toy has no soft labels to compare with" in absent.stderr


def test_labels_that_do_not_meet_are_an_error_that_can_be_mended(call: Call, soft_file: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    gold.write_text("task,label\na,Cat\nb,Cat\nc,Dog\n")
    done = call("evaluate", soft_file, gold)
    assert done.exit_code == 2 and "(--rename cat=Cat,dog=Dog)" in done.stderr
    done = call("evaluate", soft_file, gold, "--rename", "cat=Cat,dog=Dog")
    assert done.exit_code == 0 and "accuracy           0.6667" in done.stdout
    for wrong, message in (("cat", "old and new labels, such as 0=cat,1=dog"), ("cow=Cat", "there is no label 'cow'")):
        done = call("evaluate", soft_file, gold, "--rename", wrong)
        assert done.exit_code == 2 and message in done.stderr


@pytest.mark.parametrize("ending", ["csv", "md", "json", "tex", "npz"])
def test_the_evaluation_is_written(call: Call, soft_file: Path, gold_file: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"evaluation.{ending}"
    done = call("evaluate", soft_file, gold_file, "-o", out, "--measures", "hard", "--repeats", 0)
    assert done.exit_code == 0 and out.stat().st_size > 100 and str(out) in done.stdout
    assert ending == "npz" or "accuracy" in out.read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["SOFT", "GOLD", "--measures", "acuracy"], "there is no measure 'acuracy'; did you mean 'accuracy'"),
        (["SOFT", "GOLD", "--measures", ""], "no measure given"),
        (["SOFT", "GOLD", "-o", "j.xlsx"], "unsupported file type of j.xlsx"),
        (["SOFT", "GOLD", "-o", "SOFT"], "is given twice"),
        (["SOFT", "GOLD", "--ties", "coin"], "there is no tie rule 'coin'"),
        (["SOFT", "nothing"], "there is no file, folder or data set 'nothing'"),
        (["SOFT", "GOLD", "--repeats", "-1"], "--repeats"),
        (["SOFT"], "TRUTH"),
    ],
)
def test_errors_are_one_line(call: Call, soft_file: Path, gold_file: Path, words: list[str], said: str) -> None:
    places = {"SOFT": str(soft_file), "GOLD": str(gold_file)}
    done = call("evaluate", *[places.get(word, word) for word in words])
    assert done.exit_code == 2 and said in done.stderr


def test_a_truth_table_with_wrong_columns_is_explained(call: Call, tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("thing,said\na,x\n")
    done = call("evaluate", "toy", tmp_path / "gold.csv")
    assert done.exit_code == 2 and "rename the columns" in done.stderr and "--worker" not in done.stderr


def test_the_tasks_on_which_two_tables_differ_most_are_listed(call: Call, soft_file: Path, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("task,p:cat,p:dog\na,.8,.2\nb,.9,.1\nc,.2,.8\n")
    done = call("evaluate", soft_file, tmp_path / "other.csv", "--tasks", "2", "-o", tmp_path / "t.csv")
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:3]] == [["b", "0.5"], ["a", "0.1"]]
    assert "the 2 of 3 tasks with the worst total-variation, against truth" in done.stdout
    assert (tmp_path / "t.csv").read_text().startswith("task,total-variation,prediction_label,")
    wrong = call("evaluate", soft_file, tmp_path / "other.csv", "--tasks", "1", "--measures", "accuracy", "--json")
    assert json.loads(wrong.stdout)["rows"]["task"] == ["b"]


def test_two_models_right_and_wrong(
    call: Call, soft_file: Path, gold_file: Path, votes_file: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.csv"
    other.write_text("task,label\na,dog\nb,cat\nc,dog\n")
    words = ("evaluate", soft_file, gold_file, "--cells", other)
    found = json.loads(call(*words, "--against", votes_file, "--statistic", "entropy", "--json").stdout)
    assert found["cells"]["n"] == [1, 1, 1, 0] and found["statistic"] == "entropy"
    refused = call(*words)
    assert (
        refused.exit_code == 2
        and "has no soft labels or votes" in refused.stderr
        and "--against FILE" in refused.stderr
    )
    assert "add --cells OTHER" in call("evaluate", soft_file, gold_file, "--statistic", "entropy").stderr
