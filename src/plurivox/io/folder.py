"""The project's folder form: votes, answers, counts, gold, items, features, soft_labels, workers; Parquet or CSV.

Everything but one of votes, answers, counts and gold is optional. `dataset.toml` may say what the tables cannot: labels and
their order, column names, the value that means "no answer".
"""

import json
import tomllib
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from plurivox.core.errors import InputError
from plurivox.core.files import whole_folder
from plurivox.core.labels import SoftLabels
from plurivox.core.names import Names, as_names, by_value, positions
from plurivox.core.votes import Votes
from plurivox.io import entered, frames
from plurivox.io.coding import Columns
from plurivox.io.dataset import Dataset
from plurivox.io.features import read_features, write_features
from plurivox.io.soft import read_soft, write_soft
from plurivox.io.tables import ENDINGS, read_table, write_table

ABOUT = "dataset.toml"
KNOWN = {
    "name",
    "description",
    "labels",
    "ordered",
    "scale",
    "missing",
    "repeats",
    "task",
    "worker",
    "label",
    "command",
}
READING = ("labels", "ordered", "missing", "repeats", "task", "worker", "label")


def read_folder(folder: Path, **how: Any) -> Dataset:
    """The data set in a folder; `how` goes before what dataset.toml says."""
    about = _about(folder)
    how = {**{name: about[name] for name in READING if name in about}, **how}
    if "scale" in about and "ordered" not in how:
        how["ordered"] = about["scale"]
    files = {_stem(file): file for file in sorted(folder.iterdir()) if _is_table(file)}
    arrays = [file for file in sorted(folder.glob("*.npz")) if file.stem != "fit"]
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
    features = files.get("features") or next(iter(arrays), None)
    if features is not None:
        parts["features"] = lambda: read_features(features, reader.items())
    if not parts:
        found = sorted(file.name for file in folder.iterdir())[:6]
        raise InputError(
            f"{folder} holds no data set; it needs votes, answers, counts or gold as a table, and has {found}"
        )
    further = {name: table for name, table in tables.items() if name not in parts or name in ("votes", "gold")}
    return Dataset(str(about.get("name", folder.name)), about=about, tables=further, path=folder, **parts)


class _Folder:
    """The parts of one folder, each made once, when it is first needed."""

    def __init__(self, folder: Path, files: dict[str, Path], tables: dict[str, Any], how: dict[str, Any]) -> None:
        self.folder, self.files, self.tables, self.how = folder, files, tables, how
        self.columns = {"task": how.get("task", "task"), "worker": how.get("worker", "worker")}

    def votes_are_answers(self) -> bool:
        return "votes" in self.files and entered.holds_answers(Columns.of(self._source("votes")).names)

    def _source(self, name: str) -> Any:
        file = self.files[name]
        return file if file.suffix == ".parquet" else Columns.of(self.tables[name](), f"{self.folder.name}/{file.name}")

    def _gold_labels(self) -> Names | None:
        if "gold" not in self.files:
            return None
        return by_value(as_names(self.tables["gold"]()["label"].drop_nulls().to_list(), "labels"))

    @cache  # noqa: B019 - lives as long as its folder
    def votes(self) -> Votes:
        how = {name: value for name, value in self.how.items() if name in (*READING, "wide")}
        found = frames.votes(self._source("votes"), where=f"{self.folder.name}/votes", **how)
        gold = self._gold_labels()
        if gold is None or "labels" in how or not len(strangers := gold[positions(found.labels, gold) < 0]):
            return found
        if found.labels.dtype.kind != strangers.dtype.kind:
            return found
        return found.with_labels(by_value(np.concatenate([found.labels, strangers])))

    def answers(self) -> Any:
        return entered.answers(self._source("answers"), **self.columns, labels=self.how.get("labels"))

    def entered_votes(self) -> Any:
        return entered.answers(self._source("votes"), **self.columns, labels=self.how.get("labels"))

    def counts(self) -> Votes:
        where = f"{self.folder.name}/counts"
        return frames.counts(
            self._source("counts"), task=self.columns["task"], labels=self.how.get("labels"), where=where
        )

    def gold(self) -> SoftLabels:
        table = self.tables["gold"]()
        Columns.of(table, f"{self.folder.name}/gold").need({"task": self.columns["task"], "label": "label"})
        known = table.drop_nulls([self.columns["task"], "label"])
        return SoftLabels.gold(
            known[self.columns["task"]].to_list(), known["label"].to_list(), labels=self._all_labels()
        )

    def _all_labels(self) -> Names | None:
        """The labels of the votes, so that gold and votes speak of the same list."""
        if "labels" in self.how:
            return as_names(list(self.how["labels"]), "labels")
        if "votes" not in self.files or self.how.get("label", "label") not in Columns.of(self._source("votes")).names:
            return None
        gold, votes = self._gold_labels(), self.votes().labels
        assert gold is not None
        return votes if (positions(votes, gold) >= 0).all() else None

    @cache  # noqa: B019
    def items(self) -> pl.DataFrame | None:
        if "items" in self.files:
            return self.tables["items"]()
        return self._constant_by(self.columns["task"])

    @cache  # noqa: B019
    def workers(self) -> pl.DataFrame | None:
        if "workers" in self.files:
            return self.tables["workers"]()
        return self._constant_by(self.columns["worker"])

    def spare_columns(self, key: str) -> list[str]:
        """Columns of the votes table that are no part of a vote."""
        if "votes" not in self.files or self.votes_are_answers():
            return []
        own = {*self.columns.values(), self.how.get("label", "label"), "weight", "answer", "when", "seconds", "rt_ms"}
        names = Columns.of(self._source("votes")).names
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


def write(dataset: Dataset, folder: Path, *, replace: bool = False, form: str = "parquet") -> None:
    """Write a data set as a folder, whole or not at all; `form` is parquet or csv."""
    if form not in ("parquet", "csv"):
        raise InputError(f"a data-set folder is written as parquet or csv, not {form!r}")
    with whole_folder(folder, replace=replace) as part:
        if dataset.votes is not None:
            write_table(frames.vote_columns(dataset.votes), part / f"votes.{form}")
        if dataset.answers is not None:
            write_table(dataset.answers.columns(), part / f"answers.{form}")
        if dataset.soft_labels is not None:
            write_soft(dataset.soft_labels, part / f"soft_labels.{form}")
        if dataset.counts is not None:
            write_table(_count_columns(dataset.counts), part / f"counts.{form}")
        if dataset.gold is not None:
            write_table(_gold_columns(dataset), part / f"gold.{form}")
        for name in ("items", "workers"):
            if (frame := getattr(dataset, name)) is not None:
                binary = any(kind == pl.Binary for kind in frame.dtypes)
                write_table(frame, part / f"{name}.{'parquet' if binary else form}")
        for name, table in dataset.tables.items():
            if name not in ("votes", "gold"):
                write_table(table(), part / f"{name}.parquet")
        if dataset.features is not None:
            write_features(dataset.features, part / "features.npz")
        (part / ABOUT).write_text(_toml(_told(dataset)), encoding="utf-8")


def _told(dataset: Dataset) -> dict[str, Any]:
    """What dataset.toml must say so that the folder reads back as it was."""
    keep = {name: value for name, value in dataset.about.items() if name in ("description", "command")}
    votes = dataset.votes or dataset.counts
    labels: dict[str, Any] = {}
    if votes is not None and votes.labels.dtype.kind in "Ti":
        labels = {"labels": votes.labels.tolist()}
        if votes.scale is not None:
            labels["scale"] = votes.scale.tolist()
    return {"name": dataset.name, **keep, **labels}


def _count_columns(counts: Votes) -> dict[str, Any]:
    table = counts.counts()
    return {"task": counts.tasks} | {str(label): table[:, k] for k, label in enumerate(counts.labels.tolist())}


def _gold_columns(dataset: Dataset) -> dict[str, Any]:
    gold = dataset.gold
    assert gold is not None
    columns: dict[str, Any] = {"task": gold.tasks, "label": gold.hard()}
    if dataset.splits:
        of = {str(task): split for split, tasks in dataset.splits.items() for task in tasks.tolist()}
        columns["split"] = [of.get(str(task)) for task in gold.tasks.tolist()]
    return columns


def _about(folder: Path) -> dict[str, Any]:
    file = folder / ABOUT
    if not file.is_file():
        return {}
    try:
        about = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as cause:
        raise InputError(f"{file} cannot be read: {cause}") from cause
    if strange := sorted(set(about) - KNOWN):
        raise InputError(f"{file} says {strange}, which means nothing here; it may say {sorted(KNOWN)}")
    return about


def _toml(values: dict[str, Any]) -> str:
    """Flat TOML: text, numbers, truth values and lists of them are written as JSON writes them."""
    return "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items())


def _is_table(file: Path) -> bool:
    return file.is_file() and not file.name.startswith(".") and any(file.name.endswith(ending) for ending in ENDINGS)


def _stem(file: Path) -> str:
    return file.name.split(".")[0]


__all__ = ["read_folder", "write"]
