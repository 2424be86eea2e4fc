"""Read a data set from a file, a folder or the dataset catalog, or wrap votes, answers or a DataFrame as a Dataset."""

import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from plurivox.core.answers import Answers
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, PlurivoxWarning, unknown_name_error
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import answers_from_tables, dataset_catalog, votes_from_tables
from plurivox.io.dataset import Dataset
from plurivox.io.dataset_folder_and_overwrite_checks import holds_votes_answers_counts_or_gold_table
from plurivox.io.formats import (
    FieldNames,
    ForeignContents,
    find_reader_module_of_folder,
    find_reader_module_of_records,
    find_reader_module_of_table,
    image_folder,
    peerannot,
)
from plurivox.io.plurivox_folder_reader import read_plurivox_folder
from plurivox.io.soft_label_files import read_soft, soft_from_frame
from plurivox.io.tabular.read_csv_and_json import read_json, read_json_lines
from plurivox.io.tabular.table_file_names import JSON_SUFFIXES, TABLE_SUFFIXES, file_suffix, table_name_of_file
from plurivox.io.tabular.table_files import Columns, frame_from_records, read_table


def read(where: str | Path, **how: Any) -> Dataset:
    """Return the data set in a file or folder, or the one with this name in the dataset catalog.

    `where` is a table of votes, counts or answers; a Label Studio export; saved Votes, Answers or SoftLabels (`.npz`); a folder
    in the format of plurivox or peerannot, or with one folder of images per label; or the name of a data set under
    PLURIVOX_DATA. `how` are the options of `votes`: column names, `missing`, `repeats`, `labels`, `ordered`, `wide`; a list of
    worker columns (`worker=["ann", "bo"]`) reads a wide table.
    """
    path = Path(where).expanduser()
    if not path.exists():
        found = dataset_catalog.find_dataset_folder_or_none(str(where))
        if found is None:
            raise _path_or_dataset_not_found_error(str(where))
        path = found
    data = _read_dataset_folder(path, how) if path.is_dir() else _read_dataset_file(path, how)
    data.ordered_by_caller = bool(how.get("ordered"))
    return data


def as_dataset(data: Any) -> Dataset:
    """Return a Dataset from a Dataset, a path, Votes, Answers or a DataFrame of votes.

    >>> as_dataset({"task": ["a"], "worker": ["ann"], "label": ["cat"]})
    <Dataset the table: votes>
    """
    if isinstance(data, Dataset):
        return data
    if isinstance(data, str | Path):
        return read(data)
    if isinstance(data, Votes):
        dataset = Dataset("the votes", votes=data)
        dataset.ordered_by_caller = data.scale is not None
        return dataset
    if isinstance(data, Answers):
        return Dataset("the answers", answers=data)
    return Dataset("the table", votes=votes_from_tables.votes(data))


def as_votes(given: Any, part: str | None = None, *, method_needing_names: str = "") -> Votes:
    """Return the votes in a Dataset, path or DataFrame: the part named ("votes" or "counts"), else the one with more tasks.

    Warn if counts are used although `part` does not select them and there are votes. `method_needing_names` is the name
    of a method that needs to know who voted ("" if none does): InputError is then raised if counts would be used although there
    are votes.
    """
    data = as_dataset(given)
    taken = data.crowd_part(part)
    crowd = data.crowd(taken)
    if taken == "votes" or (votes := data.votes) is None:
        return crowd
    if method_needing_names:
        raise InputError(
            f"{method_needing_names} needs worker names; the counts of {data.name} ({crowd.n_tasks:,} tasks) do not name "
            f"workers. Use its votes ({votes.n_tasks:,} tasks): part='votes' (--part votes)"
        )
    if part is None:
        warnings.warn(
            f"{data.name}: counts cover {crowd.n_tasks:,} tasks, votes {votes.n_tasks:,}; "
            "the counts are used; select the votes with part='votes' (--part votes)",
            PlurivoxWarning,
            stacklevel=3,
        )
    return crowd


def is_plurivox_folder(path: Path) -> bool:
    """Return whether a folder is in the format of plurivox."""
    return holds_votes_answers_counts_or_gold_table(path) and not peerannot.recognises(path)


def read_soft_labels_or_dataset(where: str | Path) -> SoftLabels | Dataset:
    """Return the soft or gold labels in a file, or a Dataset if the file contains votes, counts or an export."""
    path = Path(where)
    if file_suffix(path) not in TABLE_SUFFIXES:
        return read_soft(where)  # raises InputError for an unsupported file type
    found = _read_table_or_dataset_of_export(path, {})
    if isinstance(found, Dataset):
        return found
    unlabelled = "task" not in found.names and ".json" in file_suffix(path)
    if unlabelled or "worker" in found.names or table_name_of_file(path) == "counts":
        return _dataset_from_table(found, path, {})
    return soft_from_frame(read_table(path) if isinstance(found.source, Path) else found.source.to_native(), where)


def _read_dataset_folder(path: Path, options: dict[str, Any]) -> Dataset:
    """Return the data set in a folder in the format of plurivox or peerannot, or with one folder of images per label."""
    reader = None if is_plurivox_folder(path) else find_reader_module_of_folder(path)
    if reader is None:
        return read_plurivox_folder(path, **options)
    named = {"labels": options["labels"]} if "labels" in options and reader is not image_folder else {}
    return _dataset_of_foreign_contents(reader.read(path, **named), path, options)


def _read_dataset_file(path: Path, options: dict[str, Any]) -> Dataset:
    """Return the data set in one file: a table, an export of another program, or saved data (`.npz`)."""
    if file_suffix(path) == ".npz":
        return _dataset_from_saved(DataType.load(path), path)
    found = _read_table_or_dataset_of_export(path, options)
    return found if isinstance(found, Dataset) else _dataset_from_table(found, path, options)


def _read_table_or_dataset_of_export(path: Path, options: dict[str, Any]) -> Dataset | Columns:
    """Return the table in a file, or the data set if the file is an export of another program."""
    suffix = file_suffix(path).removesuffix(".gz")
    if suffix == ".json" and peerannot.recognises(path):
        named = {"labels": options["labels"]} if "labels" in options else {}
        return _dataset_of_foreign_contents(peerannot.read(path, **named), path, options)
    if suffix in JSON_SUFFIXES:
        records = read_json(path) if suffix == ".json" else read_json_lines(path)
        if (reader := find_reader_module_of_records(records)) is not None:
            contents = reader.read_records(records, path, _field_names(options))
            return _dataset_of_foreign_contents(contents, path, options)
        table = Columns.from_frame_mapping_or_parquet(frame_from_records(records, path), path.name)
    elif suffix == ".parquet":
        table = _parquet_columns_or_clearer_error(path)
    else:
        table = Columns.from_frame_mapping_or_parquet(read_table(path), path.name)
    if (reader := find_reader_module_of_table(table)) is not None:
        return _dataset_of_foreign_contents(reader.read_columns(table, _field_names(options)), path, options)
    return table


def _parquet_columns_or_clearer_error(path: Path) -> Columns:
    """Return a Parquet file as a table whose columns are read on use; raise InputError with the reason if it is damaged."""
    with suppress(InputError):  # read_table below raises a more precise error
        return Columns.from_frame_mapping_or_parquet(path)
    return Columns.from_frame_mapping_or_parquet(read_table(path), path.name)


def _field_names(options: dict[str, Any]) -> FieldNames:
    """Return the reading options that name fields of a file; a list of worker columns names none."""
    named = {role: options[role] for role in ("task", "worker", "label") if isinstance(options.get(role), str)}
    return FieldNames(**named, labels=tuple(options["labels"]) if "labels" in options else None)


def _dataset_from_table(table: Columns, path: Path, options: dict[str, Any]) -> Dataset:
    """Return a Dataset from a table of answers, counts or votes, recognised by its columns."""
    name, wide = table_name_of_file(path), votes_from_tables.is_wide(options.get("wide"), options.get("worker"))
    if not wide and table.has_columns_of_answers(options.get("label")):
        if "repeats" in options:
            raise InputError(
                f"{path.name} contains answers, and repeats applies only to votes: remove repeated answers first "
                "(pv.clean_set with the rule repeats-once, or plurivox clean --rules repeats-once)"
            )
        known = ("task", "worker", "label", "missing", "labels", "ordered")
        given = {key: options[key] for key in known if key in options}
        return Dataset(name, path=path, answers=answers_from_tables.answers(table, where=path.name, **given))
    if not wide and _is_counts_or_error_if_not_named_counts(table, options, name):
        columns = {key: options[key] for key in ("task", "labels", "ordered") if key in options}
        return Dataset(name, path=path, counts=votes_from_tables.counts(table, where=path.name, **columns))
    return Dataset(name, path=path, votes=votes_from_tables.votes(table, where=path.name, **options))


def _dataset_of_foreign_contents(found: ForeignContents, path: Path, options: dict[str, Any]) -> Dataset:
    """Return the data set read by another format's reader, after applying the options `missing`, `repeats` and `ordered`."""
    votes_from_tables.warn_notes(found.notes)
    votes = found.votes
    if votes is not None:
        rules: dict[str, Any] = {key: options[key] for key in ("missing", "repeats", "ordered") if key in options}
        rules |= {"tasks": votes.tasks, "workers": votes.workers} | (
            {} if "missing" in options else {"labels": votes.labels}
        )
        rules.setdefault("ordered", False if votes.scale is None else votes.scale.tolist())
        worker = "worker" if votes.n_workers else None
        votes = votes_from_tables.votes(votes.columns(), worker=worker, where=path.name, **rules)
    parts: dict[str, Any] = {
        "gold": found.gold,
        "images": found.images,
        "items": _items_with_splits(found),
        "workers": found.workers,
    }
    return Dataset(found.name, path=path, votes=votes, **parts)


def _items_with_splits(contents: ForeignContents) -> pl.DataFrame | None:
    """Return the items table of a data set of another program, with a column `split` if the splits are known."""
    if contents.splits is None:
        return contents.items
    splits = pl.DataFrame({"task": list(contents.splits), "split": list(contents.splits.values())})
    return (
        splits if contents.items is None else contents.items.join(splits, on="task", how="left", maintain_order="left")
    )


def _is_counts_or_error_if_not_named_counts(table: Columns, options: dict[str, Any], table_name: str) -> bool:
    """Return whether a table has a task column and otherwise numbers; raise InputError if so but not named "counts"."""
    task = options.get("task", "task")
    others = [one for one in table.names if one != task]
    if task not in table or not others or {"worker", "label"} & set(others) or {"worker", "label"} & set(options):
        return False
    if not all(table[one].cast(pl.Float64, strict=False).null_count() == table[one].null_count() for one in others):
        return False
    if table_name != "counts":
        raise InputError(
            f"{table.where} has {task!r} and columns of numbers: if they count how many people chose each label, "
            "rename the file to counts; if every column is a worker, read it as a wide table: wide=True (--wide)"
        )
    return True


def _dataset_from_saved(saved: DataType, path: Path) -> Dataset:
    """Return a Dataset of saved Votes, Answers or SoftLabels; raise InputError for another type."""
    part = {Votes: "votes", Answers: "answers", SoftLabels: "soft_labels"}.get(type(saved))
    if part is None:
        raise InputError(f"{path} contains {type(saved).__name__}; a data set needs Votes, Answers or SoftLabels")
    parts: dict[str, Any] = {part: saved}
    return Dataset(table_name_of_file(path), path=path, **parts)


def _path_or_dataset_not_found_error(path_or_name: str) -> Exception:
    """Return the error for a path that does not exist, or for an unknown data set name."""
    if "/" in path_or_name or file_suffix(path_or_name) in TABLE_SUFFIXES:
        return InputError(f"there is no file or folder {path_or_name}")
    return unknown_name_error("file, folder or data set", path_or_name, dataset_catalog.list_dataset_names())
