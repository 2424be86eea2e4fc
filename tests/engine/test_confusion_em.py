"""Few votes are counted by numpy instead of compiled kernels; the results have the same bits."""

from unittest.mock import patch

import numpy as np
import pytest

from plurivox.aggregate._shared import tasks_without_gold
from plurivox.aggregate._shared.tasks_without_gold import TasksWithoutGold
from plurivox.core.votes import Votes
from plurivox.engine import confusion_em


def votes(n_labels: int, soft: bool) -> Votes:
    rng = np.random.default_rng(n_labels)
    task, worker = np.repeat(np.arange(40), 4), np.arange(160) % 9
    if not soft:
        return Votes.of(task=task, worker=worker, label=rng.integers(n_labels, size=160))
    rows = {"task": np.repeat(task, n_labels), "worker": np.repeat(worker, n_labels)}
    weight, answer = rng.dirichlet(np.ones(n_labels), 160).ravel(), np.repeat(np.arange(160), n_labels)
    return Votes.of(**rows, label=np.tile(np.arange(n_labels), 160), weight=weight, answer=answer)


@pytest.mark.parametrize("n_labels", [2, 3, 4, 7, 19])
def test_numpy_counts_have_the_bits_of_the_kernel(n_labels: int) -> None:
    tasks = TasksWithoutGold(votes(n_labels, soft=False))
    em = tasks.make_confusion_em_from_votes_and_gold()
    posterior = np.random.default_rng(1).dirichlet(np.ones(em.n_labels), len(tasks.open))
    few = em.expected_task_and_vote_counts(posterior)
    with patch.object(confusion_em, "MAX_NUMPY_CELLS", 0):
        compiled = em.expected_task_and_vote_counts(posterior)
    np.testing.assert_array_equal(few.n_true, compiled.n_true)
    np.testing.assert_array_equal(few.confusion, compiled.confusion)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("n_labels", [2, 7])
def test_numpy_vote_shares_have_the_bits_of_the_kernel(n_labels: int, soft: bool) -> None:
    tasks = TasksWithoutGold(votes(n_labels, soft))
    few = tasks.vote_shares_of_open_tasks()
    with patch.object(tasks_without_gold, "MIN_BLOCK_VOTES", 0):
        np.testing.assert_array_equal(few, tasks.vote_shares_of_open_tasks())
