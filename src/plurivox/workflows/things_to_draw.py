"""Things to draw, sorted by kind: data sets, fits, scores, trained nets, or files of these; and the usual chart of each."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from plurivox.charts import MeasureCurve
from plurivox.core.answers import Answers
from plurivox.core.data_type_base_class import DataType
from plurivox.core.name_encoding import as_names
from plurivox.core.results import Confusion, Dynamics, Fit, Scores, ScoreTarget
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.training_history import read_training_history_csv
from plurivox.core.votes import Votes
from plurivox.io import Dataset
from plurivox.io.dataset_reader import as_dataset, read, read_soft_labels_or_dataset
from plurivox.io.tabular.table_file_names import READABLE_TABLE_SUFFIXES, file_suffix
from plurivox.workflows.compared_methods import ComparedMethods

NATURAL_CHARTS: dict[type, str] = {  # the chart of a thing for which none is named
    Votes: "votes-per-task",
    Answers: "certainty",
    Dataset: "votes-per-task",
    SoftLabels: "posterior",
    Fit: "posterior",
    Confusion: "confusion",
    Dynamics: "training",
    ComparedMethods: "comparison",
    MeasureCurve: "curve",
}
NATURAL_CHARTS_OF_SCORES: dict[ScoreTarget, str] = {"worker": "worker-scores", "task": "hardest"}
SCORE_COLUMNS = ("task", "worker")  # the first column of a table of scores written by plurivox identify
HISTORY, DYNAMICS, WORKERS = "history.csv", "dynamics.npz", "workers.npz"  # files of a trained net


@dataclass
class Given:
    """What a caller gave, sorted by kind; `add` puts more into it, in place."""

    datasets: list[Dataset] = field(default_factory=list)
    soft: dict[str, SoftLabels] = field(default_factory=dict)
    fits: dict[str, Fit] = field(default_factory=dict)
    confusions: dict[str, Confusion] = field(default_factory=dict)
    scores: list[Scores] = field(default_factory=list)
    dynamics: Dynamics | None = None
    histories: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    curves: list[MeasureCurve] = field(default_factory=list)
    comparison: ComparedMethods | None = None

    def add(self, thing: Any, name: str = "") -> None:
        """Add a thing, or all those in a list, a mapping or a file; `name` is what charts call it."""
        if isinstance(thing, str | Path):
            _add_file(self, thing, name)
        elif isinstance(thing, Fit):
            self.fits[_free_name(name or thing.made_by, self.fits)] = thing
        elif isinstance(thing, SoftLabels):
            self.soft[_free_name(name or "soft labels", self.soft)] = thing
        elif isinstance(thing, Confusion):
            self.confusions[_free_name(name or "confusion", self.confusions)] = thing
        elif isinstance(thing, Scores):
            self.scores.append(thing)
        elif isinstance(thing, Dynamics):
            self.dynamics = thing
        elif isinstance(thing, MeasureCurve):
            self.curves.append(thing)
        elif isinstance(thing, ComparedMethods):
            self.comparison = thing
        elif hasattr(thing, "history") and hasattr(thing, "best_epoch"):  # a trained net; not imported: it needs torch
            self._add_trained(thing, name)
        elif _is_mapping_of_things(thing):
            for key, one in thing.items():
                self.add(one, str(key))
        elif isinstance(thing, list | tuple) and not all(isinstance(one, Mapping) for one in thing):
            for one in thing:
                self.add(one)
        else:
            self.datasets.append(as_dataset(thing))

    def _add_trained(self, trained: Any, name: str) -> None:
        """Add the history and the recorded logits of a trained net."""
        known = self.histories.get(name or "net", ())
        self.histories[name or "net"] = (*known, trained.history)
        self.dynamics = self.dynamics or trained.dynamics


def natural_chart(thing: Any) -> str:
    """Return the name of the usual chart of a thing; "" if it has none."""
    if isinstance(thing, Scores):
        return NATURAL_CHARTS_OF_SCORES.get(thing.of, "")
    for kind, chart in NATURAL_CHARTS.items():
        if isinstance(thing, kind):
            return chart
    if isinstance(thing, str | Path):
        given = Given()
        given.add(thing)
        return _natural_chart_of_given(given)
    if hasattr(thing, "history") and hasattr(thing, "best_epoch"):
        return "training"
    if isinstance(thing, DataType):
        return ""
    return "votes-per-task" if not isinstance(thing, list | tuple) else natural_chart(thing[0]) if thing else ""


def _natural_chart_of_given(given: Given) -> str:
    """Return the usual chart of what a file holds."""
    if given.datasets:
        held = given.datasets[0].parts()
        return (
            "certainty" if held[:1] == ["answers"] else "posterior" if held[:1] == ["soft_labels"] else "votes-per-task"
        )
    found = (
        (given.histories or given.dynamics is not None, "training"),
        (given.comparison is not None, "comparison"),
        (given.fits or given.soft, "posterior"),
        (given.confusions, "confusion"),
    )
    for is_there, chart in found:
        if is_there:
            return chart
    return NATURAL_CHARTS_OF_SCORES.get(given.scores[0].of, "") if given.scores else ""


def _add_file(given: Given, where: str | Path, name: str) -> None:
    """Add what a file, a folder or a named data set contains."""
    path = Path(where).expanduser()
    if path.is_dir() and (runs := _runs_of_folder(path)):
        given.histories[name or path.name] = tuple(read_training_history_csv(run / HISTORY) for run in runs)
        if given.dynamics is None and (runs[0] / DYNAMICS).is_file():
            given.dynamics = Dynamics.load(runs[0] / DYNAMICS)
        if (runs[0] / WORKERS).is_file():
            given.add(Fit.load(runs[0] / WORKERS), name)  # what its head learnt of the workers
    elif path.is_file() and file_suffix(path) == ".npz":
        given.add(DataType.load(path), name or path.stem)
    elif path.is_file() and file_suffix(path) in READABLE_TABLE_SUFFIXES:
        scores = _scores_of_table_or_none(path)
        given.add(scores if scores is not None else read_soft_labels_or_dataset(path), name or path.stem)
    else:
        given.datasets.append(read(where))


def _runs_of_folder(folder: Path) -> list[Path]:
    """Return the folders with the history of a training: the folder itself, or its folders run-000, run-001, ..."""
    return [one for one in (folder, *sorted(folder.glob("run-*"))) if (one / HISTORY).is_file()]


def _scores_of_table_or_none(path: Path) -> Scores | None:
    """Return the scores in a CSV table with the columns task or worker, raw and badness; None for any other table."""
    if file_suffix(path) != ".csv":
        return None
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        rows = csv.reader(file)
        header = next(rows, [])
        if not ({"raw", "badness"} <= set(header) and header[0] in SCORE_COLUMNS):
            return None
        columns = dict(zip(header, zip(*rows, strict=True), strict=False))
    numbers = {
        column: np.array([float(cell) if cell else np.nan for cell in columns[column]])
        for column in ("raw", "badness", "low", "high", "n")
        if column in columns
    }
    of: ScoreTarget = "task" if header[0] == "task" else "worker"
    return Scores(of, as_names(list(columns[header[0]]), "names"), made_by=path.stem, **numbers)


def _is_mapping_of_things(thing: Any) -> bool:
    """Return whether a mapping holds things to draw by name, not the columns of a table."""
    return isinstance(thing, Mapping) and not {"task", "label"} & {str(key) for key in thing}


def _free_name(name: str, taken: Mapping[str, Any]) -> str:
    """Return the name, with a number behind it if it is taken."""
    numbers = (f"{name} ({n})" for n in range(2, 10**6))
    return name if name not in taken else next(one for one in numbers if one not in taken)
