"""Choose the value of one option (gamma, smoothing, learning rate, ...) by a score on held-out tasks (grid search)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from plurivox.core.array_types import Floats, Names
from plurivox.core.errors import InputError, OptionError, first_few
from plurivox.core.name_encoding import as_names, duplicates, positions
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.recipe_tables import Table

Score = Callable[[Any, Names, Names], float]  # (value, training tasks, held-out tasks) -> score


@dataclass(frozen=True, eq=False)
class Choice:
    """Result of a search over the values of one option: the values tried, their scores on each fold, and the value chosen."""

    name: str  # the name of the option, such as gamma
    values: tuple[Any, ...]
    scores: Floats  # (n_values, n_folds)
    better: Literal["lower", "higher"]
    held_out: tuple[Names, ...]  # the tasks each fold is evaluated on
    excluded: int = 0  # number of test tasks that are in no fold

    @property
    def mean_score_of_each_value(self) -> Floats:
        """(n_values,) the mean score over folds of each option value tried."""
        return self.scores.mean(1)

    @property
    def chosen(self) -> Any:
        """The option value with the best mean score over folds; the first of equal ones."""
        mean = self.mean_score_of_each_value if self.better == "lower" else -self.mean_score_of_each_value
        return self.values[int(np.nanargmin(mean))]

    def table(self) -> Table:
        """Return a table with one row per option value tried: its score on every fold, mean and standard deviation."""
        folds = (
            {f"fold {j}": self.scores[:, j] for j in range(self.scores.shape[1])} if self.scores.shape[1] > 1 else {}
        )
        spread = self.scores.std(1, ddof=1) if folds else np.full(len(self.values), np.nan)
        n = sum(len(tasks) for tasks in self.held_out)
        excluded = f"; {self.excluded:,} test tasks were not used" if self.excluded else ""
        return Table(
            f"Choosing {self.name}: {self.better} is better",
            {
                self.name: list(self.values),
                **folds,
                "mean": self.mean_score_of_each_value,
                "sd": spread,
                "chosen": [value == self.chosen for value in self.values],
            },
            (f"evaluated on {n:,} held-out tasks in {len(self.held_out)} folds{excluded}",),
        )


def choose(
    name: str,
    values: Sequence[Any],
    score: Score,
    tasks: Iterable[object],
    *,
    folds: int = 5,
    held_out: Iterable[object] | None = None,
    never: Iterable[object] = (),
    better: Literal["lower", "higher"] = "lower",
    seed: int = 0,
    progress: Progress = no_progress,
) -> Choice:
    """Try each value of one option: compute its score on held-out tasks, and return all scores and the best value.

    `score(value, learn, held)` may train on the tasks `learn` and evaluates on the tasks `held`. Tasks are divided at random
    into `folds`, each held out once; or `held_out` is the one set to evaluate on. Test tasks, listed in `never`, are not used.

    >>> nearest = lambda value, learn, held: abs(value - len(learn))
    >>> choose("n", [1, 2, 3], nearest, ["a", "b", "c"], folds=3).chosen
    2
    """
    if not len(values):
        raise OptionError(f"no values of {name} are given")
    names = as_names(tasks, "tasks")
    if len(twice := duplicates(names)):
        raise InputError(f"tasks are listed twice: {first_few(twice)}")
    excluded = positions(as_names(list(never), "test tasks"), names) >= 0
    names = names[~excluded]
    parts = _held_out_mask_of_each_fold(names, folds, held_out, seed)
    scores = np.empty((len(values), len(parts)))
    for i, value in enumerate(values):
        for j, held in enumerate(parts):
            scores[i, j] = score(value, names[~held], names[held])
            progress(i * len(parts) + j, scores.size, float(scores[i, j]))
    if not (finite := np.isfinite(scores).all(1)).any():
        raise InputError(f"no {name} among {first_few(values)} has a score on every fold")
    scores[~finite] = np.nan
    return Choice(name, tuple(values), scores, better, tuple(names[held] for held in parts), int(excluded.sum()))


def _held_out_mask_of_each_fold(
    task_names: Names, n_folds: int, held_out: Iterable[object] | None, seed: int
) -> list[Any]:
    """Return one boolean array (n_tasks,) per fold that marks the held-out tasks; a single one if `held_out` is given."""
    if held_out is not None:
        wanted = as_names(held_out, "held-out tasks")
        place = positions(task_names, wanted)
        if not len(wanted) or (place < 0).any():
            raise InputError(
                f"held-out tasks must be among the tasks and not test tasks; these are not: {first_few(wanted[place < 0])}"
            )
        part = np.zeros(len(task_names), bool)
        part[place] = True
        return [part]
    if not 2 <= n_folds <= len(task_names):
        raise OptionError(f"{len(task_names)} tasks can be divided into 2 to {len(task_names)} folds; got {n_folds}")
    fold = np.random.default_rng(seed).permutation(len(task_names)) % n_folds
    return [fold == j for j in range(n_folds)]
