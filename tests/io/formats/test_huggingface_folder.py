"""Folders of Hugging Face `datasets` are read: `save_to_disk` with and without splits, and the layout of the Hub."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plurivox.core.errors import InputError
from plurivox.io.dataset_reader import read

pytestmark = pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
FEATURES = {
    "id": {"dtype": "int64", "_type": "Value"},
    "text": {"dtype": "string", "_type": "Value"},
    "labels": {"feature": {"names": ["fine", "toxic"], "_type": "ClassLabel"}, "_type": "Sequence"},
    "annotators": {"feature": {"dtype": "string", "_type": "Value"}, "_type": "Sequence"},
}
TRAIN = {
    "id": [0, 1],
    "text": ["so kind", "get lost"],
    "labels": [[0, 0], [1, 0]],
    "annotators": [["ann", "bo"], ["bo", "cy"]],
}
TEST = {"id": [0], "text": ["hello"], "labels": [[0]], "annotators": [["ann"]]}


def save_to_disk(folder: Path, table: dict[str, Any]) -> Path:
    """Write what `Dataset.save_to_disk` writes."""
    folder.mkdir(parents=True)
    with pa.OSFile(str(folder / "data-00000-of-00001.arrow"), "wb") as file:
        data = pa.table(table)
        with pa.ipc.new_stream(file, data.schema) as writer:
            writer.write_table(data)
    (folder / "dataset_info.json").write_text(json.dumps({"features": FEATURES, "citation": "", "license": ""}))
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_fingerprint": "16e5", "_split": None}
    (folder / "state.json").write_text(json.dumps(state))
    return folder


def hub(folder: Path) -> Path:
    """Write what `push_to_hub` writes: Parquet files with the features in their metadata, and a README."""
    folder.mkdir(parents=True)
    schema = {"huggingface": json.dumps({"info": {"features": FEATURES}})}
    for split, table in (("train", TRAIN), ("test", TEST)):
        pq.write_table(pa.table(table).replace_schema_metadata(schema), folder / f"{split}-00000-of-00001.parquet")
    return folder


def test_one_saved_data_set(tmp_path: Path) -> None:
    data = read(save_to_disk(tmp_path / "hate", TRAIN))
    assert data.votes is not None and data.votes.labels.tolist() == ["fine", "toxic"]
    assert data.votes.tasks.tolist() == [0, 1] and data.votes.counts().tolist() == [[2, 0], [1, 1]] and not data.splits


@pytest.mark.parametrize("layout", ["saved", "hub", "hub with data/", "hub with one configuration"])
def test_splits_are_read_together(tmp_path: Path, layout: str) -> None:
    folder = tmp_path / "hate"
    if layout == "saved":
        save_to_disk(folder / "train", TRAIN)
        save_to_disk(folder / "test", TEST)
        (folder / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    else:
        hub({"hub": folder, "hub with data/": folder / "data"}.get(layout, folder / "english"))
        (folder / "README.md").write_text("---\nlicense: mit\n---\n")
    data = read(folder)
    assert data.name == "hate" and data.votes is not None and data.votes.labels.tolist() == ["fine", "toxic"]
    assert sorted(data.votes.tasks.tolist()) == ["test/0", "train/0", "train/1"]  # both splits number from 0
    assert {split: names.tolist() for split, names in data.splits.items()} == {
        "train": ["train/0", "train/1"],
        "test": ["test/0"],
    }
    assert data.votes.n_workers == 3 and data.votes.n_answers == 5


def test_several_configurations_are_named(tmp_path: Path) -> None:
    hub(tmp_path / "hate" / "english")
    hub(tmp_path / "hate" / "german")
    with pytest.raises(InputError, match=r"several configurations: 'english', 'german'; read one of them"):
        read(tmp_path / "hate")
    votes = read(tmp_path / "hate" / "german", task="text").votes
    assert votes is not None and votes.tasks.tolist() == ["get lost", "hello", "so kind"]


def test_images_are_bytes_in_the_items(tmp_path: Path) -> None:
    folder = tmp_path / "pets" / "data"
    folder.mkdir(parents=True)
    pl.DataFrame(
        {"image": [{"bytes": b"png", "path": "a.png"}], "id": ["a"], "labels": [["cat", "dog"]]},
        schema_overrides={"image": pl.Struct({"bytes": pl.Binary, "path": pl.String})},
    ).write_parquet(folder / "train-00000-of-00001.parquet")
    data = read(tmp_path / "pets")
    assert (
        data.items is not None and data.items["image"].to_list() == [b"png"] and data.items["task"].to_list() == ["a"]
    )


def test_folder_with_the_columns_of_argilla_is_read_as_its_file(tmp_path: Path) -> None:
    folder = tmp_path / "mail" / "data"
    folder.mkdir(parents=True)
    table = {
        "id": ["a", "b"],
        "text": ["buy now", "see you"],
        "is_spam.responses": [["yes", "no"], ["no", "yes"]],
        "is_spam.responses.users": [["u1", "u2"], ["u1", "u2"]],
        "is_spam.responses.status": [["submitted", "discarded"], ["submitted", "submitted"]],
    }
    file = folder / "train-00000-of-00001.parquet"
    pq.write_table(pa.table(table), file)
    counts = [read(one).crowd("votes").counts().tolist() for one in (tmp_path / "mail", folder, file)]
    assert counts == [[[0, 1], [1, 1]]] * 3


def test_folder_with_one_row_per_vote_has_the_gold_labels_of_its_file(tmp_path: Path) -> None:
    table = {"item": ["a", "a"], "annotator": ["x", "y"], "label": ["yes", "no"], "gold": ["yes", "yes"]}
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table(table), tmp_path / "data" / "test-00000-of-00001.parquet")
    gold = read(tmp_path).gold
    assert gold is not None and gold.hard().tolist() == ["yes"]
