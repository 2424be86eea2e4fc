"""The forms beside top-two."""

import numpy as np
import pytest

from plurivox import elicit
from plurivox.core.answers import Answers
from plurivox.core.errors import InputError, OptionError, PlurivoxError
from plurivox.core.types import TEXT
from plurivox.elicit import Elicited

LABELS = ["bird", "cat", "dog", "ship"]


def read(word: str, *marks: tuple[str, str, str], **rest: object) -> Elicited:
    answers = Answers.of(task=["a"], worker=["w"], marks=[list(marks)], labels=LABELS, **rest)
    return elicit.methods.make(word).read(answers)


def row(word: str, *marks: tuple[str, str, str]) -> list[float]:
    return read(word, *marks).votes.counts()[0].round(6).tolist()


CAT, DOG, BIRD = ("named", "cat", ""), ("named", "dog", ""), ("named", "bird", "")
NOT_CAT = ("never", "cat", "")


def test_one_label_is_a_plain_vote() -> None:
    assert row("one-label", CAT, DOG) == [0, 1, 0, 0]
    assert row("one-label[contradiction=never]", CAT, NOT_CAT) == [0, 0, 0, 0]
    assert read("one-label", CAT, NOT_CAT).odd == {"contradiction": 1}


def test_select_top_two() -> None:
    assert row("select-top-two", CAT, DOG, BIRD) == [0, 0.5, 0.5, 0]
    assert row("select-top-two", DOG) == row("select-top-two", DOG, DOG) == [0, 0, 1, 0]
    assert row("select-top-two[contradiction=never]", CAT, DOG, NOT_CAT) == [0, 0, 1, 0]
    assert read("select-top-two", DOG, DOG).odd == {"named-twice": 1}


def test_also_possible_gives_the_rest_to_what_is_marked() -> None:
    dog, bird = ("possible", "dog", ""), ("possible", "bird", "")
    assert row("also-possible", ("named", "cat", "70"), dog, bird) == [0.15, 0.7, 0.15, 0]
    assert row("also-possible", CAT, dog, dog) == [0, 0.9, 0.1, 0]
    assert row("also-possible", CAT) == [0, 1, 0, 0] and read("also-possible", CAT).odd == {}
    assert row("also-possible", dog, bird) == [0.5, 0, 0.5, 0]
    assert row("also-possible", CAT, dog, ("never", "dog", "")) == [0, 1, 0, 0]
    assert row("also-possible", ("named", "cat", "70"), ("named", "dog", "20"), dog) == [0, 0.777778, 0.222222, 0]


def test_not_these() -> None:
    assert row("not-these", NOT_CAT, ("never", "dog", "")) == [0.5, 0, 0, 0.5]
    assert row("not-these") == [0.25] * 4 and read("not-these").odd == {"nothing-ruled-out": 1}
    everything = [("never", label, "") for label in LABELS]
    assert read("not-these", *everything).fates["unreadable"] == 1
    assert row("not-these", *everything, CAT) == [0, 1, 0, 0]
    assert row("not-these[contradiction=never]", NOT_CAT, CAT) == [0.333333, 0, 0.333333, 0.333333]
    assert read("not-these[contradiction=drop]", NOT_CAT, CAT).fates["unreadable"] == 1


def test_histogram() -> None:
    three = [("named", "cat", "60"), ("named", "dog", "30"), ("named", "bird", "30")]
    assert row("histogram", *three) == [0.25, 0.5, 0.25, 0] and read("histogram", *three).odd == {"over-100": 1}
    assert row("histogram", *three[:2]) == [0, 0.666667, 0.333333, 0]
    assert read("histogram", *three[:2]).odd == {"under-100": 1}
    assert row("histogram[spread=clamp]", *three[:2], ("never", "ship", "")) == [0.1, 0.6, 0.3, 0]
    assert row("histogram[of=chips]", ("named", "cat", "150"), ("named", "dog", "50")) == [0, 0.75, 0.25, 0]
    assert read("histogram[of=chips]", ("named", "cat", "150")).odd == {}
    assert row("histogram", ("named", "cat", "50"), ("named", "dog", "25"), ("named", "dog", "25")) == [0, 0.5, 0.5, 0]
    assert read("histogram", CAT, ("named", "dog", "x")).fates["unreadable"] == 1


def test_ranking() -> None:
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
    np.testing.assert_allclose(elicit.methods.make("ranking[weights=centroid]").worth(4), drawn, atol=3e-3)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_plackett_is_the_mode_of_the_posterior(n: int) -> None:
    """The gradient of log strength prior Gamma(2, 1) and likelihood is zero there, in the strengths up to scale."""
    from plurivox.elicit.ranking import _strengths

    strength = _strengths(n)
    left = np.cumsum(strength[::-1])[::-1]
    gradient = [
        (1 if i < n - 1 else 0) / s - sum(1 / left[j] for j in range(min(i + 1, n - 1))) + 1 / s - 1
        for i, s in enumerate(strength)
    ]
    np.testing.assert_allclose(gradient, 0, atol=1e-9)
    assert (np.diff(strength) < 0).all()


def test_as_asked() -> None:
    marks = [[CAT, DOG], [CAT, DOG], [NOT_CAT]]
    form = np.array(["ranking", "one-label", "not-these"], dtype=TEXT)
    answers = Answers.of(task=["c", "b", "a"], worker=["u", "v", "w"], marks=marks, labels=LABELS, form=form)
    counts = elicit.methods.make("as-asked[forms=ranking[ratio=0]]").read(answers).votes.counts()
    np.testing.assert_allclose(counts, [[1 / 3, 0, 1 / 3, 1 / 3], [0, 1, 0, 0], [0, 1, 0, 0]])


def test_as_asked_must_know_the_forms() -> None:
    with pytest.raises(InputError, match="do not say how they were asked"):
        read("as-asked", CAT)
    with pytest.raises(PlurivoxError, match="'quiz'"):
        read("as-asked", CAT, form=np.array(["quiz"], dtype=TEXT))
    with pytest.raises(OptionError, match="its own list"):
        elicit.methods.make("as-asked[forms=as-asked]")


def test_an_unknown_flag_is_said() -> None:
    with pytest.raises(PlurivoxError, match="'tired'"):
        read("one-label", CAT).has("tired")


def test_nobody_was_asked_anything() -> None:
    none = Answers.of([], [], [], labels=["cat", "dog"], form=np.array([], dtype=TEXT))
    assert len(elicit.methods.make("as-asked").read(none).votes) == 0


def test_an_answer_must_say_how_it_was_asked() -> None:
    answers = Answers.of(
        ["a", "b"], ["v", "w"], [[("named", "cat", "")]] * 2, form=np.array(["one-label", ""], dtype=TEXT)
    )
    with pytest.raises(InputError, match="fill the form of those to the tasks 'b'"):
        elicit.methods.make("as-asked").read(answers)
