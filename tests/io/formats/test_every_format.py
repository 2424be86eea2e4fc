"""Every format of another program is recognised by its own reader and by no other, and plain tables by none."""

import json
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from plurivox.io.formats import (
    FOLDER_FORMATS,
    RECORD_FORMATS,
    TABLE_FORMATS,
    find_reader_module_of_folder,
    find_reader_module_of_records,
    find_reader_module_of_table,
)
from plurivox.io.tabular.table_files import Columns

RECORDS: dict[str, list[dict[str, Any]]] = {
    "label_studio": [{"id": 1, "data": {"text": "A"}, "annotations": [], "predictions": []}],
    "prodigy": [{"text": "A", "_input_hash": 1, "_task_hash": 2, "accept": ["x"], "options": [], "answer": "accept"}],
    "argilla": [{"id": "1", "fields": {"text": "A"}, "responses": {}, "suggestions": {}, "metadata": {}}],
    "doccano": [{"id": 1, "text": "A", "label": ["x"], "Comments": []}],
    "labelbox": [{"data_row": {"id": "a", "row_data": "A"}, "media_attributes": {}, "projects": {}}],
}
TABLES: dict[str, dict[str, list[Any]]] = {
    "mturk": {"HITId": ["h"], "AssignmentId": ["a"], "WorkerId": ["w"], "Input.text": ["A"], "Answer.label": ["x"]},
    "appen": {"_unit_id": [1], "_worker_id": [2], "_trust": [0.9], "text": ["A"], "label": ["x"], "label_gold": ["x"]},
    "label_studio_table": {
        name: ["1"] for name in ("annotation_id", "annotator", "created_at", "id", "lead_time", "animal", "updated_at")
    },
    "argilla": {"id": ["1"], "text": ["A"], "label.responses": [["x", "y"]], "label.responses.users": [["u", "v"]]},
    "toloka": {"INPUT:text": ["A"], "OUTPUT:result": ["x"], "ASSIGNMENT:worker_id": ["w"]},
    "zooniverse": {
        name: ["1"] for name in ("classification_id", "user_name", "workflow_id", "annotations", "subject_ids")
    },
    "survey_table": {"Timestamp": ["4/9/2024 14:03:00"], "Is it x?": ["yes"], "Is it y?": ["yes"]},
    "label_lists": {"text": ["A", "B"], "labels": [[0, 1, 1], [1, 1, 1]]},
}
PLAIN: list[dict[str, list[Any]]] = [
    {"task": ["a"], "worker": ["w"], "label": ["x"]},
    {"id": ["a"], "annotator": ["w"], "label": ["x"], "text": ["A"], "created_at": ["2024-05-06"]},
    {"task": ["a"], "label": ["x"], "confidence": [0.9], "p:x": [0.9], "p:y": [0.1]},
    {"answer": ["accept"], "task": ["a"], "worker": ["w"]},
    {"Timestamp": ["4/9/2024 14:03:00"], "user": ["w"], "image": ["a"], "label": ["x"]},
    {"Timestamp": ["2024-04-09 14:03:00"], "ann": ["x"], "bo": ["x"]},
]


def module_names(registry: tuple[Any, ...]) -> set[str]:
    return {module.__name__.rpartition(".")[2] for module in registry}


def test_every_reader_has_an_example_here() -> None:
    assert module_names(RECORD_FORMATS) == set(RECORDS)
    assert module_names(TABLE_FORMATS) == {
        *TABLES,
        "huggingface_table",
    }  # which is recognised by the metadata of Parquet


@pytest.mark.parametrize("name", RECORDS)
def test_records_are_recognised_by_their_reader_alone(name: str) -> None:
    found = {module.__name__.rpartition(".")[2] for module in RECORD_FORMATS if module.recognises(RECORDS[name])}
    assert found == {name}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_recognised_by_their_reader(name: str) -> None:
    found = find_reader_module_of_table(Columns.from_frame_mapping_or_parquet(pl.DataFrame(TABLES[name])))
    assert found is not None and found.__name__.endswith(f".{name}")


@pytest.mark.parametrize("table", PLAIN)
def test_plain_tables_are_recognised_by_no_reader(table: dict[str, list[Any]]) -> None:
    assert find_reader_module_of_table(Columns.from_frame_mapping_or_parquet(pl.DataFrame(table))) is None
    assert find_reader_module_of_records(pl.DataFrame(table).to_dicts()) is None


def test_folders_are_recognised_by_their_reader_alone(tmp_path: Path) -> None:
    def folder(name: str, **texts: str) -> Path:
        for file, text in texts.items():
            path = tmp_path / name / file.replace("__", "/").replace("_json", ".json")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / name

    doccano = json.dumps(RECORDS["doccano"])
    folders = {
        "peerannot": folder("peerannot", answers_json='{"0": {"1": 2}}'),
        "argilla": folder("argilla", records_json=json.dumps(RECORDS["argilla"]), argilla__settings_json="{}"),
        "doccano": folder("doccano", alice_json=doccano, bo_json=doccano),
        None: folder("tables", train_json=doccano, test_json=doccano),  # parts of a data set, not annotators
    }
    (folders["argilla"] / "argilla").rename(folders["argilla"] / ".argilla")
    for name, path in folders.items():
        found = [module.__name__.rpartition(".")[2] for module in FOLDER_FORMATS if module.recognises(path)]
        assert found == ([] if name is None else [name])
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("alice.json", doccano)
    module = find_reader_module_of_folder(tmp_path / "export.zip")
    assert module is not None and module.__name__.endswith(".doccano")
