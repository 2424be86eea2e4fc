"""Soft labels for both questions from the same votes: what is right (truth), and what people would say (people)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox import aggregate
from plurivox.aggregate import Aggregator
from plurivox.core.count_text import count_text
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import OptionError
from plurivox.core.progress_callbacks import Progress, callback_reporting_only_outer_step, no_progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand
from plurivox.core.votes import Votes
from plurivox.io.dataset_reader import as_votes
from plurivox.workflows.fit_votes import fit

TRUTH_AND_PEOPLE = (  # the one sentence that the studio and reports show beside the two soft labels of a task
    "Truth: the probability that a label is right. People: the share of people like these who would give it."
)

TIE = 1e-9  # shares that differ by less are equal


@dataclass(frozen=True, eq=False, repr=False)
class BothFits(DataType):
    """Two fits of the same votes: `truth`, how probable it is that a label is right, and `people`, how many would give it.

    `text()` shows them with the difference in one sentence; `columns()` is a table with one row per task.
    """

    truth: Fit
    people: Fit

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the table: task, votes, top label and its probability by each fit, and whether the top labels differ.

        They do not differ if the label that is most probably right is one of several that equally many people would give.
        """
        truth, people = (one.soft.most_probable_label_codes() for one in (self.truth, self.people))
        n = len(self.truth.soft.tasks)
        differ = np.asarray(self.people.soft.prob)[np.arange(n), truth] < self.people.soft.confidence - TIE
        votes = self.people.soft.support
        labels = self.truth.soft.labels
        return {
            "task": self.truth.soft.tasks,
            "votes": np.full(n, np.nan) if votes is None else votes,
            "truth": labels[truth],
            "p_right": self.truth.soft.confidence,
            "people": labels[np.where(differ, people, truth)],
            "share": self.people.soft.confidence,
            "differ": differ,
        }

    def label_shares(self) -> dict[str, NDArray[Any]]:
        """Return the table of labels: the mean over tasks of the probability to be right, and of the share of people."""
        return {
            "label": self.truth.soft.labels,
            "truth": np.asarray(self.truth.soft.prob).mean(0),
            "people": np.asarray(self.people.soft.prob).mean(0),
        }

    def text(self) -> str:
        """Return in three lines what the two soft labels are, the methods, and on how many tasks the top labels differ."""
        n, differ = len(self.truth.soft.tasks), int(self.columns()["differ"].sum())
        return (
            f"{TRUTH_AND_PEOPLE}\n"
            f"truth by {self.truth.made_by}, people by {self.people.made_by}\n"
            f"the most probable label differs in {differ:,} of {count_text(n, 'task')}"
        )

    def summary_values(self) -> dict[str, object]:
        return {
            "tasks": len(self.truth.soft.tasks),
            "labels": len(self.truth.soft.labels),
            "truth by": self.truth.made_by,
            "people by": self.people.made_by,
        }


def fit_both(
    votes: Any,
    *,
    truth: str | Aggregator | None = None,
    people: str | Aggregator | None = None,
    gold: Any = None,
    part: str | None = None,
    progress: Progress = no_progress,
) -> BothFits:
    """Aggregate votes for both questions: which label is right (truth), and what people would say (people).

    `votes` are as for `fit`. `truth` and `people` are methods, by default those of `aggregate.DEFAULT_METHODS`; raise
    OptionError if a method estimates the other one. `gold` are known labels, for the method for truth only: they say nothing
    about people.

    >>> table = {"task": ["a", "a", "a", "b"], "worker": [1, 2, 3, 1], "label": ["no", "no", "yes", "yes"]}
    >>> both = fit_both(table, truth="dawid-skene", people="vote-shares")
    >>> both.truth.soft.estimates, both.people.soft.estimates
    ('truth', 'people')
    >>> both.people.soft.prob.round(2).tolist()
    [[0.67, 0.33], [0.0, 1.0]]
    """
    for_truth, for_people = _method_for("truth", truth), _method_for("people", people)
    if not isinstance(votes, Votes) or part is not None:
        needs_names = [one.name() for one in (for_truth, for_people) if "counts" not in one.accepted_inputs()]
        votes = as_votes(votes, part, method_needing_names=next(iter(needs_names), ""))
    return BothFits(
        fit(votes, for_truth, gold=gold, progress=callback_reporting_only_outer_step(progress, 0, 2)),
        fit(votes, for_people, progress=callback_reporting_only_outer_step(progress, 1, 2)),
    )


def _method_for(quantity: Estimand, given: str | Aggregator | None) -> Aggregator:
    """Return the method given for truth or people, or the default; raise OptionError if it estimates the other one."""
    method = aggregate.methods.make(aggregate.DEFAULT_METHODS[quantity] if given is None else given)
    if method.estimated_quantity() not in (quantity, "unknown"):
        raise OptionError(
            f"{quantity}={method.name()!r} estimates {method.estimated_quantity()}, not {quantity}; "
            f"use a method for {quantity}, such as {aggregate.DEFAULT_METHODS[quantity]}"
        )
    return method
