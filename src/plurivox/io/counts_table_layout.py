"""Recognise a table of counts, one row per task and one column per label, by the names and numbers of its columns."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from plurivox.core.errors import first_few
from plurivox.io.tabular.column_roles import find_column
from plurivox.io.tabular.table_files import Columns
from plurivox.io.tabular.usual_column_names import bare_name, has_name_of_numbered_worker, has_usual_name
from plurivox.io.tabular.wide_table_recognition import id_column_of_wide_table

COUNT_NAME = re.compile(  # n_cat, numCat, votes for cat; cat_count, cat votes
    r"(?P<before>(n|nb|num|count|counts|votes?|number of|number_of|votes for|votes_for)([ _.-]+|(?=[A-Z]))|# *)(?P<label>.+)"
    r"|(?P<name>.+?)(?P<after>[ _.-]+(n|num|counts?|votes?)|(Counts?|Votes?))"
)
TOTALS = frozenset(
    (
        *("total", "ntotal", "numtotal", "totalcount", "totalvotes", "counttotal", "votestotal", "n", "sum", "all"),
        *("nall", "nvotes", "numvotes", "votes", "count", "ncount", "nlabels", "nanswers", "nannotations"),
        *("nannotators", "numannotators", "nraters", "nworkers", "numworkers", "ncoders", "njudgments", "nratings"),
    )
)
NAME_OF_COUNTS = re.compile(r"(^|[\W_])counts?$", re.IGNORECASE)
NOT_LABELS = frozenset(  # of what columns such as n_words and like_count are counts
    (
        *("word", "words", "char", "chars", "character", "characters", "token", "tokens", "sentence", "sentences"),
        *("line", "lines", "letter", "letters", "page", "pages", "view", "views", "like", "likes", "reply", "replies"),
        *("retweet", "retweets", "quote", "quotes", "share", "shares", "comment", "comments", "follower", "followers"),
        *(
            "friend",
            "friends",
            "click",
            "clicks",
            "url",
            "urls",
            "hashtag",
            "hashtags",
            "emoji",
            "emojis",
            "day",
            "days",
        ),
    )
)
MIN_ROWS = 4  # so many rows with equal sums are not there by coincidence
MIN_VOTES = 2


@dataclass(frozen=True)
class CountColumns:
    """The task column of a table of counts, {label: its column}, its column of gold labels, and notes on how it was read."""

    task: str
    column_by_label: Mapping[str, str]
    gold: str | None = None
    notes: tuple[str, ...] = ()


def find_count_columns(table: Columns, task: str | None = None) -> CountColumns | None:
    """Return the columns of a table that is clearly one of counts, else None; `task` is the task column if it is known.

    It is clear if columns of whole numbers are called n_cat, n_dog, ..., or cat_count, dog_votes, ...; the labels are then
    without the part in common. Or if all columns of numbers are whole with the same sum in every row. A column of totals is not
    read. A table with a column of workers is not one of counts, nor one with a column of other labels.

    >>> table = Columns.from_frame_mapping_or_parquet({"image": ["a"], "n_cat": [3], "n_dog": [1]})
    >>> find_count_columns(table).column_by_label
    {'cat': 'n_cat', 'dog': 'n_dog'}
    """
    task = task or find_task_column(table)
    others = [name for name in table.names if name != task]
    if task is None or task not in table or any(has_usual_name(name, "worker") for name in others):
        return None
    if sum(map(has_name_of_numbered_worker, others)) >= 2:
        return None
    numbers = {name: one for name in others if (one := _whole_numbers_or_none(table[name])) is not None}
    totals = [name for name in numbers if bare_name(name) in TOTALS]
    rest = [name for name in numbers if name not in totals]
    found = _labels_with_common_word(rest)
    if not found and rest and _have_equal_sums([numbers[name] for name in rest]):
        found = {name: name for name in rest}
    if len(found) < 2 or any(bare_name(label) in NOT_LABELS for label in found):
        return None
    if "label" in others and not set(table["label"].drop_nulls().cast(pl.String).to_list()) <= set(found):
        return None
    golds = [name for name in others if has_usual_name(name, "gold") and name not in found.values()]
    gold = golds[0] if len(golds) == 1 else None
    unread = [name for name in others if name not in (*found.values(), gold)]
    note = (
        f"read as counts of votes: {task!r} is the task, the columns {first_few(found.values(), 5)} say how many people chose "
        f"the labels {first_few(found, 5)}{f', not read: {first_few(unread)}' if unread else ''}; if the columns are workers: "
        "wide=True (--wide)"
    )
    return CountColumns(task, found, gold, (note,))


def find_task_column(table: Columns) -> str | None:
    """Return the task column of a table with one row per task: by its name, an id with different values rather than a text."""
    task = find_column(table, "task")
    return task if task is None else id_column_of_wide_table(table, task) or task


def is_named_counts(table_name: str) -> bool:
    """Return whether the name of a table says that it has counts.

    >>> is_named_counts("counts"), is_named_counts("zoo_Counts"), is_named_counts("accounts")
    (True, True, False)
    """
    return NAME_OF_COUNTS.search(table_name) is not None


def has_only_numbers_besides_task(table: Columns, task: str) -> bool:
    """Return whether a table has a task column and otherwise numbers, which are not those of numbered workers."""
    others = [name for name in table.names if name != task]
    if task not in table or not others or "label" in others or find_column(table, "worker", [task]):
        return False
    if all(map(has_name_of_numbered_worker, others)) or sum(map(has_name_of_numbered_worker, others)) >= 2:
        return False
    return all(table[one].cast(pl.Float64, strict=False).null_count() == table[one].null_count() for one in others)


def _whole_numbers_or_none(column: pl.Series) -> np.ndarray | None:
    """Return a column of whole numbers of 0 or more, 0 if missing; None if it has other values, or none."""
    if column.dtype.is_nested() or isinstance(column.dtype, pl.Boolean) or column.null_count() == len(column):
        return None
    numbers = column.cast(pl.Float64, strict=False)
    if numbers.null_count() > column.null_count():
        return None
    found = numbers.fill_null(0).to_numpy()
    return found if bool(np.isfinite(found).all() and (found >= 0).all() and (found == np.floor(found)).all()) else None


def _labels_with_common_word(names: list[str]) -> dict[str, str]:
    """Return {label: column} of the columns whose names have the same word before or after the label; {} if none or several.

    >>> _labels_with_common_word(["n_cat", "n_dog", "width"]), _labels_with_common_word(["catCount", "dogCount"])
    ({'cat': 'n_cat', 'dog': 'n_dog'}, {'cat': 'catCount', 'dog': 'dogCount'})
    """
    groups: dict[tuple[str, str], dict[str, str]] = {}
    for name in names:
        if (parts := COUNT_NAME.fullmatch(name.strip())) is not None:
            words = parts["before"] or "", parts["after"] or ""
            groups.setdefault(words, {})[parts["label"] or parts["name"]] = name
    several = [found for found in groups.values() if len(found) > 1]
    return several[0] if len(several) == 1 else {}


def _have_equal_sums(columns: list[np.ndarray]) -> bool:
    """Return whether all rows have the same sum, as if each task had as many votes: not ranks, which are never 0."""
    table = np.stack(columns, 1)
    sums = table.sum(1)
    if len(sums) < MIN_ROWS or len(columns) < 2 or sums[0] < MIN_VOTES or (sums != sums[0]).any():
        return False
    ranks = np.sort(table, 1)
    return bool((table == 0).any() and (ranks != ranks[0]).any())
