"""All forms but top-two."""

import numpy as np
import pytest

from plurivox import elicit
from plurivox.core.answers import Answers
from plurivox.core.array_types import TEXT
from plurivox.core.errors import InputError, OptionError, PlurivoxError
from plurivox.elicit import Elicited

LABELS = ["bird", "cat", "dog", "ship"]


def read(spec: str, *marks: tuple[str, str, str], **rest: object) -> Elicited:
    answers = Answers.of(task=["a"], worker=["w"], marks=[list(marks)], labels=LABELS, **rest)
    return elicit.methods.make(spec).read(answers)


def row(spec: str, *marks: tuple[str, str, str]) -> list[float]:
    return read(spec, *marks).votes.counts()[0].round(6).tolist()


CAT, DOG, BIRD = ("named", "cat", ""), ("named", "dog", ""), ("named", "bird", "")
NOT_CAT = ("never", "cat", "")


def test_one_label_is_a_plain_vote() -> None:
    assert row("one-label", CAT, DOG) == [0, 1, 0, 0]
    assert row("one-label[contradiction=never]", CAT, NOT_CAT) == [0, 0, 0, 0]
    assert read("one-label", CAT, NOT_CAT).flag_counts == {"contradiction": 1}


def test_select_top_two_gives_both_labels_equal_weight() -> None:
    assert row("select-top-two", CAT, DOG, BIRD) == [0, 0.5, 0.5, 0]
    assert row("select-top-two", DOG) == row("select-top-two", DOG, DOG) == [0, 0, 1, 0]
    assert row("select-top-two[contradiction=never]", CAT, DOG, NOT_CAT) == [0, 0, 1, 0]
    assert read("select-top-two", DOG, DOG).flag_counts == {"named-twice": 1}


def test_also_possible_gives_the_rest_to_possible_labels() -> None:
    dog, bird = ("possible", "dog", ""), ("possible", "bird", "")
    assert row("also-possible", ("named", "cat", "70"), dog, bird) == [0.15, 0.7, 0.15, 0]
    assert row("also-possible", CAT, dog, dog) == [0, 0.9, 0.1, 0]
    assert row("also-possible", CAT) == [0, 1, 0, 0] and read("also-possible", CAT).flag_counts == {}
    assert row("also-possible", dog, bird) == [0.5, 0, 0.5, 0]
    assert row("also-possible", CAT, dog, ("never", "dog", "")) == [0, 1, 0, 0]
    assert row("also-possible", ("named", "cat", "70"), ("named", "dog", "20"), dog) == [0, 0.777778, 0.222222, 0]


def test_not_these_gives_labels_not_ruled_out_equal_weight() -> None:
    assert row("not-these", NOT_CAT, ("never", "dog", "")) == [0.5, 0, 0, 0.5]
    assert row("not-these") == [0.25] * 4 and read("not-these").flag_counts == {"nothing-ruled-out": 1}
    everything = [("never", label, "") for label in LABELS]
    assert read("not-these", *everything).outcome_counts["unreadable"] == 1
    assert row("not-these", *everything, CAT) == [0, 1, 0, 0]
    assert row("not-these[contradiction=never]", NOT_CAT, CAT) == [0.333333, 0, 0.333333, 0.333333]
    assert read("not-these[contradiction=drop]", NOT_CAT, CAT).outcome_counts["unreadable"] == 1


def test_histogram_divides_numbers_by_their_sum() -> None:
    three = [("named", "cat", "60"), ("named", "dog", "30"), ("named", "bird", "30")]
    assert row("histogram", *three) == [0.25, 0.5, 0.25, 0] and read("histogram", *three).flag_counts == {"over-100": 1}
    assert row("histogram", *three[:2]) == [0, 0.666667, 0.333333, 0]
    assert read("histogram", *three[:2]).flag_counts == {"under-100": 1}
    assert row("histogram[spread=clamp]", *three[:2], ("never", "ship", "")) == [0.1, 0.6, 0.3, 0]
    assert row("histogram[of=chips]", ("named", "cat", "150"), ("named", "dog", "50")) == [0, 0.75, 0.25, 0]
    assert read("histogram[of=chips]", ("named", "cat", "150")).flag_counts == {}
    assert row("histogram", ("named", "cat", "50"), ("named", "dog", "25"), ("named", "dog", "25")) == [0, 0.5, 0.5, 0]
    assert read("histogram", CAT, ("named", "dog", "x")).outcome_counts["unreadable"] == 1


def test_ranking_weights_positions() -> None:
    ranked = CAT, DOG, BIRD
    assert row("ranking", *ranked) == [0.142857, 0.571429, 0.285714, 0]
    assert row("ranking[ratio=0]", *ranked) == [0, 1, 0, 0]
    assert row("ranking[ratio=1]", *ranked) == [0.333333] * 3 + [0]
    assert row("ranking[weights=borda]", *ranked) == [0.166667, 0.5, 0.333333, 0]
    assert row("ranking[weights=centroid]", *ranked) == [0.111111, 0.611111, 0.277778, 0]
    assert row("ranking", CAT, DOG, CAT) == [0, 0.666667, 0.333333, 0]
    assert row("ranking[contradiction=never]", CAT, DOG, NOT_CAT) == [0, 0, 1, 0]


def test_centroid_is_the_mean_of_ordered_distributions() -> None:
    drawn = np.sort(np.random.default_rng(0).dirichlet(np.ones(4), 40_000), 1)[:, ::-1].mean(0)
    np.testing.assert_allclose(
        elicit.methods.make("ranking[weights=centroid]").weights_by_ranking_position(4), drawn, atol=3e-3
    )


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_plackett_is_the_mode_of_the_posterior(n: int) -> None:
    """The gradient of log strength prior Gamma(2, 1) and likelihood is zero there, in the strengths up to scale."""
    from plurivox.elicit.ranking import _plackett_luce_strength_by_position

    strength = _plackett_luce_strength_by_position(n)
    left = np.cumsum(strength[::-1])[::-1]
    gradient = [
        (1 if i < n - 1 else 0) / s - sum(1 / left[j] for j in range(min(i + 1, n - 1))) + 1 / s - 1
        for i, s in enumerate(strength)
    ]
    np.testing.assert_allclose(gradient, 0, atol=1e-9)
    assert (np.diff(strength) < 0).all()


def test_form_column_reads_each_answer_with_its_form() -> None:
    marks = [[CAT, DOG], [CAT, DOG], [NOT_CAT]]
    form = np.array(["ranking", "one-label", "not-these"], dtype=TEXT)
    answers = Answers.of(task=["c", "b", "a"], worker=["u", "v", "w"], marks=marks, labels=LABELS, form=form)
    counts = elicit.methods.make("form-column[forms=ranking[ratio=0]]").read(answers).votes.counts()
    np.testing.assert_allclose(counts, [[1 / 3, 0, 1 / 3, 1 / 3], [0, 1, 0, 0], [0, 1, 0, 0]])


def test_form_column_needs_a_column_of_known_forms() -> None:
    with pytest.raises(InputError, match="have no form column"):
        read("form-column", CAT)
    with pytest.raises(PlurivoxError, match="'quiz'"):
        read("form-column", CAT, form=np.array(["quiz"], dtype=TEXT))
    with pytest.raises(OptionError, match="its own list"):
        elicit.methods.make("form-column[forms=form-column]")
    with pytest.raises(OptionError, match="is listed more than once"):
        elicit.methods.make("form-column", forms="top-two[gamma=0],ranking,top-two")


def test_an_unknown_flag_raises_an_error() -> None:
    with pytest.raises(PlurivoxError, match="'tired'"):
        read("one-label", CAT).has_flag("tired")


def test_no_answers_give_no_votes() -> None:
    none = Answers.of([], [], [], labels=["cat", "dog"], form=np.array([], dtype=TEXT))
    assert len(elicit.methods.make("form-column").read(none).votes) == 0


def test_form_column_rejects_an_empty_form() -> None:
    answers = Answers.of(
        ["a", "b"], ["v", "w"], [[("named", "cat", "")]] * 2, form=np.array(["one-label", ""], dtype=TEXT)
    )
    with pytest.raises(InputError, match="fill the form column for the tasks 'b'"):
        elicit.methods.make("form-column").read(answers)
