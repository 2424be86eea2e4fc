"""Check a submitted answer: against itself, the labels of the study, and the form in which its worker is asked."""

from collections.abc import Sequence
from decimal import Decimal

from plurivox.web.store.collect.submissions import Mark, Submission
from plurivox.web.store.errors import Invalid
from plurivox.web.study.config import Study

HUNDRED = Decimal(100)
PLAIN = ("one-label", "select-top-two", "ranking")  # nobody is asked how sure they are


def form_of(study: Study, said: Submission) -> str:
    """The form that reads an answer: chips are a histogram, which every form that asks for percents may open instead."""
    opened = said.mode == "histogram" and study.form not in PLAIN
    return "histogram" if opened or study.form == "chips" else study.form


def check_answer(study: Study, said: Submission) -> None:
    """Refuse an answer that contradicts itself, or that the form cannot have made."""
    known = set(study.labels)
    marked = [mark.label for mark in said.marks]
    if strangers := [label for label in (*marked, *said.label_order) if label not in known]:
        raise Invalid(f"{strangers[0]!r} is no label of this study")
    if len(set(marked)) < len(marked):
        raise Invalid("a label is marked twice")
    if said.abstain and said.none_of_these:
        raise Invalid("an answer either cannot tell or says none of these")
    if said.abstain or said.none_of_these:
        if said.marks:
            raise Invalid("an answer without a label has no marks")
        return
    named = [mark for mark in said.marks if mark.kind == "named"]
    if not named:
        raise Invalid("name a label, or say that you cannot tell")
    CHECKS[form_of(study, said)](said.marks, named)
    if study.form == "chips" and any(Decimal(mark.typed) * study.chips % HUNDRED for mark in named):
        raise Invalid(f"a chip is worth {100 // study.chips} percent, and chips stay whole")


def _one_label(marks: Sequence[Mark], named: Sequence[Mark]) -> None:
    if len(marks) > 1 or named[0].typed:
        raise Invalid("one label is asked for, and nothing else")


def _ranking(marks: Sequence[Mark], named: Sequence[Mark]) -> None:
    if len(named) < len(marks) or any(mark.typed for mark in named):
        raise Invalid("a ranking names labels in order, and nothing else")


def _select_top_two(marks: Sequence[Mark], named: Sequence[Mark]) -> None:
    _ranking(marks, named)
    _at_most_two(named)


def _top_one(marks: Sequence[Mark], named: Sequence[Mark]) -> None:
    if len(named) > 1:
        raise Invalid("one label is asked for, with a percent")
    _top_two(marks, named)


def _top_two(marks: Sequence[Mark], named: Sequence[Mark]) -> None:
    if any(mark.kind == "possible" for mark in marks):
        raise Invalid("this form marks what is impossible, not what is possible")
    _at_most_two(named)


def _at_most_two(named: Sequence[Mark]) -> None:
    if len(named) > 2:
        raise Invalid("at most two labels are named")
    if percents(named) > HUNDRED:
        raise Invalid("percents add up to more than 100")


def _also_possible(marks: Sequence[Mark], named: Sequence[Mark]) -> None:
    if any(mark.kind == "never" for mark in marks):
        raise Invalid("this form marks what is possible, not what is impossible")
    _at_most_two(named)


def _histogram(marks: Sequence[Mark], named: Sequence[Mark]) -> None:
    if len(named) < len(marks) or not all(mark.typed for mark in named):
        raise Invalid("every label of a histogram has a percent")
    if percents(named) != HUNDRED:
        raise Invalid("the percents must add up to 100")


def percents(named: Sequence[Mark]) -> Decimal:
    """The sum of what was typed, exactly."""
    values = [Decimal(mark.typed) for mark in named if mark.typed]
    if any(value > HUNDRED for value in values):
        raise Invalid("a percent is between 0 and 100")
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
