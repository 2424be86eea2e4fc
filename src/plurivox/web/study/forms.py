"""The forms in which a study can ask: those of `elicit` that name labels, and chips."""

from typing import Annotated, Any

from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from plurivox.core.questions import Question, question_of
from plurivox.elicit import methods

CHIPS, HISTOGRAM = "chips", "histogram"


def read_by(form: str, *, bars: bool = False) -> str:
    """The form of `elicit` that reads answers to a form of a study: chips are a histogram, which every form that asks for
    percents may show as bars instead.

    >>> read_by("chips"), read_by("top-two"), read_by("top-two", bars=True), read_by("ranking", bars=True)
    ('histogram', 'top-two', 'histogram', 'ranking')
    """
    return HISTOGRAM if form == CHIPS or (bars and question(form).percents) else form


def question(form: str) -> Question:
    """What a form of a study asks for."""
    found = question_of(read_by(form))
    assert found is not None, form
    return found


def _can_ask(form: str) -> bool:
    """Whether the task page has the inputs of a form: not where it names no label, or does not say what it asks for."""
    found = question_of(read_by(form))
    return found is not None and found.labels != 0


def _check(form: str) -> str:
    if not _can_ask(form):
        *others, last = map(repr, FORMS)
        expected = f"{', '.join(others)} or {last}"
        raise PydanticCustomError("literal_error", "Input should be {expected}", {"expected": expected})
    return form


def _effort(form: str) -> tuple[Any, ...]:
    """Sort key: what asks for less comes first."""
    found = question(form)
    return found.labels is None, found.percents, found.labels or 0, found.ticks or "", form


FORMS = tuple(sorted(filter(_can_ask, [*methods.built_in, CHIPS]), key=_effort))  # a study may name other packages' too
Form = Annotated[str, AfterValidator(_check), WithJsonSchema({"enum": list(FORMS), "type": "string"})]
