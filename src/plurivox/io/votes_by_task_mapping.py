"""Read votes given as a mapping {task: {worker: label}}, and tables that pandas writes as mappings of mappings."""

from collections.abc import Mapping
from itertools import chain
from numbers import Real
from typing import Any

from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError
from plurivox.io.tabular.column_conversion import is_none_nan_or_na
from plurivox.io.tabular.usual_column_names import has_usual_name

ROLES = ("task", "worker", "label")


def is_mapping_of_mappings(data: Any) -> bool:
    """Return whether data is a mapping whose values are mappings, and not empty."""
    return isinstance(data, Mapping) and bool(data) and all(isinstance(inner, Mapping) for inner in data.values())


def holds_numbers_per_task(data: Mapping[Any, Mapping[Any, Any]]) -> bool:
    """Return whether a mapping is {task: {name: number}}, such as probabilities of labels; booleans are not numbers."""
    values = [value for inner in data.values() for value in inner.values() if not is_none_nan_or_na(value)]
    return bool(values) and all(isinstance(value, Real) and not isinstance(value, bool) for value in values)


def table_of_pandas_mapping_or_none(data: Mapping[Any, Mapping[Any, Any]]) -> Any:
    """Return the columns or records of a table of votes that `DataFrame.to_dict` or `to_json` made; None for another mapping.

    >>> columns = {"image": {"0": "a", "1": "b"}, "worker": {"0": 1, "1": 2}, "label": {"0": "x", "1": "y"}}
    >>> table_of_pandas_mapping_or_none(columns)
    {'image': ['a', 'b'], 'worker': [1, 2], 'label': ['x', 'y']}
    >>> table_of_pandas_mapping_or_none({"0": {"image": "a", "user": 1, "label": "x"}})
    [{'image': 'a', 'user': 1, 'label': 'x'}]
    """
    inner_names = list(dict.fromkeys(chain.from_iterable(data.values())))
    if _n_roles(data) >= 2 and all(list(inner) == inner_names for inner in data.values()):
        return {name: list(inner.values()) for name, inner in data.items()}
    if _n_roles(inner_names) >= 2:
        has_task = any(has_usual_name(str(name), "task") for name in inner_names)
        return [inner if has_task else {"task": task, **inner} for task, inner in data.items()]
    return None


def columns_and_note_of_votes_by_task(
    data: Mapping[Any, Mapping[Any, Any]], where: str
) -> tuple[dict[str, list[Any]], str]:
    """Return {"task", "worker", "label"} of {task: {worker: label}}, and a note; raise InputError for other labels.

    >>> columns_and_note_of_votes_by_task({"a": {"ann": "cat", "bo": "dog"}, "b": {"ann": "cat"}}, "the votes")[0]
    {'task': ['a', 'a', 'b'], 'worker': ['ann', 'bo', 'ann'], 'label': ['cat', 'dog', 'cat']}
    """
    rows = [(task, worker, label) for task, inner in data.items() for worker, label in inner.items()]
    if wrong := [label for _, _, label in rows if isinstance(label, Mapping | list | tuple | set)]:
        raise InputError(
            f"{where} has {type(wrong[0]).__name__} as labels, such as {str(wrong[0])[:60]}; votes are "
            '{task: {worker: label}} with one label each, or a list of records {"task": ..., "worker": ..., "label": ...}'
        )
    columns = {role: [row[i] for row in rows] for i, role in enumerate(ROLES)}
    workers = list(dict.fromkeys(columns["worker"]))
    note = (
        f"read as {{task: {{worker: label}}}}: {count_text(len(data), 'task')} such as {next(iter(data))!r}, "
        f"{count_text(len(workers), 'worker')} such as {workers[0]!r}; if the first are the workers: "
        "pv.votes(pd.DataFrame(data), wide=True)"
    )
    return columns, note


def check_is_probabilities(data: Mapping[Any, Mapping[Any, Any]], where: str) -> None:
    """Raise InputError if the numbers of no task sum to one: they may be labels or counts."""
    sums = [sum(value for value in inner.values() if not is_none_nan_or_na(value)) for inner in data.values()]
    if all(abs(total - 1) > 0.1 for total in sums):
        raise InputError(
            f"{where} is {{task: {{name: number}}}}, which is read as probabilities of labels, but the numbers of no task "
            "sum to 1; if they are votes {task: {worker: label}}: pv.votes(data); if they count the votes for each label: "
            "pv.counts(table) of a table with one row per task and one column per label"
        )


def _n_roles(names: Any) -> int:
    """Return how many of task, worker and label have a column with a usual name."""
    return sum(any(has_usual_name(str(name), role) for name in names) for role in ROLES)
