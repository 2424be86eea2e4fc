"""plurivox audit, run as a user would."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from click.testing import Result

from interfaces.cli.cli_process import environment
from plurivox.core.name_encoding import as_names
from plurivox.core.soft_labels import SoftLabels
from plurivox.train.data.training_data import TrainingData, write_training_data


def box(path: Path, names: list[str], split: list[str] | None, x: np.ndarray) -> Path:  # type: ignore[type-arg]
    gold = SoftLabels.gold(names, ["cat" if i % 2 else "dog" for i in range(len(names))])
    write_training_data(
        TrainingData("made", as_names(names), x, None if split is None else as_names(split), gold), path
    )
    return path


def test_leaks_and_labels_in_task_names_are_found(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    x = np.random.default_rng(0).normal(size=(6, 8)).astype(np.float32)
    x[5] = x[0]
    names = [f"{'cat' if i % 2 else 'dog'}_{i}" for i in range(6)]
    file = box(tmp_path / "made.npz", names, ["train"] * 4 + ["test"] * 2, x)
    words = ("--trained-on", "softmax-shares", "--scored-on", "softmax-shares")
    done: Result = call("audit", file, *words, "--json")
    found = json.loads(done.stdout)["findings"]
    assert [one["kind"] for one in found] == ["label-in-name", "leak", "own-transform"], done.output
    assert found[1]["tasks"] == ["cat_5"] and "'cat_5' = 'dog_0'" in call("audit", file).stdout


def test_the_checks_are_listed_if_no_leak_is_found(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    x = np.random.default_rng(0).normal(size=(6, 8)).astype(np.float32)
    names = [f"t{i}" for i in range(6)]
    clean = box(tmp_path / "clean.npz", names, ["train"] * 4 + ["test"] * 2, x)
    assert "no leaks found; checked: labels in names, copies by name" in call("audit", clean).stdout
    whole = box(tmp_path / "whole.npz", names, None, x)
    assert "give a file of splits: split=... (--split FILE)" in call("audit", whole).stdout
    (tmp_path / "split.csv").write_text(
        "task,split\n" + "".join(f"t{i},{'test' if i > 3 else 'train'}\n" for i in range(6))
    )
    assert "copies by name" in call("audit", whole, "--split", tmp_path / "split.csv").stdout
    wrong: Result = call("audit", whole, "--trained-on", "gold")
    assert wrong.exit_code == 2 and "give both trained_on and scored_on" in wrong.stderr


def test_audit_needs_no_torch(tmp_path: Path) -> None:
    file = box(tmp_path / "made.npz", ["a", "b"], ["train", "test"], np.eye(2, dtype=np.float32))
    code = (
        "import sys; sys.modules['torch'] = None\n"
        f"from plurivox.cli.main import main; main(['audit', {str(file)!r}], standalone_mode=False)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    assert done.returncode == 0 and "no leaks found" in done.stdout, done.stderr
