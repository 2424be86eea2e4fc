"""Files of soft labels: round trips, layouts and errors."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plurivox import io
from plurivox.core.array_types import Names
from plurivox.core.errors import InputError
from plurivox.core.name_encoding import as_names
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.soft_rows_dense_sparse import Candidates
from plurivox.core.votes import Votes
from plurivox.io.soft_label_files import read_soft, write_soft

TEXT = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=6)
KINDS = {
    "text": TEXT,
    "whole numbers": st.integers(-(2**53), 2**53),
    "numbers": st.floats(allow_nan=False, allow_infinity=False),
    "truth values": st.booleans(),
}
ANY_KIND = st.sampled_from(sorted(KINDS))


@st.composite
def names(draw: st.DrawFn, least: int, most: int) -> Names:
    kind = draw(ANY_KIND)
    most = min(most, 2) if kind == "truth values" else most
    key = repr if kind != "numbers" else float  # 0.0 and -0.0 are one name
    return as_names(draw(st.lists(KINDS[kind], min_size=min(least, most), max_size=most, unique_by=key)))


@st.composite
def soft_labels(draw: st.DrawFn) -> SoftLabels:
    tasks, labels = draw(names(1, 5)), draw(names(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if draw(st.booleans()):  # enough labels that the file has the long layout
        labels = as_names(np.arange(70) * 3 if labels.dtype.kind != "T" else [f"label {i}" for i in range(70)])
    if draw(st.booleans()):
        prob = rng.dirichlet(np.full(len(labels), 0.3), len(tasks))
        return SoftLabels.of(prob, tasks, labels)
    n = len(labels)
    listed = [np.sort(rng.permutation(n)[: rng.integers(0, min(n, 4) + 1)]) for _ in tasks]
    sizes = np.array([len(one) for one in listed])
    rest = np.where(sizes == n, 0.0, rng.random(len(tasks)) * (rng.random(len(tasks)) < 0.5))
    rest = np.where(sizes == 0, 1.0, rest)
    share = [rng.dirichlet(np.ones(k)) * (1 - r) if k else np.zeros(0) for k, r in zip(sizes, rest, strict=True)]
    start = np.concatenate([[0], np.cumsum(sizes)])
    body = Candidates(start, np.concatenate(listed).astype(int), np.concatenate(share), rest, n)
    return SoftLabels(body, tasks, labels)


def said(soft: SoftLabels) -> dict[object, dict[object, float]]:
    labels = soft.labels.tolist()
    return {task: dict(zip(labels, row, strict=True)) for task, row in zip(soft.tasks.tolist(), soft.prob, strict=True)}


def same(left: SoftLabels, right: SoftLabels) -> None:
    assert left.tasks.dtype.kind == right.tasks.dtype.kind and left.labels.dtype.kind == right.labels.dtype.kind
    assert left.tasks.tolist() == right.tasks.tolist()
    assert set(left.labels.tolist()) == set(right.labels.tolist())
    for task, row in said(left).items():
        assert said(right)[task] == pytest.approx(row, abs=1e-9)


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=80
)
@given(soft_labels())
@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".npz"])
def test_soft_labels_round_trip(tmp_path: Path, ending: str, soft: SoftLabels) -> None:
    write_soft(soft, tmp_path / f"soft{ending}")
    same(read_soft(tmp_path / f"soft{ending}"), soft)


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=80
)
@given(soft_labels())
def test_names_in_csv_are_text(tmp_path: Path, soft: SoftLabels) -> None:
    write_soft(soft, tmp_path / "soft.csv.gz")
    back = read_soft(tmp_path / "soft.csv.gz")
    assert back.tasks.dtype.kind == back.labels.dtype.kind == "T" and back.notes == ()
    np.testing.assert_allclose(np.sort(back.prob, 1), np.sort(soft.prob, 1), atol=1e-9)
    if soft.tasks.dtype.kind == soft.labels.dtype.kind == "T":
        same(back, soft)


def table(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_the_columns_of_a_table(tmp_path: Path) -> None:
    write_soft(SoftLabels.of([[0.25, 0.75]], ["a"], [False, True]), tmp_path / "soft.csv")
    assert (tmp_path / "soft.csv").read_text() == "task,label,confidence,p:false,p:true\na,true,0.75,0.25,0.75\n"
    wide = SoftLabels.of(np.eye(65)[:1], ["a"], range(65))
    write_soft(wide, tmp_path / "soft.csv")
    assert (tmp_path / "soft.csv").read_text().startswith("task,label,p\na,0,1.0\n")
    assert read_soft(tmp_path / "soft.csv").n_labels == 65


@pytest.mark.parametrize("n_labels", [2, 70])  # wide and long
@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "json.gz", "arrow", "npz"])
@pytest.mark.parametrize("estimates", ["truth", "people", "unknown"])
def test_files_say_what_soft_labels_estimate(tmp_path: Path, ending: str, estimates: Estimand, n_labels: int) -> None:
    prob = np.random.default_rng(0).dirichlet(np.ones(n_labels), 3)
    soft = SoftLabels.of(prob, ["a", "b", "c"], [f"l{k}" for k in range(n_labels)], estimates=estimates)
    write_soft(soft, tmp_path / f"soft.{ending}")
    back = read_soft(tmp_path / f"soft.{ending}")
    assert (back.estimates, back.notes) == (estimates, ())
    same(back, soft)


def test_the_column_estimates_has_one_word(tmp_path: Path) -> None:
    path = table(tmp_path / "soft.csv", "task,label,estimates,p:x,p:y\na,x,truth,.9,.1\nb,y,people,.4,.6\n")
    with pytest.raises(InputError, match=r"contains both truth .* and people"):
        read_soft(path)
    with pytest.raises(InputError, match="empty or unknown in some rows; write truth in all rows"):
        read_soft(table(path, "task,label,estimates\na,x,truth\nb,y,\n"))
    foreign = read_soft(table(path, "task,estimates,p:x,p:y\na,high,.9,.1\nb,low,.4,.6\n"))
    assert foreign.estimates == "unknown" and foreign.notes == ("columns not read: 'estimates'",)
    assert read_soft(table(path, "task,label,estimates\na,x,people\n")).estimates == "people"
    assert read_soft(table(path, "task,label,estimates\na,x,\n")).estimates == "unknown"
    numbers = table(tmp_path / "numbers.csv", "task,estimates,other\na,.25,.75\n")  # a label that is called estimates
    assert said(read_soft(numbers)) == {"a": {"estimates": 0.25, "other": 0.75}}
    assert read_soft(table(path, "task,label\na,x\n")).estimates == "unknown"


def test_known_labels_of_a_data_set_estimate_the_truth(tmp_path: Path) -> None:
    votes, soft = Votes.of(["a"], ["w"], ["x"]), SoftLabels.of([[0.4, 0.6]], ["a"], ["x", "y"], estimates="people")
    io.write(io.Dataset("pair", votes=votes, gold=SoftLabels.gold(["a"], ["y"]), soft_labels=soft), tmp_path / "pair")
    back = io.read(tmp_path / "pair")
    assert back.gold is not None and back.gold.estimates == "truth"
    assert back.soft_labels is not None and back.soft_labels.estimates == "people"
    soft.save(tmp_path / "soft.npz")
    io.convert(tmp_path / "soft.npz", tmp_path / "soft.csv")
    assert read_soft(tmp_path / "soft.csv").estimates == "people"


def test_a_matrix_has_no_names(tmp_path: Path) -> None:
    soft = SoftLabels.one_hot(np.array([1, 0]), ["b", "a"], ["x", "y"])
    write_soft(soft, tmp_path / "soft.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "soft.npy"), [[0, 1], [1, 0]])
    with pytest.raises(InputError, match=r"no task and label names; .* SoftLabels\.of"):
        read_soft(tmp_path / "soft.npy")


def test_soft_labels_are_read_from_a_saved_fit(tmp_path: Path) -> None:
    soft = SoftLabels.of([[0.5, 0.5]], ["a"], ["x", "y"])
    Fit(soft, as_names(["w"]), "by hand").save(tmp_path / "fit.npz")
    same(read_soft(tmp_path / "fit.npz"), soft)


def test_a_bare_wide_table(tmp_path: Path) -> None:
    path = table(tmp_path / "soft.csv", "task,cat,dog,n\n7,0.25,0.75,4\n8,1,0,2\n")
    soft = read_soft(path)
    assert said(soft) == {"7": {"cat": 0.25, "dog": 0.75}, "8": {"cat": 1.0, "dog": 0.0}}
    assert soft.support is not None and soft.support.tolist() == [4, 2]
    named_n = read_soft(table(path, "task,m,n,o\na,0.25,0.5,0.25\n"))
    assert named_n.labels.tolist() == ["m", "n", "o"] and named_n.support is None


def test_hard_labels(tmp_path: Path) -> None:
    soft = read_soft(table(tmp_path / "gold.csv", "task,label,split\nb,10,train\na,2,test\nc,,test\n"))
    assert soft.tasks.tolist() == ["b", "a"] and soft.labels.tolist() == ["2", "10"]
    assert soft.hard().tolist() == ["10", "2"]
    assert soft.notes == ("1 task was dropped: no label", "columns not read: 'split'")


def test_the_missing_mass_of_a_long_table_is_spread(tmp_path: Path) -> None:
    soft = read_soft(table(tmp_path / "soft.csv", "task,label,p\na,x,0.7\na,y,0.1\nb,z,1\nc,,\nd,w,0\n"))
    assert said(soft)["a"] == pytest.approx({"w": 0.1, "x": 0.7, "y": 0.1, "z": 0.1})
    assert said(soft)["c"] == pytest.approx(dict.fromkeys("wxyz", 0.25))
    assert said(soft)["d"] == pytest.approx({"w": 0, "x": 1 / 3, "y": 1 / 3, "z": 1 / 3})
    assert soft.is_sparse and soft.notes == ("1 row was dropped: without a label or its share",)


def test_rounded_numbers_are_normalised_with_a_note(tmp_path: Path) -> None:
    soft = read_soft(table(tmp_path / "soft.csv", "task,x,y,z\na,0.333,0.333,0.333\nb,1,0,0\n"))
    np.testing.assert_allclose(soft.prob, [[1 / 3] * 3, [1, 0, 0]])
    assert soft.notes == ("1 row of rounded numbers was divided by the sum",)
    soft = read_soft(table(tmp_path / "soft.csv", "task,label,p\na,x,0.334\na,y,0.334\na,z,0.334\n"))
    np.testing.assert_allclose(soft.prob, [[1 / 3] * 3])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "who,x\n1,1\n",
            r"missing column 'task' in .*; its columns are 'who', 'x'; a table of labels has task and label",
        ),
        ("task\n1\n", "has no column besides 'task'"),
        ("task,x,y\na,3,1\n", "sum to one.*task 'a' with the sum 4"),
        ("task,x,y\na,1.5,-0.5\n", "0 or more and sum to one"),
        ("task,x,y\na,0.5,\n", "missing numbers in .* for 1 tasks: 'a'"),
        ("task,x,y\na,one,0\n", "'x' of .* must contain numbers; row 1 contains 'one'"),
        ("task,x,y\n,1,0\n", "missing value in column 'task' of .*, row 1"),
        ("task,x,y\na,1,0\na,0,1\n", "contain a name twice: 'a'"),
        ("task,label,p\na,x,0.5\na,x,0.5\n", "lists a label twice.*'a'"),
        ("task,label,p\na,x,0.9\na,y,0.9\n", "sum to (1|one)"),
        ("task,label,p\na,x,0.5\n", "sum to (1|one)"),
        ("task,label\na,x\na,y\n", "contain a name twice"),
    ],
)
def test_invalid_tables_of_soft_labels_are_errors(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read_soft(table(tmp_path / "soft.csv", text))
    assert "soft.csv" in str(caught.value)


def test_labels_that_contradict_their_columns(tmp_path: Path) -> None:
    pl.DataFrame({"task": ["a"], "label": [1], "p:cat": [1.0]}).write_parquet(tmp_path / "soft.parquet")
    with pytest.raises(InputError, match=r"column 'label' of .* contains numbers, but .* other labels"):
        read_soft(tmp_path / "soft.parquet")


def test_a_real_wide_table() -> None:
    folder = os.environ.get("PLURIVOX_DATA")
    if not folder or not Path(folder, "cifar10s").is_dir():
        pytest.skip("set PLURIVOX_DATA to a folder that holds cifar10s")
    soft = read_soft(Path(folder, "cifar10s", "soft_labels.parquet"))
    assert (len(soft), soft.n_labels) == (1000, 10) and soft.support is not None and soft.support.sum() == 6723
    gold = read_soft(Path(folder, "cifar10s", "gold.parquet"))
    assert np.mean(soft.on(gold.tasks).hard() == gold.hard()) > 0.9
