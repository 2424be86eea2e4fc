"""Read data sets of Hugging Face `datasets` from a folder: as `save_to_disk` writes them, or in the layout of the Hub.

`save_to_disk` writes `state.json`, `dataset_info.json` and Arrow files; for several splits one such folder per split beside
`dataset_dict.json`. On the Hub a split is `data/train-00000-of-00002.parquet`, ... The splits become the column `split` of
the items.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from plurivox.core.errors import InputError, first_few
from plurivox.io import votes_from_tables
from plurivox.io.formats import label_lists
from plurivox.io.formats._data_read_from_other_program import FieldNames, ForeignContents
from plurivox.io.tabular.huggingface_class_labels import (
    Features,
    class_names_by_column,
    decode_class_labels,
    features_of_parquet,
)
from plurivox.io.tabular.read_csv_and_json import read_json
from plurivox.io.tabular.table_files import Columns, read_table

DATASET_DICT, STATE, INFO = "dataset_dict.json", "state.json", "dataset_info.json"
SHARD = re.compile(r"(?P<split>.+?)-\d{5}-of-\d{5}(?:-[0-9a-f]+)?\.parquet")
SPLIT = "split"


def recognises(path: Path) -> bool:
    """Return whether a folder was written by `save_to_disk`, or contains Parquet files named as on the Hub."""
    if not path.is_dir():
        return False
    return _is_saved_dataset(path) or (path / DATASET_DICT).is_file() or bool(_folders_of_shards(path))


def read_folder(path: Path, names: FieldNames) -> ForeignContents:
    """Return the votes of all splits of a data set, and its other columns as items with the column `split`."""
    table = table_of_splits(path)
    contents = contents_of_export_or_none(table, path, names)
    if contents is not None:
        return contents
    columns = {role: name for role in ("task", "worker", "label") if (name := getattr(names, role)) is not None}
    votes, gold = votes_from_tables.votes_and_gold(table, where=table.where, labels=names.labels, **columns)
    return ForeignContents(path.resolve().name, votes, gold)


def table_of_splits(path: Path) -> Columns:
    """Return the table of all splits of a data set, with the names of class labels and a column `split`."""
    frames = dict(_frames_by_split(path))
    if not frames:
        raise InputError(f"{path} has no splits with data")
    class_names = class_names_by_column(_features(path))
    parts = [
        frame.with_columns(decode_class_labels(column, class_names) for column in frame).with_columns(
            **({SPLIT: pl.lit(split)} if split and SPLIT not in frame.columns else {})
        )
        for split, frame in frames.items()
    ]
    try:
        whole = pl.concat(parts, how="diagonal_relaxed")
    except pl.exceptions.PolarsError as cause:
        raise InputError(
            f"the splits of {path} have columns of different types: {str(cause).splitlines()[0]}"
        ) from cause
    return Columns.from_frame_mapping_or_parquet(_with_image_bytes(whole), path.resolve().name)


def contents_of_export_or_none(table: Columns, path: Path, names: FieldNames) -> ForeignContents | None:
    """Return the contents of the table of a folder if it has lists of labels or another program wrote it; else None."""
    from plurivox.io.formats import find_reader_module_of_table

    reader = find_reader_module_of_table(table)
    if reader is None:
        return None
    further = {"class_names": class_names_by_column(_features(path))} if reader is label_lists else {}
    return replace(reader.read_columns(table, names, **further), name=path.resolve().name)


def _is_saved_dataset(folder: Path) -> bool:
    """Return whether a folder has one data set that `save_to_disk` wrote."""
    return (folder / STATE).is_file() and (folder / INFO).is_file()


def _folders_of_shards(path: Path) -> list[Path]:
    """Return the folders with Parquet files named as on the Hub: the folder, its `data`, or those of its configurations."""
    found = [folder for folder in (path, path / "data") if folder.is_dir() and _shards(folder)]
    return found or sorted(folder for folder in path.iterdir() if folder.is_dir() and _shards(folder))


def _shards(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if SHARD.fullmatch(file.name) and file.is_file())


def _frames_by_split(path: Path) -> Iterable[tuple[str, pl.DataFrame]]:
    """Yield (split, table) of each split; the split of a data set saved without splits is ""."""
    if _is_saved_dataset(path):
        yield "", _read_saved_dataset(path)
        return
    if (path / DATASET_DICT).is_file():
        for split in _object(path / DATASET_DICT).get("splits") or []:
            yield str(split), _read_saved_dataset(path / str(split))
        return
    by_split: dict[str, list[Path]] = {}
    for file in _shards(_folder_of_one_configuration(path)):
        found = SHARD.fullmatch(file.name)
        assert found is not None
        by_split.setdefault(found["split"], []).append(file)
    for split, files in by_split.items():
        yield split, pl.concat([pl.read_parquet(file, glob=False) for file in files], how="diagonal_relaxed")


def _folder_of_one_configuration(path: Path) -> Path:
    """Return the folder with the Parquet files; raise InputError if the data set has several configurations."""
    folders = _folders_of_shards(path)
    if len(folders) > 1:
        raise InputError(
            f"{path} has several configurations: {first_few([one.name for one in folders], 12)}; "
            f"read one of them, such as {folders[0]}"
        )
    return folders[0]


def _read_saved_dataset(folder: Path) -> pl.DataFrame:
    """Return the table in the Arrow files that `state.json` lists."""
    if not _is_saved_dataset(folder):
        raise InputError(f"{folder} lacks {STATE} or {INFO}; save the data set again with save_to_disk")
    files = [
        str(one.get("filename")) for one in _object(folder / STATE).get("_data_files") or [] if isinstance(one, dict)
    ]
    if any(Path(name).name != name for name in files):
        raise InputError(f"{folder / STATE} lists files of other folders: {first_few(files)}")
    if not files:
        raise InputError(f"{folder / STATE} lists no data files")
    return pl.concat([read_table(folder / name) for name in files], how="diagonal_relaxed")


def _features(path: Path) -> Features:
    """Return the features of a data set: from dataset_info.json, or from the metadata of its first Parquet file."""
    info = path / INFO
    if (path / DATASET_DICT).is_file():
        splits = _object(path / DATASET_DICT).get("splits") or []
        info = path / str(splits[0]) / INFO if splits else info
    if info.is_file():
        features = _object(info).get("features")
        return features if isinstance(features, dict) else {}
    return features_of_parquet(_shards(_folder_of_one_configuration(path))[0])


def _object(file: Path) -> dict[str, Any]:
    """Return the object in a JSON file; raise InputError if it contains something else."""
    contents = read_json(file)
    if not isinstance(contents, dict):
        raise InputError(f"{file} must contain a JSON object; it contains {json.dumps(contents)[:60]}")
    return contents


def _with_image_bytes(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table in which images, stored as objects with their bytes and path, are columns of bytes."""
    images = [name for name, kind in frame.schema.items() if isinstance(kind, pl.Struct) and _is_image(kind)]
    return frame.with_columns(pl.col(name).struct.field("bytes").alias(name) for name in images) if images else frame


def _is_image(kind: pl.Struct) -> bool:
    return {field.name for field in kind.fields} == {"bytes", "path"}
