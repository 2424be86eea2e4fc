"""Tables with the votes of a task in a list are read: CSV text, JSON lines, Parquet and frames, with and without workers."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plurivox.core.errors import InputError, PlurivoxWarning
from plurivox.io.dataset import Dataset
from plurivox.io.dataset_reader import as_dataset, read
from plurivox.io.formats import find_reader_module_of_table, label_lists
from plurivox.io.formats._data_read_from_other_program import FieldNames
from plurivox.io.tabular.table_files import Columns

pytestmark = pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
RECORDS = [
    {"id": "c7", "text": "so kind", "labels": [0, 0, 1], "annotators": ["ann", "bo", "cy"], "ages": [30, 41, 25]},
    {"id": "c8", "text": "get lost", "labels": [1, 1], "annotators": ["cy", "ann"], "ages": [25, 30]},
]


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    """Write records as JSON lines, Parquet, or CSV in which pandas writes lists as text."""
    if path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, records)))
    elif path.suffix == ".csv":
        pd.DataFrame(records).to_csv(path, index=False)
    else:
        pl.DataFrame(records).write_parquet(path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_lists_of_labels_and_of_workers(tmp_path: Path, suffix: str) -> None:
    data = read(write(tmp_path / f"hate{suffix}", RECORDS))
    votes = data.votes
    assert votes is not None and votes.tasks.tolist() == ["c7", "c8"] and votes.workers.tolist() == ["ann", "bo", "cy"]
    assert votes.counts().tolist() == [[2, 1], [0, 2]] and votes.labels.tolist() == [0, 1]
    assert data.items is not None and data.items.to_dicts()[1] == {"task": "c8", "text": "get lost"}
    assert data.workers is not None and data.workers.sort("worker")["ages"].to_list() == [30, 41, 25]


@pytest.mark.parametrize("cell", ["[0, 1, 1]", "[0 1 1]", "[0. 1. 1.]", "[ 0,\n 1, 1 ]"])
def test_lists_as_text_without_workers_are_unnamed_votes(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f'text,labels\nso kind,"{cell}"\nget lost,[]\n')
    with pytest.warns(PlurivoxWarning, match="the votes in 'labels' have no workers"):
        votes = read(path).votes
    assert votes is not None and votes.n_workers == 0 and votes.labels.tolist() == [0, 1]
    assert votes.tasks.tolist() == ["get lost", "so kind"] and votes.counts().tolist() == [[0, 0], [1, 2]]


def test_lists_of_text_as_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("item,annotations\n1,\"['no' 'yes, but']\"\n2,\"['no', None]\"\n")
    votes = read(path).votes
    assert (
        votes is not None
        and votes.labels.tolist() == ["no", "yes, but"]
        and votes.counts().tolist() == [[1, 1], [1, 0]]
    )


LIST_OF_OBJECTS = {"said": [{"annotator": "ann", "label": "no"}, {"annotator": "bo", "label": "yes"}]}
OBJECT_OF_LISTS = {"said": {"annotator_ids": ["ann", "bo"], "toxic": ["no", "yes"]}}


@pytest.mark.parametrize(
    ("cell", "suffix"),
    [
        *((LIST_OF_OBJECTS, suffix) for suffix in (".jsonl", ".parquet", ".csv")),
        *((OBJECT_OF_LISTS, suffix) for suffix in (".jsonl", ".parquet")),
    ],
)
def test_objects_with_worker_and_label(tmp_path: Path, cell: dict[str, Any], suffix: str) -> None:
    votes = read(write(tmp_path / f"t{suffix}", [{"id": 4, **cell}, {"id": 5, **cell}])).votes
    assert votes is not None and votes.workers.tolist() == ["ann", "bo"] and votes.counts().tolist() == [[1, 1], [1, 1]]


def test_several_lists_need_a_choice(tmp_path: Path) -> None:
    records = [{"id": 1, "annotators": ["a", "b"], "toxic": [0, 1], "insult": [1, 1]}]
    path = write(tmp_path / "t.jsonl", records)
    with pytest.raises(InputError, match=r"'insult', 'toxic'; select one: label='insult' \(--label insult\)"):
        read(path)
    assert read(path, label="toxic").votes.counts().tolist() == [[1, 1]]


def test_a_set_of_labels_of_one_worker_is_a_soft_answer(tmp_path: Path) -> None:
    records = [
        {"id": 1, "annotator": "ann", "labels": ["joy", "fear"]},
        {"id": 1, "annotator": "bo", "labels": ["joy"]},
    ]
    votes = read(write(tmp_path / "t.jsonl", records)).votes
    assert votes is not None and votes.n_answers == 2 and votes.counts().tolist() == [[0.5, 1.5]]


def test_gold_missing_labels_and_pandas_frames() -> None:
    frame = pd.DataFrame(
        {"uid": [1, 2], "labels": [[0, None], [1, 1]], "annotator_ids": [[7, 8], [7, 8]], "gold_label": [0, 1]}
    )
    found = label_lists.read_columns(Columns.from_frame_mapping_or_parquet(frame), FieldNames(task="uid"))
    assert (
        found.votes is not None
        and found.votes.counts().tolist() == [[1, 0], [0, 2]]
        and found.votes.workers.tolist() == [7, 8]
    )
    assert found.gold is not None and found.gold.hard().tolist() == [0, 1]
    assert "1 missing label in the lists left out" in found.notes


def test_a_list_that_differs_in_length_from_its_workers(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [{"id": 1, "labels": [0, 1], "annotators": ["ann"]}])
    with pytest.raises(InputError, match="row 1: the list in 'labels' has 2 labels for 1 'annotators'"):
        read(path, label="labels")


@pytest.mark.parametrize(
    "record",
    [
        {"task": 1, "worker": "a", "label": "x", "labels": ["x", "y"]},  # plain votes
        {"id": 1, "soft_label": [0.25, 0.75]},
        {"id": 1, "soft_label": [1.0, 0.0]},
        {"id": 1, "text": "[sic]", "label": "x"},
        {"id": 1, "tokens": ["a", "dog"], "labels": [0, 1]},  # labels of words
        {"id": 1, "answers": {"text": ["Rome"], "answer_start": [7]}},
        {"id": 1, "embedding": [0.25, 3.0]},
    ],
)
def test_other_tables_are_not_taken_for_lists_of_votes(record: dict[str, Any]) -> None:
    assert find_reader_module_of_table(Columns.from_frame_mapping_or_parquet(pl.DataFrame([record, record]))) is None


def huggingface_parquet(path: Path, table: dict[str, Any], features: dict[str, Any]) -> Path:
    """Write a Parquet file as `datasets` does: class labels are numbers, and the metadata has their names."""
    schema = {"huggingface": json.dumps({"info": {"features": features}})}
    pq.write_table(pa.table(table).replace_schema_metadata(schema), path)
    return path


CLASS = {"names": ["toxic", "fine", "unsure"], "_type": "ClassLabel"}


@pytest.mark.parametrize(
    ("column", "feature"),
    [
        ({"labels": [[1, 1, 0], [-1, 0]]}, {"labels": {"feature": CLASS, "_type": "Sequence"}}),
        ({"labels": [[1, 1, 0], [-1, 0]]}, {"labels": {"feature": CLASS, "_type": "List"}}),
        (
            {"said": [{"label": [1, 1, 0]}, {"label": [-1, 0]}]},
            {"said": {"feature": {"label": CLASS}, "_type": "Sequence"}},
        ),
        ({"said": [[{"label": v} for v in row] for row in ([1, 1, 0], [-1, 0])]}, {"said": [{"label": CLASS}]}),
    ],
)
def test_class_labels_of_hugging_face_have_their_names(tmp_path: Path, column: Any, feature: Any) -> None:
    path = huggingface_parquet(tmp_path / "train-00000-of-00001.parquet", {"id": [3, 4], **column}, feature)
    votes = read(path).votes
    assert votes is not None and votes.labels.tolist() == ["toxic", "fine", "unsure"]
    assert votes.counts().tolist() == [[1, 2, 0], [1, 0, 0]]


def test_the_author_of_a_text_is_not_its_worker(tmp_path: Path) -> None:
    table = {"id": [3, 4], "user": ["@a", "@b"], "labels": [[1, 1, 0], [0]]}
    features = {"labels": {"feature": CLASS, "_type": "Sequence"}}
    votes = read(huggingface_parquet(tmp_path / "tweets.parquet", table, features)).votes
    assert votes is not None and votes.n_workers == 0 and votes.counts().tolist() == [[1, 2, 0], [1, 0, 0]]


def test_class_labels_in_plain_columns_have_their_names(tmp_path: Path) -> None:
    table = {"task": [1, 1], "worker": ["a", "b"], "label": [0, 1]}
    data: Dataset = read(huggingface_parquet(tmp_path / "votes.parquet", table, {"label": CLASS}))
    assert data.votes is not None and data.votes.labels.tolist() == ["toxic", "fine", "unsure"]


def test_lists_of_labels_are_read_beside_lists_of_ratings() -> None:
    table = {
        "text": ["A", "B"],
        "mood": [["sad", "glad"], ["glad"]],
        "sure": [[3, 5], [4]],
        "annotators": [["ann", "bo"], ["bo"]],
    }
    with pytest.warns(UserWarning, match=r"other lists of labels are 'sure': label='sure' \(--label sure\)"):
        votes = as_dataset(table).crowd()
    assert votes.labels.tolist() == ["glad", "sad"] and votes.workers.tolist() == ["ann", "bo"]
