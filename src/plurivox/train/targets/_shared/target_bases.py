"""Base classes of targets: made of votes, made of other targets, controls."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.encoding import positions
from plurivox.core.errors import OptionError
from plurivox.core.types import Bools, Names
from plurivox.core.votes import Votes
from plurivox.train.targets._contract import Supervision, Target, methods


@dataclass(frozen=True)
class Voted(Target):
    """A target made of votes: it teaches the tasks that have one."""

    needs: ClassVar[tuple[str, ...]] = ("votes",)

    def _teaches(self, known: Supervision, tasks: Names) -> Bools:
        assert known.votes is not None
        place = positions(known.votes.tasks, tasks)
        return (place >= 0) & (known.votes.support[place] > 0)


def votes_on(known: Supervision, tasks: Names, labels: Names) -> Votes:
    """The votes on these tasks, in this order, over this list of labels."""
    assert known.votes is not None
    return known.votes.on(tasks).with_labels(labels)


def part(word: str, whole: str) -> Target:
    """The target of that name as a part of another: it must give one distribution a task."""
    made = methods.make(word)
    if made.gives != "distribution" or made.name() == "repeated-labelling":
        raise OptionError(f"{made.name()} cannot be a part of {whole}; take one that gives a distribution a task")
    return made


@dataclass(frozen=True)
class Control(Target):
    """A target that looks at nothing."""

    def _teaches(self, known: Supervision, tasks: Names) -> Bools:
        del known
        return np.ones(len(tasks), bool)
