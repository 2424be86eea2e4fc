"""Read a data set from a file, a folder or the dataset catalog, or wrap votes, answers or a DataFrame as a Dataset."""

from collections.abc import Mapping
from contextlib import suppress
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, OptionError, first_few, unknown_name_error, warn_user
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import answers_from_tables, counts_from_tables, dataset_catalog, votes_from_tables
from plurivox.io.counts_table_layout import is_named_counts
from plurivox.io.dataset import Dataset
from plurivox.io.dataset_folder_and_overwrite_checks import (
    holds_votes_answers_counts_or_gold_table,
    python_installer_error,
)
from plurivox.io.dataset_of_export import (
    caller_says_wide_or_long,
    dataset_of_export_or_none,
    dataset_of_foreign_contents,
    field_names,
)
from plurivox.io.folder_with_one_votes_file import VotesAndGoldFiles, find_votes_and_gold_files
from plurivox.io.formats import (
    find_reader_module_of_folder,
    find_reader_module_of_records,
    huggingface_folder,
    huggingface_soft_labels,
    image_folder,
    peerannot,
)
from plurivox.io.plurivox_folder_reader import read_plurivox_folder
from plurivox.io.soft_label_files import read_soft, soft_from_frame
from plurivox.io.soft_label_inputs import as_soft_labels, holds_columns
from plurivox.io.soft_label_layouts import frame_of_columns, holds_soft_labels
from plurivox.io.tabular.column_roles import find_column
from plurivox.io.tabular.columns_of_lists import without_columns_of_lists
from plurivox.io.tabular.frame_index import is_pandas_series
from plurivox.io.tabular.read_csv_and_json import read_json, read_json_lines
from plurivox.io.tabular.table_file_names import (
    EXCEL_SUFFIX,
    JSON_SUFFIXES,
    READABLE_TABLE_SUFFIXES,
    file_suffix,
    table_name_of_file,
)
from plurivox.io.tabular.table_files import Columns, read_table
from plurivox.io.tabular.table_of_json_records import table_from_records
from plurivox.io.vote_matrix_file import read_vote_matrix_or_none
from plurivox.io.votes_by_task_mapping import (
    check_is_probabilities,
    holds_numbers_per_task,
    is_mapping_of_mappings,
    table_of_pandas_mapping_or_none,
)
from plurivox.io.votes_table_layout import find_vote_columns, recognise_wide_table


def read(where: Any, *, sheet: str | None = None, **how: Any) -> Dataset:
    """Return the data set in a file or folder, or the one with this name in the dataset catalog.

    `where` is a table of votes, counts, answers or soft labels (CSV, Parquet, Excel, ...); an export of another tool (Label
    Studio, Mechanical Turk, Hugging Face `datasets`, ...: docs/data.md lists them); saved Votes, Answers or SoftLabels
    (`.npz`); a folder in the format of plurivox or peerannot, with one folder of images per label, or with one table per
    worker; or the name of a data set under PLURIVOX_DATA. Columns are found by their usual names, and clear wide tables are
    recognised, with a note, as `votes` says. `how` are the options of `votes`: column names, `missing`, `repeats`, `labels`,
    `ordered`, `wide`; a list of worker columns (`worker=["ann", "bo"]`) reads a wide table. `sheet` selects a sheet of an
    Excel workbook. Data in memory (a DataFrame, a list of records, a matrix, ...) are read as by `as_dataset`.
    """
    if not isinstance(where, str | Path):
        if sheet is not None:
            raise OptionError(
                "sheet=... selects a table of an Excel workbook, and the data are in memory: leave it out"
            )
        return dataset_of_given(where, **how)
    _check_reading_options(how)
    path = Path(where).expanduser()
    if path.suffix == ".py":
        raise python_installer_error(path)
    if not path.exists():
        found = dataset_catalog.find_dataset_folder_or_none(str(where))
        if found is None:
            raise _path_or_dataset_not_found_error(str(where))
        path = found
    if sheet is not None and (path.is_dir() or file_suffix(path) != EXCEL_SUFFIX):
        raise InputError(
            f"{path} has no sheets: sheet=... (--sheet) selects a table of an Excel workbook ({EXCEL_SUFFIX})"
        )
    data = _read_dataset_folder(path, how) if path.is_dir() else _read_dataset_file(path, how, sheet)
    data.ordered_by_caller = bool(how.get("ordered"))
    return data


def _check_reading_options(how: Mapping[str, Any]) -> None:
    """Raise OptionError for an option that does not say how to read votes, such as gold=."""
    known = [name for name in signature(votes_from_tables.votes).parameters if name not in ("data", "where")]
    if unknown := [name for name in how if name not in known]:
        hint = "; give gold labels to pv.fit, pv.compare, ..." if "gold" in unknown else ""
        raise OptionError(f"pv.read has no option {first_few(unknown)}; its options are {first_few(known, 20)}{hint}")


def as_dataset(data: Any) -> Dataset:
    """Return a Dataset from a Dataset, a path, Votes, Answers, SoftLabels, a DataFrame, a list of records or a numpy matrix.

    A DataFrame or a list of records is recognised as a file would be: votes (long or wide), counts, answers, or an export of
    another program. A matrix has one row per task and one column per worker.

    >>> as_dataset({"task": ["a", "a"], "worker": ["ann", "bo"], "label": ["cat", "dog"]})
    <Dataset the table: votes>
    """
    if isinstance(data, Dataset):
        return data
    if isinstance(data, str | Path):
        return read(data)
    return dataset_of_given(data)


def dataset_of_given(data: Any, **how: Any) -> Dataset:
    """Return a Dataset from votes, answers, labels or a table in memory; `how` are options of `votes` for a table."""
    if how and isinstance(data, Dataset | Votes | Answers | SoftLabels):
        raise OptionError(
            f"{first_few(how)} say how to read a table or file, but {type(data).__name__} were read before: give the "
            "options to pv.votes(...) or pv.read(...)"
        )
    if isinstance(data, Dataset):
        return data
    if isinstance(data, SoftLabels):
        return Dataset("the table of soft labels", soft_labels=data)
    if isinstance(data, Votes):
        dataset = Dataset("the table of votes", votes=data)
        dataset.ordered_by_caller = data.scale is not None
        return dataset
    if isinstance(data, Answers):
        return Dataset("the table of answers", answers=data)
    if is_mapping_of_mappings(data):
        return _dataset_of_mapping_of_mappings(data, None, how)
    if (isinstance(data, Mapping) and not holds_columns(data)) or (is_pandas_series(data) and data.index.nlevels == 1):
        return Dataset("the table of labels", soft_labels=as_soft_labels(data))
    dataset = _dataset_of_frame_records_or_matrix(data, how)
    dataset.ordered_by_caller = dataset.has("votes") and dataset.crowd("votes").scale is not None
    return dataset


def _dataset_of_mapping_of_mappings(data: Mapping[Any, Any], path: Path | None, options: dict[str, Any]) -> Dataset:
    """Return the votes in {task: {worker: label}}, the soft labels in {task: {label: number}}, or a table of pandas."""
    name, where = ("the data", "the data") if path is None else (table_name_of_file(path), path.name)
    if (table := table_of_pandas_mapping_or_none(data)) is not None:
        return _dataset_from_table(Columns.from_frame_mapping_or_parquet(table, where), path, options)
    if not holds_numbers_per_task(data):
        return Dataset(name, path=path, votes=votes_from_tables.votes(data, where=where, **options))
    check_is_probabilities(data, where)
    return Dataset(name, path=path, soft_labels=as_soft_labels(data))


def _dataset_of_frame_records_or_matrix(data: Any, options: dict[str, Any]) -> Dataset:
    """Return the data set in a DataFrame, a mapping of columns, a list of records or a numpy matrix."""
    if isinstance(data, np.ndarray) and data.dtype.names is None:
        return Dataset("the matrix", votes=votes_from_tables.votes(data, where="the matrix", **options))
    if isinstance(data, list) and (reader := find_reader_module_of_records(data)) is not None:
        return dataset_of_foreign_contents(
            reader.read_records(data, Path("the list of records"), field_names(options)), None, options
        )
    table = Columns.from_frame_mapping_or_parquet(data)
    return dataset_of_export_or_none(table, None, options) or _dataset_from_table(table, None, options)


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
        warn_user(
            f"{data.name}: counts cover {crowd.n_tasks:,} tasks, votes {votes.n_tasks:,}; "
            "the counts are used; select the votes with part='votes' (--part votes)"
        )
    return crowd


def as_answers(given: Any) -> Answers:
    """Return the answers in a Dataset, path or DataFrame; raise InputError if it has none."""
    data = as_dataset(given)
    if data.answers is None:
        raise InputError(f"{data.name} has no answers as people entered them; it has {', '.join(data.parts())}")
    return data.answers


def as_votes_or_soft_labels(given: Any) -> Votes | SoftLabels:
    """Return the votes in a table, matrix or file, or its labels if it has one per task.

    A matrix, and a frame without columns of workers and labels, has one row per task and one column per worker.

    >>> as_votes_or_soft_labels(np.array([[0, 1], [1, 1]]))
    <Votes: 4 votes, 2 tasks, 2 workers, 2 labels>
    """
    if isinstance(given, Dataset | str | Path | Votes | np.ndarray):
        data = as_dataset(given)
        found = (
            data.soft_labels if data.has("soft_labels") else data.gold if data.parts() == ["gold"] else as_votes(data)
        )
        assert found is not None
        return found
    if is_pandas_series(given) or (isinstance(given, Mapping) and not holds_columns(given)):
        return as_votes_or_soft_labels(as_dataset(given))
    table = Columns.from_frame_mapping_or_parquet(given)
    roles = find_vote_columns(table)
    is_wide = roles.worker not in roles.table and roles.label not in roles.table and not holds_soft_labels(table, {})
    if is_wide and recognise_wide_table(roles) is None:
        return votes_from_tables.votes(given, wide=True)
    return as_votes_or_soft_labels(as_dataset(given))


def is_plurivox_folder(path: Path) -> bool:
    """Return whether a folder is in the format of plurivox."""
    return holds_votes_answers_counts_or_gold_table(path) and not peerannot.recognises(path)


def read_soft_labels_or_dataset(where: str | Path) -> SoftLabels | Dataset:
    """Return the soft or gold labels in a file, or a Dataset if the file contains votes, counts or an export."""
    path = Path(where)
    if file_suffix(path) not in READABLE_TABLE_SUFFIXES:
        return read_soft(where)  # raises InputError for an unsupported file type
    found = _read_table_or_dataset_of_export(path, {})
    if isinstance(found, Dataset):
        return found.soft_labels if found.parts() == ["soft_labels"] and found.soft_labels is not None else found
    unlabelled = find_column(found, "task") is None and ".json" in file_suffix(path)
    is_crowd = (unlabelled and len(found.names) != 2) or find_column(found, "worker") is not None
    if (
        is_crowd
        or recognise_wide_table(find_vote_columns(found)) is not None
        or is_named_counts(table_name_of_file(path))
    ):
        return _dataset_from_table(found, path, {})
    return soft_from_frame(frame_of_columns(found, path), where)


def _read_dataset_folder(path: Path, options: dict[str, Any]) -> Dataset:
    """Return the data set in a folder in the format of plurivox or peerannot, or with one folder of images per label."""
    reader = None if is_plurivox_folder(path) else find_reader_module_of_folder(path)
    if reader is None:
        files = find_votes_and_gold_files(path)
        return read_plurivox_folder(path, **options) if files is None else _dataset_of_files(files, path, options)
    if reader is huggingface_folder:
        return _dataset_of_huggingface_folder(path, options)
    if hasattr(reader, "read_folder"):
        return dataset_of_foreign_contents(reader.read_folder(path, field_names(options)), path, options)
    named = {"labels": options["labels"]} if "labels" in options and reader is not image_folder else {}
    return dataset_of_foreign_contents(reader.read(path, **named), path, options)


def _dataset_of_files(files: VotesAndGoldFiles, folder: Path, options: dict[str, Any]) -> Dataset:
    """Return the data set in the only file of votes of a folder, with the gold labels in another."""
    others = f" and the gold labels in {files.gold.name}" if files.gold is not None else ""
    votes_from_tables.warn_notes([f"{folder.resolve().name}: read {files.votes.name}{others}"])
    found = _read_dataset_file(files.votes, options)
    if files.gold is None or found.has("gold"):
        return found
    parts: dict[str, Any] = {part: getattr(found, part) for part in found.parts()} | {
        "gold": as_soft_labels(files.gold)
    }
    return Dataset(folder.resolve().name, path=folder, tables=found.tables, **parts)


def _dataset_of_huggingface_folder(path: Path, options: dict[str, Any]) -> Dataset:
    """Return the data set in a folder of Hugging Face `datasets`: it is read as a file with the table of its splits."""
    table = huggingface_folder.table_of_splits(path)
    if not caller_says_wide_or_long(options):
        contents = huggingface_folder.contents_of_export_or_none(table, path, field_names(options))
        if contents is not None:
            return dataset_of_foreign_contents(contents, path, options)
    return _dataset_from_table(table, path.resolve(), options)


def _read_dataset_file(path: Path, options: dict[str, Any], sheet: str | None = None) -> Dataset:
    """Return the data set in one file: a table, an export of another program, or saved data (`.npz`)."""
    if file_suffix(path) == ".npz":
        return _dataset_from_saved(DataType.load(path), path)
    if file_suffix(path) == ".zip":
        return _dataset_of_zip_file(path, options)
    if file_suffix(path) == ".npy":
        return _dataset_from_array_file(path, options)
    found = _read_table_or_dataset_of_export(path, options, sheet)
    return found if isinstance(found, Dataset) else _dataset_from_table(found, path, options)


def _dataset_from_array_file(path: Path, options: dict[str, Any]) -> Dataset:
    """Return the votes in an `.npy` matrix (task x worker, of whole numbers, NaN or -1: no answer), or peerannot's labels."""
    if (matrix := read_vote_matrix_or_none(path)) is not None:
        return Dataset(path.stem, path=path, votes=votes_from_tables.votes(matrix, where=path.name, **options))
    return Dataset(path.stem, path=path, soft_labels=read_soft(path))  # raises InputError if nothing names the tasks


def _read_table_or_dataset_of_export(
    path: Path, options: dict[str, Any], sheet: str | None = None
) -> Dataset | Columns:
    """Return the table in a file, or the data set if the file is an export of another program."""
    suffix = file_suffix(path).removesuffix(".gz")
    if suffix == ".json" and peerannot.recognises(path):
        named = {"labels": options["labels"]} if "labels" in options else {}
        return dataset_of_foreign_contents(peerannot.read(path, **named), path, options)
    if suffix in JSON_SUFFIXES:
        records = read_json(path) if suffix == ".json" else read_json_lines(path)
        if isinstance(records, dict) and (found := _dataset_of_json_object_or_none(records, path, options)) is not None:
            return found
        if (reader := find_reader_module_of_records(records)) is not None:
            contents = reader.read_records(records, path, field_names(options))
            return dataset_of_foreign_contents(contents, path, options)
        table = table_from_records(records, path)
    elif suffix == ".parquet":
        if (soft := huggingface_soft_labels.read_soft_labels_or_none(path)) is not None:
            return Dataset(table_name_of_file(path), path=path, soft_labels=soft)
        table = _parquet_columns_or_clearer_error(path)
    else:
        is_untyped = suffix in (".csv", ".tsv")
        table = Columns.from_frame_mapping_or_parquet(read_table(path, sheet=sheet), path.name, is_untyped=is_untyped)
    if table.is_untyped and {"task", "worker", "label"} <= set(table.names):
        return table  # CSV with the names of plurivox
    return dataset_of_export_or_none(table, path, options) or table


def _dataset_of_json_object_or_none(found: dict[str, Any], path: Path, options: dict[str, Any]) -> Dataset | None:
    """Return the votes or labels in a JSON object {task: {worker: label}}, {task: label} or {name: column}, else None."""
    if find_reader_module_of_records(found) is not None:
        return None
    if is_mapping_of_mappings(found):
        return _dataset_of_mapping_of_mappings(found, path, options)
    if found and not any(isinstance(value, list | dict) for value in found.values()):
        return Dataset(table_name_of_file(path), path=path, soft_labels=as_soft_labels(found))
    if found and all(isinstance(value, list) for value in found.values()) and len({*map(len, found.values())}) == 1:
        return _dataset_from_table(Columns.from_frame_mapping_or_parquet(found, path.name), path, options)
    return None


def _dataset_of_zip_file(path: Path, options: dict[str, Any]) -> Dataset:
    """Return the data set in a `.zip` file that another program wrote; raise InputError if no reader knows it."""
    reader = find_reader_module_of_folder(path)
    if reader is None:
        raise InputError(
            f"{path} is not an export of doccano, the only .zip file that can be read; unpack it and read its files"
        )
    return dataset_of_foreign_contents(reader.read_folder(path, field_names(options)), path, options)


def _parquet_columns_or_clearer_error(path: Path) -> Columns:
    """Return a Parquet file as a table whose columns are read on use; raise InputError with the reason if it is damaged."""
    with suppress(InputError):  # read_table below raises a more precise error
        return Columns.from_frame_mapping_or_parquet(path)
    return Columns.from_frame_mapping_or_parquet(read_table(path), path.name)


def _dataset_from_table(table: Columns, path: Path | None, options: dict[str, Any]) -> Dataset:
    """Return a Dataset from a table of answers, soft labels, counts or votes, recognised by its columns."""
    name = "the table" if path is None else table_name_of_file(path)
    wide = votes_from_tables.is_wide(options.get("wide"), options.get("worker"))
    if not wide and table.has_columns_of_answers(options.get("label")):
        if "repeats" in options:
            raise InputError(
                f"{table.where} contains answers, and repeats applies only to votes: remove repeated answers first "
                "(pv.clean_set with the rule repeats-once, or plurivox clean --rules repeats-once)"
            )
        known = ("task", "worker", "label", "missing", "labels", "ordered")
        given = {key: options[key] for key in known if key in options}
        return Dataset(name, path=path, answers=answers_from_tables.answers(table, where=table.where, **given))
    table = without_columns_of_lists(table, [options.get(role) for role in ("task", "worker", "label")])
    plain = {"task", "worker", "label"} <= set(table.names)  # votes with the names of plurivox
    if not plain and not is_named_counts(name) and holds_soft_labels(table, options):
        soft = soft_from_frame(frame_of_columns(table, path or Path(name)), path or table.where)
        votes_from_tables.warn_notes([f"{table.where}: {note}" for note in soft.notes])
        return Dataset(name, path=path, soft_labels=soft)
    if (
        not wide
        and not plain
        and (counted := counts_from_tables.counts_and_gold_or_none(table, options, name)) is not None
    ):
        return Dataset(name, path=path, counts=counted[0], gold=counted[1])
    votes, gold = votes_from_tables.votes_and_gold(table, where=table.where, **options)
    return Dataset(name, path=path, votes=votes, gold=gold)


def _dataset_from_saved(saved: DataType, path: Path) -> Dataset:
    """Return a Dataset of saved Votes, Answers, SoftLabels or the soft labels of a Fit; raise InputError for another type."""
    saved = saved.soft if isinstance(saved, Fit) else saved
    part = {Votes: "votes", Answers: "answers", SoftLabels: "soft_labels"}.get(type(saved))
    if part is None:
        raise InputError(
            f"{path} contains {type(saved).__name__}; a data set needs Votes, Answers, SoftLabels or a Fit"
        )
    parts: dict[str, Any] = {part: saved}
    return Dataset(table_name_of_file(path), path=path, **parts)


def _path_or_dataset_not_found_error(path_or_name: str) -> Exception:
    """Return the error for a path that does not exist, or for an unknown data set name."""
    if "/" in path_or_name or file_suffix(path_or_name) in READABLE_TABLE_SUFFIXES:
        return InputError(f"there is no file or folder {path_or_name}")
    return unknown_name_error("file, folder or data set", path_or_name, dataset_catalog.list_dataset_names())
