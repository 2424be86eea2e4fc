"""`plurivox agreement` run as a user would."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Call = Callable[..., Result]


def test_agreement_shows_coefficients_labels_and_pairs(call: Call) -> None:
    done = call("agreement", "toy", "--resamples", 50, "--pairs", 3)
    assert done.exit_code == 0, done.output
    assert "1,500 votes of 30 workers on 300 tasks with two votes or more; 4 labels" in done.stdout
    for word in ("Krippendorff's alpha  0.503", "95% interval", "Per label", "label-0", "3 of 348 pairs", "Wilson"):
        assert word in done.stdout
    assert "Krippendorff (2004" in done.stdout and "substantial" not in done.stdout


def test_agreement_as_json_and_as_tables(call: Call, tmp_path: Path) -> None:
    out = tmp_path / "agreement"
    found = json.loads(call("agreement", "toy", "--resamples", 0, "--pairs", 2, "--json", "-o", out).stdout)
    values = dict(zip(found["coefficients"]["method"], found["coefficients"]["value"], strict=True))
    assert values["krippendorff-alpha"] == pytest.approx(0.5028, abs=5e-4)
    assert found["n_pairs"] == 348 and len(found["pairs"]["kappa"]) == 2
    assert len((out / "pairs.csv").read_text().splitlines()) == 349  # all pairs
    again = call("agreement", "toy", "--resamples", 0, "-o", out)
    assert again.exit_code == 2 and "--force" in again.stderr
    assert call("agreement", "toy", "--resamples", 0, "-o", out, "--force", "--quiet").exit_code == 0


def test_repeats_are_said_and_can_be_chosen(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("task,worker,label\na,ann,x\na,bo,y\na,ann,y\nb,ann,y\nb,bo,y\nb,ann,y\n")
    said = call("agreement", path, "--resamples", 0)
    assert "they share one vote" in said.stderr and "--repeats first" in said.stderr
    assert "aggregation uses all" not in said.stderr and "4 votes of 2 workers" in said.stdout
    first = call("agreement", path, "--resamples", 0, "--repeats", "first")
    assert "observed agreement    0.500" in first.stdout
    every = call("agreement", path, "--resamples", 0, "--repeats", "all")
    assert "6 votes" in every.stdout and "as if other workers gave them" in every.stderr


def test_levels_of_measurement(call: Call, votes_file: Path) -> None:
    wrong = call("agreement", votes_file, "--level", "ordinal")
    assert wrong.exit_code == 2 and "--ordered" in wrong.stderr
    ordered = call("agreement", votes_file, "--labels", "cat,dog", "--ordered", "--resamples", 0, "--least", 1)
    assert "Cohen's kappa, linear" in ordered.stdout and "weighted kappa" in ordered.stdout
    assert call("agreement", votes_file, "--pairs", "some").exit_code == 2
