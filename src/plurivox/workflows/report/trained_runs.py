"""Trainings that a report shows, read from the folder of `plurivox train`: measures of each run, histories, settings."""

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError
from plurivox.core.training_history import read_training_history_csv

RESULTS, SETTINGS, HISTORY = "results.csv", "settings.json", "history.csv"


@dataclass(frozen=True)
class TrainedRuns:
    """The runs in one folder: `measures` has (n_runs,) values per column of results.csv, such as "test accuracy"."""

    name: str
    folder: Path
    settings: Mapping[str, Any]
    measures: Mapping[str, Floats]
    histories: tuple[Mapping[str, tuple[float, ...]], ...]

    @property
    def n_runs(self) -> int:
        """The number of runs with measures."""
        return max((len(column) for column in self.measures.values()), default=0)

    def mean(self, measure: str) -> float:
        """Return the mean of a measure over the runs; NaN if it was not measured."""
        column = self.measures.get(measure)
        known = np.array([]) if column is None else column[np.isfinite(column)]
        return float(known.mean()) if len(known) else float("nan")

    def standard_deviation(self, measure: str) -> float:
        """Return the standard deviation of a measure over the runs; NaN for a single run."""
        column = self.measures.get(measure)
        known = np.array([]) if column is None else column[np.isfinite(column)]
        return float(known.std(ddof=1)) if len(known) > 1 else float("nan")


def read_trained_runs(folder: Path) -> TrainedRuns:
    """Read the folder written by `plurivox train -o FOLDER`; raise InputError if it holds no finished training."""
    if not (folder / RESULTS).is_file():
        raise InputError(f"{folder} is not a finished training: it has no {RESULTS} (plurivox train ... -o {folder})")
    with (folder / RESULTS).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = list(rows[0]) if rows else []
    measures = {name: np.array([_number(row[name]) for row in rows]) for name in names if name not in ("run", "seed")}
    settings = json.loads((folder / SETTINGS).read_text("utf-8")) if (folder / SETTINGS).is_file() else {}
    histories = tuple(read_training_history_csv(path) for path in sorted(folder.glob(f"run-*/{HISTORY}")))
    return TrainedRuns(folder.resolve().name, folder, settings, measures, histories)


def _number(text: str) -> float:
    """Return a cell as a number; NaN if it is empty."""
    return float(text) if text else float("nan")
