"""What a form asks a person for: declared by the form's class, and looked up by the name that answers carry."""

from dataclasses import dataclass
from functools import cache
from typing import Literal

from plurivox.core.method import Method
from plurivox.core.registry import Methods


@dataclass(frozen=True)
class Question:
    """The inputs of a form: labels that are named, percents beside them, ticks on the labels that are not named."""

    labels: Literal[0, 1, 2] | None  # how many may be named, the most probable first; None: any number
    percents: bool = False  # whether named labels have percents; with any number of labels, these add up to 100
    ticks: Literal["never", "possible"] | None = None  # what a tick says of a label; None: nothing can be ticked


@cache
def question_of(form: str) -> Question | None:
    """What the form of that name asks for, read off its class in `elicit`; None for an unknown name, and for a form that
    does not say so.

    >>> question_of("top-two")
    Question(labels=2, percents=True, ticks='never')
    """
    forms: Methods[Method] = Methods("plurivox.elicit", Method)
    return getattr(forms[form], "asks", None) if form in forms else None
