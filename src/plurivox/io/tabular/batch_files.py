"""Read files that say which tasks belong to which batch: a table with columns batch and task, or JSON lists of tasks."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from plurivox.core.errors import InputError, first_few
from plurivox.io.tabular.read_csv_and_json import read_json, read_json_lines, require_file
from plurivox.io.tabular.table_file_names import file_suffix
from plurivox.io.tabular.table_files import frame_from_records, read_table

EXPECTED = 'an object {"b0": ["task1", "task2"], ...}, a list of lists [["task1", "task2"], ...], or a list of records '
EXPECTED += '[{"batch": "b0", "task": "task1"}, ...]'
MARKS_OF_REPEATS = (True, 1, "1", "true", "True")


def read_task_names_by_batch(file: str | Path) -> dict[str, list[str]]:
    """Return {batch: task names} of a table with the columns batch and task, or of a JSON file; raise InputError if invalid.

    JSON files contain an object of lists, a list of lists (the batches are then named 1, 2, ...) or a list of records; in JSON
    lines, every line is a list or a record. Task names may be numbers. Rows of a table whose column repeat is 1, as `plurivox
    assign` writes them, are left out.
    """
    path = require_file(file)
    suffix = file_suffix(path).removesuffix(".gz")
    if suffix == ".json":
        batches = _batches_from_json(read_json(path, object_pairs_hook=_JsonObject), path)
    elif suffix in (".jsonl", ".ndjson"):
        batches = _batches_from_json(read_json_lines(path), path)
    else:
        batches = _batches_from_table(read_table(path), path)
    if not batches:
        raise InputError(f"{path} contains no batches")
    if empty := [name for name, tasks in batches.items() if not tasks]:
        raise InputError(f"batches {first_few(empty)} in {path} are empty; every batch needs at least one task")
    for name, tasks in batches.items():
        if twice := _occurring_twice(tasks):
            raise InputError(f"batch {name!r} in {path} contains tasks twice: {first_few(twice)}; list each task once")
    return batches


class _JsonObject(dict[str, Any]):
    """A JSON object that also has the keys that occur twice in the file, of which a dict keeps the last."""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.twice = _occurring_twice(name for name, _ in pairs)


def _occurring_twice(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, each once, in their order."""
    return [name for name, n in Counter(names).items() if n > 1]


def _batches_from_json(found: Any, file: Path) -> dict[str, list[str]]:
    """Return {batch: task names} of the contents of a JSON file; raise InputError if they are not batches."""
    if isinstance(found, _JsonObject) and all(isinstance(tasks, list) for tasks in found.values()):
        if found.twice:
            raise InputError(f"{file} contains batches twice: {first_few(found.twice)}; give each batch its own name")
        return {name: _task_names(tasks, name, file) for name, tasks in found.items()}
    if isinstance(found, list) and all(isinstance(tasks, list) for tasks in found):
        return {str(n): _task_names(tasks, str(n), file) for n, tasks in enumerate(found, start=1)}
    if isinstance(found, list) and all(isinstance(record, dict) for record in found):
        return _batches_from_table(frame_from_records([dict(record) for record in found], file), file)
    raise InputError(f"{file} contains no batches of tasks; a JSON file of batches is {EXPECTED}")


def _task_names(tasks: list[Any], batch: str, file: Path) -> list[str]:
    """Return the task names in a JSON list as text; raise InputError if one is neither text nor a whole number."""
    wrong = [json.dumps(task)[:60] for task in tasks if isinstance(task, bool) or not isinstance(task, str | int)]
    if wrong:
        raise InputError(
            f"batch {batch!r} in {file} contains {wrong[0]}, which is not a task name; a task name is a text or a whole number"
        )
    return [str(task) for task in tasks]


def _batches_from_table(frame: Any, file: Path) -> dict[str, list[str]]:
    """Return {batch: task names} of a table with the columns batch and task, without the rows of repeats."""
    if missing := sorted({"batch", "task"} - set(frame.columns)):
        columns = f"it has {first_few(frame.columns, 9)}" if len(frame.columns) else "it has none"
        hint = f"; a JSON file of batches is {EXPECTED}" if ".json" in file.suffixes else ""
        raise InputError(
            f"a table of batches needs the columns batch and task; {file} lacks {first_few(missing)}, {columns}{hint}"
        )
    batches: dict[str, list[str]] = {}
    repeats = frame["repeat"].to_list() if "repeat" in frame.columns else [False] * len(frame)
    for (batch, task), repeat in zip(frame.select("batch", "task").iter_rows(), repeats, strict=True):
        if repeat in MARKS_OF_REPEATS:
            continue
        if batch is None or task is None or isinstance(task, list | dict):
            raise InputError(f"{file} has a row without a batch or without a task name: batch {batch!r}, task {task!r}")
        batches.setdefault(str(batch), []).append(str(task))
    return batches
