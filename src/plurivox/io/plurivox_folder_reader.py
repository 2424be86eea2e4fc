"""Read a folder in the plurivox format: tables votes, answers, counts, gold, items, features, soft_labels, workers.

One of votes, answers, counts and gold is required. `dataset.toml` may set what the tables do not contain: the labels
and their order, column names, the value that means "no answer".
"""

import tomllib
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from plurivox.core.array_types import Names
from plurivox.core.count_text import count_text
from plurivox.core.data_type_base_class import HEADER_FILE
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_names, distinct_names, positions, sort_distinct_names_by_value
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import answers_from_tables, counts_from_tables, votes_from_tables
from plurivox.io.dataset import Dataset
from plurivox.io.dataset_folder_and_overwrite_checks import DATASET_TOML, is_table_file, not_a_dataset_error
from plurivox.io.features import read_features, read_gold_of_features
from plurivox.io.optional_vote_columns import has_answer_numbers
from plurivox.io.soft_label_files import read_soft, soft_from_frame
from plurivox.io.tabular.column_conversion import codes_names_and_notes_of_column
from plurivox.io.tabular.column_roles import find_column, find_gold_label_column
from plurivox.io.tabular.table_file_names import file_suffix, table_name_of_file
from plurivox.io.tabular.table_files import Columns, read_table
from plurivox.io.votes_table_layout import find_vote_columns

READ_OPTIONS = ("labels", "ordered", "missing", "repeats", "task", "worker", "label")
TOML_KEYS: dict[str, Any] = {  # the keys allowed in dataset.toml, and their types
    "name": str,
    "description": str,
    "command": str,
    "labels": list,
    "ordered": bool,
    "scale": list,
    "missing": (str, int, float, bool, list),
    "repeats": str,
    "task": str,
    "worker": (str, list),
    "label": str,
}


def read_plurivox_folder(folder: Path, **how: Any) -> Dataset:
    """Return the data set in a plurivox folder; `how` are options of `votes` and override those of dataset.toml."""
    about = _read_dataset_toml(folder)
    how = {**{name: about[name] for name in READ_OPTIONS if name in about}, **how}
    if "scale" in about and "ordered" not in how:
        how["ordered"] = about["scale"]
    files = _find_table_files_by_name(folder)
    tables: dict[str, Callable[[], pl.DataFrame]] = {
        name: cache(partial(read_table, file)) for name, file in files.items()
    }
    reader = _FolderReader(folder, files, tables, how)
    parts: dict[str, Any] = {
        name: getattr(reader, name) for name in ("votes", "answers", "counts", "gold") if name in files
    }
    if "answers" not in files and reader.votes_table_has_answers():
        parts["answers"] = reader.answers_stored_in_votes_table
    if "soft_labels" in files:
        parts["soft_labels"] = lambda: read_soft(files["soft_labels"])
    for name, key in (("items", "task"), ("workers", "worker")):
        if name in files or reader.names_of_further_votes_columns(reader.columns[key]):
            parts[name] = getattr(reader, name)
    if (features := files.get("features") or _find_features_file_or_none(folder)) is not None:
        parts["features"] = lambda: read_features(features, reader.items())
        parts["gold_of_features"] = lambda: read_gold_of_features(features, reader.items())
    if not parts:
        raise not_a_dataset_error(folder)
    further = {name: table for name, table in tables.items() if name not in parts or name in ("votes", "gold")}
    name = str(about.get("name", folder.resolve().name))
    return Dataset(name, about=about, tables=further, path=folder, **parts)


class _FolderReader:
    """Reader of one plurivox folder: each method returns one part of the data set, read once, on first use."""

    def __init__(self, folder: Path, files: dict[str, Path], tables: dict[str, Any], how: dict[str, Any]) -> None:
        self.folder, self.files, self.tables, self.how = folder, files, tables, how

    @cached_property
    def columns(self) -> dict[str, Any]:
        """The columns of tasks, workers and labels: those named by the caller, else found in the table of votes or answers."""
        named = {role: self.how.get(role, role) for role in ("task", "worker", "label")}
        if not isinstance(named["worker"], str | None):  # a list of columns if the table of votes is wide
            named["worker"] = "worker"
        table = next((name for name in ("votes", "answers") if name in self.files), None)
        if table is None or self.how.get("wide"):
            return named
        found = find_vote_columns(self._open_table(table), **named)
        return {"task": found.task, "worker": found.worker, "label": found.label}

    def votes_table_has_answers(self) -> bool:
        """Return whether the table of votes has columns of answers (percentages, second labels, ...)."""
        return "votes" in self.files and self._open_table("votes").has_columns_of_answers()

    @cache  # noqa: B019 - lives as long as its folder
    def _open_table(self, table_name: str) -> Columns:
        """Return the table of this name in the folder; columns of a Parquet file are read one at a time, on first use."""
        file = self.files[table_name]
        return Columns.from_frame_mapping_or_parquet(
            file if file_suffix(file) == ".parquet" else self.tables[table_name](),
            self._table_path_in_messages(table_name),
            is_untyped=file_suffix(file).removesuffix(".gz") in (".csv", ".tsv"),
        )

    def _table_path_in_messages(self, table_name: str) -> str:
        """Return `<folder>/<file>` of a table, for messages."""
        return f"{self.folder.resolve().name}/{self.files[table_name].name}"

    @cache  # noqa: B019 - lives as long as its folder
    def _gold_tasks_and_labels(self) -> tuple[Names, Names]:
        """Return (tasks, labels) of the gold rows; warn about rows without a task or a label."""
        table = Columns.from_frame_mapping_or_parquet(self.tables["gold"](), self._table_path_in_messages("gold"))
        task = self.columns["task"] if self.columns["task"] in table else find_column(table, "task") or "task"
        label = find_gold_label_column(table, task) or "label"
        table.check_has_columns({"task": task, "label": label})
        tasks, task_names, _ = codes_names_and_notes_of_column(table[task], "task")
        labels, label_names, _ = codes_names_and_notes_of_column(table[label], "label")
        whole = (tasks >= 0) & (labels >= 0)
        if not whole.all():
            dropped = f"{count_text((~whole).sum(), 'row')} of {self._table_path_in_messages('gold')} dropped"
            votes_from_tables.warn_notes([f"{dropped}: no task or no label"])
        return task_names[tasks[whole]], label_names[labels[whole]]

    @cache  # noqa: B019
    def votes(self) -> Votes:
        """Return the votes in the table `votes`; labels that only the gold table has are added to their list of labels."""
        how = {name: value for name, value in self.how.items() if name in (*READ_OPTIONS, "wide")}
        table = self._open_table("votes")
        if self.columns["label"] == "label" and has_answer_numbers(
            table
        ):  # as `write` stores them, also without weights
            how["answer"] = "answer"
        found = votes_from_tables.votes(table, where=self._table_path_in_messages("votes"), **how)
        if "gold" not in self.files or "labels" in how or self._gold_is_soft():
            return found
        gold = distinct_names(self._gold_tasks_and_labels()[1])
        gold_only = gold[positions(found.labels, gold) < 0]
        if not len(gold_only) or found.labels.dtype.kind != gold_only.dtype.kind:
            return found
        return found.with_labels(sort_distinct_names_by_value(np.concatenate([found.labels, gold_only])))

    def answers(self) -> Any:
        """Return the answers in the table `answers`."""
        return answers_from_tables.answers(self._open_table("answers"), **self._options_of_answers_table("answers"))

    def answers_stored_in_votes_table(self) -> Any:
        """Return the answers in the table `votes`, if it has columns of answers."""
        return answers_from_tables.answers(self._open_table("votes"), **self._options_of_answers_table("votes"))

    def _options_of_answers_table(self, table_name: str) -> dict[str, Any]:
        """Return the options with which the table of this name is read as answers."""
        how: dict[str, Any] = {key: self.how[key] for key in ("labels", "ordered", "missing") if key in self.how}
        names = {role: self.columns[role] for role in ("task", "worker")}
        return {**names, **how, "where": self._table_path_in_messages(table_name)}

    def counts(self) -> Votes:
        """Return the vote counts in the table `counts` as votes without worker names."""
        how = {key: self.how[key] for key in ("labels", "ordered") if key in self.how}
        return counts_from_tables.counts(
            self._open_table("counts"),
            task=self.columns["task"],
            where=self._table_path_in_messages("counts"),
            **how,
        )

    def _gold_is_soft(self) -> bool:
        """Return whether the gold table has a probability column `p:<label>`."""
        return any(name.startswith("p:") for name in self._open_table("gold").names)

    def gold(self) -> SoftLabels:
        """Return the gold labels in the table `gold`, with the same list of labels as the votes if possible."""
        if self._gold_is_soft():
            return soft_from_frame(self.tables["gold"](), self._table_path_in_messages("gold"))
        tasks, labels = self._gold_tasks_and_labels()
        try:
            return SoftLabels.gold(tasks, labels, labels=self._given_or_vote_labels_then_gold_only(labels))
        except InputError as cause:
            raise InputError(f"{self._table_path_in_messages('gold')}: {cause}") from None

    def _given_or_vote_labels_then_gold_only(self, gold_labels: Names) -> Names | None:
        """Return the option `labels` or the labels of the votes, then those that only gold has; None if their types differ."""
        listed = None
        if "labels" in self.how:
            listed = as_names(list(self.how["labels"]), "labels")
        elif "votes" in self.files and self.columns["label"] in self._open_table("votes").names:
            listed = self.votes().labels
        if listed is None or (positions(listed, gold_labels) >= 0).all():
            return listed
        gold_only = distinct_names(gold_labels)[positions(listed, distinct_names(gold_labels)) < 0]
        return np.concatenate([listed, gold_only]) if listed.dtype == gold_only.dtype else None

    @cache  # noqa: B019
    def items(self) -> pl.DataFrame | None:
        """Return the table `items`, else the columns of the votes table that are constant for each task."""
        return (
            self.tables["items"]()
            if "items" in self.files
            else self._frame_of_columns_constant_per_name(self.columns["task"])
        )

    @cache  # noqa: B019
    def workers(self) -> pl.DataFrame | None:
        """Return the table `workers`, else the columns of the votes table that are constant for each worker."""
        return (
            self.tables["workers"]()
            if "workers" in self.files
            else self._frame_of_columns_constant_per_name(self.columns["worker"])
        )

    def names_of_further_votes_columns(self, required_column: str) -> list[str]:
        """Return the names of columns of the votes table besides those of a vote; [] if it lacks `required_column`."""
        if "votes" not in self.files or self.votes_table_has_answers():
            return []
        own = {*self.columns.values(), "weight", "answer", "when", "seconds", "rt_ms"}
        names = self._open_table("votes").names
        return (
            [name for name in names if name not in own and not name.startswith("label")]
            if required_column in names
            else []
        )

    def _frame_of_columns_constant_per_name(self, name_column: str) -> pl.DataFrame | None:
        """Return the further columns of the votes with one value per task (or worker), one row each; None if there are none."""
        extra = self.names_of_further_votes_columns(name_column)
        if not extra:
            return None
        votes = self.tables["votes"]()
        kinds = votes.group_by(name_column).agg(pl.col(extra).n_unique()).select(pl.col(extra).max())
        constant = [name for name in extra if kinds[name][0] == 1]
        return (
            votes.select(name_column, *constant).unique(name_column, maintain_order=True).sort(name_column)
            if constant
            else None
        )


def _find_table_files_by_name(folder: Path) -> dict[str, Path]:
    """Return {table name: file} of all tables in the folder; raise InputError if two files have the same table name."""
    found = [file for file in sorted(folder.iterdir()) if is_table_file(file)]
    twice = [name for name, n in Counter(table_name_of_file(file) for file in found).items() if n > 1]
    if twice:
        names = ", ".join(file.name for file in found if table_name_of_file(file) == twice[0])
        raise InputError(f"{folder} contains the same table twice: {names}; keep one of them")
    return {table_name_of_file(file): file for file in found}


def _find_features_file_or_none(folder: Path) -> Path | None:
    """Return `features.npz`, or else the only `.npz` with arrays of features; None if there is none or several.

    Warn about `.npz` files that are not read. A data type saved by plurivox (soft labels, a fit) is never features.
    """
    if (named := folder / "features.npz").is_file():
        return named
    arrays = {file: _npz_array_names(file) for file in sorted(folder.glob("*.npz"))}
    found = [file for file, names in arrays.items() if any(name == "x" or name.startswith("x_") for name in names)]
    if len(found) > 1:
        names = first_few(file.name for file in found)
        votes_from_tables.warn_notes(
            [f"several files in {folder} contain features: {names}; rename the one to read to features.npz"]
        )
        return None
    unknown = [file.name for file, names in arrays.items() if file not in found and HEADER_FILE not in names]
    if unknown:
        votes_from_tables.warn_notes(
            [f"not read in {folder}: {first_few(unknown)}; a file of features has the arrays x and task, or x_<split>"]
        )
    return found[0] if found else None


def _npz_array_names(file: Path) -> list[str]:
    """Return the names of the arrays in an `.npz`; [] if it cannot be read."""
    try:
        with zipfile.ZipFile(file) as box:
            return [name.removesuffix(".npy") for name in box.namelist()]
    except (zipfile.BadZipFile, OSError):
        return []


def _read_dataset_toml(folder: Path) -> dict[str, Any]:
    """Return the settings in dataset.toml of a folder, {} if there is none; raise InputError for unknown keys or types."""
    file = folder / DATASET_TOML
    if not file.is_file():
        return {}
    try:
        about = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as cause:
        raise InputError(f"{file} is not valid TOML: {cause}") from cause
    if unknown_keys := sorted(set(about) - set(TOML_KEYS)):
        raise InputError(f"{file} has the unknown keys {unknown_keys}; the known keys are {sorted(TOML_KEYS)}")
    for name, value in about.items():
        if not isinstance(value, TOML_KEYS[name]):
            raise InputError(f"{file}: the value {value!r} of {name} has the wrong type")
    if not all(isinstance(one, int | float) for one in about.get("scale", [])):
        raise InputError(f"{file}: scale must be a list of numbers")
    return about
