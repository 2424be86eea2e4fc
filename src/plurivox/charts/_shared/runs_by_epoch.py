"""Columns of training histories over several runs: mean, lowest and highest run at every epoch, and the best epoch."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plurivox.charts._contract import History
from plurivox.core.array_types import Floats, Ints
from plurivox.evaluate import MEASURES

DEV = "dev_"  # prefix of the columns measured on the dev tasks
NOT_MEASURES = ("epoch", "lr", "seconds")


class RunsByEpoch(NamedTuple):
    """One column of the histories of several runs; at every epoch of those runs that reached it."""

    epoch: Ints  # (n_epochs,)
    mean: Floats  # (n_epochs,)
    low: Floats  # (n_epochs,) of the runs
    high: Floats
    n_runs: int

    def best(self, *, higher_is_better: bool) -> int | None:
        """Return the position of the first epoch with the best mean; None if no mean is finite."""
        known = np.flatnonzero(np.isfinite(self.mean))
        if not len(known):
            return None
        return int(known[np.argmax(self.mean[known] if higher_is_better else -self.mean[known])])


def runs_by_epoch(runs: Sequence[History], column: str) -> RunsByEpoch:
    """Return one column of the histories of several runs, which may end at different epochs; empty if no run has it.

    >>> found = runs_by_epoch([{"epoch": (0, 1), "loss": (1.0, 0.5)}, {"epoch": (0,), "loss": (0.8,)}], "loss")
    >>> found.epoch.tolist(), found.mean.tolist(), found.low.tolist()
    ([0, 1], [0.9, 0.5], [0.8, 0.5])
    """
    having = [run for run in runs if column in run]
    epoch = np.unique(np.concatenate([np.array(run["epoch"], np.int64) for run in having] or [np.zeros(0, np.int64)]))
    table = np.full((len(having), len(epoch)), np.nan)
    for row, run in zip(table, having, strict=True):
        row[np.searchsorted(epoch, np.array(run["epoch"], np.int64))] = np.array(run[column], np.float64)
    known = np.isfinite(table)
    epoch, table = epoch[known.any(0)], table[:, known.any(0)]
    if not table.size:
        return RunsByEpoch(epoch, np.zeros(0), np.zeros(0), np.zeros(0), len(having))
    return RunsByEpoch(epoch, np.nanmean(table, 0), np.nanmin(table, 0), np.nanmax(table, 0), len(having))


def measured_columns(runs: Sequence[History]) -> list[str]:
    """Return the columns of the histories with measures on the dev tasks, without the loss.

    >>> measured_columns([{"epoch": (0,), "loss": (1.0,), "dev_loss": (1.0,), "dev_accuracy": (0.5,), "lr": (0.1,)}])
    ['dev_accuracy']
    """
    names = dict.fromkeys(name for run in runs for name in run)
    return [name for name in names if name.startswith(DEV) and name != f"{DEV}loss"]


def is_higher_better(column: str) -> bool:
    """Return whether the highest value of a column is best: of a measure by its direction, of others if not a loss.

    >>> is_higher_better("dev_accuracy"), is_higher_better("dev_nll"), is_higher_better("loss")
    (True, False, False)
    """
    measure = MEASURES.get(column.removeprefix(DEV))
    return measure.better == "higher" if measure is not None else "loss" not in column
