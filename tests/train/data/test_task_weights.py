"""Weights of tasks by the agreement of their answers."""

import numpy as np
import pytest

from plurivox.core.encoding import as_names
from plurivox.core.votes import Votes
from plurivox.train.data.task_weights import AgreementWeighting, agreement


def test_soft_answers_agree_as_labels_drawn_from_them_do() -> None:
    columns = {"weight": [0.7, 0.3, 0.7, 0.3, 1.0], "answer": [0, 0, 1, 1, 2]}
    votes = Votes.of(list("aaaab"), [1, 1, 2, 2, 1], list("xyxyx"), **columns)
    assert agreement(votes, as_names(["b", "a", "c"])) == pytest.approx([1, 0.58, 1])  # nobody disagrees on b and c


def test_tasks_below_the_least_agreement_are_left_out() -> None:
    votes = Votes.of(list("aaaaabb"), [1, 2, 3, 4, 5, 1, 2], list("vvwxyvw"))
    for weigh, wanted in ((True, [0.1, 0.0]), (False, [1.0, 0.0])):  # one pair of ten agrees: exactly the least
        assert AgreementWeighting(weigh, 0.1).weights(votes, votes.tasks).tolist() == wanted
    assert np.all(AgreementWeighting(weigh=False).weights(votes, votes.tasks) == 1)
