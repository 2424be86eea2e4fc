"""Tasks with several accepted gold labels are left out of measures of the true label, and counted in a note."""

import pytest

import plurivox as pv
from plurivox import SoftLabels, Votes
from plurivox.core.errors import PlurivoxWarning

VOTES = Votes.of(task=list("aabbcc"), worker=[1, 2] * 3, label=list("yyxxyy"))
GOLD = SoftLabels.of([[0, 1], [1, 0], [0.5, 0.5]], list("abc"), ["x", "y"])  # two labels of c are accepted
NOTE = "1 task has two or more true labels that are equally probable: left out"


def test_describe_leaves_them_out() -> None:
    with pytest.warns(PlurivoxWarning, match=NOTE):
        about = pv.describe(VOTES, GOLD)
    assert (about.n_gold, about.vote_accuracy, about.share_gold_unvoted) == (2, 1, 0)


def test_compare_leaves_them_out() -> None:
    made = pv.compare(VOTES, "majority-vote", gold=GOLD)
    assert (
        made.accuracy.tolist() == [1]
        and made.tasks is not None
        and made.tasks.tolist() == [2]
        and NOTE in made.notes[0]
    )


def test_evaluate_leaves_them_out_of_hard_measures_only() -> None:
    made = pv.evaluate_labels(pv.fit(VOTES, "vote-shares").soft, GOLD, measures="accuracy,total-variation")
    assert made.n.tolist()[:2] == [2, 3] and made.value[0] == 1 and any(NOTE in note for note in made.notes)


def test_if_all_tie_the_first_label_counts() -> None:
    made = pv.evaluate_labels(VOTES, GOLD.on(["c"]), measures="accuracy")
    assert made.value.tolist() == [0] and any("no task has one true label" in note for note in made.notes)
