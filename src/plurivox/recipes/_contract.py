"""What every recipe is: a whole walk with its own data, options, and tables at its end."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from plurivox.core.method import Method
from plurivox.core.progress import Watch, quiet
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


@dataclass(frozen=True)
class Recipe(Method, ABC):
    """A walk through several rooms that ends in tables.

    `reads` names the data sets it looks for; `read` finds them (by default on the shelf, see `plurivox datasets`).
    """

    takes: ClassVar[frozenset[str]] = frozenset()
    reads: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def run(self, *, read: Reader = from_the_shelf, watch: Watch = quiet) -> Tables:
        """Walk, and tell what came out."""


methods: Methods[Recipe] = Methods(__package__, Recipe)
