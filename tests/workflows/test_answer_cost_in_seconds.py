import numpy as np
import pytest

from crowds import soft_crowd, some_answers
from plurivox import elicit, evaluate
from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.workflows.answer_cost_in_seconds import (
    Curve,
    break_even,
    curve,
    modelled_seconds_per_answer,
    seconds_per_answer,
)


@pytest.mark.parametrize(
    ("form", "inputs"),
    [
        ("top-two[use=top,spread=uniform]", 2),
        ("top-two[use=top]", 3),
        ("top-one", 3),
        ("top-two[spread=uniform]", 4),
        ("top-two", 5),
        ("select-top-two", 2),
    ],
)
def test_modelled_seconds_per_answer_follow_the_paper(form: str, inputs: int) -> None:
    assert modelled_seconds_per_answer(form) == pytest.approx(6.4 * inputs)


def test_a_plain_vote_and_a_form_without_a_model() -> None:
    assert modelled_seconds_per_answer("one-label") == 1.8
    with pytest.raises(InputError, match="does not cover the form ranking"):
        modelled_seconds_per_answer("ranking")


def test_recorded_times_are_preferred_to_the_model() -> None:
    answers = some_answers()
    assert seconds_per_answer(answers, "top-two").value == np.median([31, 2.5])
    votes = elicit.methods.make("top-two").read(answers).votes
    assert seconds_per_answer(votes).value == np.median([31, 2.5])  # an answer with several rows counts once
    assert seconds_per_answer(votes).n == 2
    bare = soft_crowd()
    assert seconds_per_answer(bare, "top-two").source == "model"
    with pytest.raises(InputError, match="have no recorded times"):
        seconds_per_answer(bare)


def test_a_curve_ends_when_all_answers_are_used() -> None:
    counts = np.random.default_rng(0).multinomial(20, [0.6, 0.3, 0.1], 30)
    votes = Votes.from_counts(counts, np.arange(30), ["x", "y", "z"])
    gold = SoftLabels.gold(np.arange(30), ["x"] * 30, labels=["x", "y", "z"])
    found = curve(
        votes, lambda soft: evaluate.accuracy(soft, gold), [1, 5, 20, 40], 2, name="plain", measure_name="accuracy"
    )
    assert found.seconds.tolist() == [2, 10, 40, 40]  # no task has more than 20 answers
    assert found.values[2].std() == 0 and found.values.mean(1)[0] < found.values.mean(1)[2]
    assert found.table().columns()["votes"].tolist() == [1, 5, 20, 40]


def line(name: str, seconds: list[float], values: list[float]) -> Curve:
    return Curve(name, "accuracy", np.arange(1, len(seconds) + 1), np.array(seconds), np.array(values)[:, None])


def test_break_even() -> None:
    plain, rich = line("plain", [2, 4, 8], [0.5, 0.7, 0.8]), line("rich", [3, 6, 20], [0.55, 0.78, 0.9])
    table = break_even(plain, rich).columns()
    np.testing.assert_allclose(table["plain in that time"], [0.6, 0.75, np.nan])
    np.testing.assert_allclose(table["seconds plain needs"], [2.5, 7.2, np.nan])
    # unknown, because the plain curve ends at 8 seconds
    assert table["cheaper"].tolist() == [
        "plain",
        "rich",
        "-",
    ]
    table = break_even(plain, line("rich", [2.5, 8], [0.55, 0.81])).columns()
    assert table["cheaper"].tolist() == ["equal", "rich"]  # plain answers do not reach .81 in 8 seconds


def test_break_even_where_lower_is_better() -> None:
    plain, rich = line("plain", [2, 4], [0.5, 0.3]), line("rich", [3], [0.45])
    table = break_even(plain, rich, "lower").columns()
    np.testing.assert_allclose([table["plain in that time"][0], table["seconds plain needs"][0]], [0.4, 2.5])
