"""Confusion matrices are read from tables, arrays and saved data types."""

from pathlib import Path

import numpy as np
import pytest

from plurivox.core.errors import InputError
from plurivox.core.results import Fit
from plurivox.io import read_confusion, write_table
from plurivox.simulate import IndependentConfusion


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz"])
def test_matrices_round_trip(tmp_path: Path, ending: str) -> None:
    made, path = IndependentConfusion(n_workers=12, n_labels=3).draw().confusion, tmp_path / f"matrices.{ending}"
    made.save(path) if ending == "npz" else write_table(made.columns(), path)
    back = read_confusion(path)
    assert back.workers.tolist() == made.workers.tolist() and back.labels.tolist() == made.labels.tolist()
    np.testing.assert_allclose(back.dense(), made.dense(), atol=1e-12)


def test_a_bare_array_gets_numbered_names(tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", np.array([[[0.9, 0.1], [0.3, 0.7]]]))
    found = read_confusion(tmp_path / "m.npy")
    assert found.workers.tolist() == ["worker-0"] and found.labels.tolist() == ["label-0", "label-1"]


def test_matrices_are_read_from_a_saved_fit(tmp_path: Path) -> None:
    crowd = IndependentConfusion(n_tasks=40).draw()
    Fit(crowd.truth, crowd.votes.workers, "by hand", confusion=crowd.confusion).save(tmp_path / "fit.npz")
    np.testing.assert_array_equal(read_confusion(tmp_path / "fit.npz").dense(), crowd.confusion.dense())
    Fit(crowd.truth, crowd.votes.workers, "by hand").save(tmp_path / "bare.npz")
    with pytest.raises(InputError, match="contains a Fit without confusion matrices"):
        read_confusion(tmp_path / "bare.npz")


def test_unlisted_entries_are_zero_and_rounded_rows_are_normalised(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("worker,true,said,p\nann,x,x,1\nann,y,x,0.333\nann,y,y,0.666\n")
    np.testing.assert_allclose(read_confusion(tmp_path / "m.csv").of("ann"), [[1, 0], [1 / 3, 2 / 3]])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("worker,true,said\nann,x,x\n", r"missing column 'p' in"),
        ("worker,true,said,p\nann,x,x,0.5\nann,y,y,1\n", "for example worker 'ann', true label 'x': the sum is 0.5"),
        ("worker,true,said,p\nann,x,x,1.5\nann,x,y,-0.5\nann,y,y,1\n", "must be non-negative"),
        (
            "worker,true,said,p\nann,x,x,1\nann,x,x,1\nann,y,y,1\n",
            "in several rows, for worker 'ann'",
        ),
    ],
)
def test_invalid_tables_of_matrices_are_errors(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(InputError, match=words):
        read_confusion(tmp_path / "m.csv")


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.ones((2, 2)), r"contains \(2, 2\); confusion matrices need"),
        (np.full((1, 2, 2), np.nan), "sum to 1"),
        (np.full((1, 2, 2), True), "type bool"),
    ],
)
def test_invalid_arrays_of_matrices_are_errors(tmp_path: Path, array: np.ndarray, words: str) -> None:
    np.save(tmp_path / "m.npy", array)
    with pytest.raises(InputError, match=words):
        read_confusion(tmp_path / "m.npy")


def test_missing_or_damaged_files_are_errors(tmp_path: Path) -> None:
    (tmp_path / "m.npy").write_text("no array")
    with pytest.raises(InputError, match="damaged"):
        read_confusion(tmp_path / "m.npy")
    for name in ("no.npy", "no.npz", "no.csv"):
        with pytest.raises(InputError, match="there is no file"):
            read_confusion(tmp_path / name)
