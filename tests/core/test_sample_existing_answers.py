from itertools import pairwise

import numpy as np
import pytest

from crowds import crowd, soft_crowd, some_answers
from plurivox.core.errors import InputError, OptionError
from plurivox.core.sample_existing_answers import AnswerSampler, subsample
from plurivox.core.votes import Votes

COUNTS = np.array([[30, 15, 6], [1, 0, 1], [0, 0, 0], [51, 0, 0]])


def counts() -> Votes:
    return Votes.from_counts(COUNTS, ["a", "b", "c", "d"], ["x", "y", "z"])


def test_every_task_keeps_m_answers_or_all() -> None:
    votes = Votes.of(**crowd(n_tasks=20, feedback=5))
    assert subsample(votes, 3).support.tolist() == [3] * 20
    assert len(subsample(votes, 9)) == len(votes) and len(subsample(votes, 0)) == 0
    assert subsample(votes, 3).tasks.tolist() == votes.tasks.tolist()


def test_draws_are_nested_and_seeded() -> None:
    votes = Votes.of(**crowd())
    rows = [
        set(zip(one.task.tolist(), one.worker.tolist(), strict=True)) for one in (subsample(votes, m) for m in range(6))
    ]
    assert all(small < large for small, large in pairwise(rows))
    again, other = subsample(votes, 2), subsample(votes, 2, seed=1)
    assert again.worker.tolist() == subsample(votes, 2).worker.tolist() != other.worker.tolist()


def test_a_soft_answer_is_drawn_as_a_whole() -> None:
    votes = soft_crowd()
    few = subsample(votes, 2)
    assert few.support.round(9).tolist() == [2] * votes.n_tasks
    assert (np.bincount(few.answer)[np.unique(few.answer)] == np.bincount(votes.answer)[np.unique(few.answer)]).all()


def test_counts_are_drawn_without_replacement_and_nested() -> None:
    tables = [subsample(counts(), m, seed=3).counts() for m in range(52)]
    assert [table.sum(1).tolist() for table in tables[:3]] == [[0, 0, 0, 0], [1, 1, 0, 1], [2, 2, 0, 2]]
    assert all((small <= large).all() for small, large in pairwise(tables))
    np.testing.assert_array_equal(tables[51], COUNTS)


def test_counts_follow_the_hypergeometric_distribution() -> None:
    found = np.mean([subsample(counts(), 10, seed=seed).counts()[0] for seed in range(400)], axis=0)
    np.testing.assert_allclose(found, 10 * COUNTS[0] / 51, atol=0.25)
    spread = np.std([subsample(counts(), 10, seed=seed).counts()[0, 0] for seed in range(400)])
    # less than the deviation with replacement
    assert abs(spread - np.sqrt(10 * (30 / 51) * (21 / 51) * (41 / 50))) < 0.12


def test_answers_keep_their_marks() -> None:
    few = subsample(some_answers(), 1)
    assert np.bincount(few.task).tolist() == [1, 1] and few.notes[-1] == "at most 1 answers per task, seed 0"


def test_sampling_from_invalid_input_raises() -> None:
    with pytest.raises(OptionError, match="m must be a whole number"):
        subsample(counts(), 1.5)
    halves = Votes.from_counts(np.array([[0.5, 1]]), ["a"], ["x", "y"])
    with pytest.raises(InputError, match="whole numbers; check the tasks 'a'"):
        subsample(halves, 1)
    with pytest.raises(InputError, match="tasks without answers: 'c'"):
        AnswerSampler.from_votes(counts()).draw_label_weights_of_random_answers(
            np.array([0, 2]), np.random.default_rng(0)
        )


def test_a_drawn_answer_is_one_of_the_answers() -> None:
    votes = soft_crowd()
    rows = np.zeros((int(votes.answer.max()) + 1, votes.n_labels))
    rows[votes.answer, votes.label] = votes.weight
    drawn = AnswerSampler.from_votes(votes).draw_label_weights_of_random_answers(
        np.array([4, 4, 7]), np.random.default_rng(0)
    )
    mine = [rows[np.unique(votes.answer[votes.task == task])] for task in (4, 4, 7)]
    assert all((one == people).all(1).any() for one, people in zip(drawn, mine, strict=True))


def test_the_mean_of_many_draws_is_the_vote_share() -> None:
    sampler, many = AnswerSampler.from_votes(counts()), np.zeros(20_000, np.int64)
    found = sampler.draw_label_weights_of_random_answers(many, np.random.default_rng(0))
    assert (found.sum(1) == 1).all()
    np.testing.assert_allclose(found.mean(0), COUNTS[0] / 51, atol=0.015)
    votes = soft_crowd()
    found = AnswerSampler.from_votes(votes).draw_label_weights_of_random_answers(many, np.random.default_rng(0)).mean(0)
    np.testing.assert_allclose(found, votes.counts()[0] / votes.support[0], atol=0.015)
