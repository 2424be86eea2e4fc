"""Write and read labels as Parquet for Hugging Face `datasets`: class labels with their names, probabilities as a list.

`Dataset.from_parquet(file)` has the features task, label (ClassLabel), soft_label (a list with one probability per class).
"""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError, first_few, require_package
from plurivox.core.name_encoding import as_text
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import UNNAMED, Votes
from plurivox.io.tabular.huggingface_class_labels import METADATA_KEY, class_names_by_column, features_of_parquet
from plurivox.io.tabular.table_file_names import file_suffix

TASK, LABEL, SOFT = "task", "label", "soft_label"
LABELS, ANNOTATORS = "labels", "annotators"  # columns of votes: lists of the same length
SUFFIX = ".parquet"
ARROW_TYPES = {
    "string": "string",
    "int64": "int64",
    "float64": "float64",
    "bool": "bool_",
}  # type of datasets -> of pyarrow


def write_huggingface_soft_labels(soft: SoftLabels, path: str | Path) -> None:
    """Write soft labels as Parquet for `datasets`: `task`, `label` (the most probable, a ClassLabel), `soft_label` (list)."""
    names = _check_labels_are_distinct_texts(soft.labels)
    columns = {TASK: soft.tasks.tolist(), LABEL: soft.most_probable_label_codes().tolist(), SOFT: soft.prob.tolist()}
    features = {
        TASK: _value(soft.tasks),
        LABEL: {"names": names, "_type": "ClassLabel"},
        SOFT: {"feature": {"dtype": "float64", "_type": "Value"}, "_type": "Sequence"},
    }
    _write_with_features(columns, features, path)


def write_huggingface_votes(votes: Votes, path: str | Path) -> None:
    """Write votes as Parquet for `datasets`, one row per task: `task`, `labels` (a list of ClassLabel), `annotators`.

    Raise InputError for soft answers and counts, which such lists cannot store.
    """
    if not bool((votes.weights == 1).all()):
        raise InputError(
            "lists of labels store whole votes; these contain soft answers or counts: aggregate them first"
        )
    bounds = list(pairwise(votes.row_offsets_by_task.tolist()))
    label = votes.label.tolist()
    columns: dict[str, list[Any]] = {TASK: votes.tasks.tolist(), LABELS: [label[begin:end] for begin, end in bounds]}
    class_label = {"names": _check_labels_are_distinct_texts(votes.labels), "_type": "ClassLabel"}
    features = {TASK: _value(votes.tasks), LABELS: {"feature": class_label, "_type": "Sequence"}}
    if votes.n_workers:
        known = votes.workers.tolist()
        worker = [None if code == UNNAMED else known[code] for code in votes.worker.tolist()]
        columns[ANNOTATORS] = [worker[begin:end] for begin, end in bounds]
        features[ANNOTATORS] = {"feature": _value(votes.workers), "_type": "Sequence"}
    _write_with_features(columns, features, path)


def read_soft_labels_or_none(path: str | Path) -> SoftLabels | None:
    """Return the soft labels that `write_huggingface_soft_labels` wrote to a Parquet file; None for another file."""
    file = Path(path)
    if file_suffix(file) != SUFFIX or not file.is_file():
        return None
    features = features_of_parquet(file)
    labels = class_names_by_column(features).get(LABEL)
    if labels is None or not {TASK, SOFT} <= set(features):
        return None
    try:
        frame = pl.read_parquet(file, columns=[TASK, SOFT], glob=False)
    except (OSError, pl.exceptions.PolarsError) as cause:
        raise InputError(f"{path} is damaged: {str(cause).splitlines()[0]}") from cause
    shares = frame[SOFT].to_list()
    if wrong := [task for task, row in zip(frame[TASK], shares, strict=True) if row is None or len(row) != len(labels)]:
        raise InputError(
            f"{path} needs {len(labels)} probabilities in {SOFT!r}; the tasks {first_few(wrong)} have other lists"
        )
    return SoftLabels.of(np.array(shares, np.float64).reshape(-1, len(labels)), frame[TASK].to_list(), labels)


def _check_labels_are_distinct_texts(labels: Any) -> list[str]:
    """Return the labels as text, the names of a ClassLabel; raise InputError if two labels are the same as text."""
    names: list[str] = as_text(labels).tolist()
    if len(set(names)) < len(names):
        raise InputError(f"the labels {first_few(names)} are not different as text, as `datasets` needs them")
    return names


def _value(names: Any) -> dict[str, str]:
    """Return the feature of a column of task or worker names."""
    kind = {"i": "int64", "f": "float64", "b": "bool"}.get(names.dtype.kind, "string")
    return {"dtype": kind, "_type": "Value"}


def _write_with_features(columns: dict[str, list[Any]], features: dict[str, Any], path: str | Path) -> None:
    """Write columns as Parquet whose schema has the features as metadata, which `datasets` reads; needs pyarrow."""
    if file_suffix(path) != SUFFIX:
        raise InputError(
            f"the format huggingface is a Parquet file: give the output a name that ends in {SUFFIX}, not {Path(path).name}"
        )
    purpose = "writing files for Hugging Face datasets"
    arrow: Any = require_package("pyarrow", purpose, "pip install pyarrow")
    parquet: Any = require_package("pyarrow.parquet", purpose, "pip install pyarrow")
    fields = [arrow.field(name, _arrow_type(arrow, features[name])) for name in columns]
    metadata = {METADATA_KEY: json.dumps({"info": {"features": features}}, ensure_ascii=False)}
    table = arrow.table(columns, schema=arrow.schema(fields, metadata=metadata))
    with atomic_file(path) as part:
        parquet.write_table(table, part)


def _arrow_type(arrow: Any, feature: dict[str, Any]) -> Any:
    """Return the Arrow type in which `datasets` stores a feature."""
    if feature["_type"] == "ClassLabel":
        return arrow.int64()
    if feature["_type"] == "Sequence":
        return arrow.list_(_arrow_type(arrow, feature["feature"]))
    return getattr(arrow, ARROW_TYPES[feature["dtype"]])()
