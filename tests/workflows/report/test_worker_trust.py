"""Trust in workers: agreement beyond chance against a hand computation, verdicts, and the order in which to check."""

import numpy as np
import pytest

import plurivox as pv
from plurivox.core.votes import Votes
from plurivox.workflows.report.worker_trust import DROPPED, SHRINKAGE, worker_trust
from report_inputs import GUESSERS, doubtful_crowd


def test_agreement_and_what_it_is_by_chance() -> None:
    votes = Votes.of(list("aaabbb"), ["ann", "bo", "cy"] * 2, ["x", "x", "y", "x", "y", "y"])
    found = worker_trust(votes, None)
    ann = found.workers.tolist().index("ann")
    assert found.agreement[ann] == pytest.approx((1 / 2 + 0) / 2)  # x with bo, not cy, on a; with nobody on b
    assert found.by_chance[ann] == pytest.approx(1 / 4)  # always x, which is one of the four votes of the others
    assert found.beyond_chance[ann] == pytest.approx(0.0)


def test_those_who_answer_at_random_or_against_the_others_are_to_be_dropped_and_come_first() -> None:
    votes, _ = doubtful_crowd()
    found = worker_trust(votes, pv.fit(votes, "log-pool"))
    assert set(found.names(*DROPPED)) == set(GUESSERS) and found.names("against the others") == ["against"]
    assert {str(found.workers[i]) for i in found.first_to_check(3)} == set(GUESSERS)
    assert len(found.first_to_check(100)) == votes.n_workers


def test_nobody_is_to_be_dropped_for_few_votes() -> None:
    tasks = [f"t{i}" for i in range(9)]
    votes = Votes.of(tasks * 3, ["ann"] * 9 + ["bo"] * 9 + ["cy"] * 9, ["x"] * 9 + ["x"] * 9 + ["y"] * 9)
    found = worker_trust(votes, None)
    assert found.verdict.tolist() == ["few votes"] * 3 and found.first_to_check(3) == []


def test_an_accurate_worker_is_not_to_be_dropped_if_labels_are_rare() -> None:
    votes, _ = doubtful_crowd()
    fit = pv.fit(votes, "log-pool")
    assert fit.ability is not None
    good = fit.with_soft(fit.soft, ability=np.ones_like(fit.ability))
    assert worker_trust(votes, good).count(*DROPPED) == 0


def test_few_votes_alone_move_a_worker_little_from_the_median() -> None:
    votes, _ = doubtful_crowd()
    found = worker_trust(votes, None)
    middle = np.median(found.beyond_chance)
    expected = (found.votes * found.beyond_chance + SHRINKAGE * middle) / (found.votes + SHRINKAGE)
    np.testing.assert_allclose(found.shrunken, expected, atol=0.02)  # repeats of a worker count once in the agreement
    assert (np.abs(found.shrunken - middle) <= np.abs(found.beyond_chance - middle) + 1e-12).all()


def test_a_worker_alone_on_all_tasks_is_unknown() -> None:
    found = worker_trust(Votes.of(["a", "b"], ["ann", "ann"], ["x", "y"]), None)
    assert np.isnan(found.beyond_chance).all() and found.verdict.tolist() == ["few votes"]
