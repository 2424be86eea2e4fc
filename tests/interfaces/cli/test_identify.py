"""`plurivox identify`: from a file of votes to scores and to a table of ranks."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.shell_completion import ShellComplete
from click.testing import Result

from plurivox.cli.main import main
from plurivox.core.results import Dynamics, Scores
from plurivox.workflows.ranking_by_several_scores import Ranking

Call = Callable[..., Result]


def test_the_worst_are_shown_and_all_are_written(call: Call, votes_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "scores.csv"
    said = call("identify", "entropy", votes_file, "-o", out, "--worst", 2, "--unit", "bits")
    assert said.exit_code == 0, said.output
    assert said.stdout.splitlines() == [
        "the 2 worst tasks",
        "task  raw     n  badness",
        "b     1       2  1",
        "a     0.9183  3  0.9183",
        f"entropy[unit=bits]: 3 tasks; wrote {out}",
    ]
    assert out.read_text().splitlines()[0] == "task,raw,n,badness" and len(out.read_text().splitlines()) == 4


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "npz"])
def test_the_file_suffix_sets_the_format_of_the_scores(
    call: Call, votes_file: Path, tmp_path: Path, ending: str
) -> None:
    out = tmp_path / f"scores.{ending}"
    assert call("identify", "disagreement", votes_file, "-o", out, "-q").exit_code == 0
    if ending == "npz":
        assert Scores.load(out).made_by == "disagreement"
    elif ending == "parquet":
        assert pl.read_parquet(out).columns == ["task", "raw", "n", "badness"]
    else:
        assert out.read_text().strip()


def test_json_is_one_document(call: Call, votes_file: Path) -> None:
    said = json.loads(call("identify", "disagreement", votes_file, "--json", "--worst", 1).stdout)
    assert said["by"] == "disagreement" and said["of"] == "task" and said["tasks"] == 3 and said["out"] is None
    assert said["worst"] == [{"task": "b", "raw": 0.5, "n": 2.0, "badness": 0.5}]


def test_the_fit_is_computed_by_default_by_name_or_read(call: Call, votes_file: Path, tmp_path: Path) -> None:
    fit = tmp_path / "fit.npz"
    call("aggregate", "vote-shares", votes_file, "-o", tmp_path / "soft.csv", "--save", fit)
    rows = [
        json.loads(call("identify", "posterior-entropy", votes_file, "--json", *words).stdout)["worst"]
        for words in (("--fit", fit), ("--by", "vote-shares"))
    ]
    assert rows[0] == rows[1] and rows[0][0]["task"] == "b"
    assert call("identify", "glad-difficulty", votes_file).exit_code == 0
    said = call("identify", "aggregator-disagreement", votes_file, "--by", "vote-shares,majority-vote[ties=share]")
    assert said.exit_code == 0 and "the 3 worst tasks" in said.stdout


def test_the_default_fit_of_a_score_is_named(call: Call, votes_file: Path) -> None:
    assert "trace: of a fit by dawid-skene" in call("identify", "trace", votes_file).stdout.splitlines()
    assert "of a fit" not in call("identify", "trace", votes_file, "--by", "ibcc").stdout
    said = json.loads(call("identify", "rank", votes_file, "--scores", "trace,trace-pooled", "--json").stdout)
    assert said["fits"] == {"trace": ["dawid-skene"], "trace-pooled": ["dawid-skene[pool=4]"]}
    assert list(said["worst"][0])[1:3] == ["raw:trace", "rank:trace"]


def test_soft_labels_gold_prediction_and_dynamics_can_be_files(call: Call, votes_file: Path, tmp_path: Path) -> None:
    soft, gold, logits = tmp_path / "soft.csv", tmp_path / "gold.csv", tmp_path / "dynamics.npz"
    soft.write_text("task,p:cat,p:dog\na,0.5,0.5\nb,0.9,0.1\nc,1,0\n")
    gold.write_text("task,label\na,cat\nb,dog\nc,dog\n")
    learnt = Dynamics(np.array([[[2.0, 0], [0, 1], [0, 1]]]), np.array(list("abc")), np.array(["cat", "dog"]))
    learnt.save(logits)
    (tmp_path / "each").mkdir()
    for worker in ("ann", "bo", "cy"):
        learnt.save(tmp_path / "each" / f"{worker}.npz")
    for words in (
        ("entropy", votes_file, "--soft", soft),
        ("crowdlab", votes_file, "--prediction", soft),
        ("aum", votes_file, "--dynamics", logits, "--gold", gold),
        ("waum", votes_file, "--dynamics", logits, "--top-k", 1, "--divide-by", "votes"),
        ("waum-per-worker", votes_file, "--dynamics", tmp_path / "each"),
    ):
        said = call("identify", *words)
        assert said.exit_code == 0, said.output
        assert said.stdout.startswith("the 3 worst tasks"), words


def test_guess_is_a_hidden_former_name_of_prediction(call: Call, votes_file: Path, tmp_path: Path) -> None:
    soft = tmp_path / "soft.csv"
    assert call("aggregate", "vote-shares", votes_file, "-o", soft).exit_code == 0
    now, before = (call("identify", "crowdlab", votes_file, option, soft) for option in ("--prediction", "--guess"))
    assert now.exit_code == 0 and now.stdout == before.stdout
    shown = call("identify", "crowdlab", "--help").stdout
    assert "--prediction FILE" in shown and "--guess" not in shown


def test_a_ranking_joins_scores(call: Call, votes_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "ranks.npz"
    words = ("identify", "rank", votes_file, "--scores", "entropy[unit=bits],disagreement,glad-difficulty", "-o", out)
    said = call(*words)
    assert said.exit_code == 0, said.output
    assert "rank:entropy[unit=bits]" in said.stdout and "rank correlations of the scores (Spearman)" in said.stdout
    table = Ranking.load(out)
    assert table.scores.tolist() == ["entropy[unit=bits]", "disagreement", "glad-difficulty"]
    told = json.loads(call(*words, "--json").stdout)
    assert told["scores"] == table.scores.tolist() and len(told["likeness"]) == 3 and told["of"] == "task"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("entropi VOTES", "there is no score 'entropi'; did you mean 'entropy'"),
        (
            "aum VOTES",
            "aum needs dynamics: record them while a classifier is trained (plurivox train --record visit), and give the file",
        ),
        (
            "crowdlab VOTES",
            "crowdlab needs prediction: give the probabilities of a classifier that was not trained on the tasks",
        ),
        (
            "glad-difficulty VOTES --by wawa",
            "needs the difficulty of a fit, and wawa estimates none; use a fit by glad",
        ),
        ("entropy VOTES -o OUT.docx", "unsupported file type"),
        ("entropy VOTES -o VOTES", "is given twice"),
        ("entropy VOTES --worst -1", "invalid value for '--worst'"),
        ("posterior-entropy VOTES --fit VOTES", "was not saved by plurivox"),
        ("waum VOTES --dynamics FOLDER", "contains no .npz file"),
        ("rank VOTES --scores entropy,nothing", "there is no identify method 'nothing'"),
        ("rank VOTES", "missing option '--scores'"),
        ("waum BOTH --dynamics VOTES", "was not saved by plurivox"),
        (
            "posterior-entropy BOTH",
            "dawid-skene needs worker names; the counts of both (2 tasks) do not name workers",
        ),
        (
            "crowdlab BOTH --prediction PREDICTION",
            "crowdlab needs worker names; the counts of both (2 tasks)",
        ),
    ],
)
def test_an_error_is_one_line(call: Call, votes_file: Path, tmp_path: Path, words: str, why: str) -> None:
    both, empty, prediction = tmp_path / "both", tmp_path / "empty", tmp_path / "prediction.csv"
    both.mkdir()
    empty.mkdir()
    (both / "votes.csv").write_text("task,worker,label\na,ann,x\na,bo,y\n")
    (both / "counts.csv").write_text("task,x,y\na,5,1\nb,2,4\n")
    prediction.write_text("task,p:x,p:y\na,0.5,0.5\nb,0.9,0.1\n")
    places = {
        "VOTES": votes_file,
        "BOTH": both,
        "FOLDER": empty,
        "PREDICTION": prediction,
        "OUT.docx": tmp_path / "o.docx",
    }
    said = call("identify", *(places.get(word, word) for word in words.split()))
    assert said.exit_code == 2, said.output
    assert said.stdout == "" and said.stderr.count("\n") == 1 and why in said.stderr


def test_counts_are_used_if_possible_with_a_note(call: Call, tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("task,worker,label\na,ann,x\na,bo,y\n")
    (tmp_path / "counts.csv").write_text("task,x,y\na,5,1\nb,2,4\n")
    said = call("identify", "entropy", tmp_path)
    assert said.exit_code == 0 and "the counts are used" in said.stderr and "the 2 worst tasks" in said.stdout
    assert "the worst task\n" in call("identify", "posterior-entropy", tmp_path, "--part", "votes").stdout


def test_unused_evidence_is_noted(call: Call, votes_file: Path) -> None:
    said = call("identify", "entropy", votes_file, "--by", "wawa")
    assert said.exit_code == 0 and "none of these scores uses by (--by); it has no effect" in said.stderr


def test_the_shell_completes_scores_and_their_options() -> None:
    shell = ShellComplete(main, {}, "plurivox", "_PLURIVOX_COMPLETE")
    found = lambda *words: {str(one.value) for one in shell.get_completions(list(words[:-1]), words[-1])}  # noqa: E731
    assert found("identify", "ent") == {"entropy"} and found("identify", "ran") == {"rank"}
    assert found("identify", "entropy", "--un") == {"--unit"} and found("identify", "entropy", "--unit", "b") == {
        "bits"
    }
    assert found("identify", "rank", "--scores", "entropy,dis") == {"entropy,disagreement"}


def test_a_crowd_coefficient_has_an_interval(call: Call, votes_file: Path) -> None:
    said = json.loads(call("identify", "krippendorff-alpha", votes_file, "--json").stdout)["worst"][0]
    line = call("identify", "krippendorff-alpha", votes_file).stdout.splitlines()[-1]
    low, high = said["low"], said["high"]
    assert low <= said["raw"] <= high and said["badness"] == 1 - said["raw"]
    assert line == f"{said['raw']:.4g}, 95% interval {low:.4g} to {high:.4g}, by krippendorff-alpha"


def test_workers_without_a_score_are_counted(call: Call, tmp_path: Path) -> None:
    alone = tmp_path / "votes.csv"
    alone.write_text("task,worker,label\na,ann,x\na,bo,x\nb,cy,y\n")
    said = call("identify", "agreement-with-rest", alone)
    assert said.stdout.splitlines()[-1] == "agreement-with-rest: 3 workers, 1 without a score"


def test_repeats_left_out_are_counted(call: Call, tmp_path: Path) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text("task,worker,label,when\na,ann,x,1\na,ann,x,3\na,bo,y,1\nb,ann,x,2\nb,bo,x,2\n")
    said = call("identify", "observed-agreement", votes, "--json")
    document = json.loads(said.stdout)
    assert document["repeats_left_out"] == 1 and document["worst"][0]["raw"] == 0.5
    told = call("identify", "observed-agreement", votes).stdout
    assert "1 answer is not its worker's first to the task and left out of observed-agreement" in told
    every = json.loads(call("identify", "observed-agreement", votes, "--repeated", "all", "--json").stdout)
    assert every["repeats_left_out"] == 0 and every["worst"][0]["raw"] == pytest.approx((1 / 3 + 1) / 2)
    told = call("identify", "rank", votes, "--scores", "agreement-with-rest,spam-score-pooled").stdout
    assert "left out of agreement-with-rest; agreement-with-rest[repeated=all] counts them" in told


def test_answers_as_entered_are_to_be_converted_first(call: Call, tmp_path: Path) -> None:
    answers = tmp_path / "answers.csv"
    answers.write_text("task,worker,top,top_percent,repeat_of\na,ann,x,70,-1\na,ann,x,60,0\na,bo,y,80,-1\n")
    assert "plurivox elicit form-column INPUT -o votes" in call("identify", "krippendorff-alpha", answers).output
