"""The example scripts run and print the documented results."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent


def test_the_demo_runs_without_errors(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "examples.demo", str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert "1,797" in said and "majority-vote" in said and f"Wrote {tmp_path}" in said
    assert "Neural networks trained on the votes" in said and "de-aggregated" in said
    assert "Try next:" in said and (tmp_path / "digits" / "votes.parquet").is_file()
    assert "Real: " in said and "Simulated: " in said and "Step 5 of 5: Write a report" in said
    assert said.rstrip().endswith(str(tmp_path / "report.html")) and "4 workers of 60 are near random" in said
    assert "digit-" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_soft_answers_predict_people_and_the_truth_better_than_plain_votes() -> None:
    command = [sys.executable, "-m", "examples.soft_answers"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()
    plain, soft = (
        [float(number) for number in re.findall(r"(?:entropy|accuracy) ([\d.]+)", line)] for line in said[-2:]
    )
    assert said[-1].startswith("soft answers") and soft[0] < plain[0] and soft[1] > plain[1]


def test_a_study_is_filled_over_http_exported_and_aggregated(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "examples.studio", str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert (
        "gave 220 answers" in said and "40 soft labels" in said and (tmp_path / "remarks" / "answers.parquet").is_file()
    )
