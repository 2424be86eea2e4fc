"""What a person is asked, by form and wording. A study's own texts go before these.

The third-person top-two wording is that of Collins, Bhatt and Weller (2022), word for word.
"""

from collections.abc import Mapping
from functools import cache
from typing import Literal, get_args

Person = Literal["first", "third"]
Kind = Literal["image", "audio", "text", "pair"]

PAPER_FORM = "top-two"
PAPER = {  # its form in the third person
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
    persons, kinds = get_args(Person), get_args(Kind)
    return frozenset(
        pair for person in persons for kind in kinds for pair in phrase_for(PAPER_FORM, person, kind).items()
    )


def own_words(phrase: Mapping[str, str]) -> dict[str, str]:
    """Those of a study's phrases that somebody wrote. Earlier versions wrote ours beside them, for the wording of that day.

    >>> own_words({"opening": "What do you hear?", "top": "Which bird sings?"})
    {'top': 'Which bird sings?'}
    """
    return {name: words for name, words in phrase.items() if (name, words) not in _ours()}
