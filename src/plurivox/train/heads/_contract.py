"""Base classes of heads: layers on a net's logits that are used in training and removed for prediction."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from plurivox.core.array_types import Names
from plurivox.core.method import Method
from plurivox.core.registry import Methods
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train.targets._contract import Batch, DrawnLabels, TargetKind

__all__ = ["Batch", "Head", "HeadContext", "HeadModule", "methods"]


@dataclass(frozen=True, eq=False)
class HeadContext:
    """Input shape, tasks, labels, workers and votes of the training data, given to `Head.build`.

    Row i of the inputs is task i of `tasks` and of `votes`.
    """

    shape: tuple[int, ...]  # of one input
    tasks: Names
    labels: Names
    workers: Names
    votes: Votes | None  # of exactly `tasks`, over `labels`; None if there are no votes

    @property
    def n_labels(self) -> int:
        """Number of labels of the training data."""
        return len(self.labels)

    @property
    def n_workers(self) -> int:
        """Number of workers of the training data."""
        return len(self.workers)


class HeadModule(nn.Module):
    """The torch module of a head, trained together with the net; base class.

    All state that lasts longer than an epoch (a posterior, matrices) is a parameter or a buffer, so that checkpoints contain
    it. Parameters per worker are a `WorkerTable`, of which a step updates only the workers in its batch.
    """

    def forward(self, logits: Tensor, labelled_batch: Batch) -> Tensor:
        """(n,) the loss of each example, from the net's logits (n, n_labels)."""
        raise NotImplementedError

    def transform_batch(self, x: Tensor, labels: DrawnLabels, rng: torch.Generator) -> tuple[Tensor, DrawnLabels]:
        """Return inputs and labels of a training batch changed, for example mixed with other tasks; default: unchanged.

        Row i stays task i. As in `Examples.get_or_draw_labels`, shapes depend only on those of the batch, and nothing waits for
        the device.
        """
        del rng
        return x, labels

    @property
    def changes_inputs(self) -> bool:
        """Whether inputs are changed by `transform_batch`, so that logits in training are not those of the tasks."""
        return type(self).transform_batch is not HeadModule.transform_batch

    def update_head_before_epoch(self, epoch: int, predict_logits: Callable[[], Tensor]) -> None:
        """Update the head's state before an epoch, for example by an E-step; default: do nothing.

        `predict()` returns the net's logits (n_tasks, n_labels) without dropout, in the order of `HeadContext.tasks`.
        """
        del epoch, predict_logits

    def stacking_compatibility_key(self) -> Hashable:
        """Return a value that must be equal in the heads of several runs for `stack_heads` to combine them."""
        return None

    def stack_heads(self, heads_of_runs: Sequence[Self], stacked_net: nn.Module) -> "HeadModule":
        """Return one head that computes the losses of the heads of several runs; only if `Head.can_stack`.

        All `heads_of_runs` have the same `stacking_compatibility_key`; `stacked_net` is their net, whose logits come run after
        run. The parameters of the given heads become slices of those of the new head.
        """
        raise NotImplementedError

    def make_fit_with_worker_estimates(self, predictions: SoftLabels, x: Tensor, logits: Tensor) -> Fit | None:
        """Return the net's predictions and the head's estimates about workers as a Fit; None if it estimates nothing.

        `predictions` and `logits` are the net's predictions for the training inputs `x`.
        """
        del predictions, x, logits
        return None


@dataclass(frozen=True)
class Head(Method, ABC):
    """A head with its options; `build` makes its torch module; base class."""

    target_kind: ClassVar[TargetKind] = (
        "votes"  # kind of target that it is trained on: "votes", or "pair" for two heads
    )
    can_stack: ClassVar[bool] = False  # whether the heads of several runs can be combined, see `HeadModule.stack_heads`
    capturable: ClassVar[bool] = True  # whether a step with this head can be recorded as a CUDA graph

    @abstractmethod
    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        """Return the module of the head for `net`; initial weights come from torch's generator, seeded by the caller."""


methods: Methods[Head] = Methods(__package__, Head)
