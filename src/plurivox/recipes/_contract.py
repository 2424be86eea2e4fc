"""What every recipe is: a whole walk with its own data, options, and tables at its end."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from plurivox.core.errors import OptionError
from plurivox.core.method import Method, split_list
from plurivox.core.progress import Progress, no_progress
from plurivox.core.registry import Methods
from plurivox.core.tables import Tables

if TYPE_CHECKING:
    from plurivox.io import Dataset

__all__ = ["Reader", "Recipe", "methods"]

Reader = Callable[[str], "Dataset"]  # a data set by its name, folder or file


def from_the_shelf(name: str) -> "Dataset":
    """The data set of that name, folder or file."""
    from plurivox import io

    return io.read(name)


def read_shares(text: str, what: str, *, or_none: bool = False) -> list[float]:
    """Shares between 0 and 1 with commas between them; none at all only with `or_none`. `what` names them in errors.

    >>> read_shares("0.05, 0.1", "alphas")
    [0.05, 0.1]
    """
    try:
        shares = [float(one) for one in split_list(text)]
    except ValueError:
        raise OptionError(f"{what} are numbers such as 0.05,0.1; got {text!r}") from None
    if not all(0 < one < 1 for one in shares) or not (shares or or_none):
        raise OptionError(f"{what} lie between 0 and 1, such as 0.05,0.1; got {text!r}")
    return shares


@dataclass(frozen=True)
class Recipe(Method, ABC):
    """A walk through several rooms that ends in tables.

    `reads` names the data sets it looks for; `read` finds them (by default on the shelf, see `plurivox datasets`).
    """

    takes: ClassVar[frozenset[str]] = frozenset()
    reads: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def run(self, *, read: Reader = from_the_shelf, progress: Progress = no_progress) -> Tables:
        """Walk, and tell what came out."""


methods: Methods[Recipe] = Methods(__package__, Recipe)
