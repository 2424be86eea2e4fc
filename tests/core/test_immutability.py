"""A data type does not change when the arrays it was created from are changed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plurivox.core.answers import Answers
from plurivox.core.data_type_base_class import DataType
from plurivox.core.name_encoding import as_names
from plurivox.core.results import Confusion, Dynamics, Fit, Scores
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

AB = as_names(["a", "b"])
CODES = np.array([0, 1], np.int32)
SMALL = np.array([0, 1], np.uint8)
EVEN = np.full((2, 2), 0.5)
ONES = np.ones(2)

# each maker takes its arrays from the dictionary and nothing else
MAKERS: dict[str, Callable[[dict[str, Any]], DataType]] = {
    "of": lambda a: SoftLabels.of(a["even"], a["names"], a["names"], support=a["ones"], scale=a["ones"]),
    "one-hot": lambda a: SoftLabels.one_hot(a["small"], a["names"], a["names"]),
    "gold": lambda a: SoftLabels.gold(a["names"], a["names"], a["names"]),
    "votes": lambda a: Votes(
        a["codes"], a["codes"], a["small"], a["names"], a["names"], a["names"], weight=a["ones"], scale=a["ones"]
    ),
    "coded": lambda a: Votes.coded(
        task=a["codes"], worker=a["codes"], label=a["small"], tasks=a["names"], workers=a["names"], labels=a["names"]
    ),
    "counts": lambda a: Votes.from_counts(a["even"], a["names"], a["names"], ordered=a["ones"]),
    "confusion": lambda a: Confusion(np.stack([a["even"]] * 2), a["names"], a["names"], a["codes"]),
    "matrices": lambda a: Confusion(a["even"][None], a["names"][:1], a["names"]),
    "scores": lambda a: Scores("task", a["names"], a["ones"], a["ones"], "made"),
    "dynamics": lambda a: Dynamics(a["even"][None], a["names"], a["names"]),
    "fit": lambda a: Fit(SoftLabels.of(a["even"], a["names"], a["names"]), a["names"], "m", ability=a["ones"]),
    "answers": lambda a: Answers.of(
        a["names"], a["names"], [[("named", "a", "1")], [("named", "b", "2")]], seconds=a["ones"], labels=a["names"]
    ),
}


def all_fields(instance: Any) -> str:
    """Return every field of a data type, nested ones too, as text."""
    if isinstance(instance, DataType):
        return str({name: all_fields(value) for name, value in instance.__getstate__().items()})
    return str(instance.tolist() if isinstance(instance, np.ndarray) else instance)


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_changing_the_callers_arrays_does_not_change_the_object(maker: Callable[[dict[str, Any]], DataType]) -> None:
    mine = {"even": EVEN, "names": AB, "ones": ONES, "codes": CODES, "small": SMALL}
    mine = {name: array.copy() for name, array in mine.items()}
    instance = maker(mine)
    before = all_fields(instance)
    for array in mine.values():
        array[...] = "z" if array.dtype.kind == "T" else 7
    assert all_fields(instance) == before


def test_read_only_arrays_are_not_copied() -> None:
    logits = np.zeros((1, 2, 2), np.float32)
    logits.flags.writeable = False
    assert np.shares_memory(Dynamics(logits, AB, AB).logits, logits)
