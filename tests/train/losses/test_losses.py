"""Losses against scipy."""

import numpy as np
import torch
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from plurivox.train import losses

rng = np.random.default_rng(3)
Q, P = rng.dirichlet(np.ones(4), 5), rng.dirichlet(np.ones(4), 5)
LOGITS, TARGET = torch.tensor(np.log(Q)), torch.tensor(P)


def test_losses_are_those_of_scipy() -> None:
    want = {
        "kl": entropy(P, Q, axis=1),
        "inverse-kl[base=2]": entropy(Q, P, base=2, axis=1),
        "jensen-shannon": jensenshannon(P, Q, axis=1) ** 2,
        "soft-cross-entropy": -(P * np.log(Q)).sum(1),
        "mse": ((P - Q) ** 2).mean(1),
    }
    for spec, values in want.items():
        np.testing.assert_allclose(losses.methods.make(spec)(LOGITS, TARGET).numpy(), values, atol=1e-12)
