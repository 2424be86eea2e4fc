"""Commands whose inputs or options do not fit together say so, and what to do."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from plurivox.cli.main import main

TASKS = [f"t{i}" for i in range(8)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with votes, gold labels, features of the same tasks and of others."""
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{task},{worker},{'no' if i % 2 else 'yes'}" for i, task in enumerate(TASKS) for worker in ("ann", "bo", "cy")
    ]
    Path("votes.csv").write_text("\n".join(["task,worker,label", *rows]))
    Path("gold.csv").write_text(
        "\n".join(["task,label", *(f"{task},{'no' if i % 2 else 'yes'}" for i, task in enumerate(TASKS))])
    )
    for name, prefix in (("features.csv", ""), ("others.csv", "x")):
        Path(name).write_text(
            "\n".join(["task,one,two", *(f"{prefix}{task},{i % 2},{i}" for i, task in enumerate(TASKS))])
        )
    return tmp_path


def call(*args: str) -> Result:
    """Run plurivox in this process."""
    return CliRunner().invoke(main, args)


def test_method_may_be_a_spec_as_results_name_it(folder: Path) -> None:
    made = call("aggregate", "dawid-skene[pool=4,max-iter=3]", "votes.csv")
    assert (
        made.exit_code == 0 and "dawid-skene[" in made.output and "pool=4" in made.output and "passes: 3" in made.output
    )


def test_method_after_the_input_is_an_error_that_shows_the_order(folder: Path) -> None:
    assert "plurivox aggregate dawid-skene votes.csv" in call("aggregate", "votes.csv", "dawid-skene").stderr


def test_compare_names_its_predictions_and_says_that_votes_are_taken_as_truth(folder: Path) -> None:
    call("aggregate", "log-pool", "votes.csv", "-o", "a.csv")
    call("aggregate", "calibrated-shares", "votes.csv", "-o", "b.csv")
    notes = call("compare", "a.csv", "b.csv", "--gold", "votes.csv").stderr
    assert "a.csv truth" in notes and "b.csv estimates people" in notes and "the prediction" not in notes
    assert "votes has no gold labels: the label with the most votes is taken as the true one" in notes
    assert "no gold labels" not in call("compare", "a.csv", "b.csv", "--gold", "gold.csv").stderr


def test_training_without_a_shared_task_names_tasks_and_leaves_no_folder(folder: Path) -> None:
    made = call("train", "votes.csv", "--features", "others.csv", "-o", "run")
    assert "no task in common: the votes have the tasks 't0'" in made.stderr and "'xt0'" in made.stderr
    assert made.exit_code == 2 and not (folder / "run").exists()


def test_output_of_train_is_no_file(folder: Path) -> None:
    assert (
        "votes.csv is a file; give a folder"
        in call("train", "votes.csv", "--features", "features.csv", "-o", "votes.csv").stderr
    )


def test_train_takes_gold_labels_from_a_file_and_evaluates_its_run_with_them(folder: Path) -> None:
    train = ("train", "votes.csv", "--features", "features.csv", "--target", "gold", "--epochs", "1", "-o", "run")
    assert "--gold FILE" in call(*train).stderr
    assert call(*train, "--gold", "gold.csv").exit_code == 0
    assert "accuracy" in call("evaluate", "run").output
    wrong = call("evaluate", "run", "--tasks", "3", "--cells", "gold.csv")
    assert wrong.exit_code == 2 and "--tasks and --cells are for two tables of labels" in wrong.stderr


def test_run_trained_on_standard_input_says_so(folder: Path) -> None:
    votes = Path("votes.csv").read_text()
    CliRunner().invoke(main, ["train", "-", "--features", "features.csv", "--epochs", "1", "-o", "run"], input=votes)
    assert "run was trained on standard input; give the data as a file" in call("evaluate", "run").stderr
    assert call("evaluate", "run", "votes.csv", "--json").exit_code == 0


def test_recipe_names_no_option_that_it_lacks(folder: Path) -> None:
    error = call("recipe", "aum", "votes.csv").stderr
    assert "--images" not in error and "a folder of images per label" in error


def test_cells_of_other_tasks_are_told_as_such(folder: Path) -> None:
    Path("a.csv").write_text("task,label\nz1,no\nz2,yes\n")
    assert "have no task in common" in call("evaluate", "a.csv", "votes.csv", "--cells", "a.csv").stderr
