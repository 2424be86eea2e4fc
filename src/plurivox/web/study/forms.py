"""The forms of a study: in which ones it can ask, what each asks for, and in which words. A study's own texts go before these.

A study can ask in the forms of `elicit` that name labels, and in chips. The third-person top-two wording is that of Collins,
Bhatt and Weller (2022), word for word.
"""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from plurivox.core.questions import Question, question_of
from plurivox.elicit import methods
from plurivox.web.store.schema import TaskKind

Person = Literal["first", "third"]
CHIPS, HISTOGRAM = "chips", "histogram"


def read_by(form: str, *, bars: bool = False) -> str:
    """The form of `elicit` that reads answers to a form of a study: chips are a histogram, which every form that asks for
    percents may show as bars instead.

    >>> read_by("chips"), read_by("top-two"), read_by("top-two", bars=True), read_by("ranking", bars=True)
    ('histogram', 'top-two', 'histogram', 'ranking')
    """
    return HISTOGRAM if form == CHIPS or (bars and question(form).percents) else form


def question(form: str) -> Question:
    """What a form of `elicit` asks for (`read_by` has that of chips)."""
    found = question_of(form)
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
    found = question(read_by(form))
    return found.labels is None, found.percents, found.labels or 0, found.ticks or "", form


FORMS = tuple(sorted(filter(_can_ask, [*methods.built_in, CHIPS]), key=_effort))  # a study may name other packages' too
Form = Annotated[str, AfterValidator(_check), WithJsonSchema({"enum": list(FORMS), "type": "string"})]


# ---- wordings

PAPER_FORM = "top-two"
PAPER = {  # of that form in the third person
    "opening": "Imagine 100 crowdsourced workers are asked to identify what category the image below belongs to.",
    "top": "What category do you think they would select as most probably being the true category of the image?",
    "top_percent": "What percent probability (between 0 and 100) do you think they would assign to the category you "
    "selected being the true category of the image?",
    "second": "What alternate category, if any, do you think they would select as being the second most probable of "
    "being the true category of the image?",
    "second_percent": "If you selected an alternate category for the image, what percent probability (between 0 and "
    "100) do you think they would assign to the category you selected being the true category represented in the image?",
    "never": "Are there one or more categories you think the crowdsourced annotators would say are definitely not the "
    "true category of the image? Please click ALL categories you think the annotators would say have zero probability "
    "of being the true category.",
    "no_alternative": "No Alternative",
}
FIRST = {
    "opening": "What do you see?",
    "top": "Which label is most probable?",
    "top_percent": "How sure are you, in percent?",
    "second": "Which label, if any, is second most probable?",
    "second_percent": "How probable is it, in percent?",
    "never": "Which labels is it definitely not?",
    "possible": "Which labels are also possible?",
    "ranking": "Put the labels in order, the most probable first, as far as you can tell.",
    "chips": "Place all chips: the more probable a label, the more chips it gets.",
    "histogram": "How would you share 100 percent among the labels?",
    "no_alternative": "No alternative",
}
THIRD = {
    "opening": "Imagine 100 other people answer.",
    "top": "Which label would most of them choose?",
    "top_percent": "How many of the 100 would choose it?",
    "second": "Which label, if any, would come second?",
    "second_percent": "How many of the 100 would choose it?",
    "never": "Which labels would nobody choose?",
    "possible": "Which labels would some of them choose as well?",
    "ranking": "Which label would most of them choose, which comes next? Put them in order, as far as you can tell.",
    "chips": "Place all chips: the more of them would choose a label, the more chips it gets.",
    "histogram": "How many of the 100 would choose each label?",
    "no_alternative": "No alternative",
}


def wording(form: str, person: Person) -> dict[str, str]:
    """Every phrase of the task page.

    >>> wording("top-two", "third")["opening"]
    'Imagine 100 crowdsourced workers are asked to identify what category the image below belongs to.'
    """
    if person == "first":
        return FIRST
    return THIRD | PAPER if form == PAPER_FORM else THIRD


def phrase_for(form: str, person: Person, kind: str) -> dict[str, str]:
    """The words that speak of an image, or of seeing, for tasks that are no images; empty where nothing is to be put right.

    >>> phrase_for("top-two", "third", "text")["opening"]
    'Imagine 100 crowdsourced workers are asked to identify what category the text below belongs to.'
    >>> phrase_for("one-label", "first", "audio")
    {'opening': 'What do you hear?'}
    """
    if person == "first":
        opening = {"text": "What do you think?", "pair": "What do you think?", "audio": "What do you hear?"}.get(kind)
        return {"opening": opening} if opening else {}
    thing = {"text": "text", "pair": "pair of texts", "audio": "sound"}.get(kind)
    if thing is None or form != PAPER_FORM:
        return {}
    return {name: words.replace("image", thing) for name, words in PAPER.items() if "image" in words}


@cache
def _ours() -> frozenset[tuple[str, str]]:
    """(name, words) of every phrase that is put right for tasks that are no images."""
    persons, kinds = get_args(Person), get_args(TaskKind)
    return frozenset(
        pair for person in persons for kind in kinds for pair in phrase_for(PAPER_FORM, person, kind).items()
    )


def own_words(phrase: Mapping[str, str]) -> dict[str, str]:
    """Those of a study's phrases that somebody wrote. Earlier versions wrote ours beside them, for the wording of that day.

    >>> own_words({"opening": "What do you hear?", "top": "Which bird sings?"})
    {'top': 'Which bird sings?'}
    """
    return {name: words for name, words in phrase.items() if (name, words) not in _ours()}
