"""Match rows of inputs with tasks by name: names beside the rows, the index of a DataFrame, or a mapping; never by order."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from plurivox.core.array_types import Ints, Names
from plurivox.core.errors import InputError, first_few, warn_user
from plurivox.core.name_encoding import as_names, duplicates, positions

HOW_TO_NAME_ROWS = (
    "give the task of each row: tasks=[...], a DataFrame whose index names the tasks (or tasks='COLUMN' of it), or a "
    "mapping {task: row}"
)


class NamedRows(NamedTuple):
    """Rows of inputs, and the task of each row if it is known."""

    rows: Any  # an array, tensor, sparse matrix or DataFrame of n rows
    tasks: Names | None  # (n,) None: the rows have no names


def rows_with_task_names(x: Any, tasks: Iterable[object] | str | None = None, what: str = "x") -> NamedRows:
    """Return the rows of x with the names of their tasks; InputError if these are not one per row, or not unique.

    The names are `tasks`, the column `tasks` of a DataFrame (which is then no input), the keys of a mapping {task: row}, or the
    index of a DataFrame. The default index 0, 1, 2, ... of a DataFrame names nothing, because it is the same for any order.
    """
    rows, names = x, None
    if isinstance(x, Mapping) and not hasattr(x, "shape"):  # a sparse matrix of scipy may be a mapping too
        if tasks is not None:
            raise InputError(f"{what} is a mapping, which names the task of each row; leave `tasks` out")
        rows, names = _stack_rows_of_equal_length(x, what), as_names(list(x), "tasks")
    elif isinstance(tasks, str):
        rows, names = _frame_without_column_and_column(x, tasks, what)
    elif tasks is not None:
        names = as_names(tasks if isinstance(tasks, np.ndarray) else list(tasks), "tasks")
    elif _is_pandas(x) and not _is_default_index(x.index):
        names = as_names(list(x.index), f"index of {what}")
    rows = rows if hasattr(rows, "shape") else np.asarray(rows)
    if names is not None:
        _check_one_unique_name_per_row(names, rows, what)
    return NamedRows(rows, names)


def select_rows_of_tasks(
    x: Any,
    wanted: Names,
    tasks: Iterable[object] | str | None = None,
    *,
    owner: str,
    all_tasks: Names,
    what: str = "x",
    how_to_name_rows: str = HOW_TO_NAME_ROWS,
) -> tuple[Any, Ints, NamedRows]:
    """Return the rows of the wanted tasks in their order, their row numbers in x, and all rows; warn about rows left out.

    Rows are matched by name. Rows without names are those of `all_tasks` in order only if these are called 0, 1, 2, ...; else
    InputError, because names are sorted and rows may be in any order. InputError too if a wanted task has no row. `owner` is
    what has the tasks ("votes"), `what` the rows, and `how_to_name_rows` advice, for the messages.
    """
    given = rows_with_task_names(x, tasks, what)
    if given.tasks is None:
        _check_row_numbers_are_task_names(given.rows, all_tasks, owner, what, how_to_name_rows)
        given = NamedRows(given.rows, all_tasks)
    assert given.tasks is not None
    place = positions(given.tasks, wanted)
    if len(absent := wanted[place < 0]):
        raise InputError(
            f"{len(absent)} of {len(wanted)} tasks of the {owner} have no row in {what}: {first_few(absent)}; its rows are "
            f"those of {first_few(given.tasks)}. Give the missing rows, or only the {owner} of these tasks: .on(tasks)"
        )
    if len(others := np.delete(given.tasks, place)):
        warn_user(
            f"{len(others)} of {len(given.tasks)} rows of {what} are left out, because their tasks are not in the {owner}: "
            f"{first_few(others)}"
        )
    return take_rows(given.rows, place), place, given


def _check_row_numbers_are_task_names(rows: Any, tasks: Names, owner: str, what: str, how_to_name_rows: str) -> None:
    """Raise InputError unless the tasks are called 0, 1, 2, ... in order and there is one row for each."""
    if tasks.dtype.kind != "i" or not bool((tasks == np.arange(len(tasks))).all()):
        raise InputError(
            f"the order of the rows of {what} cannot be known: they have no names, and the tasks of the {owner} are called "
            f"{first_few(tasks)}; {how_to_name_rows}"
        )
    if n_rows(rows) != len(tasks):
        raise InputError(
            f"{what} has {n_rows(rows)} rows without names for {len(tasks)} tasks of the {owner}; {how_to_name_rows}"
        )


def take_rows(rows: Any, numbers: Ints) -> Any:
    """Return the rows with these numbers, in this order, of an array, tensor, sparse matrix or DataFrame."""
    if len(numbers) == n_rows(rows) and bool((numbers == np.arange(len(numbers))).all()):
        return rows
    return rows.iloc[numbers] if _is_pandas(rows) else rows[numbers]


def n_rows(rows: Any) -> int:
    """Return the number of rows of an array, tensor, sparse matrix or DataFrame."""
    return int(rows.shape[0])


def weights_by_row(weight: Any, given: NamedRows) -> Any:
    """Return the weights of the rows: one per row, or by task if they are a mapping or a Series with an index of names.

    InputError if a row has no weight, if a mapping of weights meets rows without names, or if rows with names do not have one
    weight each.
    """
    if isinstance(weight, Mapping):
        names, values = as_names(list(weight), "tasks of the weights"), np.array(list(weight.values()))
        if given.tasks is None:
            raise InputError(f"the weights have task names, but the rows have none; {HOW_TO_NAME_ROWS}")
    elif _is_pandas(weight) and not _is_default_index(weight.index) and given.tasks is not None:
        names, values = as_names(list(weight.index), "index of the weights"), np.asarray(weight)
    else:
        if weight is not None and given.tasks is not None and np.shape(weight) != (len(given.tasks),):
            raise InputError(
                f"the weights have the shape {np.shape(weight)} for {len(given.tasks)} rows; give one weight per row, or "
                "{task: weight}"
            )
        return weight
    assert given.tasks is not None
    place = positions(names, given.tasks)
    if len(absent := given.tasks[place < 0]):
        raise InputError(f"{len(absent)} of {len(place)} tasks have no weight: {first_few(absent)}")
    return values[place]


def check_same_index(x: Any, y: Any, what: str = "y") -> None:
    """Raise InputError if x and y (`what`) are DataFrames or Series whose indices name their rows in different orders."""
    if not (_is_pandas(x) and _is_pandas(y)) or _is_default_index(x.index) or _is_default_index(y.index):
        return
    if len(x.index) == len(y.index) and list(x.index) != list(y.index):
        raise InputError(
            f"the rows of X and {what} have different names: X begins with {first_few(x.index)}, {what} with "
            f"{first_few(y.index)}; put them into the same order, {what}.loc[X.index]"
        )


def _stack_rows_of_equal_length(rows_by_task: Mapping[Any, Any], what: str) -> Any:
    """Return the rows of a mapping {task: row} as one array; InputError if there are none or if they differ in shape."""
    shapes = {np.shape(row) for row in rows_by_task.values()}
    if len(shapes) != 1:
        raise InputError(f"{what} needs rows of one shape; it has {first_few(sorted(shapes)) or 'no row'}")
    return np.stack([np.asarray(row) for row in rows_by_task.values()])


def _frame_without_column_and_column(frame: Any, column: str, what: str) -> tuple[Any, Names]:
    """Return (the DataFrame without a column, the names in this column); InputError if there is no such column."""
    columns = list(getattr(frame, "columns", ()))
    if not columns:
        raise InputError(f"tasks={column!r} names a column, but {what} is not a DataFrame; {HOW_TO_NAME_ROWS}")
    if column not in columns:
        raise InputError(f"{what} has no column {column!r} of task names; its columns are {first_few(columns, 6)}")
    rest = frame.drop(columns=[column]) if _is_pandas(frame) else frame.drop(column)
    return rest, as_names(list(frame[column]), f"column {column!r} of {what}")


def _check_one_unique_name_per_row(names: Names, rows: Any, what: str) -> None:
    """Raise InputError if there is not one name per row, or if two rows have the same name."""
    if len(names) != n_rows(rows):
        raise InputError(
            f"there are {n_rows(rows)} rows in {what} for {len(names)} tasks; give the task of each row in `tasks`"
        )
    if len(twice := duplicates(names)):
        raise InputError(f"the rows of {what} name tasks twice: {first_few(twice)}; keep one row per task")


def _is_pandas(table: Any) -> bool:
    """Return whether a value is a pandas DataFrame or Series; pandas itself is not imported."""
    return hasattr(table, "iloc") and hasattr(table, "index")


def _is_default_index(index: Any) -> bool:
    """Return whether an index numbers the rows 0, 1, 2, ..., as any new DataFrame does."""
    return index.dtype.kind == "i" and bool((np.asarray(index) == np.arange(len(index))).all())
