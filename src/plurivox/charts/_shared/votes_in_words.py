"""The votes on a task in words: "cat 5, dog 4", and the known labels of tasks."""

import numpy as np

from plurivox.charts._shared.names_as_text import shown_name
from plurivox.core.array_types import Names
from plurivox.core.name_encoding import positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes


def votes_per_label(votes: Votes, task: int) -> dict[int, float]:
    """Return {label code: votes} of the task with this code, most votes first; empty without votes.

    >>> votes = Votes.of(["a", "a", "a"], [1, 2, 3], ["no", "yes", "yes"])
    >>> votes_per_label(votes, 0)
    {1: 2.0, 0: 1.0}
    """
    rows = slice(*votes.row_offsets_by_task[task : task + 2].tolist())
    weight = None if votes.weight is None else votes.weight[rows]
    labels, where = np.unique(votes.label[rows], return_inverse=True)
    totals = np.bincount(where, weight, minlength=len(labels)).astype(float)
    return {int(labels[i]): float(totals[i]) for i in np.argsort(-totals, kind="stable")}


def votes_in_words(votes: Votes, task: int, most: int = 4) -> str:
    """Return the votes on the task with this code, most votes first, such as "cat 5, dog 4"; labels after `most` together.

    >>> votes_in_words(Votes.of(["a", "a", "a"], [1, 2, 3], ["no", "yes", "yes"]), 0)
    'yes 2, no 1'
    >>> votes_in_words(Votes.of(["a", "a", "a"], [1, 2, 3], [0, 1, 1]), 0)
    '1: 2, 0: 1'
    """
    found = [(label, n) for label, n in votes_per_label(votes, task).items() if n > 0]
    if not found:
        return "no votes"
    shown, rest = (found, []) if len(found) <= most + 1 else (found[:most], found[most:])
    names = [shown_name(votes.labels[label]) for label, _ in shown]
    between = ": " if any(name[-1].isdigit() for name in names) else " "
    parts = [f"{name}{between}{number_text(n)}" for name, (_, n) in zip(names, shown, strict=True)]
    return ", ".join([*parts, *([f"{len(rest)} others {number_text(sum(n for _, n in rest))}"] if rest else [])])


def number_text(votes: float) -> str:
    """Return a number of votes as text: whole, or with two decimals if soft answers were added up.

    >>> number_text(1200.0), number_text(2.5)
    ('1,200', '2.50')
    """
    return f"{votes:,.0f}" if abs(votes - round(votes)) < 1e-6 else f"{votes:,.2f}"


def known_labels(gold: SoftLabels | None, tasks: Names) -> list[str | None]:
    """Return the name of the known label of each task; None where none is known."""
    if gold is None or not len(gold.tasks):
        return [None] * len(tasks)
    place = positions(gold.tasks, tasks)
    found = iter(gold.on(gold.tasks[place[place >= 0]]).hard())
    return [str(next(found)) if at >= 0 else None for at in place]
