"""What every head promises, those not yet written included."""

import numpy as np
import pytest
import torch

from plurivox.train import Known, Plan, fit, heads
from taught import world

every = pytest.mark.parametrize("name", heads.methods)
PLAIN = {"votes": "all-votes", "pair": "pair[main=majority]", "distribution": "soft"}


@every
def test_it_says_what_it_is(name: str) -> None:
    made = heads.methods.make(name)
    assert made.name() == name and made.summary() == heads.methods.summary(name) != ""
    assert heads.methods.make(made.word) == made and all(one.help for one in made.options())


@every
def test_a_net_learns_under_it_and_predicts_without_it(name: str) -> None:
    torch.set_num_threads(1)
    x, gold, votes = world()
    known = Known(votes=votes, soft=gold)
    plan = Plan(epochs=30, batch=16, lr=0.02, seed=1)
    twice = [
        fit(x, PLAIN[heads.methods[name].wants], tasks=gold.tasks, known=known, head=name, plan=plan) for _ in range(2)
    ]
    trained = twice[0]
    assert trained.history["loss"][-1] < trained.history["loss"][0]
    assert (trained.predict(x, gold.tasks).hard() == gold.hard()).mean() > 0.8
    np.testing.assert_array_equal(trained.logits(x), twice[1].logits(x))
    if trained.fit is not None:
        assert trained.fit.workers.tolist() == votes.workers.tolist()
        assert trained.fit.soft.tasks.tolist() == gold.tasks.tolist()
