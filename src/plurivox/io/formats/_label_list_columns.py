"""Find the columns with the labels of each task as a list, and the list, or field of the objects, that names the workers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plurivox.core.errors import InputError
from plurivox.io.formats._lists_of_unknown_name import lists_of_labels_and_workers, lists_with_values_of_labels
from plurivox.io.formats._table_columns import usual_names
from plurivox.io.tabular.usual_column_names import bare_name

TOKENS = {"tokens", "words", "subwords"}
DISTINCT, MIN_VALUES = 0.5, 20  # texts that repeat less than this are not labels; of which this many are needed to tell

WORKER_FIELD = "worker"  # the name of the keys of {worker: label}

Rows = Sequence[Any]  # the value of a nested column in each row: a list, a dict of lists, or None


@dataclass(frozen=True)
class LabelLists:
    """The labels in one list per row, and their workers; `traits` are further lists beside them."""

    question: str  # the column, or column.field of a list of objects
    labels: list[list[Any]]
    workers: list[list[Any]] | None = None  # as long as the lists of labels
    worker_name: str | None = None  # the column or field that names the workers
    traits: Mapping[str, list[list[Any]]] = field(default_factory=dict)


def find_label_lists(
    columns: Mapping[str, Rows], worker: str | None = None, label: str | None = None
) -> dict[str, LabelLists]:
    """Return the columns and fields whose lists can be votes, by name; `worker` and `label` are the names given by the caller.

    Lists beside a list of workers of the same lengths are votes, and lists that are named as labels usually are. Raise
    InputError if a list named by the caller differs in length from that of the workers.
    """
    found: dict[str, LabelLists] = {}
    objects = {name: rows for name, rows in columns.items() if any(_is_object(row) for row in rows)}
    for name, rows in objects.items():
        if _is_named_as_labels(name) or name == label:
            found |= _objects_by_worker(name, rows, label)
        if name not in found:
            found |= _lists_of_objects(name, [_as_objects(row) for row in rows], worker, label)
    plain = {name: [row or [] for row in rows] for name, rows in columns.items() if name not in objects}
    return found | _plain_lists(plain, worker, label)


def find_lists_of_unknown_name(columns: Mapping[str, Rows]) -> dict[str, LabelLists]:
    """Return the lists, and fields of lists of objects, that may be votes by their values: several if it is unclear which."""
    plain = {name: [row or [] for row in rows] for name, rows in columns.items() if not any(map(_is_object, rows))}
    found = _lists_by_values(plain)
    for name, rows in columns.items():
        if name not in plain:
            objects = [_as_objects(row) for row in rows]
            fields = dict.fromkeys(field for row in objects for one in row for field in one)
            found |= _lists_by_values(
                {f"{name}.{field}": [[one.get(field) for one in row] for row in objects] for field in fields}
            )
    return found


def _lists_by_values(plain: Mapping[str, list[list[Any]]]) -> dict[str, LabelLists]:
    """Return the lists whose values may be labels; one with its workers if it is clear which list has them."""
    tokens = [rows for name, rows in plain.items() if bare_name(name) in TOKENS]
    fit = {
        name: whole_numbers(rows)
        for name, rows in plain.items()
        if can_be_votes(rows) and not any(have_same_lengths(rows, one) for one in tokens)
    }
    pair = lists_of_labels_and_workers(fit)
    if pair is not None and pair[0] in lists_with_values_of_labels(fit):
        labels, workers = pair
        return {labels: LabelLists(labels, fit[labels], fit[workers], workers)}
    return {name: LabelLists(name, fit[name]) for name in lists_with_values_of_labels(fit)}


def _plain_lists(plain: Mapping[str, list[list[Any]]], worker: str | None, label: str | None) -> dict[str, LabelLists]:
    """Return the lists of values that can be votes, with the list of workers if there is one."""
    who = worker if worker in plain else next((name for name in plain if _is_named_as_workers(name)), None)
    others = {name: rows for name, rows in plain.items() if name != who}
    if who is not None and label in others and not have_same_lengths(others[label], plain[who]):
        row = next(i for i, (a, b) in enumerate(zip(others[label], plain[who], strict=True), 1) if len(a) != len(b))
        raise InputError(
            f"row {row}: the list in {label!r} has {len(others[label][row - 1])} labels for {len(plain[who][row - 1])} {who!r}"
        )
    beside = {name: rows for name, rows in others.items() if who is not None and have_same_lengths(rows, plain[who])}
    tokens = [rows for name, rows in plain.items() if bare_name(name) in TOKENS]
    fit = {
        name: whole_numbers(rows)
        for name, rows in others.items()
        if can_be_votes(rows) and not any(have_same_lengths(rows, one) for one in tokens)
    }
    named = {name: rows for name, rows in fit.items() if _is_named_as_labels(name) or name == label}
    chosen = (
        {name: rows for name, rows in named.items() if name in beside}
        or named
        or {k: v for k, v in fit.items() if k in beside}
    )
    return {
        name: LabelLists(
            name,
            rows,
            plain[who] if who is not None and name in beside else None,
            who if name in beside else None,
            {other: values for other, values in beside.items() if other not in chosen} if name in beside else {},
        )
        for name, rows in chosen.items()
    }


def _objects_by_worker(column: str, rows: Rows, label: str | None) -> dict[str, LabelLists]:
    """Return the votes in objects {worker: label} or {worker: {"label": ...}}, one per row; {} if they are other objects."""
    given = [
        {key: one for key, one in (row or {}).items() if one is not None} for row in rows if not isinstance(row, list)
    ]
    values = [one for row in given for one in row.values()]
    if len(given) < len(rows) or not values or any(isinstance(one, list) for one in values):
        return {}
    if all(isinstance(one, dict) for one in values):
        listed = [[{WORKER_FIELD: key, **one} for key, one in row.items()] for row in given]
        return _lists_of_objects(column, listed, WORKER_FIELD, label)
    labels = [list(row.values()) for row in given]
    if not can_be_votes(labels) or len(set(map(type, values))) > 1 or not _are_named_alike(given):
        return {}
    return {column: LabelLists(column, whole_numbers(labels), [list(row) for row in given], f"{column}.{WORKER_FIELD}")}


def _are_named_alike(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether several names have values of a common set, so that they are workers and not the fields of a record."""
    values: dict[str, set[Any]] = {}
    for row in rows:
        for name, value in row.items():
            values.setdefault(name, set()).add(value)
    known = list(values.values())
    return len(known) > 1 and all(any(one & other for other in known if other is not one) for one in known)


def _lists_of_objects(
    column: str, rows: list[list[dict[str, Any]]], worker: str | None, label: str | None
) -> dict[str, LabelLists]:
    """Return the fields of the objects in a column that can be votes, with the field that names the worker."""
    fields = list(dict.fromkeys(name for row in rows for one in row for name in one))
    worker = None if worker is None else worker.removeprefix(f"{column}.")
    who = worker if worker in fields else next((name for name in fields if _is_named_as_workers(name)), None)
    values = {name: [[one.get(name) for one in row] for row in rows] for name in fields if name != who}
    fit = {name: whole_numbers(lists) for name, lists in values.items() if can_be_votes(lists)}
    named = [name for name in fit if _is_named_as_field_of_labels(name) or label in (name, f"{column}.{name}")]
    chosen = named or (list(fit) if who is not None else [])
    workers = None if who is None else [[one.get(who) for one in row] for row in rows]
    return {
        f"{column}.{name}": LabelLists(
            f"{column}.{name}",
            fit[name],
            workers,
            None if who is None else f"{column}.{who}",
            {} if who is None else {other: lists for other, lists in values.items() if other not in chosen},
        )
        for name in chosen
    }


def _is_named_as_workers(name: str) -> bool:
    """Return whether a name is usual for a column of workers, in the singular or plural: annotators, worker_ids."""
    bare = bare_name(name)
    return bool({bare, bare.removesuffix("s")} & usual_names("worker"))


def _is_named_as_labels(name: str) -> bool:
    """Return whether a name ends as those of labels usually do, in the singular or plural: annotator_labels."""
    bare = bare_name(name)
    ends = tuple(usual_names("label", n_lines=2))
    return bare.endswith((*ends, "classes", "categories")) or bare.removesuffix("s").endswith(ends)


def _is_named_as_field_of_labels(name: str) -> bool:
    return bare_name(name) in usual_names("label") or _is_named_as_labels(name)


def have_same_lengths(some: Rows, others: Rows) -> bool:
    """Return whether the lists of two columns have the same length in every row."""
    return all(len(one) == len(other) for one, other in zip(some, others, strict=True))


def can_be_votes(rows: Iterable[Sequence[Any]]) -> bool:
    """Return whether lists contain labels: texts that repeat, whole numbers or booleans; not shares, vectors or long texts."""
    lists = list(rows)
    values = [value for row in lists for value in row if value is not None]
    if not values or not all(isinstance(value, str | int | float) for value in values):
        return False
    if any(isinstance(value, float) for value in values):
        shares = all(sum(value or 0 for value in row) == 1 for row in lists if row and not isinstance(row[0], str))
        if shares or not all(float(value).is_integer() for value in values if not isinstance(value, str)):
            return False
    texts = [value for value in values if isinstance(value, str)]
    return len(texts) < MIN_VALUES or len(set(texts)) <= DISTINCT * len(texts)


def whole_numbers(rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """Return lists whose floats, which missing values had made of whole numbers, are whole numbers again."""
    return [[int(value) if isinstance(value, float) else value for value in row] for row in rows]


def _is_object(row: Any) -> bool:
    """Return whether the value of a row is a list of objects or an object of lists."""
    return isinstance(row, dict) or (isinstance(row, list) and any(isinstance(one, dict) for one in row))


def _as_objects(row: Any) -> list[dict[str, Any]]:
    """Return a list of objects, or an object of lists, as a list of objects."""
    if isinstance(row, dict):
        lists = {name: values for name, values in row.items() if isinstance(values, list)}
        n = max(map(len, lists.values()), default=0)
        return [{name: values[i] for name, values in lists.items() if i < len(values)} for i in range(n)]
    return [one for one in row or [] if isinstance(one, dict)]
