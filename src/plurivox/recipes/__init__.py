"""Recipes: named experiments made of workflows. Every file without a leading underscore is a recipe."""

from typing import Any

from plurivox.core.lazy_exports import lazy_getattr
from plurivox.recipes._contract import Recipe, methods

# workflows that were defined in this package in version 0.1; they stay importable from here
EXPORTS = {
    "Choice": "choose_option_value",
    "Comparison": "compare_aggregators",
    "Curve": "answer_cost_in_seconds",
    "break_even": "answer_cost_in_seconds",
    "choose": "choose_option_value",
    "compare": "compare_aggregators",
    "curve": "answer_cost_in_seconds",
    "seconds_per_answer": "answer_cost_in_seconds",
}
__all__ = ["Recipe", "methods", *EXPORTS]
_workflow = lazy_getattr("plurivox.workflows", EXPORTS)


def __getattr__(name: str) -> Any:
    """Return a workflow or the class of a recipe, imported on first use."""
    return _workflow(name) if name in EXPORTS else methods.class_by_name(name)


__dir__ = methods.public_names_of_package
