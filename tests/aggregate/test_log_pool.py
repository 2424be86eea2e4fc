"""log-pool: the flattened geometric mean of several methods, the default for truth."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import plurivox as pv
from crowds import crowd
from plurivox import aggregate, evaluate
from plurivox.aggregate import LogPool
from plurivox.core.errors import OptionError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes


def test_the_pool_is_the_flattened_geometric_mean_of_its_parts() -> None:
    votes = Votes.of(**crowd(), tasks=range(31))
    fit = LogPool(parts="wawa,dawid-skene,ibcc", weights="2,1,1", power=0.5, background=0.1).fit(votes)
    parts = [aggregate.methods.make(name).fit(votes).soft.prob for name in ("wawa", "dawid-skene", "ibcc")]
    log = sum(w * np.log(np.maximum(prob, 1e-30)) for w, prob in zip((0.25, 0.125, 0.125), parts, strict=True))
    expected = np.exp(log) / np.exp(log).sum(1, keepdims=True)
    counts = np.sort(votes.counts(), 1)
    background = 0.1 / (1 + (counts[:, -1:] - counts[:, -2:-1]) / 30)
    np.testing.assert_allclose(fit.soft.prob, (1 - background) * expected + background / 3)


def test_many_agreeing_votes_leave_little_background_and_no_overflow() -> None:
    votes = Votes.of(task=[0] * 3000 + [1] * 20, worker=[*range(3000), *range(20)], label=[0] * 3000 + [1] * 20)
    found = LogPool(background=0.2, lead=20).fit(votes).soft.confidence
    np.testing.assert_allclose(found, [1 - 0.1 / (1 + 150), 0.95], atol=1e-6)


def test_gold_labels_are_kept_and_workers_are_estimated() -> None:
    votes = Votes.of(**crowd())
    fit = LogPool().fit(votes, gold=SoftLabels.gold([3, 99], [2, 0], labels=range(3)))
    np.testing.assert_array_equal(fit.soft.prob[3], [0, 0, 1])
    assert fit.confusion is not None and fit.ability is not None and fit.made_by == "log-pool"
    assert callable(vars(fit)["ability_low"])  # intervals take long: they are computed when they are read


def test_votes_that_do_not_determine_confusion_matrices_are_read_without_them() -> None:
    """One vote per task, and one soft answer per task: the most probable label is the answer's own."""
    task, worker, label = np.arange(60), np.arange(60) % 6, np.random.default_rng(0).choice(3, 60, p=[0.6, 0.3, 0.1])
    votes = Votes.of(task, worker, label, labels=range(3))
    soft = Votes.of(
        *(np.repeat(column, 2) for column in (task, worker)),
        np.stack([label, (label + 1) % 3], 1).ravel(),
        labels=range(3),
        weight=np.tile([0.7, 0.3], 60),
        answer=np.repeat(task, 2),
    )
    for one in (votes, soft):
        fit = LogPool().fit(one)
        assert fit.found["parts left out"] == 1 and fit.confusion is None
        alone = LogPool(parts="wawa[ties=share,pool=1]", weights="1").fit(one).soft.prob
        np.testing.assert_allclose(fit.soft.prob, alone)
        np.testing.assert_array_equal(fit.soft.prob.argmax(1), label)
    gold = SoftLabels.gold(task[:30], label[:30], range(3))
    assert LogPool().fit(votes, gold=gold).confusion is not None
    assert LogPool().fit(votes, gold=SoftLabels.gold([0, 1], [0, 1], range(3))).confusion is None


def test_gold_labels_do_not_make_single_votes_more_certain() -> None:
    task, label = np.arange(60), np.random.default_rng(0).choice(2, 60)
    votes = Votes.of(task, task % 6, label)
    for gold in (None, SoftLabels.gold([0], label[:1], [0, 1]), SoftLabels.gold(task[:30], label[:30], [0, 1])):
        assert LogPool().fit(votes, gold=gold).soft.prob[30:].max() < 0.8


def test_the_order_of_the_labels_does_not_decide_ties() -> None:
    """Workers with one vote each: nothing tells whose label is right."""
    found = LogPool().fit(Votes.of(list("aabb"), [1, 2, 3, 4], list("xyxy"))).soft.prob
    np.testing.assert_allclose(found, 0.5)
    one, other = (
        LogPool().fit(Votes.of(list("aabbcc"), [1, 2, 3, 4, 5, 5], list(said))).soft.prob
        for said in ("xyxyxx", "zyzyzz")
    )
    np.testing.assert_allclose(one, other[:, ::-1], atol=1e-9)


def test_a_single_plain_vote_is_not_taken_for_nearly_certain() -> None:
    """Votes that no other vote of the task confirms or contradicts say nothing about how often workers err."""
    votes = Votes.of(task=[0, 1, 2, 2, 2], worker=[0, 1, 0, 1, 2], label=[0, 1, 1, 1, 1])
    np.testing.assert_allclose(LogPool(single=0.6).fit(votes).soft.confidence, [0.7, 0.7, 0.9])
    soft = Votes.of([0, 0, 1], [0, 0, 1], [0, 1, 1], weight=[0.9, 0.1, 1.0], answer=[0, 0, 1])
    assert LogPool().fit(soft).soft.prob[1].max() > 0.92  # a soft answer says how sure it is
    assert LogPool().fit(Votes.of([0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 1, 1])).soft.confidence.min() > 0.92


@pytest.mark.parametrize("weights", ["1,2,3", "-1,2", "0,0", "a,b"])
def test_invalid_weights_raise_clear_errors(weights: str) -> None:
    with pytest.raises(OptionError, match="weights"):
        LogPool(weights=weights)


@pytest.mark.parametrize(("name", "accuracy", "nll"), [("labelme", 0.785, 0.78), ("wsd", 0.99, 0.13)])
def test_real_data(data_set: Callable[[str], Path], name: str, accuracy: float, nll: float) -> None:
    data = pv.read(data_set(name))
    soft = pv.fit(data, "log-pool").soft
    assert evaluate.accuracy(soft, data.gold, ties="share") > accuracy
    assert evaluate.nll(soft, data.gold) < nll
