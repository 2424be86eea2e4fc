"""`plurivox simulate`: the data-set folder of a simulated crowd."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

import plurivox as pv

Call = Callable[..., Result]


def test_the_folder_contains_all_parts_and_can_be_read(call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "crowd"
    words = ("simulate", "soft-answers", "--n-tasks", 30, "--features", 4, "--copiers", 0.2, "-o", folder)
    made = call(*words)
    assert made.exit_code == 0 and made.stdout.endswith(f"answers of 30 workers on 30 tasks; wrote {folder}\n")
    data, crowd = pv.read(folder), pv.simulate_crowd("soft-answers", n_tasks=30, features=4, copiers=0.2)
    assert data.about["command"] == f"plurivox {' '.join(map(str, words))}"
    assert data.votes.label.tolist() == crowd.votes.label.tolist()
    for name, column in crowd.answers.columns().items():
        assert data.answers.columns()[name].tolist() == column.tolist(), name
    np.testing.assert_array_equal(data.features.on(crowd.votes.tasks), crowd.features)
    assert data.gold.hard().tolist() == crowd.truth.hard().tolist()
    assert data.workers["honesty"].to_list() == crowd.traits["honesty"].tolist()
    assert data.workers["copies"].to_list() == crowd.traits["copies"].tolist()
    assert data.tables["matrices"]().height == 30 * 5 * 5
    assert json.loads(call("describe", folder, "--json").stdout)["n_votes"] == 300
    assert call(*words, "--force").exit_code == 0


def test_times_and_difficulties_are_written(call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "crowd"
    assert call("simulate", "discrete-difficulty", "--times", "--n-tasks", 9, "-o", folder).exit_code == 0
    data = pv.read(folder)
    assert (data.votes.seconds > 0).all() and set(data.tables["difficulties"]()["level"]) == {"easy", "hard"}
    assert data.workers.columns == ["worker", "pace"]


def test_confusion_matrices_can_be_read_from_a_file(call: Call, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    call("simulate", "hammer-spammer", "--n-workers", 12, "--n-labels", 3, "-o", first)
    words = ("simulate", "independent-confusion", "--matrix-file", first / "matrices.parquet", "--n-tasks", 40)
    made = call(*words, "-o", second, "--json")
    assert json.loads(made.stdout)["workers"] == 12 and json.loads(made.stdout)["labels"] == 3
    one, two = (pv.read(folder).tables["matrices"]()["p"].to_list() for folder in (first, second))
    assert one == pytest.approx(two)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("hammer-spamer", "did you mean 'hammer-spammer'"),
        ("hammer-spammer --matrix-file m.csv", "there is no option '--matrix-file'"),
        ("independent-confusion --matrix-file m.csv", "there is no file"),
        ("independent-confusion --prior 1,2", "prior has 2 numbers; 5 labels need one each"),
        ("independent-confusion --prior 1,2,0 --n-labels 3", "prior must hold numbers above 0"),
        ("student-teacher --copiers 0.1", "fewer than a group-size of 4"),
        ("student-teacher --too-fast 0.1", "too-fast needs answer times; set times=yes"),
        ("soft-answers --order peerannot", "use order=whole"),
        ("soft-answers --n-labels 1", "--n-labels must be at least 2"),
        ("soft-answers --form guess", "form is one of"),
    ],
)
def test_an_error_leaves_no_file(call: Call, tmp_path: Path, words: str, said: str) -> None:
    made = call("simulate", *words.split(), "-o", tmp_path / "out")
    assert made.exit_code == 2 and said in made.stderr and not (tmp_path / "out").exists()
