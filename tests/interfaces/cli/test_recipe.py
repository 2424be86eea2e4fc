"""`plurivox recipe` run as a user would."""

from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from plurivox.core.recipe_tables import Table, Tables

Call = Callable[..., Result]


def test_an_unknown_recipe_suggests_the_most_similar_name(call: Call) -> None:
    done = call("recipe", "peeranot-tables")
    assert done.exit_code == 2 and "did you mean 'peerannot-tables'" in done.stderr


def test_a_folder_with_other_files_is_not_overwritten(call: Call, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    done = call("recipe", "peerannot-tables", "-o", str(tmp_path))
    assert done.exit_code == 2 and "--force" in done.stderr and len(list(tmp_path.iterdir())) == 1


def test_force_replaces_only_the_tables(call: Call, tmp_path: Path) -> None:
    out = tmp_path / "out"
    Tables("two", (Table("one", {"a": [1]}), Table("two", {"b": [2]})), "by hand").write_tables_to_folder(out)
    done = call("recipe", "prune-and-compare", "-o", str(out), "--force", "--quantiles", "0.4")
    assert done.exit_code == 0, done.output
    assert sorted(one.name for one in out.iterdir()) == ["table-1.csv", "tables.md", "tables.npz", "tables.tex"]
    (out / "mine.txt").write_text("precious")
    refused = call("recipe", "prune-and-compare", "-o", str(out), "--force")
    assert refused.exit_code == 2 and "mine.txt" in refused.stderr and (out / "mine.txt").exists()


def test_a_data_set_is_an_argument_with_reading_options(call: Call, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("img,who,what\na,ann,x\na,bo,x\nb,ann,y\nb,bo,x\nc,ann,y\nc,bo,y\n")
    (tmp_path / "known.csv").write_text("task,label\na,x\nb,y\n")
    words = (
        "recipe",
        "prune-and-compare",
        tmp_path / "mine.csv",
        "--task",
        "img",
        "--worker",
        "who",
        "--label",
        "what",
    )
    refused = call(*words)
    assert refused.exit_code == 2 and "mine has no gold labels" in refused.stderr and "--gold FILE" in refused.stderr
    done = call(*words, "--gold", tmp_path / "known.csv", "--quantiles", "0.5")
    assert done.exit_code == 0 and done.stdout.startswith("Pruning mine by disagreement"), done.output
    twice = call(*words, "--data", "labelme")
    assert twice.exit_code == 2 and "given twice: as INPUT and as --data" in twice.stderr


def test_a_recipe_on_several_data_sets_takes_several_inputs(call: Call, votes_file: Path) -> None:
    done = call(
        "recipe", "rankings", "toy", votes_file, "--n", "1", "--worker-scores", "trace", "--task-scores", "entropy"
    )
    assert "toy, workers: the worst of 30" in done.stdout and "votes, workers: the worst of 3" in done.stdout
