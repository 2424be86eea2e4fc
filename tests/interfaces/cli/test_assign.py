"""`plurivox assign` run as a user would."""

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Call = Callable[..., Result]


def test_the_best_proposals_are_shown_and_all_are_written(call: Call, tmp_path: Path) -> None:
    done = call("assign", "next-best", "toy", "-o", str(tmp_path / "next.csv"))
    assert done.exit_code == 0, done.output
    assert "gain_per_second" in done.stdout and (tmp_path / "next.csv").read_text().startswith(
        "task,worker,question,gain"
    )
    assert json.loads(call("assign", "next-best", "toy", "--json").stdout)["enough"] is False


def test_an_aggregator_without_confusion_matrices_is_an_error(call: Call) -> None:
    done = call("assign", "next-best", "toy", "--by", "wawa")
    assert done.exit_code == 2 and "try ibcc" in done.stderr


def test_a_plan_is_a_file_of_batches_for_studio_new(call: Call, tmp_path: Path) -> None:
    items, out = tmp_path / "items.csv", tmp_path / "batches.csv"
    items.write_text(
        "task,text,stratum\n" + "".join(f"t{i},text {i},{'easy' if i % 4 == 0 else 'hard'}\n" for i in range(12))
    )
    done = call("assign", "tasks-per-stratum", str(items), "--counts", "hard=3,easy=1", "--twice", "1", "-o", str(out))
    assert done.exit_code == 0 and "3 batches of 5 tasks; 12 of 12 requested assignments planned" in done.output, (
        done.output
    )
    study = tmp_path / "study"
    made = call("studio", "new", str(study), "--items", str(items), "--labels", "a,b", "--batches", str(out))
    assert made.exit_code == 0, made.output
    told = json.loads(call("studio", "status", str(study), "--json").stdout)
    assert told["wanted"] == 72
    again = call("assign", "batches", str(out), "--workers", "2", "--json", "-o", str(tmp_path / "again.csv"))
    assert json.loads(again.stdout)["given"] == 8


def test_json_batches_are_read_by_studio_new_and_by_assign(call: Call, tmp_path: Path) -> None:
    items, batches = tmp_path / "items.csv", tmp_path / "batches.json"
    items.write_text("task,text\n" + "".join(f"{i},text {i}\n" for i in range(6)))
    batches.write_text(json.dumps({"b0": [0, 1, 2], "b1": ["2", "3", "4", "5"]}))
    new = ("studio", "new", str(tmp_path / "study"), "--items", str(items), "--labels", "a,b", "--per-task", "3")
    made = call(*new, "--batches", str(batches))
    assert made.exit_code == 0, made.output
    told = json.loads(call("studio", "status", str(tmp_path / "study"), "--json").stdout)
    assert told["wanted"] == 3 * 7  # task 2 is in both batches
    assert json.loads(call("assign", "batches", str(batches), "--json").stdout)["given"] == 7
    batches.write_text(json.dumps({"b0": ["0.png"]}))
    failed = call(
        *(str(tmp_path / "other") if word.endswith("study") else word for word in new), "--batches", str(batches)
    )
    assert failed.exit_code == 2 and "does not have: '0.png'; write names as in the items, such as '0'" in failed.stderr


def test_the_same_seed_gives_the_same_plan(call: Call, tmp_path: Path) -> None:
    items = tmp_path / "items.csv"
    items.write_text("task\n" + "".join(f"t{i}\n" for i in range(30)))
    for name, seed in (("one", "3"), ("two", "3"), ("three", "4")):
        call("assign", "quota", str(items), "--batch", "7", "--seed", seed, "-o", str(tmp_path / f"{name}.csv"))
    one, two, three = ((tmp_path / f"{name}.csv").read_text() for name in ("one", "two", "three"))
    assert one == two != three


def test_a_table_without_the_needed_columns_is_an_error(call: Call, tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("task,text\na,x\na,y\n")
    for method, said in (("quota", "lists tasks twice: 'a'"), ("tasks-per-stratum", "missing columns ['stratum']")):
        done = call("assign", method, str(tmp_path / "items.csv"))
        assert done.exit_code == 2 and said in done.stderr, done.stderr
    (tmp_path / "photos").mkdir()
    assert (
        "photos contains no table named items; give a table" in call("assign", "quota", str(tmp_path / "photos")).stderr
    )
