"""Propose the next (task, worker) questions from existing votes, and plan batches of tasks for future workers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plurivox import assign, io
from plurivox.aggregate import Aggregator
from plurivox.assign import Assigner, Batches, Ledger, Proposals, Proposer, TasksPerStratum, plan
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_names
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.io.dataset_reader import as_dataset
from plurivox.io.tabular.batch_files import read_task_names_by_batch
from plurivox.workflows.fit_votes import fit


def propose(
    given: Any,
    method: str | Proposer = "next-best",
    *,
    by: str | Aggregator = "ibcc",
    workers: Sequence[object] | None = None,
    progress: Progress = no_progress,
    **options: Any,
) -> Proposals:
    """Return the (task, worker) questions to ask next, best first, from a fit of the existing votes by the aggregator `by`.

    `given` are Votes, a Dataset, the path or the name of one, or a DataFrame of votes. `workers` are those who can be
    asked; default: all.
    """
    made = assign.methods.make(method, **options)
    if not isinstance(made, Proposer):
        raise InputError(
            f"{made.name()} plans batches of tasks and does not propose questions; use it with plan_batches"
        )
    data = as_dataset(given)
    if (votes := data.votes) is None:
        raise InputError(f"{data.name} has no votes with worker names, which {made.name()} needs")
    return made.propose(
        votes, fit(data, by, part="votes", progress=progress), None if workers is None else as_names(workers)
    )


@dataclass(frozen=True)
class BatchPlan:
    """A plan of batches of tasks, given to workers in the order in which they arrive."""

    columns: dict[str, list[Any]]  # batch, position, task, repeat; one row per assigned task
    sizes: list[int]  # (n_batches,) tasks in each batch
    given: int  # number of (task, worker) slots assigned
    wanted: int  # number of slots that the quota asks for


def plan_batches(
    items: str | Path,
    method: str | Assigner = "quota",
    *,
    workers: int | None = None,
    per_task: int = 1,
    **options: Any,
) -> BatchPlan:
    """Return batches of tasks for successive workers, until every task is in `per_task` batches or `workers` have a batch.

    `items` is a table with a column task, and stratum or batch if the method needs it, or a data set folder that contains
    such a table named items. Batches may also be JSON lists of tasks: {"b0": ["task1", "task2"], ...}.
    """
    made = assign.methods.make(method, **options)
    names, ledger = _read_tasks_and_make_quota_ledger(made, Path(items), per_task)
    rows: dict[str, list[Any]] = {"batch": [], "position": [], "task": [], "repeat": []}
    sizes: list[int] = []
    for number, places in enumerate(plan(made, ledger, workers), start=1):
        sizes.append(len(places))
        rows["batch"] += [f"batch-{number:05d}"] * len(places)
        rows["position"] += range(1, len(places) + 1)
        rows["task"] += [names[place.task] for place in places]
        rows["repeat"] += [int(place.repeat) for place in places]
    return BatchPlan(rows, sizes, int(ledger.given.sum()), int(ledger.quota.sum()))


def _read_tasks_and_make_quota_ledger(
    method: Assigner, items_file_or_folder: Path, per_task: int
) -> tuple[list[str], Ledger]:
    """Return the distinct tasks of a table, and the ledger that counts answers against quotas; raise InputError if invalid."""
    file = _get_required_items_file(items_file_or_folder) if items_file_or_folder.is_dir() else items_file_or_folder
    if isinstance(method, Batches):
        return _tasks_and_ledger_of_fixed_batches(read_task_names_by_batch(file), per_task, method.seed)
    frame = io.read_table(file)
    needs = {"task"} | ({"stratum"} if isinstance(method, TasksPerStratum) else set())
    if missing := needs - set(frame.columns):
        raise InputError(f"missing columns {sorted(missing)} in {file}; its columns are {first_few(frame.columns, 9)}")
    column = [str(task) for task in frame["task"]]
    places = {task: place for place, task in enumerate(dict.fromkeys(column))}
    if len(places) < len(column):
        twice = [task for place, task in enumerate(column) if places[task] != place]
        raise InputError(f"{file} lists tasks twice: {first_few(dict.fromkeys(twice))}; keep one row per task")
    strata = [str(one) for one in frame["stratum"]] if isinstance(method, TasksPerStratum) else None
    return list(places), Ledger([per_task] * len(places), strata, [], method.seed)


def _tasks_and_ledger_of_fixed_batches(
    task_names_by_batch: dict[str, list[str]], per_task: int, seed: int
) -> tuple[list[str], Ledger]:
    """Return the distinct tasks of fixed batches, and their ledger: a task wants `per_task` answers for each of its batches."""
    n_batches = Counter(task for tasks in task_names_by_batch.values() for task in tasks)
    places = {task: place for place, task in enumerate(n_batches)}
    batches = [[places[task] for task in tasks] for tasks in task_names_by_batch.values()]
    return list(places), Ledger([per_task * n for n in n_batches.values()], None, batches, seed)


def _get_required_items_file(folder: Path) -> Path:
    """Return the path of the table `items` in a data set folder; raise InputError if there is none."""
    tables = [one for one in sorted(folder.iterdir()) if one.name.split(".")[0] == "items"]
    if not tables:
        raise InputError(
            f"{folder} contains no table named items; give a table with a column task (for images: their names)"
        )
    return tables[0]
