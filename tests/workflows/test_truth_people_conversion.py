"""Soft labels converted between the truth and what people say."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import plurivox as pv
from plurivox.core.array_types import Ints
from plurivox.core.errors import InputError, OptionError
from plurivox.core.estimate_conversion import mean_confusion_matrix
from plurivox.core.results import Confusion, Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

N, PER_TASK, LABELS = 600, 5, np.array(["x", "y", "z"])


def simulated_votes(seed: int) -> tuple[Votes, Votes, Ints]:
    """Votes of 30 workers of different skill on 600 tasks, one more vote per task that is hidden, and the true labels."""
    rng = np.random.default_rng(seed)
    true = rng.choice(3, N, p=[0.5, 0.3, 0.2])
    matrices = np.stack([rng.dirichlet(1 + a * np.eye(3)[k]) for a in rng.uniform(1, 12, 30) for k in range(3)])
    matrices = matrices.reshape(30, 3, 3)
    worker = np.argsort(rng.random((N, 30)), 1)[:, : PER_TASK + 1]
    cumulated = matrices[worker, true[:, None]].cumsum(2)
    label = (rng.random((N, PER_TASK + 1, 1)) > cumulated).sum(2)
    task = np.arange(N)[:, None].repeat(PER_TASK + 1, 1)
    parts = (slice(None, -1), slice(-1, None))
    seen, hidden = (
        Votes.of(task[:, part].ravel(), worker[:, part].ravel(), LABELS[label[:, part].ravel()], labels=LABELS)
        for part in parts
    )
    return seen, hidden, true


def log_loss(soft: SoftLabels, codes: Ints) -> float:
    """Mean negative log of the probability of one label per task, each mixed with .001 of the even guess."""
    return float(-np.log(0.999 * soft.at(codes) + 0.001 / soft.n_labels).mean())


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("method", ["dawid-skene", "ibcc"])
def test_people_predict_hidden_votes_better_than_the_truth(method: str, seed: int) -> None:
    seen, hidden, _ = simulated_votes(seed)
    fit = pv.fit(seen, method)
    by_votes, by_matrices = pv.convert_estimates(fit, "people", votes=seen), pv.convert_estimates(fit, "people")
    assert by_votes.estimates == by_matrices.estimates == "people"
    loss = {
        name: log_loss(soft, hidden.label)
        for name, soft in {"truth": fit.soft, "votes": by_votes, "matrices": by_matrices}.items()
    }
    shares = log_loss(SoftLabels.from_vote_shares(seen), hidden.label)
    assert max(loss["votes"], loss["matrices"]) < min(loss["truth"], shares) - 0.1
    assert loss["votes"] < loss["matrices"] + 0.01


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_truth_from_shares_is_nearer_to_the_true_labels(seed: int) -> None:
    seen, _, true = simulated_votes(seed)
    shares, fit = SoftLabels.from_vote_shares(seen), pv.fit(seen, "dawid-skene")
    found = [pv.convert_estimates(shares, "truth", model=fit, votes=votes) for votes in (None, seen)]
    for soft in found:
        assert soft.estimates == "truth" and soft.support is not None and soft.support.tolist() == [PER_TASK] * N
        assert log_loss(soft, true) < log_loss(shares, true) - 0.02


def test_truth_is_the_posterior_of_a_crowd_of_equal_people() -> None:
    matrix, prior = np.array([[0.8, 0.2], [0.3, 0.7]]), np.array([0.6, 0.4])
    people = SoftLabels.of([[0.75, 0.25], [0.5, 0.5]], "ab", "xy", support=np.array([4.0, 0]), estimates="people")
    truth = SoftLabels.of([[0.5, 0.5]] * 2, "ab", "xy", estimates="truth")
    model = Fit(truth, np.array(["w"]), "by hand", prior=prior, confusion=Confusion(matrix[None], ["w"], list("xy")))
    found = pv.convert_estimates(people, "truth", model=model).prob
    first = prior * [0.8**3 * 0.2, 0.3**3 * 0.7]
    np.testing.assert_allclose(found, [first / first.sum(), prior], rtol=1e-6)  # a task without answers: the prior
    turned = people.on_labels("yx")  # labels meet by name
    np.testing.assert_allclose(pv.convert_estimates(turned, "truth", model=model).on_labels("xy").prob, found)
    pushed = pv.convert_estimates(model, "people")
    np.testing.assert_allclose(pushed.prob, [[0.55, 0.45]] * 2)


def test_matrices_that_workers_share_count_once_per_worker() -> None:
    matrices = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], float)
    shared = Confusion(matrices, list("abcd"), list("xy"), which=np.array([0, 0, 0, 1]))
    np.testing.assert_allclose(mean_confusion_matrix(shared), [[0.75, 0.25], [0.25, 0.75]])


def test_a_method_without_matrices_needs_the_votes() -> None:
    seen, _, _ = simulated_votes(0)
    fit = pv.fit(seen, "glad")
    with pytest.raises(InputError, match=r"glad estimates no confusion matrices; give the votes"):
        pv.convert_estimates(fit, "people")
    assert pv.convert_estimates(fit, "people", votes=seen).estimates == "people"


@pytest.mark.parametrize("method", ["log-pool", "average", "temperature", "wawa", "majority-vote"])
def test_probabilities_that_are_not_those_of_a_model_are_not_converted(method: str) -> None:
    seen, _, _ = simulated_votes(0)
    fit, model = pv.fit(seen, method), pv.fit(seen, "dawid-skene")
    for labels, by in ((fit, None), (fit, model), (pv.fit(seen, "vote-shares"), fit)):
        with pytest.raises(InputError, match="are not those of a model of how workers err"):
            pv.convert_estimates(labels, "truth" if by is fit else "people", model=by, votes=seen)


def test_what_cannot_be_converted_says_why() -> None:
    seen, _, _ = simulated_votes(0)
    fit, shares = pv.fit(seen, "dawid-skene"), pv.fit(seen, "vote-shares")
    with pytest.raises(OptionError, match="to truth or people, not to 'gold'"):
        pv.convert_estimates(fit, "gold")
    with pytest.raises(InputError, match="soft labels alone do not say how people err"):
        pv.convert_estimates(shares.soft, "truth")
    with pytest.raises(InputError, match="vote-shares estimates people, not the truth"):
        pv.convert_estimates(shares, "truth")
    with pytest.raises(InputError, match="do not say what they estimate: add a column estimates"):
        pv.convert_estimates(replace(fit.soft, estimates="unknown"), "people", model=fit)
    with pytest.raises(InputError, match="number of answers behind the soft labels is not known"):
        pv.convert_estimates(replace(shares.soft, support=None), "truth", model=fit)
    with pytest.raises(InputError, match="different labels"):
        pv.convert_estimates(SoftLabels.gold("a", "p"), "people", model=fit)
    unchanged = pv.convert_estimates(shares, "people")
    assert unchanged.notes[-1].endswith("nothing was converted") and unchanged.body is shares.soft.body


def test_people_from_the_truth_on_real_votes(data_set: Callable[[str], Path]) -> None:
    votes = pv.read(data_set("labelme")).votes
    assert votes is not None
    order = np.lexsort((np.random.default_rng(0).random(len(votes)), votes.task))
    hidden = np.isin(np.arange(len(votes)), order[votes.row_offsets_by_task[:-1][votes.support > 1]])
    seen, rest = votes.where(~hidden), votes.where(hidden)
    fit, codes = pv.fit(seen, "dawid-skene"), rest.label
    tasks = rest.tasks[rest.task]
    people = pv.convert_estimates(fit, "people", votes=seen)
    truth, shares = (soft.on(tasks) for soft in (fit.soft, SoftLabels.from_vote_shares(seen)))
    assert log_loss(people.on(tasks), codes) < min(log_loss(truth, codes), log_loss(shares, codes)) - 0.3
