"""Recipes: whole walks through several rooms. A file without a leading underscore is one; `ls` lists them."""

from typing import Any

from plurivox.core.lazy import importer
from plurivox.recipes._contract import Recipe, methods

HOMES = {"Comparison": "_comparing", "compare": "_comparing"}
__all__ = ["Recipe", "methods", *HOMES]
_short_way = importer(__name__, HOMES)


def __getattr__(name: str) -> Any:
    """A short way, or the class of a recipe."""
    return _short_way(name) if name in HOMES else methods.attribute(name)
