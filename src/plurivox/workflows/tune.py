"""Choosing gamma, a smoothing, a temperature, a learning rate: on held-out tasks only, and the whole grid is told."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from plurivox.core.encoding import as_names, duplicates, positions
from plurivox.core.errors import InputError, OptionError, first_few
from plurivox.core.progress import Progress, no_progress
from plurivox.core.tables import Table
from plurivox.core.types import Floats, Names

Score = Callable[[Any, Names, Names], float]  # (value, tasks to learn from, held-out tasks) -> how good it is


@dataclass(frozen=True, eq=False)
class Choice:
    """A value that was chosen, and everything the choice rests on."""

    name: str  # of what is chosen: gamma
    values: tuple[Any, ...]
    scores: Floats  # (n_values, n_folds)
    better: Literal["lower", "higher"]
    held_out: tuple[Names, ...]  # the tasks each fold is evaluated on
    barred: int = 0  # test tasks that were kept out of all folds

    @property
    def mean(self) -> Floats:
        """(n_values,) the score of each value, folds weighing alike."""
        return self.scores.mean(1)

    @property
    def chosen(self) -> Any:
        """The value with the best mean; of equal ones the first."""
        mean = self.mean if self.better == "lower" else -self.mean
        return self.values[int(np.nanargmin(mean))]

    def table(self) -> Table:
        """The grid: a row a value, its score on every fold, their mean and spread."""
        folds = (
            {f"fold {j}": self.scores[:, j] for j in range(self.scores.shape[1])} if self.scores.shape[1] > 1 else {}
        )
        spread = self.scores.std(1, ddof=1) if folds else np.full(len(self.values), np.nan)
        n = sum(len(tasks) for tasks in self.held_out)
        barred = f"; {self.barred:,} test tasks took no part" if self.barred else ""
        return Table(
            f"Choosing {self.name}: {self.better} is better",
            {
                self.name: list(self.values),
                **folds,
                "mean": self.mean,
                "sd": spread,
                "chosen": [value == self.chosen for value in self.values],
            },
            (f"judged on {n:,} held-out tasks in {len(self.held_out)} folds{barred}",),
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
    """The value that is best on held-out tasks.

    `score(value, learn, held)` may look at the tasks `learn` and is evaluated on the tasks `held`. Tasks are cut into `folds`
    at random, each held out once; or `held_out` names the one set to evaluate on. Test tasks, listed in `never`, take no part.

    >>> nearest = lambda value, learn, held: abs(value - len(learn))
    >>> choose("n", [1, 2, 3], nearest, ["a", "b", "c"], folds=3).chosen
    2
    """
    if not len(values):
        raise OptionError(f"there is no {name} to choose from")
    names = as_names(tasks, "tasks")
    if len(twice := duplicates(names)):
        raise InputError(f"tasks are listed twice: {first_few(twice)}")
    barred = positions(as_names(list(never), "test tasks"), names) >= 0
    names = names[~barred]
    parts = _folds(names, folds, held_out, seed)
    scores = np.empty((len(values), len(parts)))
    for i, value in enumerate(values):
        for j, held in enumerate(parts):
            scores[i, j] = score(value, names[~held], names[held])
            progress(i * len(parts) + j, scores.size, float(scores[i, j]))
    if not (finite := np.isfinite(scores).all(1)).any():
        raise InputError(f"no {name} among {first_few(values)} has a score on every fold")
    scores[~finite] = np.nan
    return Choice(name, tuple(values), scores, better, tuple(names[held] for held in parts), int(barred.sum()))


def _folds(names: Names, folds: int, held_out: Iterable[object] | None, seed: int) -> list[Any]:
    """(n_tasks,) truth values, one array per fold: which tasks it holds out."""
    if held_out is not None:
        wanted = as_names(held_out, "held-out tasks")
        place = positions(names, wanted)
        if not len(wanted) or (place < 0).any():
            raise InputError(
                f"held-out tasks must be among the tasks, and no test tasks; look at {first_few(wanted[place < 0])}"
            )
        part = np.zeros(len(names), bool)
        part[place] = True
        return [part]
    if not 2 <= folds <= len(names):
        raise OptionError(f"{len(names)} tasks can be cut into 2 to {len(names)} folds; got {folds}")
    fold = np.random.default_rng(seed).permutation(len(names)) % folds
    return [fold == j for j in range(folds)]
