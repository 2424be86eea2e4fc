"""Soft labels and votes are written as Parquet with the features of Hugging Face `datasets`, and read back."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io.dataset_conversion import convert
from plurivox.io.dataset_reader import read
from plurivox.io.soft_label_files import read_soft, write_soft
from plurivox.io.tabular.table_files import write_table

pytestmark = pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
SOFT = SoftLabels.of([[0.25, 0.75], [0.9, 0.1]], ["a", "b"], ["toxic", "fine"])


def features(path: Path) -> dict[str, object]:
    """Return the features that `datasets` finds in the schema of a Parquet file."""
    return json.loads(pq.read_schema(path).metadata[b"huggingface"])["info"]["features"]


def test_soft_labels_have_class_labels_and_a_list_of_probabilities(tmp_path: Path) -> None:
    write_soft(SOFT, tmp_path / "soft.csv")
    out = tmp_path / "soft.parquet"
    convert(tmp_path / "soft.csv", out, form="huggingface")
    assert features(out) == {
        "task": {"dtype": "string", "_type": "Value"},
        "label": {"names": ["toxic", "fine"], "_type": "ClassLabel"},
        "soft_label": {"feature": {"dtype": "float64", "_type": "Value"}, "_type": "Sequence"},
    }
    assert pq.read_table(out).to_pylist()[0] == {"task": "a", "label": 1, "soft_label": [0.25, 0.75]}
    again = read_soft(out)
    assert again.labels.tolist() == ["toxic", "fine"] and again.prob.tolist() == SOFT.prob.tolist()
    assert read(out).soft_labels is not None


def test_votes_are_lists_of_class_labels(tmp_path: Path) -> None:
    votes = Votes.of(["a", "a", "b"], ["ann", "bo", "bo"], ["fine", "toxic", "fine"], labels=["toxic", "fine", "spam"])
    write_table(votes.columns(), tmp_path / "votes.csv")
    out = tmp_path / "votes.parquet"
    convert(tmp_path / "votes.csv", out, form="huggingface", labels=["toxic", "fine", "spam"])
    assert pq.read_table(out).to_pylist()[0] == {"task": "a", "labels": [1, 0], "annotators": ["ann", "bo"]}
    again = read(out).votes
    assert (
        again is not None
        and again.labels.tolist() == ["toxic", "fine", "spam"]
        and (again.counts() == votes.counts()).all()
    )


def test_what_the_format_cannot_hold_is_an_error(tmp_path: Path) -> None:
    write_soft(SOFT, tmp_path / "soft.csv")
    with pytest.raises(InputError, match=r"ends in \.parquet, not soft2\.csv"):
        convert(tmp_path / "soft.csv", tmp_path / "soft2.csv", form="huggingface")
    write_soft(SoftLabels.of([[1, 0]], ["a"], [1, 2]), tmp_path / "n.npz")
    convert(tmp_path / "n.npz", tmp_path / "n.parquet", form="huggingface")
    assert read_soft(tmp_path / "n.parquet").labels.tolist() == ["1", "2"]


def test_datasets_reads_the_file(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    write_soft(SOFT, tmp_path / "soft.csv")
    convert(tmp_path / "soft.csv", tmp_path / "soft.parquet", form="huggingface")
    found = datasets.Dataset.from_parquet(str(tmp_path / "soft.parquet"), cache_dir=str(tmp_path / "cache"))
    assert found.features["label"].names == ["toxic", "fine"] and found[1]["soft_label"] == [0.9, 0.1]
