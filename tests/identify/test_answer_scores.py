"""The worker scores from answers: repeat-consistency, percent-calibration, speed."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import plurivox as pv
from plurivox.core.answers import Answers
from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.workflows.score_tasks_workers import count_repeats_left_out, parse_scoring_methods
from score_shortcuts import score

pytestmark = pytest.mark.filterwarnings("ignore::plurivox.PlurivoxWarning")


def entered(top: str, percent: list[str], *, worker: str | None = None, **rest: object) -> Answers:
    """Return one answer per letter of `top`, with its label, typed percent and worker; "-" names no label."""
    marks = [[("named", label, typed)] if label != "-" else [] for label, typed in zip(top, percent, strict=True)]
    tasks = rest.pop("task", "abcdefghijklmnopqrstuvwxyz"[: len(top)])
    return Answers.of(list(tasks), list(worker or "w" * len(top)), marks, labels=["x", "y"], **rest)  # type: ignore[call-overload]


def test_repeat_consistency_equals_values_computed_by_hand() -> None:
    answers = entered(
        "xyxyx-",
        ["70", "60", "80", "8p", "", ""],
        task="ababaa",
        worker="uuuuvv",
        repeat_of=np.array([-1, -1, 0, 1, -1, 4]),  # the second answer of worker v names no label
    )
    same = score("repeat-consistency", answers=answers)
    np.testing.assert_array_equal(same.raw, [1, np.nan])
    np.testing.assert_array_equal(same.badness, [0, np.nan])
    np.testing.assert_array_equal(same.n, [2, 0])
    moved = score("repeat-consistency[measure=percent]", answers=answers)
    np.testing.assert_array_equal(moved.raw, [(10 + 20) / 2, np.nan])


def test_the_error_without_repeats_says_how_to_mark_them() -> None:
    with pytest.raises(InputError, match="repeat-consistency needs answers"):
        score("repeat-consistency")
    with pytest.raises(InputError, match="these answers have none: give a column repeat"):
        score("repeat-consistency", answers=entered("xx", ["70", "70"]))
    with pytest.raises(InputError, match="no task was shown twice"):
        score("repeat-consistency", answers=entered("xx", ["70", "70"], repeat_of=np.array([-1, -1])))


def test_calibration_against_gold_equals_values_computed_by_hand() -> None:
    answers = entered("xxxxxx", ["90", "90", "95%", "50", "50", "odd"])
    gold = SoftLabels.gold(list("abcdef"), list("xxyxyx"))
    kept = {"answers": answers, "gold": gold}
    scores = score("percent-calibration[against=gold]", **kept)
    gaps = [(90 + 90 + 95 - 200) / 3, (100 - 100) / 2]  # gaps of the bins 80 to 100 and 40 to 60
    np.testing.assert_allclose(scores.raw, (3 * gaps[0] + 2 * gaps[1]) / 5)
    np.testing.assert_allclose(scores.badness, scores.raw)  # one worker is the whole crowd: no shrinkage
    assert scores.n is not None and scores.n.tolist() == [5]
    over = score("percent-calibration[against=gold,measure=overconfidence,bins=1]", **kept)
    np.testing.assert_allclose(over.raw, (90 + 90 + 95 + 50 + 50 - 300) / 5)


def test_calibration_against_the_rest_leaves_out_the_workers_own_answers() -> None:
    answers = entered("xxyxx", ["80", "100", "100", "100", "100"], task="aaaaa", worker="uvwtt")
    stated = {"t": 100, "u": 80, "v": 100, "w": 100}
    agree = {"first": 2 / 3, "all": 3 / 4}  # of the others of u and v: t is one person, or two if all answers count
    for repeated, share in agree.items():
        scores = score(f"percent-calibration[bins=1,shrink=0,repeated={repeated}]", answers=answers)
        others = {"t": 2 / 3, "u": share, "v": share, "w": 0}  # both answers of t are left out for t
        expected = [abs(stated[w] - 100 * others[w]) for w in scores.names.tolist()]
        np.testing.assert_allclose(scores.raw, expected)
    (counted,) = parse_scoring_methods("worker", "percent-calibration")
    assert count_repeats_left_out(answers, [counted]) == 1


def test_gaps_of_few_answers_are_shrunk_towards_the_crowd() -> None:
    """One worker is well calibrated with 400 answers; another has one wrong answer at 90 percent."""
    rng = np.random.default_rng(0)
    right = rng.random(400) < 0.9
    top = "".join("x" if one else "y" for one in right) + "y"
    answers = Answers.of(
        task=range(401),
        worker=["all"] * 400 + ["new"],
        marks=[[("named", one, "90")] for one in top],
        labels=["x", "y"],
    )
    gold = SoftLabels.gold(range(401), ["x"] * 401, labels=["x", "y"])
    scores = score("percent-calibration[against=gold,resamples=50]", answers=answers, gold=gold)
    assert scores.raw[1] == 90 and 10 < scores.badness[1] < 20 and scores.raw[0] < 3 and scores.badness[0] < 3
    assert scores.low is not None and scores.high is not None and scores.low[0] <= scores.raw[0] <= scores.high[0]


def test_missing_gold_percents_or_others_raise_clear_errors() -> None:
    with pytest.raises(InputError, match="percent-calibration needs gold: give known labels"):
        score("percent-calibration[against=gold]", answers=entered("x", ["70"]))
    with pytest.raises(InputError, match="needs percents beside the top labels; these answers have none"):
        score("percent-calibration", answers=entered("xy", ["", "700"], task="aa", worker="uv"))
    with pytest.raises(
        InputError, match="no other worker answered the same tasks; compare with known labels: against=gold"
    ):
        score("percent-calibration", answers=entered("xy", ["70", "70"]))


def test_repeats_and_times_of_the_released_answers(data_set: Callable[[str], Path]) -> None:
    answers = pv.read(data_set("cifar10s")).answers
    same, moved = (score(f"repeat-consistency[measure={what}]", answers=answers) for what in ("label", "percent"))
    changed = 1 - same.raw
    assert same.n is not None and moved.n is not None
    assert (np.nansum(changed * same.n), same.n.sum()) == (pytest.approx(35), 498)
    assert np.nansum(moved.raw * moved.n) / moved.n.sum() == pytest.approx(6.10, abs=0.005)
    stored_twice = same.n > 2  # the released data contain one session of 27 answers twice; two of the 27 are repeats
    assert stored_twice.sum() == 1 and changed[stored_twice] == 0.5
    once = changed * np.minimum(same.n, 2)  # without the second copy
    assert (np.nansum(once), np.minimum(same.n, 2).sum()) == (pytest.approx(34), 496)
    assert answers is not None and answers.seconds is not None and answers.repeat_of is not None
    assert np.median(answers.seconds) == pytest.approx(31.958, abs=5e-4)
    assert np.median(answers.seconds[answers.repeat_of >= 0]) == pytest.approx(26.6, abs=0.05)
    speed = score("speed", answers=answers)
    assert speed.n is not None and speed.n.sum() == 6723 and speed.raw is not None and 12 < speed.raw.min() < 13


def test_calibration_of_the_released_answers(data_set: Callable[[str], Path]) -> None:
    data = pv.read(data_set("cifar10s"))
    scores = score(
        "percent-calibration[against=gold,measure=overconfidence,bins=1]", answers=data.answers, gold=data.gold
    )
    assert scores.n is not None and scores.n.sum() == 6723 and scores.raw is not None
    assert np.mean(scores.raw) == pytest.approx(0.92, abs=0.01)  # points: stated percents nearly equal accuracy
