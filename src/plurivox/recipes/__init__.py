"""Recipes: whole walks through several rooms. A file without a leading underscore is one; `ls` lists them."""

from typing import Any

from plurivox.core.lazy import importer
from plurivox.recipes._contract import Recipe, methods

HOMES = {
    "Choice": "_choosing",
    "Comparison": "_comparing",
    "Curve": "_seconds",
    "break_even": "_seconds",
    "choose": "_choosing",
    "compare": "_comparing",
    "curve": "_seconds",
    "seconds_per_answer": "_seconds",
}
__all__ = ["Recipe", "methods", *HOMES]
_short_way = importer(__name__, HOMES)


def __getattr__(name: str) -> Any:
    """A short way, or the class of a recipe."""
    return _short_way(name) if name in HOMES else methods.attribute(name)
