"""Results of several runs as tables: mean ± std, and every single one."""

from collections.abc import Mapping, Sequence

from plurivox.core.tables import Table
from plurivox.evaluate import spread

Runs = Mapping[str, Sequence[Mapping[str, float]]]  # a method -> the measures of each of its runs


def mean_and_std(title: str, runs: Runs, notes: Sequence[str] = (), digits: int = 4, of: str = "method") -> Table:
    """A row per method: how many runs, and every measure as mean ± std (n - 1).

    >>> print(mean_and_std("Two", {"a": [{"accuracy": .8}, {"accuracy": .9}], "b": [{"accuracy": .5}]}, digits=2).text())
    Two
    method  runs  accuracy
    a          2  0.85 ± 0.07
    b          1  0.50
    """
    names = list(dict.fromkeys(name for each in runs.values() for one in each for name in one))
    cells: dict[str, object] = {of: list(runs), "runs": [len(each) for each in runs.values()]}
    for name in names:
        cells[name] = [_told([one[name] for one in each if name in one], digits) for each in runs.values()]
    return Table(title, cells, tuple(note for note in notes if note))


def _told(values: Sequence[float], digits: int) -> str:
    if not values:
        return "-"
    found = spread(values)
    return f"{found.mean:.{digits}f}" + (f" ± {found.std:.{digits}f}" if len(values) > 1 else "")


def all_runs(title: str, runs: Runs, seed: int = 0, of: str = "method") -> Table:
    """A row per run."""
    rows = [(method, run, one) for method, each in runs.items() for run, one in enumerate(each)]
    names = list(dict.fromkeys(name for _, _, one in rows for name in one))
    cells: dict[str, object] = {
        of: [method for method, _, _ in rows],
        "run": [run for _, run, _ in rows],
        "seed": [seed + run for _, run, _ in rows],
    }
    return Table(title, cells | {name: [one.get(name) for _, _, one in rows] for name in names})
