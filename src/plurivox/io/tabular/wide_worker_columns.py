"""Choose the worker columns of a wide table of votes, and refuse columns whose values cannot be labels."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from plurivox.core.errors import InputError, OptionError, first_few
from plurivox.io.tabular.table_files import Columns
from plurivox.io.tabular.usual_column_names import has_name_of_gold_or_consensus

NAMES_OF_OTHER_COLUMNS = ("gold", "gold_label", "truth", "true_label", "ground_truth", "label", "split")
DIFFERENT = 0.9  # a column with at least this share of different values has values that are nearly all different
OWN = 0.9  # a column whose values occur in no other column, up to this share, shares no labels with the workers
MIN_VALUES, MIN_OWN_VALUES = 3, 5  # a column with fewer values is not refused, or not noted
MANY_VALUES = 20  # a column with so many values is checked even if most of its cells are empty
MAX_SUGGESTED = 12  # worker columns listed in a message


def find_worker_columns(
    table: Columns, task_column: str | None, named: Iterable[object] | None = None
) -> tuple[list[str], list[str]]:
    """Return (worker columns, notes) of a wide table: those named, else all but the task column.

    Without `named`, raise InputError for a column that is not a worker by its name (gold, split, ...) or by its values: nearly
    all different, and not those of the other columns (text, URLs, ids, dates, scores). A column that is named, or for which
    the values prove nothing, gets a note instead.
    """
    given = None if named is None else [str(name) for name in named]
    columns = [name for name in table.names if name != task_column] if given is None else given
    if given is not None:
        _check_named_columns(table, task_column, given)
    else:
        _check_column_names(table, task_column, columns)
    values = {name: _ColumnValues.of_series(table[name]) for name in columns}
    other = _columns_without_common_labels(values)
    refused = [name for name in other if values[name].are_nearly_all_different and values[name].suffice_as_proof]
    if refused and given is None:
        raise _not_workers_error(table, refused, values)
    noted = refused if given is not None else _columns_to_note(other, values)
    return columns, [_own_values_note(noted, values)] if noted else []


@dataclass(frozen=True)
class _ColumnValues:
    """The different values of a column as text, the number of cells that have a value, and the number of rows."""

    distinct: frozenset[str]
    n: int
    n_rows: int

    @classmethod
    def of_series(cls, column: pl.Series) -> "_ColumnValues":
        """Return the values of a column; empty texts are missing values, and 1.0 equals 1."""
        if column.dtype.is_nested():
            return cls(frozenset(), 0, len(column))  # refused with its type when the labels are read
        text = column.cast(pl.String)
        if column.dtype.is_numeric():
            text = column.cast(pl.Float64).cast(pl.String).str.replace(r"\.0$", "")
        known = text.filter(text.is_not_null() & (text.str.strip_chars() != ""))
        return cls(frozenset(known.unique().to_list()), len(known), len(column))

    @property
    def are_nearly_all_different(self) -> bool:
        """Whether hardly any value occurs twice in the column."""
        return self.n > 1 and len(self.distinct) >= DIFFERENT * self.n

    @property
    def suffice_as_proof(self) -> bool:
        """Whether the column has enough values to be refused: not a worker of two tasks, or of a few of many."""
        return self.n >= MANY_VALUES or (self.n >= MIN_VALUES and 2 * self.n >= self.n_rows)


def _columns_without_common_labels(values: Mapping[str, _ColumnValues]) -> list[str]:
    """Return the columns with values of their own: nearly none occurs in another column that may be a worker.

    Labels occur in several columns. If some columns repeat their values, only these count as the others, because the
    values of two columns of text or dates may be the same.
    """
    typical = {name for name, one in values.items() if one.n and not one.are_nearly_all_different} or set(values)
    n_columns = Counter(value for name in typical for value in values[name].distinct)
    own = {
        name: sum(n_columns[value] <= (name in typical) for value in one.distinct)
        for name, one in values.items()
        if one.n
    }
    if len(values) == 1:  # no other column to compare with
        return [name for name in own if values[name].n >= MANY_VALUES and values[name].are_nearly_all_different]
    return [name for name, count in own.items() if count >= OWN * len(values[name].distinct)]


def _columns_to_note(own: list[str], values: Mapping[str, "_ColumnValues"]) -> list[str]:
    """Return which of the columns with values of their own are noted: those with enough values to tell."""
    filled = [name for name, one in values.items() if one.n]
    if len(own) == len(filled):  # no two columns have a label in common
        return own if any(values[name].n >= MIN_OWN_VALUES for name in own) else []
    least = 2 if 3 * len(own) <= len(filled) else MIN_OWN_VALUES  # if most columns share their labels, two values tell
    return [name for name in own if values[name].n >= least]


def _check_named_columns(table: Columns, task_column: str | None, named: list[str]) -> None:
    """Raise an error if the worker columns named are none, not in the table, named twice, or the task column."""
    if not named:
        raise OptionError(
            "the list of worker columns is empty; name at least one: worker=['ann', 'bo'] (--worker ann,bo)"
        )
    if twice := [name for name, n in Counter(named).items() if n > 1]:
        raise OptionError(f"worker columns are named twice: {first_few(twice)}; name each column once")
    if task_column in named:
        raise OptionError(
            f"column {task_column!r} is named as task and as worker; give another task column: task=... (--task)"
        )
    if absent := [name for name in named if name not in table]:
        raise InputError(
            f"missing worker column {first_few(absent)} in {table.where}; "
            f"its columns are {first_few(table.names, MAX_SUGGESTED)}"
        )


def _check_column_names(table: Columns, task_column: str | None, columns: list[str]) -> None:
    """Raise InputError if a wide table has no worker columns, has columns named gold, truth, ..., or is a long table."""
    if not columns:
        raise InputError(f"{table.where} has no column besides {task_column!r}; a wide table has one column per worker")
    if {"worker", "label"} <= set(columns):
        raise InputError(
            f"{table.where} has the columns 'worker' and 'label', so it has one row per vote: leave out wide=True (--wide); "
            f"if these are workers, name all of them: {worker_option_text(columns)}"
        )
    if found := [name for name in columns if _has_name_of_other_column(name)]:
        rest = _that_may_be_workers(table, [name for name in columns if name not in found])
        raise InputError(
            f"{_columns_text(found)} of {table.where} would be read as {'a worker' if len(found) == 1 else 'workers'}; "
            f"name the worker columns: {worker_option_text(rest)}"
        )


def _has_name_of_other_column(name: str) -> bool:
    """Return whether a column is by its name no worker: gold, a consensus, a split."""
    return name.lower().replace(" ", "_") in NAMES_OF_OTHER_COLUMNS or has_name_of_gold_or_consensus(name)


def _that_may_be_workers(table: Columns, names: list[str]) -> list[str]:
    """Return the columns without those that share no values with another, such as remarks."""
    values = {name: _ColumnValues.of_series(table[name]) for name in names}
    other = _columns_without_common_labels(values)
    rest = [name for name in names if name not in other]
    return rest if len(rest) > 1 else names


def _not_workers_error(table: Columns, refused: list[str], values: Mapping[str, _ColumnValues]) -> InputError:
    """Return the error for columns of a wide table whose values are nearly all different."""
    first = values[refused[0]]
    what = f"{len(first.distinct):,} of the {first.n:,} values of {refused[0]!r} are different, such as {min(first.distinct)!r}"
    rest = [name for name in values if name not in refused]
    advice = (
        f"name the worker columns: {worker_option_text(rest)}, or the task column: task=... (--task COLUMN)"
        if rest
        else "a label must occur more than once: round scores to a few values, and name the worker columns: "
        "worker=[...] (--worker a,b)"
    )
    kind = "a worker" if len(refused) == 1 else "workers"
    return InputError(f"{_columns_text(refused)} of {table.where} cannot be {kind}: {what}; {advice}")


def _own_values_note(noted: list[str], values: Mapping[str, _ColumnValues]) -> str:
    """Return the note on columns read as workers whose values nearly no other column has."""
    example = min(values[noted[0]].distinct)
    rest = [name for name in values if name not in noted]
    read = "is read as a worker" if len(noted) == 1 else "are read as workers"
    return (
        f"{_columns_text(noted)} {read}, but the values, such as {example!r}, occur in nearly no other column; "
        f"if they are not labels, name only the worker columns: {worker_option_text(rest)}"
    )


def _columns_text(names: list[str]) -> str:
    """Return "column 'a'" or "the columns 'a', 'b'" for messages."""
    return f"column {names[0]!r}" if len(names) == 1 else f"the columns {first_few(names)}"


def worker_option_text(names: list[str]) -> str:
    """Return how to name worker columns in Python and on the command line.

    >>> worker_option_text(["ann", "bo"])
    "worker=['ann', 'bo'] (--worker ann,bo)"
    """
    if not names or len(names) > MAX_SUGGESTED:
        return "worker=[...] (--worker a,b,...)"
    words = ",".join(f'"{name}"' if "," in name or '"' in name else name for name in names)
    return f"worker={names} (--worker {words if ' ' not in words and chr(34) not in words else repr(words)})"
