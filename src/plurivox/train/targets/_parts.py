"""Targets made of other targets."""

from plurivox.core.errors import OptionError
from plurivox.train.targets._contract import Target, methods


def part(word: str, whole: str) -> Target:
    """The target of that name as a part of another: it must give one distribution a task."""
    made = methods.make(word)
    if made.gives != "distribution" or made.name() == "every-vote":
        raise OptionError(f"{made.name()} cannot be a part of {whole}; take one that gives a distribution a task")
    return made
