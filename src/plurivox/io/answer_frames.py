"""Build Answers from a DataFrame or file: the labels, percentages and marks that each person entered, one row per answer."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from plurivox.core.answers import LABEL_SEPARATOR, NAMED, NEVER, POSSIBLE, Answers
from plurivox.core.encoding import as_names
from plurivox.core.errors import InputError, first_few
from plurivox.core.types import Ints
from plurivox.io.repeated_answers import find_earlier_answers
from plurivox.io.tabular.column_conversion import encode_column, to_seconds
from plurivox.io.tabular.table_files import ANSWER_COLUMNS, Columns

TRUE_TEXTS, FALSE_TEXTS = (
    ("true", "1", "yes", "y", "t", "x", "on", "1.0"),
    ("false", "0", "no", "n", "f", "off", "0.0", ""),
)


def answers(
    data: Any,
    *,
    task: str = "task",
    worker: str = "worker",
    label: str | None = None,
    missing: Any = None,
    labels: Any = None,
    ordered: Any = False,
    where: str = "the table",
) -> Answers:
    """Return the Answers in a table with one row per answer: columns `top`, `top_percent`, `second`, `never`, ... as typed.

    Columns may also have the names used in tables of votes (`label`, `prob`, `label2`, `prob2`, `impossible`, `trial`,
    `batch`, `rt_ms`), and the parameter `label` may name the column of the top label. The percentage of the second label is
    `second_percent`; further labels are in `named3`, `named3_percent` and so on. Cells that list several labels separate
    them with `|`. `missing` is the value, or list of values, that means "no label". Numbers are stored as a person
    would have typed them; a percentage typed without a label is stored too. `where` names the table in errors.

    >>> answers({"task": ["a"], "worker": ["w"], "top": ["cat"], "top_percent": ["8p"], "never": ["dog|ship"]})
    <Answers: 1 answer, 1 task, 1 worker, 3 labels>
    """
    table = Columns.of(data, where)
    top = label or _find_column(table, "top") or "top"
    has_no_top = label is None and top not in table and any(_find_column(table, role) for role in ("never", "possible"))
    table.require({"task": task, "worker": worker, **({} if has_no_top else {"top": top})})
    marks = _build_marks(table, top, _missing_texts(missing))
    rest = {name: column for name, column in _optional_columns(table).items() if column is not None}
    made = Answers.of_marks(
        _require_names(table[task], "task"),
        _require_names(table[worker], "worker"),
        answer=marks["answer"].to_numpy(),
        kind=marks["kind"].to_numpy(),
        label=marks["label"].to_list(),
        typed=as_names(marks["typed"].to_list(), "typed values"),
        labels=labels,
        ordered=ordered,
        **rest,
    )
    return _set_repeat_of(made, table)


def _missing_texts(missing: Any) -> list[str]:
    """Return the list of texts that mean "no label", from one value or several."""
    if missing is None:
        return []
    return [str(missing)] if isinstance(missing, str) or not isinstance(missing, Iterable) else [*map(str, missing)]


def _require_names(column: pl.Series, what: str) -> Any:
    """Return the names in a column; raise InputError if one is missing."""
    codes, names, _ = encode_column(column, what)
    if (codes < 0).any():
        rows = np.flatnonzero(codes < 0) + 1
        raise InputError(
            f"{len(rows)} answers have no {what} (row {first_few(rows)}); fill the column or drop those rows"
        )
    return names[codes]


def _find_column(table: Columns, role: str) -> str | None:
    """Return the column of the table that has this role (see ANSWER_COLUMNS), or None."""
    return next((name for name in ANSWER_COLUMNS[role] if name in table), None)


def _build_marks(table: Columns, top: str, missing: list[str]) -> pl.DataFrame:
    """Return one row per mark of an answer: answer, place within the answer, kind, label, typed text.

    A place without a label is still a mark if something was typed there or if a later place has a label.
    """
    parts = [_named_marks(table, *columns, place) for place, columns in enumerate(_label_columns(table, top))]
    for role, kind in (("never", NEVER), ("possible", POSSIBLE)):
        if (name := _find_column(table, role)) is not None:
            parts.append(_listed_marks(table[name], kind, len(parts)))
    marks = pl.concat(parts).sort("answer", "place", maintain_order=True)
    none = pl.col("label").is_in(["", *missing])
    marks = marks.with_columns(label=pl.when(~none).then("label"))
    filled = pl.col("label").is_not_null() | ((pl.col("kind") == NAMED) & (pl.col("typed").str.strip_chars() != ""))
    last = pl.when(filled & (pl.col("kind") == NAMED)).then("place").max().over("answer").fill_null(-1)
    return marks.filter(filled | (pl.col("place") < last))


def _label_columns(table: Columns, top: str) -> list[tuple[str | None, str | None]]:
    """Return the (label column, percentage column) of the first, second, ... label; None for a column that is absent."""
    first = top if top in table else None
    places = [
        (first, _find_column(table, "top_percent")),
        (_find_column(table, "second"), _find_column(table, "second_percent")),
    ]
    further = sorted(int(name[5:]) for name in table.names if name.startswith("named") and name[5:].isdigit())
    for number in further:
        percent = f"named{number}_percent"
        places.append((f"named{number}", percent if percent in table else None))
    return [place for place in places if place != (None, None)]


def _named_marks(table: Columns, label: str | None, percent: str | None, place: int) -> pl.DataFrame:
    """Return the marks of the first, second, ... label; an absent column (None) counts as empty."""
    n = len(table[label or percent or ""])
    labels = pl.Series([None] * n, dtype=pl.String) if label is None else table[label].cast(pl.String)
    typed = pl.Series([""] * n, dtype=pl.String) if percent is None else _typed_texts(table[percent])
    return _marks_frame(np.arange(n), place, NAMED, labels, typed)


def _listed_marks(column: pl.Series, kind: int, place: int) -> pl.DataFrame:
    """Return one mark per label listed in a cell, separated by `|`, or as a JSON list if a label contains `|`."""
    text = column.cast(pl.String).fill_null("")
    lists = text.str.replace_all(r"\s*\|\s*", LABEL_SEPARATOR).str.strip_chars().str.split(LABEL_SEPARATOR)
    if text.str.starts_with("[").any():
        lists = pl.Series([_split_labels(one) for one in text.to_list()], dtype=pl.List(pl.String))
    long = pl.DataFrame({"answer": np.arange(len(column)), "label": lists}).explode("label")
    return _marks_frame(
        long["answer"].to_numpy(), place, kind, long["label"], pl.Series([""] * len(long), dtype=pl.String)
    )


def _split_labels(text: str) -> list[str]:
    """Return the labels listed in one cell."""
    if text.startswith("["):
        try:
            return [str(one) for one in json.loads(text)]
        except (json.JSONDecodeError, TypeError):  # a label that begins with [ but is not JSON
            return text.split(LABEL_SEPARATOR)
    return [one.strip() for one in text.split(LABEL_SEPARATOR)]


def _marks_frame(answer: Ints, place: int, kind: int, label: pl.Series, typed: pl.Series) -> pl.DataFrame:
    """Return marks as rows of (answer, place, kind, label, typed)."""
    frame = pl.DataFrame(
        {"answer": np.asarray(answer, np.int64), "label": label.alias("label"), "typed": typed.alias("typed")}
    )
    return frame.with_columns(place=pl.lit(place), kind=pl.lit(kind, dtype=pl.UInt8)).select(
        "answer", "place", "kind", "label", "typed"
    )


def _typed_texts(column: pl.Series) -> pl.Series:
    """Return a column as typed text: numbers as a person writes them (80.0 becomes "80"), "" if missing."""
    if column.dtype == pl.String:
        return column.fill_null("")
    if column.dtype.is_float():
        column = column.fill_nan(None)
        whole = (column == column.floor()).fill_null(False)
        texts = pl.DataFrame({"n": column, "whole": whole}).select(
            pl.when("whole")
            .then(pl.col("n").cast(pl.Int64, strict=False).cast(pl.String))
            .otherwise(pl.col("n").cast(pl.String))
        )
        return texts.to_series().fill_null("")
    return column.cast(pl.String).fill_null("")


def _optional_columns(table: Columns) -> dict[str, Any]:
    """Return the optional columns of Answers that the table has: position, slot, sitting, form, when, seconds, abstain, ..."""
    found: dict[str, Any] = {}
    if (name := _find_column(table, "position")) is not None:
        found["position"] = _whole_numbers(table[name], f"column {name!r} of {table.where}")
    if "slot" in table:
        found["slot"] = _whole_numbers(table["slot"], f"column 'slot' of {table.where}")
    if (name := _find_column(table, "sitting")) is not None:
        found["sitting"] = as_names(table[name].cast(pl.String).fill_null("").to_list(), "sittings")
    if "form" in table:
        found["form"] = as_names(table["form"].cast(pl.String).fill_null("").to_list(), "forms")
    if "when" in table:
        found["when"] = to_seconds(table["when"], "column 'when'")
    if "seconds" in table:
        found["seconds"] = to_seconds(table["seconds"], "column 'seconds'")
    elif "rt_ms" in table:
        found["seconds"] = to_seconds(table["rt_ms"], "column 'rt_ms'") / 1000
    for name in ("abstain", "none_of_these"):
        if name in table:
            found[name] = _booleans(table[name], f"column {name!r} of {table.where}")
    return found


def _whole_numbers(column: pl.Series, what: str) -> Any:
    """Return a column as whole numbers, -1 if missing; raise InputError for other values."""
    found = column.cast(pl.Int64, strict=False)
    bad = column.filter(found.is_null() & column.is_not_null())
    if len(bad):
        raise InputError(f"{what} must contain whole numbers; it contains {bad[0]!r}")
    return found.fill_null(-1).to_numpy()


def _booleans(column: pl.Series, what: str) -> Any:
    """Return a column of yes/no values as booleans, False if missing; raise InputError for other values."""
    if column.dtype == pl.Boolean:
        return column.fill_null(False).to_numpy()
    texts = column.cast(pl.String).fill_null("").str.strip_chars().str.to_lowercase()
    if (odd := ~texts.is_in([*TRUE_TEXTS, *FALSE_TEXTS])).any():
        raise InputError(
            f"{what} must contain yes or no; it contains {first_few(column.filter(odd).unique().sort().to_list())}"
        )
    return texts.is_in(TRUE_TEXTS).to_numpy()


def _set_repeat_of(made: Answers, table: Columns) -> Answers:
    """Return the answers with `repeat_of` set, from the column `repeat_of`, or found for the rows that `repeat` marks."""
    if "repeat_of" in table:
        return replace(made, repeat_of=_whole_numbers(table["repeat_of"], f"column 'repeat_of' of {table.where}"))
    if "repeat" not in table:
        return made
    marked = _booleans(table["repeat"], f"column 'repeat' of {table.where}")
    time = made.position if made.position is not None else np.arange(len(made))
    sitting = np.zeros(len(made), np.int64) if made.sitting is None else np.unique(made.sitting, return_inverse=True)[1]
    return replace(made, repeat_of=np.where(marked, find_earlier_answers(made.worker, made.task, sitting, time), -1))
