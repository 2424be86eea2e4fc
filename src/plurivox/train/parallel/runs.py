"""A series of runs: one training with several seeds, measured as mean ± std; a stopped series can be resumed."""

import csv
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch

from plurivox.core.atomic_write import whole_file
from plurivox.core.errors import InputError
from plurivox.core.progress import Watch, quiet
from plurivox.train.fit_net import NetFit
from plurivox.train.parallel.scheduler import finish, finish_all, finish_stacked
from plurivox.train.result import Trained

RESULT, RESULTS = "result.json", "results.csv"
StartRun = Callable[[int, Path | None, Watch], NetFit]  # (seed, folder, progress callback)
Evaluate = Callable[[Trained], Mapping[str, float]]


@dataclass(frozen=True)
class Series:
    """The measures of several runs."""

    seeds: tuple[int, ...]
    measures: Mapping[str, tuple[float, ...]]  # a value per run
    at_once: int = 1  # how many were trained side by side
    stacked: bool = False  # as one net

    def mean(self, name: str) -> float:
        """The mean over the runs."""
        return float(np.mean(self.measures[name]))

    def std(self, name: str) -> float:
        """The standard deviation over the runs (n - 1); nan for a single run."""
        values = self.measures[name]
        return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")

    def told(self, name: str, digits: int = 4) -> str:
        """Mean ± std as text.

        >>> Series((0, 1), {"accuracy": (0.8, 0.9)}).told("accuracy")
        '0.8500 ± 0.0707'
        """
        mean, std = self.mean(name), self.std(name)
        return f"{mean:.{digits}f}" if np.isnan(std) else f"{mean:.{digits}f} ± {std:.{digits}f}"

    def columns(self) -> dict[str, tuple[float, ...]]:
        """run, seed and a column per measure."""
        return {"run": tuple(range(len(self.seeds))), "seed": self.seeds, **self.measures}


def repeat(
    start: StartRun,
    evaluate: Evaluate,
    *,
    runs: int = 1,
    seed: int = 0,
    folder: str | Path | None = None,
    at_once: int = 1,
    stacked: bool = False,
    device: torch.device | None = None,
    watch: Watch = quiet,
) -> Series:
    """Train `runs` times, with the seeds seed, seed + 1, ..., and measure each; `at_once` of them side by side.

    `stacked`: dense nets are trained as one net, a slice each, which saves most of the overhead. In a `folder` every run has
    one of its own, run-000 and so on: runs that have ended are not trained again, and one that was killed is resumed.
    """
    if runs < 1:
        raise InputError(f"a series needs at least one run; got {runs}")
    found: list[dict[str, float]] = []
    homes = [None if folder is None else run_folder(folder, i) for i in range(runs)]
    for first in range(0, runs, at_once):
        some = range(first, min(first + at_once, runs))
        tells = _shares_of(watch, some, runs)
        starts = [partial(start, seed + i, homes[i], tell) for i, tell in zip(some, tells, strict=True)]
        if stacked:
            trained = finish_stacked(starts)
        else:
            trained = [finish(starts[0]())] if len(starts) == 1 else finish_all(starts, device or torch.device("cpu"))
        found += [_evaluated(one, evaluate, homes[i]) for i, one in zip(some, trained, strict=True)]
    names = list(found[0])
    measures = {name: tuple(one[name] for one in found) for name in names}
    series = Series(tuple(range(seed, seed + runs)), measures, at_once, stacked)
    if folder is not None:
        _write(Path(folder) / RESULTS, series)
    return series


def run_folder(folder: str | Path, run: int) -> Path:
    """The folder of one run; it is created if it does not exist."""
    home = Path(folder) / f"run-{run:03d}"
    home.mkdir(exist_ok=True)
    return home


def _evaluated(trained: Trained, evaluate: Evaluate, home: Path | None) -> dict[str, float]:
    """Measured anew even where a run had ended before: what it is tested on may have changed since."""
    found = {name: float(value) for name, value in evaluate(trained).items()}
    if home is not None:
        with whole_file(home / RESULT) as part:
            part.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return found


def _write(path: Path, series: Series) -> None:
    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        columns = series.columns()
        rows.writerow(columns)
        rows.writerows(zip(*columns.values(), strict=True))


def _shares_of(watch: Watch, some: range, runs: int) -> list[Watch]:
    """The progress callback of each of some runs side by side: the epochs of all runs are counted together."""
    done = dict.fromkeys(some, 0)  # epochs

    def tell(run: int, step: int, total: int, value: float | None = None) -> None:
        done[run] = step + 1
        watch(some.start * total + sum(done.values()) - 1, runs * total, value)

    return [partial(tell, run) for run in some]
