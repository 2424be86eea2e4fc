"""Simulate votes with known truth, and write them as a data set folder."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from plurivox import io, simulate
from plurivox.core.name_encoding import as_names
from plurivox.core.results import Confusion
from plurivox.core.soft_labels import SoftLabels
from plurivox.io import Dataset
from plurivox.io.dataset_conversion import write_main_part
from plurivox.io.features import Features
from plurivox.io.tabular.table_file_names import TABLE_SUFFIXES, file_suffix
from plurivox.simulate import Simulated, Simulator


def simulate_crowd(
    strategy: str | Simulator = "independent-confusion",
    truth: SoftLabels | None = None,
    *,
    matrices: Confusion | str | Path | None = None,
    **options: Any,
) -> Simulated:
    """Return simulated votes with their true labels, by a strategy; true labels and confusion matrices may be given.

    >>> simulate_crowd("hammer-spammer", n_tasks=30, n_workers=5, feedback=3, ratio=0.4).votes
    <Votes: 90 votes, 30 tasks, 5 workers, 5 labels>
    """
    given = io.read_confusion(matrices) if isinstance(matrices, str | Path) else matrices
    return simulate.methods.make(strategy, **options).draw(truth, given)


def write_crowd(
    crowd: Simulated, folder: str | Path, *, command: str = "", replace: bool = False, form: str = "parquet"
) -> Dataset:
    """Write a simulated crowd as a data set folder (votes, answers, gold, features, worker traits, task difficulties).

    `command` is stored in dataset.toml. If `folder` is the name of a table (.csv, ...) or .npz, it contains the answers, else
    the votes, only. Return the Dataset.
    """
    votes = crowd.votes
    tables: dict[str, Any] = {"matrices": crowd.confusion.columns()}
    if crowd.level is not None:
        levels = as_names([simulate.LEVELS[one] for one in crowd.level.tolist()])
        tables["difficulties"] = {"task": votes.tasks, "level": levels}
    if crowd.answers is not None and crowd.faults is not None:
        at = np.flatnonzero(crowd.faults != "")
        tables["faults"] = {"answer": at, "fault": crowd.faults[at]}
    parts: dict[str, Any] = {"votes": votes, "gold": crowd.truth, "answers": crowd.answers}
    if crowd.features is not None:
        parts["features"] = Features(votes.tasks, crowd.features)
    if crowd.traits:
        parts["workers"] = io.frame_of({"worker": votes.workers, **crowd.traits}, "workers")
    data = Dataset(
        Path(folder).resolve().name,
        about={"description": f"simulated: {crowd.made_by}", "command": command},
        tables={name: partial(io.frame_of, columns, name) for name, columns in tables.items()},
        **parts,
    )
    if file_suffix(folder) in (*TABLE_SUFFIXES, ".npz") and not Path(folder).is_dir():
        write_main_part(data, folder)
    else:
        io.write(data, Path(folder), replace=replace, form=form)
    return data
