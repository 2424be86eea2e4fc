"""Base class of targets, the data they use (`Supervision`), and the examples and batches made from them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import torch
from torch import Tensor

from plurivox.core.array_types import Bools, Names
from plurivox.core.errors import InputError
from plurivox.core.method import Method
from plurivox.core.name_encoding import as_names, positions, sort_distinct_names_by_value
from plurivox.core.registry import Methods
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import Votes

__all__ = ["Batch", "DrawnLabels", "Examples", "Known", "PaddedVotes", "Supervision", "Target", "TargetKind", "methods"]

TargetKind = Literal["distribution", "votes", "pair"]  # kind of label of an example
HOW_TO_GIVE = {  # field of Supervision -> advice in an error if it is missing
    "votes": "give the votes of the crowd",
    "gold": "give known labels, gold=... (--gold FILE)",
    "soft": "give soft labels, such as those of an aggregator",
}


@dataclass(frozen=True, eq=False)
class Supervision:
    """Votes, gold labels and soft labels of the training tasks, from which a target makes its examples.

    `pv.train.Known` is another name of this class.
    """

    votes: Votes | None = None
    gold: SoftLabels | None = None
    soft: SoftLabels | None = None  # from any source: aggregated, elicited, smoothed
    chosen: Names | None = None  # the tasks for which the target `mixed` uses its option `first`

    def merge_labels_of_votes_gold_and_soft(self) -> Names:
        """Return one list of all labels that occur in votes, gold labels and soft labels.

        It is the longest of the three lists if that contains the others, else all labels sorted. Raises InputError if there is
        no list, or if labels are text in one and numbers in another.
        """
        lists = [one.labels for one in (self.soft, self.votes, self.gold) if one is not None]
        if not lists:
            raise InputError("there is nothing to train on: give votes, gold or soft labels")
        longest = max(lists, key=len)
        if all((positions(longest, one) >= 0).all() for one in lists):
            return longest
        if len({one.dtype.kind for one in lists}) > 1:
            raise InputError("votes, gold and soft labels have labels of different types; make them all text")
        return sort_distinct_names_by_value(np.concatenate(lists))


Known = Supervision  # the name before version 0.2


@dataclass(frozen=True, eq=False, slots=True)
class PaddedVotes:
    """Worker, label and weight of every vote of n tasks, padded to the same number of votes per task.

    A soft answer is several votes whose weights sum to 1.
    """

    worker: Tensor  # (n, max_votes) code of the worker, 0 where padded
    label: Tensor  # (n, max_votes) code of the label, 0 where padded
    weight: Tensor  # (n, max_votes) 1 for a plain vote, 0 where padded


# labels of a batch: probabilities (n, n_labels), votes, or two arrays of probabilities (main, soft)
DrawnLabels: TypeAlias = "Tensor | PaddedVotes | tuple[Tensor, Tensor]"


class Examples(ABC):
    """The training examples of a target, as tensors on the device; base class.

    An epoch uses every example once. Example i belongs to row `row[i]` of the inputs.
    """

    n_examples: int
    row: Tensor | None = None  # (n_examples,) None: example i belongs to row i
    weight: Tensor | None = None  # (n_examples,) weight of the loss; None: 1 for all
    max_votes: int = 1  # number of votes that every example is padded to

    @abstractmethod
    def get_or_draw_labels(self, example_indices: Tensor, rng: torch.Generator) -> DrawnLabels:
        """Return the training labels of `example_indices` (n,): probabilities (n, n_labels), two such arrays, or votes.

        Shapes depend only on n, and nothing waits for the device, so that a step can be recorded as a CUDA graph.
        """


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Inputs, labels and weights of the examples of one training step."""

    x: Tensor  # (n, *shape) the inputs after augmentation
    rows: Tensor  # (n,) the row of each example in the training inputs
    labels: DrawnLabels  # drawn by the target; their kind is the target_kind of the head
    weight: Tensor | None = None  # (n,) factor of each loss; None: 1


@dataclass(frozen=True)
class Target(Method, ABC):
    """The label, distribution or votes that a net is trained on, per task; base class.

    `estimates` declares what a net trained on it predicts: `truth`, the probability that a label is right, `people`, the
    probability that a person drawn from the crowd gives it, or `unknown` for a control without information.
    """

    needs: ClassVar[tuple[str, ...]] = ()  # fields of `Supervision` that must be given
    kind: ClassVar[TargetKind] = "distribution"  # kind of labels that `Examples.get_or_draw_labels` returns
    estimates: ClassVar[Estimand] = "unknown"

    def mask_of_tasks_with_target(self, supervision: Supervision, tasks: Names) -> Bools:
        """(n_tasks,) whether each of `tasks` has a label of this target; InputError if the data it needs are missing."""
        self._check_required_data(supervision)
        return self._mask_of_tasks_with_target(supervision, as_names(tasks, "tasks"))

    def component_targets(self) -> "tuple[Target, ...]":
        """Return the targets that this target is made of; () for a target that is not made of others."""
        return ()

    def estimated_quantity(self, soft: Estimand = "unknown") -> Estimand:
        """Return what a net trained on this target estimates; `soft` says what the soft labels of the training tasks do."""
        del soft
        return self.estimates

    @property
    def uses_chosen_tasks(self) -> bool:
        """Whether the target, or one that it is made of, uses `Supervision.chosen`."""
        return any(one.uses_chosen_tasks for one in self.component_targets())

    @property
    def can_train_on_gold(self) -> bool:
        """Whether the target, or one that it is made of, is made from gold labels."""
        return "gold" in self.needs or any(one.can_train_on_gold for one in self.component_targets())

    @property
    def can_train_on_soft_labels(self) -> bool:
        """Whether the target, or one that it is made of, is made from soft labels."""
        return "soft" in self.needs or any(one.can_train_on_soft_labels for one in self.component_targets())

    def trains_on_gold(self, supervision: Supervision, tasks: Names) -> bool:
        """Return whether the training label of any of `tasks` is a gold label or made from one."""
        return "gold" in self.needs or any(one.trains_on_gold(supervision, tasks) for one in self.component_targets())

    def n_tasks_by_component(self, supervision: Supervision, tasks: Names) -> dict[str, int]:
        """Return {target: number of `tasks` trained on it} if a task is trained on one of several targets; else {}."""
        del supervision, tasks
        return {}

    def make_examples(self, supervision: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        """Return the training examples of `tasks`, all of which must have a target; row i of the inputs is task i.

        `labels` is the list of all labels, in the order of the net's outputs.
        """
        self._check_required_data(supervision)
        return self._make_examples(supervision, tasks, labels, device)

    @abstractmethod
    def _mask_of_tasks_with_target(self, supervision: Supervision, tasks: Names) -> Bools:
        """(n_tasks,) whether each task has a label of this target; `supervision` has the data that the target needs."""

    @abstractmethod
    def _make_examples(self, supervision: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        """Return the training examples of `tasks`; `supervision` has the data that the target needs."""

    def _check_required_data(self, supervision: Supervision) -> None:
        """Raise InputError if `supervision` lacks votes, gold or soft labels that this target needs."""
        for name in self.needs:
            if getattr(supervision, name) is None:
                label_kind = name if name == "votes" else f"{name} labels"
                raise InputError(f"the target {self.name()} needs {label_kind}: {HOW_TO_GIVE[name]}")


methods: Methods[Target] = Methods(__package__, Target)
