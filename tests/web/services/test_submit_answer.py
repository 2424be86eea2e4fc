"""What an answer may say, by the form in which its worker is asked."""

from typing import Any

import pytest

from plurivox.web.services.submit_answer import check_answer
from plurivox.web.store.collect.submissions import Mark, Submission
from plurivox.web.store.errors import Invalid
from studies import plain_study

CAT, DOG, SHIP = "cat", "dog", "ship"


def said(*marks: tuple[str, ...], **more: Any) -> Submission:
    """A submission of marks (kind, label, typed)."""
    return Submission("k", 1, [Mark(*one) for one in marks], **more)


FITTING = {
    "one-label": said(("named", CAT)),
    "select-top-two": said(("named", CAT), ("named", DOG)),
    "ranking": said(("named", CAT), ("named", DOG), ("named", SHIP)),
    "top-one": said(("named", CAT, "70"), ("never", SHIP)),
    "top-two": said(("named", CAT, "70"), ("named", DOG, "30"), ("never", SHIP)),
    "also-possible": said(("named", CAT, "70"), ("possible", SHIP)),
    "histogram": said(("named", CAT, "70"), ("named", DOG, "30")),
    "chips": said(("named", CAT, "70"), ("named", DOG, "30")),
}
REFUSED = [
    ("one-label", said(("named", CAT, "70")), "one label is asked for, and nothing else"),
    ("ranking", said(("named", CAT), ("never", DOG)), "names labels in order"),
    ("top-one", said(("named", CAT), ("named", DOG)), "with a percent"),
    ("top-two", said(("named", CAT, "70"), ("named", DOG, "31")), "more than 100"),
    ("top-two", said(("named", CAT), ("possible", DOG)), "impossible, not what is possible"),
    ("also-possible", said(("named", CAT), ("never", DOG)), "possible, not what is impossible"),
    ("histogram", said(("named", CAT, "70")), "must add up to 100"),
    ("chips", said(("named", CAT, "71"), ("named", DOG, "29")), "a chip is worth 5 percent"),
    ("top-two", said(), "name a label"),
    ("top-two", said(("named", "cow")), "'cow' is no label"),
    ("top-two", said(("named", CAT), label_order=("cow",)), "'cow' is no label"),
    ("top-two", said(("named", CAT), ("never", CAT)), "marked twice"),
    ("top-two", said(("named", CAT), abstain=True), "has no marks"),
    ("top-two", said(abstain=True, none_of_these=True), "either cannot tell"),
]


@pytest.mark.parametrize("form", FITTING)
def test_what_a_form_makes_is_taken(form: str) -> None:
    study = plain_study(form=form)
    check_answer(study, FITTING[form])
    check_answer(study, said(abstain=True))
    check_answer(study, said(none_of_these=True))


@pytest.mark.parametrize(("form", "answer", "why"), REFUSED)
def test_what_no_form_makes_is_refused(form: str, answer: Submission, why: str) -> None:
    with pytest.raises(Invalid) as cause:
        check_answer(plain_study(form=form), answer)
    assert why in cause.value.detail


def test_percents_may_be_given_as_a_histogram_where_percents_are_asked_for() -> None:
    three = said(("named", CAT, "50"), ("named", DOG, "30"), ("named", SHIP, "20"), mode="histogram")
    assert check_answer(plain_study(form="top-two"), three) == "histogram"
    assert check_answer(plain_study(form="ranking"), said(abstain=True, mode="histogram")) == "ranking"
    with pytest.raises(Invalid):
        check_answer(plain_study(form="ranking"), three)


def test_an_answer_is_judged_by_the_form_of_its_arm() -> None:
    study = plain_study(forms=["one-label", "histogram"])
    check_answer(study.in_arm("histogram"), FITTING["histogram"])
    with pytest.raises(Invalid):
        check_answer(study.in_arm("one-label"), FITTING["histogram"])
