"""What every target is, and what it may look at."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import torch
from torch import Tensor

from plurivox.core.encoding import as_names, positions, sort_by_value
from plurivox.core.errors import InputError
from plurivox.core.method import Method
from plurivox.core.registry import Methods
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Bools, Names
from plurivox.core.votes import Votes

__all__ = ["Batch", "Drawn", "Examples", "Gives", "PaddedVotes", "Supervision", "Target", "methods"]

Gives = Literal["distribution", "votes", "pair"]
HOW = {  # what is missing -> how to get it
    "votes": "give the votes of the crowd",
    "gold": "give known labels",
    "soft": "give soft labels, such as those of an aggregator",
}


@dataclass(frozen=True, eq=False)
class Supervision:
    """What is known of the tasks; a target teaches from it."""

    votes: Votes | None = None
    gold: SoftLabels | None = None
    soft: SoftLabels | None = None  # any: aggregated, elicited, smoothed
    chosen: Names | None = None  # the tasks that a mixed target takes from its first part

    def labels(self) -> Names:
        """One list of all labels: the longest where it holds the others, else all of them sorted."""
        lists = [one.labels for one in (self.soft, self.votes, self.gold) if one is not None]
        if not lists:
            raise InputError("nothing is known of the tasks: give votes, gold or soft labels")
        longest = max(lists, key=len)
        if all((positions(longest, one) >= 0).all() for one in lists):
            return longest
        if len({one.dtype.kind for one in lists}) > 1:
            raise InputError("votes, gold and soft labels name their labels in different kinds; make them all text")
        return sort_by_value(np.unique(np.concatenate(lists)))


@dataclass(frozen=True, eq=False, slots=True)
class PaddedVotes:
    """All answers to some tasks, padded to one length; a soft answer is several with its weights."""

    worker: Tensor  # (n, most) code of the worker, 0 where padded
    label: Tensor  # (n, most) code of the label, 0 where padded
    weight: Tensor  # (n, most) 1 for a plain vote, 0 where padded


Drawn: TypeAlias = "Tensor | PaddedVotes | tuple[Tensor, Tensor]"


class Examples(ABC):
    """A target on its data, on the device. An epoch uses every example once; example i is about row `row[i]` of x."""

    n_examples: int
    row: Tensor | None = None  # (n_examples,) None: example i is about row i
    weight: Tensor | None = None  # (n_examples,) None: all weigh 1
    most: int = 1  # length that the answers of an example are padded to

    @abstractmethod
    def draw(self, indices: Tensor, rng: torch.Generator) -> Drawn:
        """Draw the labels of these examples: rows of probabilities (n, n_labels), a `PaddedVotes` or a pair of rows.

        Shapes depend on the number of examples alone and nothing waits for the device, so that a step can be recorded.
        """


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Inputs and drawn labels of the examples of one step."""

    x: Tensor  # (n, *shape) the inputs as the net saw them, augmented
    rows: Tensor  # (n,) which tasks of the training set they are
    drawn: Drawn  # what the target gave: a `PaddedVotes` where the head wants votes, a pair where it wants that
    weight: Tensor | None = None  # (n,) by which the losses are multiplied afterwards; None: 1


@dataclass(frozen=True)
class Target(Method, ABC):
    """What a task teaches when it is drawn. `needs` names fields of `Supervision`; `gives` says what is drawn."""

    needs: ClassVar[tuple[str, ...]] = ()
    gives: ClassVar[Gives] = "distribution"

    def teaches(self, known: Supervision, tasks: Names) -> Bools:
        """(n_tasks,) which of these tasks it has something to teach about."""
        self._refuse(known)
        return self._teaches(known, as_names(tasks, "tasks"))

    def examples(self, known: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        """The examples of tasks that it `teaches`, over this list of labels. Row i of the inputs is task i."""
        self._refuse(known)
        return self._examples(known, tasks, labels, device)

    @abstractmethod
    def _teaches(self, known: Supervision, tasks: Names) -> Bools: ...

    @abstractmethod
    def _examples(self, known: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples: ...

    def _refuse(self, known: Supervision) -> None:
        for name in self.needs:
            if getattr(known, name) is None:
                raise InputError(f"the target {self.name()} needs {name}: {HOW[name]}")


methods: Methods[Target] = Methods(__package__, Target)
