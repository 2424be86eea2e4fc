"""Target `mixed`: one target for some tasks, another for the rest."""

from dataclasses import dataclass

import numpy as np
import torch

from plurivox.core.array_types import Bools, Names
from plurivox.core.errors import InputError, first_few
from plurivox.core.method import option
from plurivox.core.name_encoding import positions
from plurivox.core.soft_labels import Estimand
from plurivox.train.targets._contract import Examples, Supervision, Target
from plurivox.train.targets._shared.target_base_classes import make_component_target
from plurivox.train.targets._shared.training_examples import MixedExamples, copy_to_device


@dataclass(frozen=True)
class Mixed(Target):
    """One target for some tasks, another for the rest: the parity design.

    The tasks of the first target are the chosen ones: `--chosen` on the command line, `chosen` in Python. If none are chosen,
    they are the tasks that have the first target; if all tasks have it, nothing says which are meant: an error.

    Collins et al. (2022), section 5.1, https://doi.org/10.1609/hcomp.v10i1.21986
    """

    first: str = option("soft", "target of the chosen tasks; if none are chosen, of the tasks that have it")
    rest: str = option("gold", "target of the other tasks")

    def make_both_component_targets(self) -> tuple[Target, Target]:
        """Return the target of the chosen tasks (`first`) and that of the other tasks (`rest`)."""
        return make_component_target(self.first, self.name()), make_component_target(self.rest, self.name())

    def component_targets(self) -> tuple[Target, ...]:
        return self.make_both_component_targets()

    @property
    def uses_chosen_tasks(self) -> bool:
        return True

    def trains_on_gold(self, supervision: Supervision, tasks: Names) -> bool:
        is_first, (first, rest) = (
            self._is_trained_on_first_target(supervision, tasks),
            self.make_both_component_targets(),
        )
        return (bool(is_first.any()) and first.trains_on_gold(supervision, tasks[is_first])) or (
            not is_first.all() and rest.trains_on_gold(supervision, tasks[~is_first])
        )

    def n_tasks_by_component(self, supervision: Supervision, tasks: Names) -> dict[str, int]:
        n_first = int(self._is_trained_on_first_target(supervision, tasks).sum())
        return {f"{self.first} (first)": n_first, f"{self.rest} (rest)": len(tasks) - n_first}

    def estimated_quantity(self, soft: Estimand = "unknown") -> Estimand:
        first, rest = (one.estimated_quantity(soft) for one in self.make_both_component_targets())
        return first if first == rest else "unknown"

    def _mask_of_tasks_with_target(self, supervision: Supervision, tasks: Names) -> Bools:
        is_first = self._is_trained_on_first_target(supervision, tasks)
        self._check_chosen_tasks(supervision, tasks, is_first)
        first, rest = self.make_both_component_targets()
        return np.where(
            is_first,
            first.mask_of_tasks_with_target(supervision, tasks),
            rest.mask_of_tasks_with_target(supervision, tasks),
        )

    def _check_chosen_tasks(self, supervision: Supervision, tasks: Names, is_first: Bools) -> None:
        """Raise InputError if nothing says which tasks are trained on `first`, or no task is chosen."""
        if supervision.chosen is None and is_first.all():
            raise InputError(
                f"the target {self.spec} does not say which tasks are trained on {self.first}: all {len(tasks)} have it. "
                "Choose them: chosen=... (--chosen FILE)"
            )
        if supervision.chosen is not None and not is_first.any():
            raise InputError(
                f"none of the {len(tasks)} training tasks, such as {first_few(tasks)}, is among the chosen ones: "
                f"{first_few(supervision.chosen) or 'the list is empty'}"
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
