"""What the targets made of votes share."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.names import Bools, Names, positions
from plurivox.core.votes import Votes
from plurivox.train.targets._contract import Known, Target


@dataclass(frozen=True)
class Voted(Target):
    """A target made of votes: it teaches the tasks that have one."""

    needs: ClassVar[tuple[str, ...]] = ("votes",)

    def _teaches(self, known: Known, tasks: Names) -> Bools:
        assert known.votes is not None
        place = positions(known.votes.tasks, tasks)
        return (place >= 0) & (known.votes.support[place] > 0)


def votes_on(known: Known, tasks: Names, labels: Names) -> Votes:
    """The votes on these tasks, in this order, over this list of labels."""
    assert known.votes is not None
    return known.votes.on(tasks).with_labels(labels)
