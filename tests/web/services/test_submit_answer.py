"""Validation of a submitted answer against the form of its worker."""

from typing import Any

import pytest

from plurivox.web.services.submit_answer import elicit_form_name_of_answer, raise_if_answer_is_invalid
from plurivox.web.store.collect.submissions import Mark, Submission
from plurivox.web.store.errors import Invalid
from plurivox.web.study.config import Study
from studies import plain_study

CAT, DOG, SHIP = "cat", "dog", "ship"


def said(*marks: tuple[str, ...], **more: Any) -> Submission:
    """Return a submission with these marks (kind, label, typed)."""
    return Submission("k", 1, [Mark(*one) for one in marks], **more)


def check(study: Study, answer: Submission) -> None:
    """Raise Invalid if the form of the answer cannot produce its marks."""
    raise_if_answer_is_invalid(study, elicit_form_name_of_answer(study, answer), answer)


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
    ("one-label", said(("named", CAT, "70")), "takes one label, without percents"),
    ("ranking", said(("named", CAT), ("never", DOG)), "takes labels in order"),
    ("top-one", said(("named", CAT), ("named", DOG)), "with a percent"),
    ("top-two", said(("named", CAT, "70"), ("named", DOG, "31")), "more than 100"),
    ("top-two", said(("named", CAT), ("possible", DOG)), "impossible labels, not possible"),
    ("also-possible", said(("named", CAT), ("never", DOG)), "possible labels, not impossible"),
    ("histogram", said(("named", CAT, "70")), "must add up to 100"),
    ("chips", said(("named", CAT, "71"), ("named", DOG, "29")), "a chip is worth 5 percent"),
    ("top-two", said(), "choose a label"),
    ("top-two", said(("named", "cow")), "'cow' is not a label"),
    ("top-two", said(("named", CAT), label_order=("cow",)), "'cow' is not a label"),
    ("top-two", said(("named", CAT), ("never", CAT)), "marked twice"),
    ("top-two", said(("named", CAT), abstain=True), "cannot mark labels"),
    ("top-two", said(abstain=True, none_of_these=True), "not both"),
]


@pytest.mark.parametrize("form", FITTING)
def test_answers_that_fit_the_form_are_accepted(form: str) -> None:
    study = plain_study(form=form)
    check(study, FITTING[form])
    check(study, said(abstain=True))
    check(study, said(none_of_these=True))


@pytest.mark.parametrize(("form", "answer", "why"), REFUSED)
def test_answers_that_do_not_fit_the_form_are_refused(form: str, answer: Submission, why: str) -> None:
    with pytest.raises(Invalid) as cause:
        check(plain_study(form=form), answer)
    assert why in cause.value.detail


def test_a_form_with_percents_accepts_a_histogram() -> None:
    three = said(("named", CAT, "50"), ("named", DOG, "30"), ("named", SHIP, "20"), mode="histogram")
    top_two, ranking = plain_study(form="top-two"), plain_study(form="ranking")
    assert (elicit_form_name_of_answer(top_two, three), elicit_form_name_of_answer(ranking, three)) == (
        "histogram",
        "ranking",
    )
    check(top_two, three)
    with pytest.raises(Invalid):
        check(ranking, three)


def test_an_answer_is_checked_with_the_form_of_its_arm() -> None:
    study = plain_study(forms=["one-label", "histogram"])
    check(study.config_of_arm("histogram"), FITTING["histogram"])
    with pytest.raises(Invalid):
        check(study.config_of_arm("one-label"), FITTING["histogram"])
