"""Question: the inputs of an annotation form (labels, percents, ticks), looked up by the form's name."""

from dataclasses import dataclass
from functools import cache
from typing import Literal

from plurivox.core.method import Method
from plurivox.core.registry import Methods


@dataclass(frozen=True)
class Question:
    """Inputs of an annotation form: how many labels are named, whether with percents, and ticks on the other labels."""

    labels: Literal[0, 1, 2] | None  # how many may be named, most probable first; None: any number
    percents: bool = False  # whether named labels have percents; with any number of labels, they sum to 100
    ticks: Literal["never", "possible"] | None = None  # meaning of a tick on a label; None: no ticks


@cache
def input_fields_of_form_or_none(form_name: str) -> Question | None:
    """Return the inputs (Question) that an annotation form such as "top-two" declares; None for an unknown or undeclared form.

    >>> input_fields_of_form_or_none("top-two")
    Question(labels=2, percents=True, ticks='never')
    """
    forms: Methods[Method] = Methods("plurivox.elicit", Method)
    return getattr(forms[form_name], "asks", None) if form_name in forms else None
