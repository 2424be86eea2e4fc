"""`plurivox compare` run as a user would."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import Result

import plurivox as pv

Call = Callable[..., Result]


def test_methods_are_compared_in_one_table(call: Call, tmp_path: Path) -> None:
    done = call("compare", "toy", "--methods", "vote-shares,majority-vote[ties=share]", "-o", str(tmp_path / "c.md"))
    assert (
        done.exit_code == 0 and "majority-vote[ties=share]" in done.stdout and "reference: vote-shares" in done.stdout
    )
    assert "| `vote-shares` |" in (tmp_path / "c.md").read_text()


def test_json_has_every_row(call: Call) -> None:
    found = json.loads(call("compare", "toy", "--methods", "wawa,vote-shares", "--json").stdout)
    assert found["rows"]["method"] == ["wawa", "vote-shares"] and len(found["means"]["accuracy"]) == 2


def test_one_data_set_has_no_tests(call: Call) -> None:
    done = call("compare", "toy", "--methods", "wawa,vote-shares,glad")
    assert (
        "tests of the differences: those between methods are over data sets, at least 3 (1 data set given)"
        in done.stdout
    )
    assert "nan" not in done.stdout


def test_three_data_sets_are_ranked_and_tested(call: Call, tmp_path: Path) -> None:
    for name in "abc":
        call("convert", "toy", tmp_path / name)
    words = ["compare", *(tmp_path / name for name in "abc"), "--methods", "wawa,vote-shares,softmax-shares"]
    shown = call(*words).stdout
    assert "NLL rank" in shown and "after Holm's correction over 2 comparisons" in shown
    assert "3 data sets are too few for these tests" in shown
    found = json.loads(call(*words, "--json").stdout)
    assert found["tests"]["nll"]["friedman"]["p"] <= 1 and found["means"]["nll_rank"] == [2, 3, 1]
    assert found["tests"]["accuracy"]["same_results"] and found["means"]["nll_losses"][1] == 3


def test_the_clip_of_the_nll_is_an_option(call: Call) -> None:
    low, high = (
        json.loads(call("compare", "toy", "--methods", "majority-vote", "--json", "--clip", clip).stdout)
        for clip in ("1e-6", "1e-3")
    )
    assert low["means"]["nll"][0] > high["means"]["nll"][0] and high["clip"] == 1e-3
    assert call("compare", "toy", "--clip", "0").exit_code == 2


def test_a_table_with_other_column_names_can_be_compared(call: Call, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("image;who;said\na;ann;x\na;bo;x\nb;ann;y\nb;bo;x\n", encoding="utf-8-sig")
    (tmp_path / "known.csv").write_text("task,label\na,x\nb,y\n")
    words = ["--task", "image", "--worker", "who", "--label", "said", "--methods", "vote-shares"]
    without = call("compare", tmp_path / "mine.csv", *words)
    assert without.exit_code == 2 and "mine has no gold labels" in without.stderr and "--gold FILE" in without.stderr
    done = call("compare", tmp_path / "mine.csv", *words, "--gold", tmp_path / "known.csv")
    assert done.exit_code == 0 and "on mine; reference: vote-shares" in done.stdout and "0.7500" in done.stdout


def test_two_inputs_of_the_same_name_are_kept_apart(call: Call, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        call("convert", "toy", tmp_path / name / "toy")
    found = json.loads(
        call("compare", tmp_path / "one/toy", tmp_path / "two/toy", "--methods", "wawa", "--json").stdout
    )
    assert len(found["datasets"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["toy", "--methods", "wawwa"], "no aggregate method 'wawwa'; did you mean 'wawa'"),
        (["toy", "--methods", "wawa", "--reference", "iwmv"], "no method in this comparison called 'iwmv'"),
        (["toy", "-o", "c.xlsx"], "unsupported file type of c.xlsx"),
        ([], "INPUT"),
    ],
)
def test_errors_are_one_line(call: Call, words: list[str], said: str) -> None:
    done = call("compare", *words)
    assert done.exit_code == 2 and said in done.stderr


def test_without_gold_labels_methods_are_compared_with_hidden_votes(
    call: Call, votes_file: Path, tmp_path: Path
) -> None:
    refused = call("compare", votes_file, "--methods", "wawa")
    assert refused.exit_code == 2 and "--against votes" in refused.stderr
    words = ["compare", votes_file, "--methods", "wawa,vote-shares", "--against", "votes", "--splits", "2"]
    shown = call(*words, "-o", tmp_path / "c.csv").stdout
    assert "against 1 hidden vote per task; reference: wawa; 2 tasks, compared with 1 vote per task, 2 splits" in shown
    assert "wawa*" in shown and "(finite-vote floor)" in shown and "nan" not in shown
    assert "Manhattan (2 TV)" in shown and "of 0.99 q + 0.01 / K" in shown
    found = json.loads(call(*words, "--json", "--smoothing", ".1").stdout)
    assert found["rows"]["estimates"] == ["truth", "people"] and found["smoothing"] == 0.1
    assert (tmp_path / "c.csv").read_text().startswith("dataset,method,estimates,total_variation,manhattan")


def test_methods_are_compared_with_a_table_of_other_people(call: Call, votes_file: Path, tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text("task,cat,dog\na,30,20\nb,5,45\nc,1,49\n")
    done = call("compare", votes_file, "--methods", "vote-shares", "--against", tmp_path / "counts.csv")
    assert "against the counts of counts" in done.stdout and "3 tasks, compared with 50 votes per task" in done.stdout
    few = call("compare", tmp_path / "counts.csv", "--methods", "vote-shares", "--against", "counts")
    assert few.exit_code == 2 and "--votes-per-task 10" in few.stderr
    drawn = call(
        "compare", tmp_path / "counts.csv", "--methods", "vote-shares", "--against", "counts", "--votes-per-task", "10"
    )
    assert "all votes but 10 per task, which the methods see" in drawn.stdout and "40 votes per task" in drawn.stdout


def test_options_of_the_comparison_with_people_need_against(call: Call, votes_file: Path) -> None:
    done = call("compare", votes_file, "--methods", "wawa", "--hide", "1")
    assert done.exit_code == 2 and "'hide' applies only with against" in done.stderr


def test_the_best_method_is_first(call: Call, tmp_path: Path) -> None:
    out = tmp_path / "c.csv"
    done = call("compare", "toy", "--methods", "two-third,vote-shares,ibcc", "-o", out)
    assert "reference: two-third; 300 tasks with votes and a gold label; sorted by accuracy" in done.stdout
    accuracy = pl.read_csv(out)["accuracy"].to_list()
    assert accuracy == sorted(accuracy, reverse=True)
    by_people = call(
        "compare", "toy", "--methods", "two-third,vote-shares,calibrated-shares", "--against", "votes", "--splits", "1"
    )
    assert [line.split()[0] for line in by_people.stdout.splitlines()[2:5]] == [
        "calibrated-shares",
        "vote-shares",
        "two-third*",
    ]


ONE, TWO = "task,p:x,p:y\na,.9,.1\nb,.8,.2\nc,.3,.7\nd,.2,.8\n", "task,p:x,p:y\na,.4,.6\nb,.9,.1\nc,.6,.4\ne,.5,.5\n"


def test_predictions_are_compared_by_the_paired_bootstrap(call: Call, tmp_path: Path) -> None:
    for name, text in (("one.csv", ONE), ("two.csv", TWO), ("gold.csv", "task,label\na,x\nb,x\nc,y\nd,y\n")):
        (tmp_path / name).write_text(text)
    one, two, gold = (tmp_path / name for name in ("one.csv", "two.csv", "gold.csv"))
    made = call("compare", two, one, "--gold", gold, "--json")
    found = json.loads(made.stdout)
    assert (found["reference"], found["tasks"], found["rows"]["prediction"][:2]) == (
        "two.csv",
        3,
        ["one.csv", "two.csv"],
    )
    assert found["rows"]["measure"][::2] == ["accuracy", "macro-f1", "nll", "brier"]
    np.testing.assert_allclose(found["rows"]["difference"][0], 2 / 3)
    assert "left out, because not all inputs have them: 1 task of two.csv, 1 task of one.csv" in made.stderr
    text = call("compare", one, two, "--gold", gold, "--measures", "accuracy", "-o", tmp_path / "c.md").stdout
    assert "accuracy (higher is better)" in text and "3 tasks; differences to one.csv; paired bootstrap" in text
    assert "| two.csv | 0.3333 | -0.6667 |" in (tmp_path / "c.md").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ONE", "TWO"), "give gold=... (--gold FILE)"),
        (("ONE", "toy"), "one is a table of labels and toy is not"),
        (("ONE", "TWO", "--gold", "ONE", "--methods", "wawa"), "'--methods' are for methods that are fitted to votes"),
        (("toy", "--resamples", "9"), "--measures and --resamples are for predictions"),
        (("ONE", "ONE", "--gold", "ONE"), "is given twice"),
    ],
)
def test_predictions_and_votes_are_not_mixed(call: Call, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    (tmp_path / "one.csv").write_text(ONE)
    (tmp_path / "two.csv").write_text(TWO)
    files = {"ONE": tmp_path / "one.csv", "TWO": tmp_path / "two.csv"}
    done = call("compare", *(files.get(word, word) for word in words))
    assert done.exit_code == 2 and said in done.stderr and done.stderr.count("\n") == 1


def test_gold_labels_with_other_names_are_an_error(call: Call, tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("task,worker,label\na,1,cat\na,2,dog\nb,1,dog\nb,2,dog\n")
    (tmp_path / "gold.csv").write_text("task,label\na,0\nb,1\n")
    done = call("compare", tmp_path / "votes.csv", "--gold", tmp_path / "gold.csv")
    assert done.exit_code == 2 and "'cat', 'dog' in the votes, '0', '1' in the gold labels" in done.stderr
    assert not done.stdout


def test_print_shows_the_table_of_the_command(call: Call) -> None:
    shown = call("compare", "toy", "--methods", "vote-shares,wawa").stdout
    made = pv.compare("toy", "vote-shares,wawa")
    lines = [[line.split()[:4] for line in text.splitlines()[1:4]] for text in (shown, str(made))]
    assert lines[0] == lines[1] and lines[0][0][:2] == ["method", "accuracy"]
