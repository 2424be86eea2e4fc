"""Write a data set as a folder in the plurivox format, which reads back unchanged."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from plurivox.core.array_types import Names
from plurivox.core.atomic_write import atomic_folder
from plurivox.core.errors import InputError
from plurivox.core.name_encoding import positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io.dataset import Dataset
from plurivox.io.dataset_folder_and_overwrite_checks import DATASET_TOML, check_replaceable
from plurivox.io.features import write_features
from plurivox.io.soft_label_files import write_soft
from plurivox.io.tabular.column_conversion import frame_of
from plurivox.io.tabular.table_files import write_table


def write(
    dataset: Dataset,
    folder: Path | str,
    *,
    replace: bool = False,
    form: str = "parquet",
    beside: Mapping[str, Any] | None = None,
) -> None:
    """Write a data set as a folder of parquet or csv tables (`form`); after an error no partial folder is left.

    `beside` maps the names of further files to tables; their extension is the format. `replace` overwrites a data set.
    """
    if form not in ("parquet", "csv"):
        raise InputError(f"unknown format {form!r} of a data set folder; use parquet or csv")
    if replace:
        check_replaceable(folder)
    with atomic_folder(folder, replace=replace) as part:
        for name, table in _tables_by_name_except_soft_labels(dataset).items():
            write_table(table, part / f"{name}.{'parquet' if _has_bytes_column(table) else form}")
        if dataset.soft_labels is not None:
            write_soft(dataset.soft_labels, part / f"soft_labels.{form}")
        if dataset.gold is not None and not _are_hard_labels(dataset.gold):
            write_soft(dataset.gold, part / f"gold.{form}")
        if dataset.features is not None:
            write_features(dataset.features, part / "features.npz")
        for name, table in (beside or {}).items():
            write_table(table, part / name)
        (part / DATASET_TOML).write_text(to_toml(_settings_for_dataset_toml(dataset)), encoding="utf-8")


def vote_columns_with_rows_for_unvoted(votes: Votes) -> dict[str, Any]:
    """Return the columns of a table that reads back as these votes, with a row for each task or worker without a vote."""
    table = votes.columns()
    if "worker" not in table:
        unnamed = np.full(len(votes), None, object)
        table = {"task": table["task"], "worker": unnamed, **table}
    tasks, workers = votes.tasks[votes.support == 0], votes.workers[votes.n_answers_per_worker == 0]
    n_more = len(tasks) + len(workers)
    if not n_more:
        return table
    more: dict[str, list[Any]] = {name: [None] * n_more for name in table}
    more["task"][: len(tasks)] = tasks.tolist()
    if len(workers):
        more["worker"][len(tasks) :] = workers.tolist()
    if "weight" in table:
        more["weight"] = [1.0] * n_more
    return {name: [*column.tolist(), *more[name]] for name, column in table.items()}


def task_and_label_count_columns(counts: Votes) -> dict[str, Any]:
    """Return the columns of a table that reads back as these counts: task, and one column per label."""
    names = [str(label) for label in counts.labels.tolist()]
    if "task" in names:
        raise InputError("counts cannot be written: the label 'task' has the name of the task column; rename the label")
    table = counts.counts()
    return {"task": counts.tasks} | {name: table[:, k] for k, name in enumerate(names)}


def _tables_by_name_except_soft_labels(dataset: Dataset) -> dict[str, Any]:
    """Return {name: table} of all tables to write, except soft labels and soft gold."""
    tables: dict[str, Any] = {}
    if dataset.votes is not None:
        tables["votes"] = vote_columns_with_rows_for_unvoted(dataset.votes)
    if dataset.answers is not None:
        tables["answers"] = frame_of(dataset.answers.columns(), "answers").fill_nan(None)  # unknown times are empty
    if dataset.counts is not None:
        tables["counts"] = task_and_label_count_columns(dataset.counts)
    if dataset.gold is not None and _are_hard_labels(dataset.gold):
        tables["gold"] = _gold_columns_to_write(dataset)
    if (items := _items_with_image_bytes(dataset)) is not None:
        tables["items"] = items
    if dataset.workers is not None:
        tables["workers"] = dataset.workers
    own = ("votes", "gold")
    tables |= {name: read() for name, read in dataset.tables.items() if name not in own}
    if (source := _votes_as_read_if_columns_would_be_lost(dataset)) is not None:
        tables["votes_as_read"] = source
    return tables


def _votes_as_read_if_columns_would_be_lost(dataset: Dataset) -> pl.DataFrame | None:
    """Return the votes table as it was read if it has columns that no other written table stores, else None."""
    if "votes" not in dataset.tables or "votes_as_read" in dataset.tables or dataset.votes is None:
        return None
    source = dataset.tables["votes"]()
    kept = {
        *vote_columns_with_rows_for_unvoted(dataset.votes),
        dataset.about.get("task"),
        dataset.about.get("worker"),
        dataset.about.get("label"),
    }
    for frame in (dataset.items, dataset.workers):
        kept |= set() if frame is None else set(frame.columns)
    if dataset.answers is not None:
        kept |= set(source.columns)
    return source if set(source.columns) - kept else None


def _items_with_image_bytes(dataset: Dataset) -> pl.DataFrame | None:
    """Return the items table to write; image files are added as bytes if it has no column `image`."""
    items, images = dataset.items, dataset.images
    if not images or (items is not None and "image" in items.columns):
        return items
    pixels = pl.DataFrame({"task": list(images), "image": [Path(file).read_bytes() for file in images.values()]})
    if items is None:
        return pixels
    return items.join(pixels, on=pl.col("task").cast(pl.String), how="left", maintain_order="left").drop(
        "task_right", strict=False
    )


def _settings_for_dataset_toml(dataset: Dataset) -> dict[str, Any]:
    """Return the settings to store in dataset.toml so that the folder reads back unchanged."""
    keep = {name: value for name, value in dataset.about.items() if name in ("description", "command")}
    crowds = [part for part in (dataset.votes, dataset.counts, dataset.answers) if part is not None]
    if not crowds:
        return {"name": dataset.name, **keep}
    crowd = crowds[0]
    labels: dict[str, Any] = {"labels": crowd.labels.tolist()}
    if dataset.gold is not None and _are_hard_labels(dataset.gold):
        labels["labels"] = _labels_of_votes_then_gold(crowd.labels, dataset.gold.labels)
    if crowd.scale is not None and len(crowd.scale) == len(labels["labels"]):
        labels["scale"] = crowd.scale.tolist()
    return {"name": dataset.name, **keep, **labels}


def _labels_of_votes_then_gold(vote_labels: Names, gold_labels: Names) -> list[Any]:
    """Return the labels of the votes, then those that only the gold labels have."""
    gold_only = gold_labels[positions(vote_labels, gold_labels) < 0]
    return [*vote_labels.tolist(), *(gold_only.tolist() if gold_only.dtype == vote_labels.dtype else [])]


def _gold_columns_to_write(dataset: Dataset) -> dict[str, Any]:
    """Return the columns of the gold table to write: task, label, and split if known."""
    gold = dataset.gold
    assert gold is not None
    columns: dict[str, Any] = {"task": gold.tasks, "label": gold.hard()}
    if dataset.splits:
        of = {str(task): split for split, tasks in dataset.splits.items() for task in tasks.tolist()}
        columns["split"] = [of.get(str(task)) for task in gold.tasks.tolist()]
    return columns


def _are_hard_labels(soft: SoftLabels) -> bool:
    """Return whether every task has all its probability on one label."""
    return bool((np.abs(soft.confidence - 1) < 1e-12).all())


def _has_bytes_column(table: Any) -> bool:
    """Return whether a table has a column of bytes, which CSV cannot store."""
    return isinstance(table, pl.DataFrame) and any(kind == pl.Binary for kind in table.dtypes)


def to_toml(values: dict[str, Any]) -> str:
    r"""Return a flat dict as TOML text; strings, numbers, booleans and lists are written as in JSON.

    >>> print(to_toml({"name": "a\x7fb", "labels": [1, 2]}), end="")
    name = "a\u007fb"
    labels = [1, 2]
    """
    lines = (f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items())
    return "".join(lines).replace("\x7f", "\\u007f")
