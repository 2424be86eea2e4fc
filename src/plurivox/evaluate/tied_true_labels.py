"""Leave tasks whose true label is a tie, such as gold with two accepted answers, out of measures of the true label."""

import numpy as np

from plurivox.core.array_types import Names
from plurivox.core.count_text import count_text
from plurivox.core.name_encoding import positions
from plurivox.core.soft_labels import SoftLabels


def without_tied_true_labels(truth: SoftLabels, tasks: Names) -> tuple[SoftLabels, tuple[str, ...]]:
    """Return the true labels of tasks with one most probable label, and a note on how many of `tasks` lack one.

    If all of `tasks` have a tie, the true labels are returned unchanged, and the note says so.

    >>> truth = SoftLabels.of([[1, 0], [0.5, 0.5]], ["a", "b"], ["no", "yes"])
    >>> kept, notes = without_tied_true_labels(truth, truth.tasks)
    >>> kept.tasks.tolist(), notes[0]
    (['a'], '1 task has two or more true labels that are equally probable: left out of measures that need one true label')
    """
    tied = truth.has_tie_at_top()
    place = positions(truth.tasks, tasks)
    used = place[place >= 0]
    if not (n := int(tied[used].sum())):
        return truth, ()
    what = f"{count_text(n, 'task')} {'has' if n == 1 else 'have'} two or more true labels that are equally probable"
    if n == len(used):
        return truth, (f"{what}, and no task has one true label: the first of them counts as true",)
    kept = np.flatnonzero(~tied)
    return truth.on(truth.tasks[kept]), (f"{what}: left out of measures that need one true label",)
