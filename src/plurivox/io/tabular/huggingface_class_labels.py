"""Names of the class labels in Parquet files of Hugging Face `datasets`: the files store numbers, and the names as metadata.

The metadata key `huggingface` is JSON: {"info": {"features": {column: feature}}}, where a feature is
{"_type": "ClassLabel", "names": [...]}, a list of a feature, or an object of features.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

METADATA_KEY = "huggingface"
LIST_TYPES = (
    "Sequence",
    "List",
    "LargeList",
)  # by version of `datasets`; a list of features is also written as [feature]
Features = Mapping[str, Any]


def features_of_parquet(path: Path) -> Features:
    """Return {column: feature} that `datasets` stored in a Parquet file; {} if there are none."""
    try:
        text = pl.read_parquet_metadata(path).get(METADATA_KEY)
        contents = json.loads(text) if text else {}
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
        return {}
    info = contents.get("info") if isinstance(contents, dict) else None
    features = info.get("features") if isinstance(info, dict) else None
    return features if isinstance(features, dict) else {}


def class_names_by_column(features: Features) -> dict[str, tuple[str, ...]]:
    """Return the names of the class labels by column, or by "column.field" for lists of objects.

    >>> animal = {"_type": "ClassLabel", "names": ["cat", "dog"]}
    >>> class_names_by_column({"labels": {"_type": "Sequence", "feature": animal}, "said": [{"by": {}, "label": animal}]})
    {'labels': ('cat', 'dog'), 'said.label': ('cat', 'dog')}
    """
    found = {}
    for column, feature in features.items():
        inner = _feature_of_elements(feature)
        if names := _class_names(inner):
            found[column] = names
        elif isinstance(inner, dict) and "_type" not in inner:
            for field, part in inner.items():
                if names := _class_names(_feature_of_elements(part)):
                    found[f"{column}.{field}"] = names
    return found


def decode_class_labels(column: pl.Series, class_names: Mapping[str, tuple[str, ...]]) -> pl.Series:
    """Return a column whose class label numbers are replaced by their names; other columns are returned unchanged.

    A number that has no name, such as -1 for a missing label, becomes missing.
    """
    own = {name: labels for name, labels in class_names.items() if name.split(".")[0] == column.name}
    if not own:
        return column
    return pl.select(_decoded(pl.lit(column), column.dtype, column.name, own).alias(column.name)).to_series()


def _feature_of_elements(feature: Any) -> Any:
    """Return the feature of the elements of a list; a feature that is not a list is returned unchanged."""
    while True:
        if isinstance(feature, list) and len(feature) == 1:
            feature = feature[0]
        elif isinstance(feature, dict) and feature.get("_type") in LIST_TYPES and "feature" in feature:
            feature = feature["feature"]
        else:
            return feature


def _class_names(feature: Any) -> tuple[str, ...]:
    """Return the names of a ClassLabel feature; () for another feature."""
    is_class = isinstance(feature, dict) and feature.get("_type") == "ClassLabel"
    names = feature.get("names") if is_class else None
    return tuple(map(str, names)) if isinstance(names, list) else ()


def _decoded(values: pl.Expr, dtype: Any, path: str, class_names: Mapping[str, tuple[str, ...]]) -> pl.Expr:
    """Return an expression that replaces numbers of class labels by names in values, lists and objects; `path` is a.b."""
    if isinstance(dtype, pl.Array):
        return _decoded(values.arr.to_list(), pl.List(dtype.inner), path, class_names)
    if isinstance(dtype, pl.List):
        return values.list.eval(_decoded(pl.element(), dtype.inner, path, class_names))
    if isinstance(dtype, pl.Struct):
        fields = [
            _decoded(values.struct.field(field.name), field.dtype, f"{path}.{field.name}", class_names).alias(
                field.name
            )
            for field in dtype.fields
        ]
        return pl.when(values.is_null()).then(None).otherwise(pl.struct(fields))
    if path in class_names and dtype.is_integer():
        labels = class_names[path]
        return values.replace_strict(list(range(len(labels))), list(labels), default=None, return_dtype=pl.String)
    return values
