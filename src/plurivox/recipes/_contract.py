"""Base class and registry of recipes: experiments with their own data, options and result tables."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from plurivox.core.errors import OptionError
from plurivox.core.method import Method, split_at_commas_outside_brackets
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.recipe_tables import Tables
from plurivox.core.registry import Methods

if TYPE_CHECKING:
    from plurivox.io import Dataset

__all__ = ["DatasetReader", "Recipe", "methods"]

DatasetReader = Callable[[str], "Dataset"]  # reads a data set, given its name, folder or file


def read_dataset(name: str) -> "Dataset":
    """Return the Dataset with this name in the catalog, or in the folder or file at this path."""
    from plurivox import io

    return io.read(name)


def parse_shares(text: str, option_name: str, *, may_be_empty: bool = False) -> list[float]:
    """Return the comma-separated shares between 0 and 1 in a text; raise OptionError, naming `option_name`, otherwise.

    >>> parse_shares("0.05, 0.1", "alphas")
    [0.05, 0.1]
    """
    try:
        shares = [float(share) for share in split_at_commas_outside_brackets(text)]
    except ValueError:
        raise OptionError(f"{option_name} must be numbers such as 0.05,0.1; got {text!r}") from None
    if not all(0 < share < 1 for share in shares) or not (shares or may_be_empty):
        raise OptionError(f"{option_name} must be between 0 and 1, such as 0.05,0.1; got {text!r}")
    return shares


@dataclass(frozen=True)
class Recipe(Method, ABC):
    """Base class of recipes: an experiment that spans several steps and returns tables.

    `reads` lists the default data sets; `read` reads a data set by name (default: the installed one, see `plurivox datasets`).
    """

    takes: ClassVar[frozenset[str]] = frozenset()
    reads: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def run(self, *, read: DatasetReader = read_dataset, progress: Progress = no_progress) -> Tables:
        """Run the experiment on data sets read by `read(name)`, report steps to `progress`, and return the result tables."""


methods: Methods[Recipe] = Methods(__package__, Recipe)
