"""Contract tests that every loss in the registry must pass, including any added later."""

import numpy as np
import pytest
import torch

from plurivox.train import losses

pytestmark = pytest.mark.training
every = pytest.mark.parametrize("name", losses.methods)


def random_batch(n: int = 4, k: int = 3, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    return torch.tensor(rng.normal(size=(n, k))), torch.tensor(rng.dirichlet(np.ones(k), n))


@every
def test_name_summary_and_spec(name: str) -> None:
    made = losses.methods.make(name)
    assert made.name() == name and made.summary() == losses.methods.summary(name) != ""
    assert losses.methods.make(made.spec) == made and all(one.help for one in made.options())


@every
def test_one_number_per_example_independent_of_the_others(name: str) -> None:
    loss, (logits, target) = losses.methods.make(name), random_batch()
    whole = loss(logits, target)
    assert whole.shape == (4,) and (whole >= -1e-12).all()
    torch.testing.assert_close(whole[1:2], loss(logits[1:2], target[1:2]))


@every
def test_the_gradient_is_right(name: str) -> None:
    logits, target = random_batch()
    assert torch.autograd.gradcheck(lambda z: losses.methods.make(name)(z, target), (logits.requires_grad_(),))


@every
def test_zeros_and_extreme_logits_stay_finite(name: str) -> None:
    target = torch.tensor([[1.0, 0, 0], [0, 0.5, 0.5], [0, 1, 0]])
    logits = torch.tensor([[80.0, -80, 0], [-80, 80, 80], [500, -500, 0]], requires_grad=True)
    loss = losses.methods.make(name)(logits, target)
    loss.sum().backward()
    assert loss.isfinite().all() and logits.grad is not None and logits.grad.isfinite().all()


@every
def test_it_is_least_at_the_target(name: str) -> None:
    loss, (logits, target) = losses.methods.make(name), random_batch()
    assert (loss(target.log(), target) <= loss(logits, target) + 1e-9).all()


@every
def test_the_base_only_scales_the_loss(name: str) -> None:
    if "base" not in {one.name for one in losses.methods[name].options()}:
        pytest.skip(f"{name} has no logarithm")
    logits, target = random_batch()
    torch.testing.assert_close(
        losses.methods.make(name, base=2.0)(logits, target), losses.methods.make(name)(logits, target) / np.log(2)
    )
