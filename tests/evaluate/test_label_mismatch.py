"""Labels of prediction and truth that do not meet are an error or a note that says how to rename them."""

import re
from collections.abc import Sequence

import numpy as np
import pytest

from plurivox import evaluate
from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import evaluate_labels
from plurivox.evaluate.label_mismatch import rename_option_text

RNG = np.random.default_rng(5)
N = 300
TRUE = RNG.integers(0, 5, N)
PREDICTED = np.where(RNG.random(N) < 0.85, TRUE, RNG.integers(0, 5, N))
NAMES = np.array(["ant", "bee", "cat", "dog", "eel"])


def notes_of(predicted: Sequence[object], true: Sequence[object]) -> str:
    """Return the notes of an evaluation of one label per task."""
    sides = [SoftLabels.gold(range(len(side)), [str(label) for label in side]) for side in (predicted, true)]
    return " / ".join(evaluate_labels(*sides, measures=["accuracy"], repeats=0).notes)


@pytest.mark.parametrize(
    ("predicted", "advice"),
    [
        (PREDICTED, "(--rename 0=ant,1=bee,2=cat,3=dog,4=eel)"),
        (
            np.char.title(NAMES)[PREDICTED],
            "differ only by case, blanks or number format: rename={'Ant': 'ant', 'Bee': 'bee'",
        ),
        (np.char.add(NAMES, " ")[PREDICTED], "(--rename 'ant =ant,bee =bee,cat =cat,dog =dog,eel =eel')"),
        (["?"] * N, "rename the labels of the prediction: rename={'old': 'new', ...} (--rename old=new,...)"),
    ],
    ids=["numbers", "case", "blanks", "unknown"],
)
def test_no_label_in_common_is_an_error_that_lists_both_sides(predicted: Sequence[object], advice: str) -> None:
    with pytest.raises(InputError, match=re.escape(advice)) as caught:
        notes_of(predicted, NAMES[TRUE])
    assert "the prediction and the truth have no label in common" in str(caught.value)
    assert "'ant', 'bee', 'cat', 'dog', 'eel' in the truth" in str(caught.value)


def test_numbers_written_in_another_way() -> None:
    with pytest.raises(InputError, match=re.escape("number format: rename={'0.0': '0', '1.0': '1'")):
        notes_of(PREDICTED.astype(float), TRUE)
    floats = SoftLabels.gold(range(N), PREDICTED.astype(float))  # as numbers, 1.0 and "1" are the same label
    texts = SoftLabels.gold(range(N), TRUE.astype(str))
    assert evaluate.accuracy(floats, texts) == np.mean(PREDICTED == TRUE)


def test_single_measures_and_comparisons_refuse_disjoint_labels_too() -> None:
    sides = SoftLabels.gold("abc", "xyx"), SoftLabels.gold("abc", "XYX")
    for measure in (evaluate.accuracy, evaluate.nll, evaluate.cross_entropy):
        with pytest.raises(InputError, match="no label in common: 'x', 'y' in the prediction, 'X', 'Y' in the truth"):
            measure(*sides)
    one = SoftLabels.gold("a", "x"), SoftLabels.gold("a", "y")
    assert evaluate.accuracy(*one) == 0  # one task may simply be wrong


def test_labels_that_only_a_list_has_in_common_do_not_count() -> None:
    """A reader may list the labels of votes and gold together, although no task has a label of both."""
    listed = [*"01234", *NAMES]
    numbers = SoftLabels.gold(range(N), PREDICTED.astype(str), labels=listed)
    with pytest.raises(InputError, match=r"hardly any label in common.*--rename 0=ant,1=bee"):
        evaluate_labels(numbers, SoftLabels.gold(range(N), NAMES[TRUE], labels=listed))


def test_numbers_from_zero_and_from_one_are_noted() -> None:
    agree = np.mean(PREDICTED == TRUE)
    note = notes_of(PREDICTED, TRUE + 1)
    assert f"{agree:.0%} if '0' is '1', '1' is '2'" in note and "--rename 0=1,1=2,2=3,3=4,4=5" in note


def test_permuted_label_numbers_are_noted() -> None:
    order = np.array([2, 0, 1, 4, 3])
    note = notes_of(order[PREDICTED], TRUE)
    assert "may name or number their labels differently" in note and "(--rename 0=1,1=2,2=0,3=4,4=3)" in note
    assert "'0' is '1', '1' is '0'" in notes_of(1 - PREDICTED % 2, TRUE % 2)


def test_good_bad_and_constant_predictions_get_no_note() -> None:
    assert notes_of(PREDICTED, TRUE) == "" and notes_of(RNG.integers(0, 5, N), TRUE) == ""
    assert "number their labels" not in notes_of(["1"] * N, TRUE)
    confused = np.where(PREDICTED == 3, 4, PREDICTED)  # one label is always taken for another
    assert "number their labels" not in notes_of(confused, TRUE)


def test_true_labels_that_the_prediction_lacks_are_noted() -> None:
    note = notes_of(np.minimum(PREDICTED, 3), TRUE)
    missing = f"{np.sum(TRUE == 4)} of {N} tasks have a label of the truth that the prediction does not have ('4')"
    assert note == f"{missing}: they count as wrong"
    some = np.array(["ant", "bee", "cat", "dog", "Eel"])
    assert "(--rename Eel=eel)" in notes_of(some[PREDICTED], NAMES[TRUE])


def test_labels_with_commas_and_quotes_are_quoted_for_the_shell() -> None:
    assert rename_option_text({"a, b": "c"}) == "rename={'a, b': 'c'} (--rename '\"a, b=c\"')"
