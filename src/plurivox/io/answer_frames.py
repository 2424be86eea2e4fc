"""Tables of what people entered become Answers."""

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
from plurivox.io.repeats import earlier_answers
from plurivox.io.tabular.column_values import code, seconds_of
from plurivox.io.tabular.table_files import ANSWER_COLUMNS, Columns

TRUE, FALSE = ("true", "1", "yes", "y", "t", "x", "on", "1.0"), ("false", "0", "no", "n", "f", "off", "0.0", "")


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
    """Answers of a table: a row an answer, with `top`, `top_percent`, `second`, `second_percent`, `never`, ... as typed.

    Columns may also be called as in plain votes tables (`label`, `prob`, `label2`, `prob2`, `impossible`, `trial`,
    `batch`, `rt_ms`), and `label` may name the column of the top label. Further named labels are `named3`,
    `named3_percent` and so on. Cells that list several labels part them with `|`. `missing` is the value, or the list of
    values, that stands for no label. Numbers are kept as a person would have typed them, and what was typed where no
    label was chosen is kept too.

    >>> answers({"task": ["a"], "worker": ["w"], "top": ["cat"], "top_percent": ["8p"], "never": ["dog|ship"]})
    <Answers: 1 answer, 1 task, 1 worker, 3 labels>
    """
    table = Columns.of(data, where)
    top = label or _called(table, "top") or "top"
    marked_only = label is None and top not in table and any(_called(table, role) for role in ("never", "possible"))
    table.need({"task": task, "worker": worker, **({} if marked_only else {"top": top})})
    marks = _marks(table, top, _several(missing))
    rest = {name: column for name, column in _about(table).items() if column is not None}
    made = Answers.of_marks(
        _names(table[task], "task"),
        _names(table[worker], "worker"),
        answer=marks["answer"].to_numpy(),
        kind=marks["kind"].to_numpy(),
        label=marks["label"].to_list(),
        typed=as_names(marks["typed"].to_list(), "typed values"),
        labels=labels,
        ordered=ordered,
        **rest,
    )
    return _with_repeats(made, table)


def _several(missing: Any) -> list[str]:
    """The texts that stand for no label."""
    if missing is None:
        return []
    return [str(missing)] if isinstance(missing, str) or not isinstance(missing, Iterable) else [*map(str, missing)]


def _names(column: pl.Series, what: str) -> Any:
    """The names of a column that may have none missing."""
    codes, names, _ = code(column, what)
    if (codes < 0).any():
        raise InputError(f"{int((codes < 0).sum())} answers name no {what}; fill the column or drop those rows")
    return names[codes]


def _called(table: Columns, role: str) -> str | None:
    return next((name for name in ANSWER_COLUMNS[role] if name in table), None)


def _marks(table: Columns, top: str, missing: list[str]) -> pl.DataFrame:
    """Every mark of every answer: answer, place within it, kind, label, typed.

    A place without a label is a mark where something was typed there, or where a later place has one.
    """
    parts = [_named(table, *columns, place) for place, columns in enumerate(_places(table, top))]
    for role, kind in (("never", NEVER), ("possible", POSSIBLE)):
        if (name := _called(table, role)) is not None:
            parts.append(_listed(table[name], kind, len(parts)))
    marks = pl.concat(parts).sort("answer", "place", maintain_order=True)
    none = pl.col("label").is_in(["", *missing])
    marks = marks.with_columns(label=pl.when(~none).then("label"))
    held = pl.col("label").is_not_null() | ((pl.col("kind") == NAMED) & (pl.col("typed").str.strip_chars() != ""))
    last = pl.when(held & (pl.col("kind") == NAMED)).then("place").max().over("answer").fill_null(-1)
    return marks.filter(held | (pl.col("place") < last))


def _places(table: Columns, top: str) -> list[tuple[str | None, str | None]]:
    """The columns of the labels named first, second, ... and of what was typed beside them, None where there is none."""
    first = top if top in table else None
    places = [(first, _called(table, "top_percent")), (_called(table, "second"), _called(table, "second_percent"))]
    further = sorted(int(name[5:]) for name in table.names if name.startswith("named") and name[5:].isdigit())
    for number in further:
        percent = f"named{number}_percent"
        places.append((f"named{number}", percent if percent in table else None))
    return [place for place in places if place != (None, None)]


def _named(table: Columns, label: str | None, percent: str | None, place: int) -> pl.DataFrame:
    """The marks of one place; a column that is not there is empty."""
    n = len(table[label or percent or ""])
    said = pl.Series([None] * n, dtype=pl.String) if label is None else table[label].cast(pl.String)
    typed = pl.Series([""] * n, dtype=pl.String) if percent is None else _as_typed(table[percent])
    return _frame(np.arange(n), place, NAMED, said, typed)


def _listed(column: pl.Series, kind: int, place: int) -> pl.DataFrame:
    """A mark for every label of a cell: labels with `|` between them, or a JSON list where a label holds `|` itself."""
    text = column.cast(pl.String).fill_null("")
    lists = text.str.replace_all(r"\s*\|\s*", LABEL_SEPARATOR).str.strip_chars().str.split(LABEL_SEPARATOR)
    if text.str.starts_with("[").any():
        lists = pl.Series([_cell(one) for one in text.to_list()], dtype=pl.List(pl.String))
    long = pl.DataFrame({"answer": np.arange(len(column)), "label": lists}).explode("label")
    return _frame(long["answer"].to_numpy(), place, kind, long["label"], pl.Series([""] * len(long), dtype=pl.String))


def _cell(text: str) -> list[str]:
    if text.startswith("["):
        try:
            return [str(one) for one in json.loads(text)]
        except (json.JSONDecodeError, TypeError):  # a label that merely begins so
            return text.split(LABEL_SEPARATOR)
    return [one.strip() for one in text.split(LABEL_SEPARATOR)]


def _frame(answer: Ints, place: int, kind: int, label: pl.Series, typed: pl.Series) -> pl.DataFrame:
    frame = pl.DataFrame(
        {"answer": np.asarray(answer, np.int64), "label": label.alias("label"), "typed": typed.alias("typed")}
    )
    return frame.with_columns(place=pl.lit(place), kind=pl.lit(kind, dtype=pl.UInt8)).select(
        "answer", "place", "kind", "label", "typed"
    )


def _as_typed(column: pl.Series) -> pl.Series:
    """Text as it is; numbers as a person types them: 80.0 is "80", a missing one is empty."""
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


def _about(table: Columns) -> dict[str, Any]:
    """The columns that say how an answer came about."""
    found: dict[str, Any] = {}
    if (name := _called(table, "position")) is not None:
        found["position"] = _whole(table[name], f"column {name!r} of {table.where}")
    if "slot" in table:
        found["slot"] = _whole(table["slot"], f"column 'slot' of {table.where}")
    if (name := _called(table, "sitting")) is not None:
        found["sitting"] = as_names(table[name].cast(pl.String).fill_null("").to_list(), "sittings")
    if "form" in table:
        found["form"] = as_names(table["form"].cast(pl.String).fill_null("").to_list(), "forms")
    if "when" in table:
        found["when"] = seconds_of(table["when"], "column 'when'")
    if "seconds" in table:
        found["seconds"] = seconds_of(table["seconds"], "column 'seconds'")
    elif "rt_ms" in table:
        found["seconds"] = seconds_of(table["rt_ms"], "column 'rt_ms'") / 1000
    for name in ("abstain", "none_of_these"):
        if name in table:
            found[name] = _truth(table[name], f"column {name!r} of {table.where}")
    return found


def _whole(column: pl.Series, what: str) -> Any:
    """Whole numbers, -1 where there is none."""
    found = column.cast(pl.Int64, strict=False)
    bad = column.filter(found.is_null() & column.is_not_null())
    if len(bad):
        raise InputError(f"{what} must hold whole numbers; it holds {bad[0]!r}")
    return found.fill_null(-1).to_numpy()


def _truth(column: pl.Series, what: str) -> Any:
    """Truth values, however they are written; nothing is no."""
    if column.dtype == pl.Boolean:
        return column.fill_null(False).to_numpy()
    word = column.cast(pl.String).fill_null("").str.strip_chars().str.to_lowercase()
    if (odd := ~word.is_in([*TRUE, *FALSE])).any():
        raise InputError(
            f"{what} must hold yes or no; it holds {first_few(column.filter(odd).unique().sort().to_list())}"
        )
    return word.is_in(TRUE).to_numpy()


def _with_repeats(made: Answers, table: Columns) -> Answers:
    """`repeat_of`, as given or found: the person's latest earlier answer to the same task, where `repeat` marks one."""
    if "repeat_of" in table:
        return replace(made, repeat_of=_whole(table["repeat_of"], f"column 'repeat_of' of {table.where}"))
    if "repeat" not in table:
        return made
    marked = _truth(table["repeat"], f"column 'repeat' of {table.where}")
    time = made.position if made.position is not None else np.arange(len(made))
    sitting = np.zeros(len(made), np.int64) if made.sitting is None else np.unique(made.sitting, return_inverse=True)[1]
    return replace(made, repeat_of=np.where(marked, earlier_answers(made.worker, made.task, sitting, time), -1))
