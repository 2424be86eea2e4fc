"""Base classes of targets (made from votes, controls), and `make_component_target` for targets made of other targets."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.array_types import Bools, Names
from plurivox.core.errors import OptionError
from plurivox.core.name_encoding import positions
from plurivox.core.soft_labels import Estimand
from plurivox.core.votes import Votes
from plurivox.train.targets._contract import Supervision, Target, methods


@dataclass(frozen=True)
class VoteTarget(Target):
    """A target made from votes; tasks without votes have no target; base class."""

    needs: ClassVar[tuple[str, ...]] = ("votes",)
    estimates: ClassVar[Estimand] = "people"

    def _mask_of_tasks_with_target(self, supervision: Supervision, tasks: Names) -> Bools:
        assert supervision.votes is not None
        place = positions(supervision.votes.tasks, tasks)
        return (place >= 0) & (supervision.votes.support[place] > 0)


def votes_on_tasks_with_label_codes(supervision: Supervision, tasks: Names, labels: Names) -> Votes:
    """Return the votes of `supervision` on `tasks`, in this order, with label codes of the list `labels`."""
    assert supervision.votes is not None
    return supervision.votes.on(tasks).with_labels(labels)


def make_component_target(spec: str, outer_target: str) -> Target:
    """Return the target `spec` for use inside the target `outer_target`; OptionError if it is not one distribution per task."""
    made = methods.make(spec)
    if made.kind != "distribution" or made.name() == "repeated-labelling":
        raise OptionError(
            f"{made.name()} cannot be used inside {outer_target}; use a target of one distribution per task"
        )
    return made


@dataclass(frozen=True)
class ControlTarget(Target):
    """A target without information about the tasks; every task has it; base class."""

    estimates: ClassVar[Estimand] = "unknown"

    def _mask_of_tasks_with_target(self, supervision: Supervision, tasks: Names) -> Bools:
        del supervision
        return np.ones(len(tasks), bool)
