"""Check an answer by its form, and the comprehension quiz."""

from collections.abc import Sequence
from decimal import Decimal

from plurivox.web.api.worker_schemas import GiveAnswer, Mark
from plurivox.web.store.errors import Invalid
from plurivox.web.study.config import Study

HUNDRED = Decimal(100)
PLAIN = ("one-label", "select-top-two", "ranking")  # nobody is asked how sure they are


def form_of(study: Study, body: GiveAnswer) -> str:
    """The form that reads an answer: chips are a histogram, which every form that asks for percents may open instead."""
    opened = body.mode == "histogram" and study.form not in PLAIN
    return "histogram" if opened or study.form == "chips" else study.form


def check_answer(study: Study, body: GiveAnswer) -> None:
    """Refuse an answer that contradicts itself, or that the form cannot have made."""
    known = set(study.labels)
    said = [mark.label for mark in body.marks]
    if strangers := [label for label in (*said, *(body.label_order or ())) if label not in known]:
        raise _bad(f"{strangers[0]!r} is no label of this study")
    if len(set(said)) < len(said):
        raise _bad("a label is marked twice")
    if body.abstain and body.none_of_these:
        raise _bad("an answer either cannot tell or says none of these")
    if body.abstain or body.none_of_these:
        if body.marks:
            raise _bad("an answer without a label has no marks")
        return
    named = [mark for mark in body.marks if mark.kind == "named"]
    if not named:
        raise _bad("name a label, or say that you cannot tell")
    CHECKS[form_of(study, body)](body.marks, named)
    if study.form == "chips" and any(Decimal(mark.typed) * study.chips % HUNDRED for mark in named):
        raise _bad(f"a chip is worth {100 // study.chips} percent, and chips stay whole")


def _one_label(marks: Sequence[Mark], named: Sequence[Mark]) -> None:
    if len(marks) > 1 or named[0].typed:
        raise _bad("one label is asked for, and nothing else")


def _ranking(marks: Sequence[Mark], named: Sequence[Mark]) -> None:
    if len(named) < len(marks) or any(mark.typed for mark in named):
        raise _bad("a ranking names labels in order, and nothing else")


def _select_top_two(marks: Sequence[Mark], named: Sequence[Mark]) -> None:
    _ranking(marks, named)
    _at_most_two(named)


def _top_one(marks: Sequence[Mark], named: Sequence[Mark]) -> None:
    if len(named) > 1:
        raise _bad("one label is asked for, with a percent")
    _top_two(marks, named)


def _top_two(marks: Sequence[Mark], named: Sequence[Mark]) -> None:
    if any(mark.kind == "possible" for mark in marks):
        raise _bad("this form marks what is impossible, not what is possible")
    _at_most_two(named)


def _at_most_two(named: Sequence[Mark]) -> None:
    if len(named) > 2:
        raise _bad("at most two labels are named")
    if percents(named) > HUNDRED:
        raise _bad("percents add up to more than 100")


def _also_possible(marks: Sequence[Mark], named: Sequence[Mark]) -> None:
    if any(mark.kind == "never" for mark in marks):
        raise _bad("this form marks what is possible, not what is impossible")
    _at_most_two(named)


def _histogram(marks: Sequence[Mark], named: Sequence[Mark]) -> None:
    if len(named) < len(marks) or not all(mark.typed for mark in named):
        raise _bad("every label of a histogram has a percent")
    if percents(named) != HUNDRED:
        raise _bad("the percents must add up to 100")


def percents(named: Sequence[Mark]) -> Decimal:
    """The sum of what was typed, exactly."""
    values = [Decimal(mark.typed) for mark in named if mark.typed]
    if any(value > HUNDRED for value in values):
        raise _bad("a percent is between 0 and 100")
    return sum(values, Decimal(0))


CHECKS = {
    "one-label": _one_label,
    "select-top-two": _select_top_two,
    "top-one": _top_one,
    "top-two": _top_two,
    "also-possible": _also_possible,
    "ranking": _ranking,
    "histogram": _histogram,
}


def _bad(detail: str) -> Invalid:
    return Invalid(detail)


def check_quiz(study: Study, chosen: Sequence[int] | None) -> list[int]:
    """The places of the questions that were not answered rightly."""
    given = list(chosen or [])
    if len(given) != len(study.quiz):
        raise Invalid(f"the check has {len(study.quiz)} questions, and {len(given)} answers came")
    return [place for place, one in enumerate(study.quiz) if given[place] != one.right]
