"""Warning that an order of the labels, declared by the caller, has no effect on the methods that are applied."""

from collections.abc import Sequence
from typing import Any

from plurivox.aggregate import Aggregator
from plurivox.core.errors import warn_user
from plurivox.core.votes import Votes
from plurivox.identify import Identifier
from plurivox.io import Dataset


def is_order_declared_by_caller(data: Any) -> bool:
    """Return whether the caller declared an order of the labels (`ordered`); for a data set, not if it declares the order."""
    return data.scale is not None if isinstance(data, Votes) else isinstance(data, Dataset) and data.ordered_by_caller


def warn_if_no_aggregator_uses_order(data: Any, methods: Sequence[Aggregator]) -> None:
    """Warn if the caller declared an order of the labels and one or more of the aggregators do not use it."""
    if not is_order_declared_by_caller(data):
        return
    unused = [method.name() for method in methods if "order" not in method.accepted_inputs()]
    if unused:
        verb, whose = ("does", "its") if len(unused) == 1 else ("do", "their")
        message = (
            f"{', '.join(dict.fromkeys(unused))} {verb} not use the order of the labels (ordered=True, --ordered): "
            f"{whose} soft labels are the same without it"
        )
        warn_user(message)


def warn_if_no_score_uses_order(data: Any, scores: Sequence[Identifier]) -> None:
    """Warn if the caller read the data set as ordered and none of the scores uses the order.

    Ordered Votes are not warned about: they are made once and scored many times, also by scores that use the order.
    """
    declared = isinstance(data, Dataset) and data.ordered_by_caller
    if declared and not any(score.uses_order() for score in scores):
        names = ", ".join(dict.fromkeys(score.name() for score in scores))
        verb = "does" if len(scores) == 1 else "do"
        message = (
            f"{names} {verb} not use the order of the labels (ordered=True, --ordered); krippendorff-alpha with "
            "level=ordinal and cohen-kappa with weights=linear do"
        )
        warn_user(message)
