"""The question forms that a study can use, and the default wording of their questions.

These are the forms of `elicit` in which labels are named, and chips. The third-person top-two wording is that of Collins,
Bhatt and Weller (2022), word for word.
"""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from plurivox.core.inputs_asked_by_form import Question, input_fields_of_form_or_none
from plurivox.elicit import methods
from plurivox.web.store.schema import TaskKind

Person = Literal["first", "third"]
CHIPS, HISTOGRAM = "chips", "histogram"


def elicit_form_name_of_study_form(study_form: str, *, answered_with_bars: bool = False) -> str:
    """Return the form of `elicit` that reads answers to a form of a study: histogram for chips, and for answers given as bars.

    >>> elicit_form_name_of_study_form("chips"), elicit_form_name_of_study_form("top-two")
    ('histogram', 'top-two')
    >>> [elicit_form_name_of_study_form(form, answered_with_bars=True) for form in ("top-two", "ranking")]
    ['histogram', 'ranking']
    """
    return (
        HISTOGRAM
        if study_form == CHIPS or (answered_with_bars and labels_percents_and_ticks_of_form(study_form).percents)
        else study_form
    )


def labels_percents_and_ticks_of_form(elicit_form_name: str) -> Question:
    """Return what a form of `elicit` asks for: number of labels, percents, ticks."""
    found = input_fields_of_form_or_none(elicit_form_name)
    assert found is not None, elicit_form_name
    return found


def _can_task_page_show_form(form: str) -> bool:
    """Return whether the task page can show a question form: the form declares what it asks for, and its labels have names."""
    found = input_fields_of_form_or_none(elicit_form_name_of_study_form(form))
    return found is not None and found.labels != 0


def _check_study_can_use_form(form: str) -> str:
    """Return `form` unchanged; raise PydanticCustomError if a study cannot use this question form."""
    if not _can_task_page_show_form(form):
        *others, last = map(repr, FORMS)
        expected = f"{', '.join(others)} or {last}"
        raise PydanticCustomError("literal_error", "Input should be {expected}", {"expected": expected})
    return form


def _form_effort_sort_key(form: str) -> tuple[Any, ...]:
    """Return the sort key of a question form: forms that ask a worker for less come first."""
    found = labels_percents_and_ticks_of_form(elicit_form_name_of_study_form(form))
    return found.labels is None, found.percents, found.labels or 0, found.ticks or "", form


# forms of plugins are allowed too
FORMS = tuple(
    sorted(filter(_can_task_page_show_form, [*methods.built_in_method_names, CHIPS]), key=_form_effort_sort_key)
)
Form = Annotated[
    str, AfterValidator(_check_study_can_use_form), WithJsonSchema({"enum": list(FORMS), "type": "string"})
]


# ---- wordings

PAPER_FORM = "top-two"
PAPER = {  # wording of PAPER_FORM in the third person, by Collins et al.
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
    "histogram": "What percent probability do you think they would assign to each category?",
    "no_alternative": "No Alternative",
    "sure": "100%, next",
    "sure_means": "no percent given; “100%, next” gives it 100%",
    "percent_missing": "What percent would they assign to {label}?",
    "slider": "Percent probability of the category selected first",
    "pick_top": "Pick the category they would select as most probable",
    "pick_second": "Pick this category as their second most probable",
    "never_mark": "they would say definitely not",
}
FIRST = {
    "opening": "What do you see?",
    "top": "Which label is most probable?",
    "top_percent": "How sure are you, in percent?",
    "second": "Which label, if any, is second most probable?",
    "second_percent": "How probable is it, in percent?",
    "never": "Which labels is it definitely not?",
    "possible": "Which labels are also possible?",
    "ranking": "Rank the labels, the most probable first, as far as you can tell.",
    "chips": "Place all chips: the more probable a label, the more chips it gets.",
    "histogram": "How would you divide 100 percent among the labels?",
    "no_alternative": "No alternative",
    # short texts of buttons, hints and help
    "sure": "Sure, next",
    "sure_means": "no percent given; “Sure, next” gives it 100%",
    "percent_missing": "How probable is {label}, in percent?",
    "slider": "Percent of the label picked first",
    "pick_top": "Pick the most probable label",
    "pick_second": "Pick this label as the second most probable",
    "never_mark": "definitely not",
    "possible_mark": "also possible",
    "rank": "Rank the labels, the most probable first",
}
FIRST_ONE_LABEL = {"slider": "Percent of the picked label"}
FIRST_ONLY_LABEL = {"top": "Which label fits best?", "pick_top": "Pick the label that fits best"}
THIRD = {
    "opening": "Imagine 100 other people answer.",
    "top": "Which label would most of them choose?",
    "top_percent": "How many of the 100 would choose it?",
    "second": "Which label, if any, would come second?",
    "second_percent": "How many of the 100 would choose the second label?",
    "never": "Which labels would nobody choose?",
    "possible": "Which labels would some of them choose as well?",
    "ranking": "Which label would most of them choose, and which comes next? Rank them as far as you can tell.",
    "chips": "Place all chips: the more people would choose a label, the more chips it gets.",
    "histogram": "How many of the 100 would choose each label?",
    "no_alternative": "No alternative",
    "sure": "All 100, next",
    "sure_means": "not set; “All 100, next” means that all 100 choose it",
    "percent_missing": "How many of the 100 would choose {label}?",
    "slider": "How many of the 100 would choose the label picked first",
    "pick_top": "Pick the label that most of them would choose",
    "pick_second": "Pick this label as the one that would come second",
    "never_mark": "not chosen by anybody",
    "possible_mark": "also chosen by some",
    "rank": "Rank the labels, the one that most of them would choose first",
}
THIRD_ONE_LABEL = {"slider": "How many of the 100 would choose the picked label"}


def default_phrases_for_image_tasks(form: str, grammatical_person: Person) -> dict[str, str]:
    """Return {name: text} of the default phrases on the task page of a form, for image tasks.

    >>> default_phrases_for_image_tasks("top-two", "third")["opening"]
    'Imagine 100 crowdsourced workers are asked to identify what category the image below belongs to.'
    """
    asked = labels_percents_and_ticks_of_form(elicit_form_name_of_study_form(form))
    first = grammatical_person == "first"
    phrases = FIRST if first else THIRD | PAPER if form == PAPER_FORM else THIRD
    if asked.labels == 1:
        phrases = phrases | (FIRST_ONE_LABEL if first else THIRD_ONE_LABEL)
        if first and not asked.percents:
            phrases = phrases | FIRST_ONLY_LABEL
    return phrases


def phrases_that_differ_for_task_kind(form: str, grammatical_person: Person, task_kind: str) -> dict[str, str]:
    """Return {name: text} of the default phrases that differ for text, pair or audio tasks; {} if none do.

    >>> phrases_that_differ_for_task_kind("top-two", "third", "text")["opening"]
    'Imagine 100 crowdsourced workers are asked to identify what category the text below belongs to.'
    >>> phrases_that_differ_for_task_kind("one-label", "first", "audio")
    {'opening': 'What do you hear?'}
    """
    if grammatical_person == "first":
        opening = {"text": "What do you think?", "pair": "What do you think?", "audio": "What do you hear?"}.get(
            task_kind
        )
        return {"opening": opening} if opening else {}
    thing = {"text": "text", "pair": "pair of texts", "audio": "sound"}.get(task_kind)
    if thing is None or form != PAPER_FORM:
        return {}
    return {name: text.replace("image", thing) for name, text in PAPER.items() if "image" in text}


@cache
def _all_task_kind_phrase_name_text_pairs() -> frozenset[tuple[str, str]]:
    """Return the set of all (phrase name, text) that `phrases_that_differ_for_task_kind` can return."""
    persons, kinds = get_args(Person), get_args(TaskKind)
    return frozenset(
        pair
        for person in persons
        for kind in kinds
        for pair in phrases_that_differ_for_task_kind(PAPER_FORM, person, kind).items()
    )


def drop_phrases_equal_to_task_kind_defaults(study_toml_phrases: Mapping[str, str]) -> dict[str, str]:
    """Return those of the phrases in study.toml that the owner wrote; version 0.1.0 also wrote adapted default phrases there.

    >>> drop_phrases_equal_to_task_kind_defaults({"opening": "What do you hear?", "top": "Which bird sings?"})
    {'top': 'Which bird sings?'}
    """
    return {
        name: text
        for name, text in study_toml_phrases.items()
        if (name, text) not in _all_task_kind_phrase_name_text_pairs()
    }
