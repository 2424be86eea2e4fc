"""Build Answers from a DataFrame or file with one row per answer: labels, percentages, excluded labels, ... as entered."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from plurivox.core.answers import LABEL_SEPARATOR, NAMED, NEVER, POSSIBLE, Answers
from plurivox.core.array_types import Ints
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_names, encode
from plurivox.io.repeated_answers import find_previous_answer_in_same_sitting
from plurivox.io.tabular.column_conversion import codes_names_and_notes_of_column, to_seconds
from plurivox.io.tabular.table_files import ANSWER_COLUMNS, Columns
from plurivox.io.votes_from_tables import warn_notes
from plurivox.io.votes_table_layout import find_vote_columns

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
    """Return the Answers in a table with one row per answer: columns `top`, `top_percent`, `second`, `never`, ....

    The columns of tasks and workers are found by their usual names, as in tables of votes. Columns may also have the names
    used in tables of votes (`label`, `prob`, `label2`, `prob2`, `impossible`, `trial`, `batch`, `rt_ms`), and the parameter
    `label` may name the column of the top label. The percentage of the second label is `second_percent`; further labels are
    in `named3`, `named3_percent` and so on. Cells that list several labels separate them with `|`. `missing` is the value, or
    list of values, that means "no label". Numbers are stored as a person would have typed them; a percentage typed without a
    label is stored too. `where` names the table in errors.

    >>> answers({"task": ["a"], "worker": ["w"], "top": ["cat"], "top_percent": ["8p"], "never": ["dog|ship"]})
    <Answers: 1 answer, 1 task, 1 worker, 3 labels>
    """
    roles = find_vote_columns(Columns.from_frame_mapping_or_parquet(data, where), task, worker, None)
    table, task, worker = roles.table, roles.task, roles.worker or worker
    warn_notes(roles.notes)
    top = label or _find_column_name_by_role(table, "top") or "top"
    has_no_top = (
        label is None
        and top not in table
        and any(_find_column_name_by_role(table, role) for role in ("never", "possible"))
    )
    table.check_has_columns({"task": task, "worker": worker, **({} if has_no_top else {"top": top})})
    marks = _frame_with_row_per_entered_label(table, top, _texts_meaning_no_label(missing))
    rest = {name: column for name, column in _optional_answer_columns_by_name(table).items() if column is not None}
    made = Answers.of_marks(
        _names_or_error_if_missing(table[task], "task"),
        _names_or_error_if_missing(table[worker], "worker"),
        answer=marks["answer"].to_numpy(),
        kind=marks["kind"].to_numpy(),
        label=marks["label"].to_list(),
        typed=as_names(marks["typed"].to_list(), "typed values"),
        labels=labels,
        ordered=ordered,
        **rest,
    )
    return _answers_with_repeat_of(made, table)


def _texts_meaning_no_label(missing: Any) -> list[str]:
    """Return the texts that mean "no label" as a list, from the option `missing` (one value or several)."""
    if missing is None:
        return []
    return [str(missing)] if isinstance(missing, str) or not isinstance(missing, Iterable) else [*map(str, missing)]


def _names_or_error_if_missing(column: pl.Series, role: str) -> Any:
    """Return the task (or worker) name of each answer; raise InputError, which names the `role`, if one is missing."""
    codes, names, _ = codes_names_and_notes_of_column(column, role)
    if (codes < 0).any():
        rows = np.flatnonzero(codes < 0) + 1
        raise InputError(
            f"{count_text(len(rows), 'answer has', 'answers have')} no {role} (row {first_few(rows)}); fill the column or drop "
            "those rows"
        )
    return names[codes]


def _find_column_name_by_role(table: Columns, role: str) -> str | None:
    """Return the name of the column with this role (`top`, `second`, `never`, ..., see ANSWER_COLUMNS), or None."""
    return next((name for name in ANSWER_COLUMNS[role] if name in table), None)


def _frame_with_row_per_entered_label(table: Columns, top_column: str, no_label_texts: list[str]) -> pl.DataFrame:
    """Return one row per label entered in an answer: answer, place, kind (named, never, possible), label, typed percentage.

    A place without a label is still a mark if something was typed there or if a later place has a label.
    """
    parts = [
        _frame_of_nth_label_of_each_answer(table, *columns, place)
        for place, columns in enumerate(_label_percent_columns_of_each_place(table, top_column))
    ]
    for role, kind in (("never", NEVER), ("possible", POSSIBLE)):
        if (name := _find_column_name_by_role(table, role)) is not None:
            parts.append(_frame_with_row_per_listed_label(table[name], kind, len(parts)))
    marks = pl.concat(parts).sort("answer", "place", maintain_order=True)
    none = pl.col("label").is_in(["", *no_label_texts])
    marks = marks.with_columns(label=pl.when(~none).then("label"))
    filled = pl.col("label").is_not_null() | ((pl.col("kind") == NAMED) & (pl.col("typed").str.strip_chars() != ""))
    last = pl.when(filled & (pl.col("kind") == NAMED)).then("place").max().over("answer").fill_null(-1)
    return marks.filter(filled | (pl.col("place") < last))


def _label_percent_columns_of_each_place(table: Columns, top_column: str) -> list[tuple[str | None, str | None]]:
    """Return the (label column, percentage column) of the first, second, ... label; None for a column that is absent."""
    first = top_column if top_column in table else None
    places = [
        (first, _find_column_name_by_role(table, "top_percent")),
        (_find_column_name_by_role(table, "second"), _find_column_name_by_role(table, "second_percent")),
    ]
    further = sorted(int(name[5:]) for name in table.names if name.startswith("named") and name[5:].isdigit())
    for number in further:
        percent = f"named{number}_percent"
        places.append((f"named{number}", percent if percent in table else None))
    return [place for place in places if place != (None, None)]


def _frame_of_nth_label_of_each_answer(
    table: Columns, label_column: str | None, percent_column: str | None, place: int
) -> pl.DataFrame:
    """Return a row per answer with its first (second, ...) label and typed percentage; an absent column (None) is empty."""
    n = len(table[label_column or percent_column or ""])
    labels = pl.Series([None] * n, dtype=pl.String) if label_column is None else table[label_column].cast(pl.String)
    typed = (
        pl.Series([""] * n, dtype=pl.String)
        if percent_column is None
        else _percents_to_texts_as_typed(table[percent_column])
    )
    return _frame_of_entered_labels(np.arange(n), place, NAMED, labels, typed)


def _frame_with_row_per_listed_label(label_list_column: pl.Series, kind: int, place: int) -> pl.DataFrame:
    """Return a row per label in a column of label lists such as "cat|dog", or JSON lists if a label contains `|`."""
    text = label_list_column.cast(pl.String).fill_null("")
    lists = text.str.replace_all(r"\s*\|\s*", LABEL_SEPARATOR).str.strip_chars().str.split(LABEL_SEPARATOR)
    if text.str.starts_with("[").any():
        lists = pl.Series([_split_label_list(one) for one in text.to_list()], dtype=pl.List(pl.String))
    long = pl.DataFrame({"answer": np.arange(len(label_list_column)), "label": lists}).explode("label")
    return _frame_of_entered_labels(
        long["answer"].to_numpy(), place, kind, long["label"], pl.Series([""] * len(long), dtype=pl.String)
    )


def _split_label_list(cell_text: str) -> list[str]:
    """Return the labels listed in one cell of a table: "cat|dog", or a JSON list."""
    if cell_text.startswith("["):
        try:
            return [str(one) for one in json.loads(cell_text)]
        except (json.JSONDecodeError, TypeError):  # a label that begins with [ but is not JSON
            return cell_text.split(LABEL_SEPARATOR)
    return [one.strip() for one in cell_text.split(LABEL_SEPARATOR)]


def _frame_of_entered_labels(answer: Ints, place: int, kind: int, label: pl.Series, typed: pl.Series) -> pl.DataFrame:
    """Return a DataFrame of labels entered in answers, with columns answer, place, kind, label, typed."""
    frame = pl.DataFrame(
        {"answer": np.asarray(answer, np.int64), "label": label.alias("label"), "typed": typed.alias("typed")}
    )
    return frame.with_columns(place=pl.lit(place), kind=pl.lit(kind, dtype=pl.UInt8)).select(
        "answer", "place", "kind", "label", "typed"
    )


def _percents_to_texts_as_typed(percent_column: pl.Series) -> pl.Series:
    """Return a column of percentages as text, as a person types them (80.0 becomes "80"); "" if missing."""
    if percent_column.dtype == pl.String:
        return percent_column.fill_null("")
    if percent_column.dtype.is_float():
        percent_column = percent_column.fill_nan(None)
        whole = (percent_column == percent_column.floor()).fill_null(False)
        texts = pl.DataFrame({"n": percent_column, "whole": whole}).select(
            pl.when("whole")
            .then(pl.col("n").cast(pl.Int64, strict=False).cast(pl.String))
            .otherwise(pl.col("n").cast(pl.String))
        )
        return texts.to_series().fill_null("")
    return percent_column.cast(pl.String).fill_null("")


def _optional_answer_columns_by_name(table: Columns) -> dict[str, Any]:
    """Return the optional columns of Answers that the table has: position, slot, sitting, form, when, seconds, abstain, ..."""
    found: dict[str, Any] = {}
    if (name := _find_column_name_by_role(table, "position")) is not None:
        found["position"] = _to_ints_minus_one_if_missing(table[name], f"column {name!r} of {table.where}")
    if "slot" in table:
        found["slot"] = _to_ints_minus_one_if_missing(table["slot"], f"column 'slot' of {table.where}")
    if (name := _find_column_name_by_role(table, "sitting")) is not None:
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
            found[name] = _yes_no_to_booleans(table[name], f"column {name!r} of {table.where}")
    return found


def _to_ints_minus_one_if_missing(column: pl.Series, name_in_errors: str) -> Any:
    """Return a column as whole numbers, -1 if missing; raise InputError for other values."""
    found = column.cast(pl.Int64, strict=False)
    bad = column.filter(found.is_null() & column.is_not_null())
    if len(bad):
        raise InputError(f"{name_in_errors} must contain whole numbers; it contains {bad[0]!r}")
    return found.fill_null(-1).to_numpy()


def _yes_no_to_booleans(column: pl.Series, name_in_errors: str) -> Any:
    """Return a column of yes/no values as booleans, False if missing; raise InputError for other values."""
    if column.dtype == pl.Boolean:
        return column.fill_null(False).to_numpy()
    texts = column.cast(pl.String).fill_null("").str.strip_chars().str.to_lowercase()
    if (odd := ~texts.is_in([*TRUE_TEXTS, *FALSE_TEXTS])).any():
        raise InputError(
            f"{name_in_errors} must contain yes or no; it contains {first_few(column.filter(odd).unique().sort().to_list())}"
        )
    return texts.is_in(TRUE_TEXTS).to_numpy()


def _answers_with_repeat_of(answers: Answers, table: Columns) -> Answers:
    """Return the answers with `repeat_of` (the earlier answer that each repeats), from the column `repeat_of` or `repeat`."""
    if "repeat_of" in table:
        return replace(
            answers, repeat_of=_to_ints_minus_one_if_missing(table["repeat_of"], f"column 'repeat_of' of {table.where}")
        )
    if "repeat" not in table:
        return answers
    marked = _yes_no_to_booleans(table["repeat"], f"column 'repeat' of {table.where}")
    time = answers.position if answers.position is not None else np.arange(len(answers))
    sitting = np.zeros(len(answers), np.int64) if answers.sitting is None else encode(answers.sitting)[0]
    return replace(
        answers,
        repeat_of=np.where(
            marked, find_previous_answer_in_same_sitting(answers.worker, answers.task, sitting, time), -1
        ),
    )
