"""The project's folder form: votes, answers, counts, gold, items, features, soft_labels, workers; Parquet or CSV.

Everything but one of votes, answers, counts and gold is optional. `dataset.toml` may say what the tables cannot: labels
and their order, column names, the value that means "no answer".
"""

import tomllib
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from plurivox.core.base import HEADER_FILE
from plurivox.core.encoding import as_names, positions, sort_by_value
from plurivox.core.errors import InputError, first_few
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Names
from plurivox.core.votes import Votes
from plurivox.io import answer_frames, frames
from plurivox.io.dataset import Dataset
from plurivox.io.features import read_features
from plurivox.io.folder_check import ABOUT, is_table, no_set
from plurivox.io.soft_files import read_soft, soft_of
from plurivox.io.tabular.column_values import code
from plurivox.io.tabular.file_names import stem_of, suffix_of
from plurivox.io.tabular.table_files import Columns, read_table

READING = ("labels", "ordered", "missing", "repeats", "task", "worker", "label")
KNOWN: dict[str, Any] = {  # what dataset.toml may say, and in which kind
    "name": str,
    "description": str,
    "command": str,
    "labels": list,
    "ordered": bool,
    "scale": list,
    "missing": (str, int, float, bool, list),
    "repeats": str,
    "task": str,
    "worker": str,
    "label": str,
}


def read_folder(folder: Path, **how: Any) -> Dataset:
    """The data set in a folder; `how` goes before what dataset.toml says."""
    about = _about(folder)
    how = {**{name: about[name] for name in READING if name in about}, **how}
    if "scale" in about and "ordered" not in how:
        how["ordered"] = about["scale"]
    files = _tables_of(folder)
    tables: dict[str, Callable[[], pl.DataFrame]] = {
        name: cache(partial(read_table, file)) for name, file in files.items()
    }
    reader = _Folder(folder, files, tables, how)
    parts: dict[str, Any] = {
        name: getattr(reader, name) for name in ("votes", "answers", "counts", "gold") if name in files
    }
    if "answers" not in files and reader.votes_are_answers():
        parts["answers"] = reader.entered_votes
    if "soft_labels" in files:
        parts["soft_labels"] = lambda: read_soft(files["soft_labels"])
    for name, key in (("items", "task"), ("workers", "worker")):
        if name in files or reader.spare_columns(reader.columns[key]):
            parts[name] = getattr(reader, name)
    if (features := files.get("features") or _features_file(folder)) is not None:
        parts["features"] = lambda: read_features(features, reader.items())
    if not parts:
        raise no_set(folder)
    further = {name: table for name, table in tables.items() if name not in parts or name in ("votes", "gold")}
    name = str(about.get("name", folder.resolve().name))
    return Dataset(name, about=about, tables=further, path=folder, **parts)


class _Folder:
    """The parts of one folder, each made once, when it is first needed."""

    def __init__(self, folder: Path, files: dict[str, Path], tables: dict[str, Any], how: dict[str, Any]) -> None:
        self.folder, self.files, self.tables, self.how = folder, files, tables, how
        self.columns = {"task": how.get("task", "task"), "worker": how.get("worker", "worker")}

    def votes_are_answers(self) -> bool:
        return "votes" in self.files and self._columns("votes").hold_answers()

    @cache  # noqa: B019 - lives as long as its folder
    def _columns(self, name: str) -> Columns:
        """A table seen as columns: those of Parquet are read one at a time, when they are asked for."""
        file = self.files[name]
        return Columns.of(file if suffix_of(file) == ".parquet" else self.tables[name](), self._called(name))

    def _called(self, name: str) -> str:
        return f"{self.folder.resolve().name}/{self.files[name].name}"

    @cache  # noqa: B019 - lives as long as its folder
    def _known(self) -> tuple[Names, Names]:
        """(tasks, labels) of the gold rows that have both, by name."""
        table = Columns.of(self.tables["gold"](), self._called("gold"))
        task = self.columns["task"] if self.columns["task"] in table else "task"
        table.need({"task": task, "label": "label"})
        tasks, task_names, _ = code(table[task], "task")
        labels, label_names, _ = code(table["label"], "label")
        whole = (tasks >= 0) & (labels >= 0)
        if not whole.all():
            frames.tell([f"{int((~whole).sum()):,} rows of {self._called('gold')} lack a task or a label; left out"])
        return task_names[tasks[whole]], label_names[labels[whole]]

    @cache  # noqa: B019
    def votes(self) -> Votes:
        how = {name: value for name, value in self.how.items() if name in (*READING, "wide")}
        found = frames.votes(self._columns("votes"), where=self._called("votes"), **how)
        if "gold" not in self.files or "labels" in how or self._gold_is_soft():
            return found
        gold = np.unique(self._known()[1])
        strangers = gold[positions(found.labels, gold) < 0]
        if not len(strangers) or found.labels.dtype.kind != strangers.dtype.kind:
            return found
        return found.with_labels(sort_by_value(np.concatenate([found.labels, strangers])))

    def answers(self) -> Any:
        return answer_frames.answers(self._columns("answers"), **self._entering("answers"))

    def entered_votes(self) -> Any:
        return answer_frames.answers(self._columns("votes"), **self._entering("votes"))

    def _entering(self, name: str) -> dict[str, Any]:
        how: dict[str, Any] = {key: self.how[key] for key in ("labels", "ordered", "missing") if key in self.how}
        return {**self.columns, **how, "where": self._called(name)}

    def counts(self) -> Votes:
        how = {key: self.how[key] for key in ("labels", "ordered") if key in self.how}
        return frames.counts(self._columns("counts"), task=self.columns["task"], where=self._called("counts"), **how)

    def _gold_is_soft(self) -> bool:
        return any(name.startswith("p:") for name in self._columns("gold").names)

    def gold(self) -> SoftLabels:
        """Known labels over the list of the votes, so that both speak of the same labels."""
        if self._gold_is_soft():
            return soft_of(self.tables["gold"](), self._called("gold"))
        tasks, labels = self._known()
        try:
            return SoftLabels.gold(tasks, labels, labels=self._all_labels(labels))
        except InputError as cause:
            raise InputError(f"{self._called('gold')}: {cause}") from None

    def _all_labels(self, gold: Names) -> Names | None:
        listed = None
        if "labels" in self.how:
            listed = as_names(list(self.how["labels"]), "labels")
        elif "votes" in self.files and self.how.get("label", "label") in self._columns("votes").names:
            listed = self.votes().labels
        if listed is None or (positions(listed, gold) >= 0).all():
            return listed
        strangers = np.unique(gold)[positions(listed, np.unique(gold)) < 0]
        return np.concatenate([listed, strangers]) if listed.dtype == strangers.dtype else None

    @cache  # noqa: B019
    def items(self) -> pl.DataFrame | None:
        return self.tables["items"]() if "items" in self.files else self._constant_by(self.columns["task"])

    @cache  # noqa: B019
    def workers(self) -> pl.DataFrame | None:
        return self.tables["workers"]() if "workers" in self.files else self._constant_by(self.columns["worker"])

    def spare_columns(self, key: str) -> list[str]:
        """Columns of the votes table that are no part of a vote."""
        if "votes" not in self.files or self.votes_are_answers():
            return []
        own = {*self.columns.values(), self.how.get("label", "label"), "weight", "answer", "when", "seconds", "rt_ms"}
        names = self._columns("votes").names
        return [name for name in names if name not in own and not name.startswith("label")] if key in names else []

    def _constant_by(self, key: str) -> pl.DataFrame | None:
        """Columns of the votes that say one thing of every task (or worker): they are about it, not about the vote."""
        spare = self.spare_columns(key)
        if not spare:
            return None
        votes = self.tables["votes"]()
        kinds = votes.group_by(key).agg(pl.col(spare).n_unique()).select(pl.col(spare).max())
        constant = [name for name in spare if kinds[name][0] == 1]
        return votes.select(key, *constant).unique(key, maintain_order=True).sort(key) if constant else None


def _tables_of(folder: Path) -> dict[str, Path]:
    """name -> file, for every table in the folder; two tables of one name are refused."""
    found = [file for file in sorted(folder.iterdir()) if is_table(file)]
    twice = [name for name, n in Counter(stem_of(file) for file in found).items() if n > 1]
    if twice:
        names = ", ".join(file.name for file in found if stem_of(file) == twice[0])
        raise InputError(f"{folder} holds {names}; keep one of them")
    return {stem_of(file): file for file in found}


def _features_file(folder: Path) -> Path | None:
    """`features.npz`, or else the only `.npz` that has arrays of features.

    Warns of an `.npz` that is left out; what plurivox saved itself (soft labels, a fit) is never features.
    """
    if (named := folder / "features.npz").is_file():
        return named
    arrays = {file: _array_names(file) for file in sorted(folder.glob("*.npz"))}
    found = [file for file, names in arrays.items() if any(name == "x" or name.startswith("x_") for name in names)]
    if len(found) > 1:
        frames.tell([f"{first_few(file.name for file in found)} all hold features; call the one to read features.npz"])
        return None
    unknown = [file.name for file, names in arrays.items() if file not in found and HEADER_FILE not in names]
    if unknown:
        frames.tell([f"not read in {folder}: {first_few(unknown)}; features are arrays x and task, or x_<split>"])
    return found[0] if found else None


def _array_names(file: Path) -> list[str]:
    """The names of the arrays in an `.npz`; none where it cannot be read."""
    try:
        with zipfile.ZipFile(file) as box:
            return [name.removesuffix(".npy") for name in box.namelist()]
    except (zipfile.BadZipFile, OSError):
        return []


def _about(folder: Path) -> dict[str, Any]:
    file = folder / ABOUT
    if not file.is_file():
        return {}
    try:
        about = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as cause:
        raise InputError(f"{file} cannot be read: {cause}") from cause
    if strange := sorted(set(about) - set(KNOWN)):
        raise InputError(f"{file} says {strange}, which means nothing here; it may say {sorted(KNOWN)}")
    for name, value in about.items():
        if not isinstance(value, KNOWN[name]):
            raise InputError(f"{file}: {name} cannot be {value!r}")
    if not all(isinstance(one, int | float) for one in about.get("scale", [])):
        raise InputError(f"{file}: scale must be a list of numbers")
    return about
