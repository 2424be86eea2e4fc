"""Which tables are read as soft labels, and which as votes."""

from pathlib import Path

import pytest

import plurivox as pv
from plurivox.core.errors import InputError


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("task,p:x,p:y\na,.2,.8\n", ["soft_labels"]),
        ("task,label,confidence,estimates,p:x,p:y\na,y,.8,truth,.2,.8\n", ["soft_labels"]),
        ("task,label,p\na,x,.2\na,y,.8\n", ["soft_labels"]),
        ("task,label\na,x\nb,y\n", ["soft_labels"]),
        ("task,x,y\na,.2,.8\nb,.5,.5\n", ["soft_labels"]),
        ("task,worker,label\na,x,y\n", ["votes"]),
        ("task,worker,label,p\na,x,y,1\n", ["votes"]),
    ],
)
def test_a_table_is_recognised_by_its_columns(tmp_path: Path, text: str, parts: list[str]) -> None:
    (tmp_path / "table.csv").write_text(text)
    assert pv.read(tmp_path / "table.csv").parts() == parts


def test_soft_labels_are_not_votes(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("task,p:x,p:y\na,.2,.8\n")
    with pytest.raises(InputError, match="table has no votes; it contains soft_labels"):
        pv.fit(tmp_path / "table.csv")


def test_a_saved_fit_is_read_as_its_soft_labels(tmp_path: Path) -> None:
    pv.fit({"task": ["a"], "worker": ["w"], "label": ["x"]}, "majority-vote").save(tmp_path / "fit.npz")
    labels = pv.read(tmp_path / "fit.npz").soft_labels
    assert labels is not None and labels.hard().tolist() == ["x"]
