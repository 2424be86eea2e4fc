"""Target `mixed`: one target for some tasks, another for the rest."""

from dataclasses import dataclass

import numpy as np
import torch

from plurivox.core.array_types import Bools, Names
from plurivox.core.method import option
from plurivox.core.name_encoding import positions
from plurivox.train.targets._contract import Examples, Supervision, Target
from plurivox.train.targets._shared.target_base_classes import make_component_target
from plurivox.train.targets._shared.training_examples import MixedExamples, copy_to_device


@dataclass(frozen=True)
class Mixed(Target):
    """One target for some tasks, another for the rest: the parity design.

    The tasks of the first target are those in `Supervision.chosen`; if that is not given, all tasks that have the first target.

    Collins et al. (2022), section 5.1, https://doi.org/10.1609/hcomp.v10i1.21986
    """

    first: str = option("soft", "target of the chosen tasks, or of all tasks that have it")
    rest: str = option("gold", "target of the other tasks")

    def make_both_component_targets(self) -> tuple[Target, Target]:
        """Return the target of the chosen tasks (`first`) and that of the other tasks (`rest`)."""
        return make_component_target(self.first, self.name()), make_component_target(self.rest, self.name())

    def _mask_of_tasks_with_target(self, supervision: Supervision, tasks: Names) -> Bools:
        is_first = self._is_trained_on_first_target(supervision, tasks)
        first, rest = self.make_both_component_targets()
        return np.where(
            is_first,
            first.mask_of_tasks_with_target(supervision, tasks),
            rest.mask_of_tasks_with_target(supervision, tasks),
        )

    def _is_trained_on_first_target(self, supervision: Supervision, tasks: Names) -> Bools:
        """(n_tasks,) whether each task is trained on the target `first`, not on `rest`."""
        if supervision.chosen is not None:
            return positions(supervision.chosen, tasks) >= 0
        return self.make_both_component_targets()[0].mask_of_tasks_with_target(supervision, tasks)

    def _make_examples(self, supervision: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        is_first, (first, rest) = (
            self._is_trained_on_first_target(supervision, tasks),
            self.make_both_component_targets(),
        )
        if is_first.all() or not is_first.any():
            return (first if is_first.all() else rest).make_examples(supervision, tasks, labels, device)
        index = np.where(is_first, np.cumsum(is_first) - 1, np.cumsum(~is_first) - 1)  # (n_tasks,) within its target
        return MixedExamples(
            copy_to_device(is_first, device, torch.bool),
            copy_to_device(index, device, torch.int64),
            first.make_examples(supervision, tasks[is_first], labels, device),
            rest.make_examples(supervision, tasks[~is_first], labels, device),
        )
