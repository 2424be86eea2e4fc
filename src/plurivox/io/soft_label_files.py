"""Read and write soft labels: wide and long tables, hard labels, `.npy` matrices, and `.npz`."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.atomic_write import atomic_file
from plurivox.core.count_text import count_text
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, first_few, warn_user
from plurivox.core.name_encoding import as_names, encode, positions, sort_distinct_names_by_value
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.soft_rows_dense_sparse import SUM_TOLERANCE, Candidates
from plurivox.io.gold_column_of_votes_table import task_and_gold_column_of_votes
from plurivox.io.tabular.column_conversion import to_floats_nan_if_missing, to_names_or_error_if_missing
from plurivox.io.tabular.column_roles import find_column, find_gold_label_column, note_on_columns_found
from plurivox.io.tabular.columns_of_lists import without_columns_of_lists
from plurivox.io.tabular.table_file_names import file_suffix
from plurivox.io.tabular.table_files import Columns, read_table, write_table
from plurivox.io.votes_table_layout import find_vote_columns

PROB_PREFIX = "p:"
ESTIMATES = "estimates"  # column with the same word in every row: truth or people, what the soft labels estimate
ROUNDING_TOLERANCE = 5e-3  # rows whose sum is this close to 1 are rounded numbers and are normalised, with a note
MIN_REST = 1e-9  # less probability than this is not spread over the labels that a task does not list


def write_soft(soft: SoftLabels, path: str | Path) -> None:
    """Write soft labels to a table, `.npy` or `.npz`, by the file name extension; an error leaves no partial file.

    A table has `task, label, confidence` and one `p:<label>` column per label, up to 64 labels; beyond that it is long:
    `task, label, p`. If it is known what the soft labels estimate, the column `estimates` has `truth` or `people` in every row.
    `.npy` is the (n_tasks, n_labels) matrix in task order, without names; `.npz` stores everything.
    """
    suffix = file_suffix(path)
    if suffix == ".npz":
        soft.save(path)
    elif suffix == ".npy":
        prob = soft.prob
        with atomic_file(path) as part, part.open("wb") as file:
            np.save(file, prob, allow_pickle=False)
    else:
        columns = soft.columns()
        columns = columns if "p" not in columns else _add_first_task_rows_for_absent_labels(soft, columns)
        write_table(_add_column_estimates_if_known(columns, soft.estimates), path)


def read_soft(path: str | Path) -> SoftLabels:
    """Return the soft labels in a file: written by `write_soft`, a wide table with one column per label, or hard labels.

    The columns of tasks and labels are found by their usual names (`image`, `item_id`, ...; `gold`, `truth`, `class`, ...).
    Names have the type they have in the file; in CSV they are text. What was dropped or normalised is in `notes`. The column
    `estimates` says what the soft labels estimate; without it that is unknown. An `.npy` file is read if it lies in a peerannot
    folder, whose `answers.json` numbers the tasks.
    """
    suffix = file_suffix(path)
    if (found := _labels_of_other_program_or_none(path, suffix)) is not None:
        return found
    if suffix == ".npy":
        raise InputError(
            f"{path} contains no task and label names; "
            "load it with numpy and give the names: SoftLabels.of(prob, tasks, labels)"
        )
    if suffix == ".npz":
        saved = DataType.load(path)
        if isinstance(saved, Fit):
            return saved.soft
        if isinstance(saved, SoftLabels):
            return saved
        raise InputError(f"{path} contains {type(saved).__name__}; soft labels need SoftLabels or a Fit")
    return soft_from_frame(read_table(path), path)


def _labels_of_other_program_or_none(path: str | Path, suffix: str) -> SoftLabels | None:
    """Return the labels in a file of peerannot's folder `labels`, or for Hugging Face `datasets`; None for another file."""
    from plurivox.io.formats import huggingface_soft_labels, peerannot  # which import this module's siblings

    if suffix == ".npy" and Path(path).is_file():
        return peerannot.read_labels_or_none(path)
    return huggingface_soft_labels.read_soft_labels_or_none(path) if suffix == ".parquet" else None


def soft_from_frame(table: pl.DataFrame | Columns, path: str | Path) -> SoftLabels:
    """Return the soft labels in a table of any layout that `read_soft` knows; `path` is used in errors.

    The columns of tasks and of gold labels are found by their usual names, with a warning that says which.
    """
    given = without_columns_of_lists(
        Columns.from_frame_mapping_or_parquet(table, str(path), is_untyped=isinstance(table, pl.DataFrame))
    )
    frame, notes = _with_columns_task_and_label(given, path)
    if set(frame.columns) & {"label", "p"} == {"label"} and not any(
        one.startswith(PROB_PREFIX) for one in frame.columns
    ):
        frame = _with_whole_numbers_without_decimals(frame)
    for note in notes:
        warn_user(f"{path}: {note}")
    return _soft_from_named_columns(frame, path)


def _with_whole_numbers_without_decimals(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table of hard labels in which texts 1.0, 2.0, ... are 1, 2, ..., if all of a column are."""
    texts = [name for name in ("task", "label") if frame[name].dtype == pl.String]
    whole = [name for name in texts if bool(frame[name].drop_nulls().str.contains(r"^-?\d+\.0$").all())]
    return frame.with_columns(pl.col(whole).str.strip_suffix(".0")) if whole else frame


def _with_columns_task_and_label(table: Columns, path: str | Path) -> tuple[pl.DataFrame, list[str]]:
    """Return a table of labels as a DataFrame with the columns task and label, and a note if they were called otherwise.

    A table of votes with a column of gold labels gives one row per task. Raise InputError if there is no column of tasks.
    """
    roles = find_vote_columns(table, "task", None, None)
    table, task = roles.table, roles.task
    if task not in table:
        task = _column_of_tasks_beside_labels(table, path)
    has_shares = _has_columns_of_shares(table, task)
    if not has_shares and (of_votes := task_and_gold_column_of_votes(table)) is not None:
        task, gold = of_votes
        if gold is not None:
            frame = pl.DataFrame({"task": table[task], "label": table[gold]}).unique(maintain_order=True)
            return frame, note_on_columns_found({"task": task, "gold label": gold}, options=False)
        if find_column(table, "worker", [task]) is None or table[task].n_unique() < len(table[task]):
            raise InputError(
                f"{path} has votes and no gold labels: none of its columns is called gold, truth, consensus, adjudicated, ...; "
                "rename the column, or give {task: label} or a table with the columns task and label"
            )
    label = None if has_shares else find_gold_label_column(table, task)
    label = label or _only_column_beside_task_or_none(table, task)
    frame = pl.DataFrame({name: table[name] for name in table.names})
    frame = frame.rename(
        {old: new for old, new in ((task, "task"), (label, "label")) if old is not None and old != new}
    )
    names = {"task": task} | ({} if label is None else {"label": label})
    return frame, note_on_columns_found(names, options=False)


def _column_of_tasks_beside_labels(table: Columns, path: str | Path) -> str:
    """Return the column of tasks in a table of two columns: its values are all different, and those of the other repeat.

    Raise InputError for another table.
    """
    different = [name for name in table.names if table[name].n_unique() == len(table[name])]
    if len(table.names) == 2 and len(different) == 1:
        return different[0]
    raise InputError(
        f"missing column 'task' in {path}; its columns are {first_few(table.names, 9)}; "
        "a table of labels has task and label, or task and one column per label: rename the columns"
    )


def _only_column_beside_task_or_none(table: Columns, task: str) -> str | None:
    """Return the column of labels in a table of tasks and one other column, whatever its name; None for a column of ones.

    Such a column gives a probability to the only label, which is its name.
    """
    rest = [name for name in table.names if name != task]
    if len(rest) != 1 or rest[0].startswith(PROB_PREFIX):
        return None
    numbers = (
        table[rest[0]].cast(pl.Float64, strict=False) if not table[rest[0]].dtype.is_nested() else pl.Series([0.0])
    )
    return None if len(numbers) and (numbers == 1).all() and not numbers.null_count() else rest[0]


def _has_columns_of_shares(table: Columns, task: str) -> bool:
    """Return whether a table has a column of probabilities per label: columns `p:<label>`, or numbers that sum to one."""
    names = [name for name in table.names if name not in (task, "n", ESTIMATES)]
    if "label" in names:
        return False
    if any(name.startswith(PROB_PREFIX) for name in names):
        return True
    numbers = [table[name].cast(pl.Float64, strict=False) for name in names if not table[name].dtype.is_nested()]
    if len(numbers) < len(names) or len(numbers) < 2 or any(one.null_count() for one in numbers):
        return False
    return bool((np.abs(np.sum([one.to_numpy() for one in numbers], 0) - 1) <= ROUNDING_TOLERANCE).all())


def _soft_from_named_columns(frame: pl.DataFrame, path: str | Path) -> SoftLabels:
    """Return the soft labels in a table with the column task, and label or columns of numbers."""
    estimates = _what_table_says_it_estimates_or_none(frame, path)
    if estimates is not None:
        return replace(_soft_from_named_columns(frame.drop(ESTIMATES), path), estimates=estimates)
    names = frame.columns
    if any(name.startswith(PROB_PREFIX) for name in names):
        read = _soft_from_prefixed_columns
    elif "label" in names:
        read = _soft_from_long_table if "p" in names else _soft_from_hard_labels
    else:
        read = _soft_from_wide_table
    try:
        return read(frame, path)
    except InputError as cause:
        raise cause if str(path) in str(cause) else InputError(f"{path}: {cause}") from None


def _add_column_estimates_if_known(columns: dict[str, NDArray[Any]], estimates: Estimand) -> dict[str, NDArray[Any]]:
    """Return the columns of a table of soft labels with the column `estimates` before the first `p:<label>`, if it is known."""
    if estimates == "unknown":
        return columns
    n_first = next((i for i, name in enumerate(columns) if name.startswith(PROB_PREFIX)), len(columns))
    named = list(columns.items())
    return dict([*named[:n_first], (ESTIMATES, as_names([estimates]).repeat(len(columns["task"]))), *named[n_first:]])


def _what_table_says_it_estimates_or_none(frame: pl.DataFrame, path: str | Path) -> Estimand | None:
    """Return the word in the column `estimates` (unknown if it is empty); None if the table has no such column.

    A column of this name with other words or with numbers is a column like any other, such as a label. Raise InputError if the
    table contains both truth and people.
    """
    if ESTIMATES not in frame.columns or frame[ESTIMATES].dtype not in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        return None
    words = {word or "unknown" for word in frame[ESTIMATES].cast(pl.String).unique().to_list()}
    known = words - {"unknown"}
    if not known <= {*get_args(Estimand)}:
        return None
    if len(known) > 1:
        raise InputError(
            f"column {ESTIMATES!r} of {path} contains both truth (the probability that a label is right) and people (that a "
            "person gives it); write them to two tables"
        )
    if known and len(words) > 1:
        raise InputError(
            f"column {ESTIMATES!r} of {path} is empty or unknown in some rows; write {known.pop()} in all rows"
        )
    return "unknown" if not known else "truth" if known == {"truth"} else "people"


def _add_first_task_rows_for_absent_labels(
    soft: SoftLabels, columns: dict[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Return the columns of a long table of soft labels, with a row added for each label that no row lists."""
    listed = positions(soft.labels, encode(columns["label"])[1])
    absent = np.setdiff1d(np.arange(soft.n_labels), listed)
    if not len(soft) or not len(absent):
        return columns
    first = soft.body.dense_block(slice(0, 1))[0]
    extra = {"task": soft.tasks[np.zeros(len(absent), int)], "label": soft.labels[absent], "p": first[absent]}
    return {name: np.concatenate([column, extra[name]]) for name, column in columns.items()}


# ---- table layouts


def _soft_from_prefixed_columns(frame: pl.DataFrame, path: str | Path) -> SoftLabels:
    """Return soft labels from a table with columns `p:<label>`."""
    columns = [name for name in frame.columns if name.startswith(PROB_PREFIX)]
    others = [name for name in frame.columns if name not in columns and name not in ("task", "label", "confidence")]
    texts = [name.removeprefix(PROB_PREFIX) for name in columns]
    kind = frame["label"].dtype if "label" in frame.columns else pl.String()
    labels = _parse_label_texts(texts, kind, path)
    return _soft_from_label_columns(frame, columns, labels, _unread_columns_note(others), path)


def _soft_from_wide_table(frame: pl.DataFrame, path: str | Path) -> SoftLabels:
    """Return soft labels from a table with `task`, one column per label, and optionally `n`, the number of answers."""
    columns = [name for name in frame.columns if name != "task"]
    if not columns:
        raise InputError(f"{path} has no column besides 'task'; soft labels need one column of numbers per label")
    if "n" in columns and len(columns) > 2:
        rest = [name for name in columns if name != "n"]
        sums = sum(to_floats_nan_if_missing(frame[name], path) for name in rest)
        if bool((np.abs(sums - 1) <= ROUNDING_TOLERANCE).all()):
            return _soft_from_label_columns(
                frame, rest, as_names(rest), (), path, support=to_floats_nan_if_missing(frame["n"], path)
            )
    return _soft_from_label_columns(frame, columns, as_names(columns), (), path)


def _soft_from_label_columns(
    frame: pl.DataFrame,
    columns: list[str],
    labels: Names,
    notes: tuple[str, ...],
    path: str | Path,
    support: Floats | None = None,
) -> SoftLabels:
    """Return soft labels from one column of probabilities per label; raise InputError if a number is missing."""
    tasks = to_names_or_error_if_missing(frame["task"], path)
    prob = np.column_stack([to_floats_nan_if_missing(frame[name], path) for name in columns])  # (n_tasks, n_labels)
    empty = np.isnan(prob).any(1)
    if empty.any():
        raise InputError(
            f"missing numbers in {path} for {int(empty.sum())} tasks: {first_few(tasks[empty])}; write 0 or drop the rows"
        )
    sums = prob.sum(1)
    scale, rounding_note = _divisors_of_rounded_rows_and_note(sums)
    return SoftLabels.of(prob / scale[:, None], tasks, labels, support=support, notes=notes + rounding_note)


def _soft_from_long_table(frame: pl.DataFrame, path: str | Path) -> SoftLabels:
    """Return soft labels from a long table `task, label, p`; the mass missing to 1 is spread over the labels not listed."""
    task, tasks = _encode_by_first_occurrence(to_names_or_error_if_missing(frame["task"], path))
    complete = (frame["label"].is_not_null() & frame["p"].is_not_null()).to_numpy()
    full = frame.filter(pl.Series(complete))
    codes, found = encode(to_names_or_error_if_missing(full["label"], path), "labels")
    labels = sort_distinct_names_by_value(found)
    label = positions(labels, found)[codes] if len(codes) else codes
    row, mass = task[complete], to_floats_nan_if_missing(full["p"], path)
    order = np.lexsort((label, row))
    row, label, mass = row[order], label[order], mass[order]
    same = (row[1:] == row[:-1]) & (label[1:] == label[:-1])
    if same.any():
        raise InputError(
            f"{path} lists a label twice for the tasks {first_few(tasks[row[1:][same]])}; keep one row per task and label"
        )
    start = np.searchsorted(row, np.arange(len(tasks) + 1))
    sums = np.bincount(row, mass, minlength=len(tasks))
    # tasks without unlisted labels, or without probability left for them
    whole = (np.diff(start) == len(labels)) | (sums > 1)
    scale, rounding_note = _divisors_of_rounded_rows_and_note(np.where(whole, sums, 1.0))
    rest = np.where(whole | (1 - sums <= MIN_REST), 0.0, 1 - sums)
    body = Candidates(start, label, mass / scale[row], rest, len(labels))
    dropped = len(complete) - int(complete.sum())
    notes = (f"{count_text(dropped, 'row was', 'rows were')} dropped: without a label or its share",) if dropped else ()
    others = [name for name in frame.columns if name not in ("task", "label", "p")]
    return SoftLabels(body, tasks, labels, notes=notes + rounding_note + _unread_columns_note(others))


def _soft_from_hard_labels(frame: pl.DataFrame, path: str | Path) -> SoftLabels:
    """Return hard labels from a table `task, label`; tasks without a label are dropped and counted in `notes`."""
    labelled = frame.filter(frame["label"].is_not_null())
    tasks = to_names_or_error_if_missing(labelled["task"], path)
    codes, found = encode(to_names_or_error_if_missing(labelled["label"], path), "labels")
    labels = sort_distinct_names_by_value(found)
    place = positions(labels, found)[codes] if len(codes) else codes
    dropped = frame.height - labelled.height
    notes = (f"{count_text(dropped, 'task was', 'tasks were')} dropped: no label",) if dropped else ()
    others = [name for name in frame.columns if name not in ("task", "label")]
    return SoftLabels.one_hot(place, tasks, labels, notes=notes + _unread_columns_note(others))


# ---- helpers


def _divisors_of_rounded_rows_and_note(row_sums: Floats) -> tuple[Floats, tuple[str, ...]]:
    """Return (n_rows,) the sum of each row that is 1 up to rounding, else 1, and a note on how many rows were rounded."""
    off = np.abs(row_sums - 1)
    rounded = (off > SUM_TOLERANCE) & (off <= ROUNDING_TOLERANCE)
    note = (
        (
            f"{count_text(rounded.sum(), 'row of rounded numbers was', 'rows of rounded numbers were')} divided by the sum",
        )
        if rounded.any()
        else ()
    )
    return np.where(rounded, row_sums, 1.0), note


def _parse_label_texts(texts: list[str], label_type: pl.DataType, path: str | Path) -> Names:
    """Return label names from column name texts, converted to the type of the label column; raise InputError if impossible."""
    try:
        if label_type.is_integer():
            return as_names(np.array([int(text) for text in texts], np.int64), "labels")
        if label_type.is_float():
            return as_names([float(text) for text in texts], "labels")
    except (ValueError, OverflowError):
        raise InputError(
            f"column 'label' of {path} contains numbers, but its {PROB_PREFIX} columns name other labels: {first_few(texts)}"
        ) from None
    if label_type == pl.Boolean and {text.lower() for text in texts} <= {"true", "false"}:
        return as_names([text.lower() == "true" for text in texts], "labels")
    return as_names(texts, "labels")


def _encode_by_first_occurrence(values: Names) -> tuple[Ints, Names]:
    """Return (integer codes of the names, distinct names in the order of their first occurrence)."""
    codes, names = encode(values)
    _, first = np.unique(codes, return_index=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return (rank[codes] if len(codes) else codes), names[order]


def _unread_columns_note(columns: Iterable[str]) -> tuple[str, ...]:
    """Return a note that lists columns that were not read; () if there are none."""
    named = list(columns)
    return (f"columns not read: {first_few(named)}",) if named else ()
