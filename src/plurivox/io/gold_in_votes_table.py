"""Gold labels in a table of votes: a column `gold`, `truth`, `ground_truth`, ... with the true label of each task."""

import numpy as np

from plurivox.core.count_text import count_text
from plurivox.core.name_encoding import as_names, distinct_names, positions, sort_distinct_names_by_value
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io.tabular.column_conversion import (
    codes_names_and_notes_of_column,
    whole_numbers_without_decimals_or_none,
)
from plurivox.io.votes_table_layout import VotesLayout


def gold_in_votes_table(layout: VotesLayout, votes: Votes) -> tuple[SoftLabels | None, list[str]]:
    """Return the gold labels in a table of votes, and a note on them; None if it has none.

    The column must have one value per task, some of which are labels of the votes: a column that tells which tasks are test
    questions by true and false has none.
    """
    if layout.gold is None or layout.given is None:
        return None, []
    label, names, _ = codes_names_and_notes_of_column(layout.given[layout.gold], "gold label")
    if layout.given_task is None:
        task, tasks = np.arange(len(label), dtype=label.dtype), as_names(np.arange(len(label)))
    else:
        task, tasks, _ = codes_names_and_notes_of_column(layout.given[layout.given_task], "task")
    if (whole := whole_numbers_without_decimals_or_none(names)) is not None and layout.given.is_untyped:
        names = whole
    known = (task >= 0) & (label >= 0)
    if not known.any() or not (positions(votes.labels, names) >= 0).any():
        return None, []
    order = np.unique(np.stack([task[known], label[known]]), axis=1)
    if len(np.unique(order[0])) < order.shape[1]:
        return None, [f"column {layout.gold!r} has several values for some tasks: it is not read as gold labels"]
    gold_only = distinct_names(names)[positions(votes.labels, distinct_names(names)) < 0]
    same_kind = gold_only.dtype.kind == votes.labels.dtype.kind
    labels = sort_distinct_names_by_value(np.concatenate([votes.labels, gold_only])) if same_kind else None
    labels = votes.labels if not len(gold_only) else labels
    gold = SoftLabels.gold(tasks[order[0]], names[order[1]], labels=labels)
    return gold, [f"column {layout.gold!r} is read as the gold labels of {count_text(len(gold), 'task')}"]
