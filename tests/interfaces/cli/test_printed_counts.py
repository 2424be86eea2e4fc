"""Every count that train, predict, evaluate, compare and describe print is the count that was used: a partly labelled data set.

A third of the 60 tasks has a gold label, three in four have votes; numbers are checked against sets of task names.
"""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from toy_training import toy_data

Call = Callable[..., Result]
pytestmark = pytest.mark.training
X, GOLD, VOTES = toy_data(60)
TASKS = [f"t{i:02d}" for i in GOLD.tasks.tolist()]
WITH_GOLD, WITH_VOTES = set(TASKS[::3]), {task for i, task in enumerate(TASKS) if i % 4 != 3}
SPLIT = {task: ("test", "dev", "train", "train", "train")[i % 5] for i, task in enumerate(TASKS)}
FAST = ("--net", "linear", "--epochs", "2", "--device", "cpu")


def members(split: str) -> set[str]:
    """Return the tasks of a split."""
    return {task for task in TASKS if SPLIT[task] == split}


@pytest.fixture
def part(tmp_path: Path) -> Path:
    """Write a data set with features, splits, votes on 45 and gold labels of 20 of its 60 tasks; return its folder."""
    folder = tmp_path / "part"
    folder.mkdir()
    np.savez(folder / "features.npz", x=X, task=np.array(TASKS))
    true = dict(zip(TASKS, GOLD.hard().tolist(), strict=True))
    columns = VOTES.columns()
    tasks = [TASKS[i] for i in columns["task"].tolist()]
    rows = zip(tasks, columns["worker"].tolist(), columns["label"].tolist(), strict=True)
    tables = {
        "gold.csv": [("task", "label"), *((task, true[task]) for task in sorted(WITH_GOLD))],
        "votes.csv": [("task", "worker", "label"), *(row for row in rows if row[0] in WITH_VOTES)],
        "../split.csv": [("task", "split"), *SPLIT.items()],
    }
    for name, lines in tables.items():
        with (folder / name).open("w", newline="") as file:
            csv.writer(file).writerows(lines)
    return folder


def train(call: Call, part: Path, *words: object) -> Result:
    """Run `plurivox train` with the splits of the test."""
    return call("train", part, "--split", part.parent / "split.csv", *FAST, "-o", part.parent / "run", *words)


@pytest.mark.parametrize(
    ("target", "labelled"),
    [
        ("gold", WITH_GOLD),
        ("majority", WITH_VOTES),
        ("vote-shares", WITH_VOTES),
        ("smoothed[of=gold]", WITH_GOLD),
        ("mixed[first=soft,rest=gold]", WITH_VOTES | WITH_GOLD),
        ("uniform", set(TASKS)),
    ],
)
def test_train_prints_the_tasks_it_trains_on(call: Call, part: Path, target: str, labelled: set[str]) -> None:
    done = train(call, part, "--target", target)
    used, whole = members("train") & labelled, members("train")
    some = f"{len(used)} of {len(whole)} tasks ({len(whole - used)} left out: no label for the target"
    every = f"train: {len(whole)} tasks"
    assert (every if used == whole else f"train: {some}") in done.stdout, done.output
    assert f"1 run, {len(used)} training tasks" in done.stdout
    settings = json.loads((part.parent / "run/settings.json").read_text())
    assert settings["trained"] == len(used)
    assert {task for tasks in settings["left_out"].values() for task in tasks} == whole - used


def test_tasks_of_weight_zero_are_counted_as_left_out(call: Call, part: Path) -> None:
    found = json.loads(train(call, part, "--target", "majority", "--least-agreement", 0.9, "--json").stdout)
    said: dict[int, list[str]] = {}
    for task, label in zip(*(VOTES.columns()[name].tolist() for name in ("task", "label")), strict=True):
        said.setdefault(task, []).append(label)
    unanimous = {TASKS[task] for task, labels in said.items() if len(set(labels)) == 1}
    voted = members("train") & WITH_VOTES
    assert found["trained"] == len(voted & unanimous) and found["left_out"]["a weight of 0"] == len(voted - unanimous)


def test_train_prints_the_tasks_of_every_measure(call: Call, part: Path) -> None:
    text = train(call, part, "--target", "gold").stdout
    found = json.loads(train(call, part, "--target", "gold", "--json").stdout)
    header, row = csv.reader((part.parent / "run/results.csv").read_text().splitlines())
    written = dict(zip(header, row, strict=True))
    assert written["train tasks"] == str(len(members("train") & WITH_GOLD))
    for split in ("dev", "test"):
        n_gold, n_votes = len(members(split) & WITH_GOLD), len(members(split) & WITH_VOTES)
        assert f"{split}: {len(members(split))} tasks, {n_gold} with a gold label, {n_votes} with votes" in text
        assert (written[f"{split} tasks with gold"], written[f"{split} tasks with votes"]) == (
            str(n_gold),
            str(n_votes),
        )
        block = text.partition(f"{split}: ")[2].partition("\n\n")[0].splitlines()[1:14]
        printed = [(line.strip().startswith("soft "), int(line.rpartition("  ")[2].split()[0])) for line in block]
        assert printed == [(is_soft, n_votes if is_soft else n_gold) for is_soft, _ in printed] and len(printed) == 13
        for name, measure in found["measures"].items():
            if name.startswith(split):
                assert measure["tasks"] == (n_votes if " soft " in name else n_gold), name
        # a share of n tasks is a multiple of 1 / n
        hits = found["measures"][f"{split} accuracy"]["mean"] * n_gold
        assert hits == pytest.approx(round(hits))


def test_predict_prints_the_tasks_of_every_measure_and_those_trained_on(call: Call, part: Path) -> None:
    train(call, part, "--target", "gold")
    done = call("predict", part.parent / "run", part, "-o", part.parent / "p.csv")
    assert f"trained on {len(members('train') & WITH_GOLD)} of these 60 tasks" in done.stderr
    assert re.search(r"^accuracy +[\d.]+ +20 tasks$", done.stdout, re.M), done.stdout
    assert re.search(r"^soft cross-entropy +[\d.]+ +45 tasks$", done.stdout, re.M)
    said = call("predict", part.parent / "run", part, "--json", "-o", part.parent / "q.csv").stdout
    n_tasks = json.loads(said)["measure_tasks"]
    assert all(n == (45 if " soft " in name else 20) for name, n in n_tasks.items()) and len(n_tasks) == 13


def test_evaluate_prints_the_tasks_of_every_measure(call: Call, part: Path) -> None:
    train(call, part, "--target", "gold")
    prediction = part.parent / "p.csv"
    call("predict", part.parent / "run", part, "-o", prediction)
    words = ("evaluate", prediction, part, "--against", part, "--repeats", 0)
    done = call(*words, "-o", part.parent / "e.md")
    rows = json.loads(call(*words, "--json").stdout)["rows"]
    assert dict(zip(rows["against"], rows["n"], strict=True)) == {"gold": 20, "votes": 45}
    assert "the most frequent label: accuracy" in done.stdout and "on 20 tasks" in done.stdout
    assert "40 of 60 tasks of the prediction have no true label" in done.stderr
    assert "20 tasks against gold, 45 tasks against votes" in (part.parent / "e.md").read_text()


def test_compare_and_describe_print_the_tasks_with_votes_and_gold(call: Call, part: Path) -> None:
    n = len(WITH_GOLD & WITH_VOTES)
    words = ("compare", part, "--methods", "majority-vote,vote-shares")
    assert (
        f"; {n} tasks with votes and a gold label; sorted by accuracy\n"
        in call(*words, "-o", part.parent / "c.csv").stdout
    )
    assert (part.parent / "c.csv").read_text().splitlines()[2].endswith(f",{n},truth")
    rows = json.loads(call(*words, "--json").stdout)["rows"]
    assert rows["tasks"] == [n, n]
    two = call("compare", part, "toy", "--methods", "vote-shares").stdout
    assert f"{n} to 300 tasks with votes and a gold label each" in two and re.search(r"^vote-shares\*? +2 ", two, re.M)
    about = json.loads(call("describe", part, "--json").stdout)
    assert (about["n_tasks"], about["n_gold"], about["n_agreement"], about["n_gold_workers"]) == (45, n, 45, 4)


def test_a_mean_over_fewer_data_sets_says_so(call: Call, part: Path, tmp_path: Path) -> None:
    (tmp_path / "names").mkdir()
    (tmp_path / "names/counts.csv").write_text("task,x,y\na,2,1\nb,0,3\n")
    (tmp_path / "names/gold.csv").write_text("task,label\na,x\nb,y\n")
    done = call("compare", part, tmp_path / "names", "--methods", "vote-shares,dawid-skene")
    assert "dawid-skene has no result on names" in done.stderr, done.output
    assert re.search(r"^vote-shares\*? +2 ", done.stdout, re.M) and re.search(r"^dawid-skene +1 ", done.stdout, re.M)


# ---- gold labels


def first_line(done: Result) -> str:
    """Return the first line on stdout."""
    return done.stdout.partition("\n")[0]


@pytest.mark.parametrize(
    ("words", "line", "used"),
    [
        (("--target", "gold"), "as training labels (target gold)", ["training labels"]),
        (("--target", "smoothed[of=gold]"), "as training labels (target smoothed[of=gold])", ["training labels"]),
        (
            ("--head", "two-heads", "--best", "accuracy"),
            "as training labels (target gold and vote-shares) and to choose the epoch (accuracy on 4 dev tasks)",
            ["training labels", "choosing the epoch"],
        ),
        (
            ("--target", "majority", "--best", "loss"),
            "to choose the epoch (loss on 4 dev tasks)",
            ["choosing the epoch"],
        ),
        (("--target", "majority"), "neither as training labels nor to choose the epoch", []),
        (("--target", "smoothed"), "neither as training labels nor to choose the epoch", []),
        (("--head", "two-heads", "--target", "pair", "--main", "majority"), "neither as training labels nor", []),
        (
            ("--target", "majority", "--choose", "votes"),
            "neither as training labels nor to choose the epoch; the epoch is chosen by cross-entropy against the vote shares "
            "of 9 dev tasks",
            [],
        ),
        (
            ("--target", "majority", "--choose", "gold"),
            "to choose the epoch (accuracy on 4 dev tasks)",
            ["choosing the epoch"],
        ),
    ],
)
def test_a_run_says_in_its_first_line_and_files_for_what_gold_labels_are_used(
    call: Call, part: Path, words: tuple[str, ...], line: str, used: list[str]
) -> None:
    from plurivox.train import Trained

    assert len(members("dev") & WITH_GOLD) == 4 and len(members("dev") & WITH_VOTES) == 9
    done = train(call, part, *words)
    assert first_line(done).startswith(f"gold labels are used {line}"), done.output
    assert json.loads((part.parent / "run/settings.json").read_text())["gold_used"] == used
    assert Trained.load(part.parent / "run/run-000").made_by["gold_used"] == used
    assert json.loads(train(call, part, *words, "--json").stdout)["gold_used"] == used


def test_the_labels_that_choose_the_epoch_must_exist_and_belong_to_the_run(call: Call, part: Path) -> None:
    (part.parent / "split.csv").write_text("task,split\nt02,train\nt04,train\nt07,dev\nt00,test\n")
    for choose, labels in (("gold", "a gold label"), ("votes", "votes")):
        done = train(call, part, "--target", "majority", "--choose", choose)
        assert done.exit_code == 2 and f"no dev task of part has {labels}" in done.stderr, done.output
    (part.parent / "split.csv").write_text("task,split\nt02,train\nt04,train\nt06,dev\nt00,test\n")
    assert train(call, part, "--target", "majority", "--best", "loss", "--choose", "gold").exit_code == 0
    other = train(call, part, "--target", "majority", "--best", "loss", "--choose", "votes")
    assert (
        other.exit_code == 2 and "belongs to another training: its gold_used is ['choosing the epoch']" in other.stderr
    )


def test_smoothed_names_its_former_meaning_in_a_note(call: Call, part: Path) -> None:
    done = train(call, part, "--target", "smoothed")
    assert "note: smoothed smooths the majority vote; before version 0.2 it smoothed gold labels" in done.stderr
    assert "linear on smoothed[of=majority]" in done.stdout
    assert "smooths the majority" not in train(call, part, "--target", "smoothed[of=majority]").stderr


# ---- chosen tasks


def test_mixed_trains_the_chosen_tasks_on_the_first_target(call: Call, part: Path) -> None:
    words = ("--target", "mixed[first=random,rest=gold]")
    refused = train(call, part, *words)
    assert refused.exit_code == 2 and "does not say which tasks are trained on random: all 36 have it" in refused.stderr
    chosen, file = sorted(members("train") & WITH_GOLD)[:5], part.parent / "chosen.csv"
    file.write_text("\n".join(["task", *chosen, "t00"]))  # t00 is a test task
    done = train(call, part, *words, "--chosen", file)
    n_rest = len(members("train") & WITH_GOLD) - 5
    assert f": 5 on random (first), {n_rest} on gold (rest)" in done.stdout, done.output
    file.write_text("\n".join(["task", *chosen[:4]]))
    other = train(call, part, *words, "--chosen", file)
    assert other.exit_code == 2 and "belongs to another training: its data" in other.stderr, "other chosen tasks"


def test_a_split_of_the_data_can_be_chosen(call: Call, part: Path) -> None:
    np.savez(
        part / "features.npz",
        x=X,
        task=np.array(TASKS),
        split=np.array(["first" if i % 2 else "second" for i in range(60)]),
    )
    done = train(call, part, "--target", "mixed[first=uniform,rest=gold]", "--chosen", "first")
    first = members("train") & set(TASKS[1::2])
    rest = (members("train") & WITH_GOLD) - first
    assert f"{len(first)} on uniform (first), {len(rest)} on gold (rest)" in done.stdout, done.output


@pytest.mark.parametrize(
    ("target", "chosen", "said"),
    [
        ("gold", "chosen.csv", "tasks are chosen for the target mixed; the target gold does not use them"),
        ("mixed", "third", "third is neither a file nor a split of part"),
        (
            "mixed",
            "chosen.csv",
            "none of the 36 training tasks, such as 't02', 't03', 't04' and 33 more, is among the chosen",
        ),
        ("mixed", "odd.csv", "odd.csv needs the column task; it has 'name'"),
    ],
)
def test_wrong_choices_are_errors(
    call: Call, part: Path, monkeypatch: pytest.MonkeyPatch, target: str, chosen: str, said: str
) -> None:
    monkeypatch.chdir(part.parent)
    (part.parent / "chosen.csv").write_text("task\nt00\n")
    (part.parent / "odd.csv").write_text("name\nt02\n")
    done = train(call, part, "--target", target, "--chosen", chosen)
    assert done.exit_code == 2 and said in done.stderr, done.output


def test_predict_shows_the_first_tasks_without_out(call: Call, part: Path) -> None:
    train(call, part, "--target", "gold")
    done = call("predict", part.parent / "run", part)
    assert done.stdout.startswith("task ") and "... and 50 more tasks; -o FILE writes all" in done.stdout
