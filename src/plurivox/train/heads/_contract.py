"""What every head is: what sits on a net's logits while it learns, and is taken off to predict."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from plurivox.core.method import Method
from plurivox.core.registry import Methods
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Names
from plurivox.core.votes import Votes
from plurivox.train.targets._contract import Batch, Drawn, Gives

__all__ = ["Batch", "Head", "HeadContext", "HeadModule", "methods"]


@dataclass(frozen=True, eq=False)
class HeadContext:
    """What a head may know before it learns. Row i of the inputs is task i of `tasks` and of `votes`."""

    shape: tuple[int, ...]  # of one input
    tasks: Names
    labels: Names
    workers: Names
    votes: Votes | None  # exactly on `tasks`, over `labels`; None where there are none

    @property
    def n_labels(self) -> int:
        return len(self.labels)

    @property
    def n_workers(self) -> int:
        return len(self.workers)


class HeadModule(nn.Module):
    """A head on its net: its own parameters learn with those of the net.

    Whatever it keeps from epoch to epoch (a posterior, matrices) is a parameter or a buffer, so that a checkpoint holds it.
    What it learns of each of many workers are `WorkerTable`, of which a step touches those in its batch.
    """

    def forward(self, logits: Tensor, batch: Batch) -> Tensor:
        """(n,) the loss of each example."""
        raise NotImplementedError

    def before_net(self, x: Tensor, drawn: Drawn, rng: torch.Generator) -> tuple[Tensor, Drawn]:
        """Change what the net sees of a batch and what was said of it, such as mixtures; row by row the same tasks.

        Like a target's draw it waits for nothing, and its shapes depend on those of the batch alone.
        """
        del rng
        return x, drawn

    @property
    def changes_inputs(self) -> bool:
        """Whether the net may see something else than the tasks while it learns."""
        return type(self).before_net is not HeadModule.before_net

    def before_epoch(self, epoch: int, predict: Callable[[], Tensor]) -> None:
        """Update what is kept between epochs, such as by an E-step; `predict()` returns the logits (n_tasks, n_labels)
        of the net without dropout, in the order of the scene's tasks."""
        del epoch, predict

    def stack_key(self) -> Hashable:
        """What must be equal in the heads of several runs for them to be stacked."""
        return None

    def stacked(self, heads: Sequence[Self], net: nn.Module) -> "HeadModule":
        """One head for the heads of several runs with one `stack_key`, on the logits of all of them, run after run.

        `net` is their stacked net. What the heads have learnt becomes slices of what this one learns. Heads with `stacks` can
        do it.
        """
        raise NotImplementedError

    def fit_result(self, soft: SoftLabels, x: Tensor, logits: Tensor) -> Fit | None:
        """What was learnt of the workers; `soft` and `logits` are the predictions of the net for the scene's tasks, x."""
        del soft, x, logits
        return None


@dataclass(frozen=True)
class Head(Method, ABC):
    """A head by its name and options; `wants` says what its target must give: "votes" of workers, or a "pair"."""

    wants: ClassVar[Gives] = "votes"
    stacks: ClassVar[bool] = False  # whether the heads of several runs can be stacked to one
    records: ClassVar[bool] = True  # whether a step under it can be recorded as a CUDA graph

    @abstractmethod
    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        """The head for this net; new weights come from torch's generator, which the caller has seeded."""


methods: Methods[Head] = Methods(__package__, Head)
