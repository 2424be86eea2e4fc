"""Attacks: the step against a computation by hand, the ball, and the result."""

import numpy as np
import pytest
import torch
from torch import nn

from plurivox import evaluate
from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.train.attacks import FGSM, PGD, attack
from plurivox.train.nets._shared.pixel_normalisation import NormalisePixels
from plurivox.train.trained_net import Trained

N, K = 20, 3


@pytest.fixture
def net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(NormalisePixels("half"), nn.Flatten(), nn.Linear(12, K))


@pytest.fixture
def x() -> torch.Tensor:
    return torch.rand(N, 3, 2, 2, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def soft() -> SoftLabels:
    return SoftLabels.of(np.random.default_rng(1).dirichlet(np.ones(K), N), range(N), "abc")


def test_fgsm_is_the_sign_of_the_gradient_worked_out_by_hand(net: nn.Module, x: torch.Tensor, soft: SoftLabels) -> None:
    target = torch.tensor(soft.prob, dtype=torch.float32)
    weights = net[2].weight.detach()  # logits = W (2 x - 1) + b, so d loss / dx = 2 (q - p) W
    gradient = 2 * (net(x).softmax(1) - target).detach() @ weights
    expected = (x + 4 / 255 * gradient.sign().view_as(x)).clamp(0, 1)
    changed = FGSM().perturb(net, x, target, torch.Generator())
    torch.testing.assert_close(changed, expected)
    assert net[2].weight.grad is None


@pytest.mark.parametrize("method", [FGSM(), FGSM(epsilon=8), PGD(), PGD(epsilon=8), PGD(random_start=False, steps=3)])
def test_pixels_stay_in_the_ball_and_the_loss_grows(
    method: FGSM | PGD, net: nn.Module, x: torch.Tensor, soft: SoftLabels
) -> None:
    changed = method.perturb(net, x, torch.tensor(soft.prob, dtype=torch.float32), torch.Generator().manual_seed(0))
    assert (changed - x).abs().max() <= method.epsilon / 255 + 1e-6 and changed.min() >= 0 and changed.max() <= 1
    done = attack(net, x, soft, method)
    assert done.loss > done.loss_before and done.made_by == method.spec


def test_pgd_in_one_step_from_the_image_is_fgsm(net: nn.Module, x: torch.Tensor, soft: SoftLabels) -> None:
    one = attack(net, x, soft, PGD(epsilon=4, step=4, steps=1, random_start=False))
    assert one.loss == pytest.approx(attack(net, x, soft, FGSM()).loss)


def test_the_loss_is_that_of_the_returned_predictions(net: nn.Module, x: torch.Tensor, soft: SoftLabels) -> None:
    done = attack(net, x, soft, FGSM(), batch=7)
    assert done.soft.tasks.tolist() == soft.tasks.tolist()
    assert evaluate.cross_entropy(done.soft, soft) == pytest.approx(done.loss, rel=1e-5)
    untouched = attack(net, x, soft, FGSM(epsilon=0))
    assert untouched.loss == untouched.loss_before == pytest.approx(done.loss_before)


def test_hard_targets_and_bytes(net: nn.Module, x: torch.Tensor) -> None:
    hard = SoftLabels.one_hot(np.arange(N) % K, range(N), "abc")
    pixels = (x * 255).round().byte()
    assert attack(net, pixels, hard, FGSM()).loss == pytest.approx(attack(net, pixels / 255, hard, FGSM()).loss)


def test_the_same_seed_gives_the_same_attack_and_the_mode_of_the_net_is_restored(
    net: nn.Module, x: torch.Tensor, soft: SoftLabels
) -> None:
    noisy = nn.Sequential(net, nn.Dropout(0.5)).train()
    losses = [attack(noisy, x, soft, PGD(steps=1), seed=seed).loss for seed in (1, 1, 2)]
    assert losses[0] == losses[1] != losses[2] and noisy.training


def test_wrong_images_raise_errors(net: nn.Module, x: torch.Tensor, soft: SoftLabels) -> None:
    with pytest.raises(InputError, match="x has 2 rows without names for 20 tasks of the targets"):
        attack(net, x[:2], soft, FGSM())
    x[3, 0, 0, 0], x[5, 0, 0, 0] = 1.5, float("nan")
    with pytest.raises(InputError, match="2 images have others, such as 3, 5"):
        attack(net, x, soft, FGSM())


def test_labels_of_a_trained_net_are_matched_by_name(net: nn.Module, x: torch.Tensor, soft: SoftLabels) -> None:
    trained = Trained(net, soft.labels, {}, {}, 0)
    turned = SoftLabels.of(soft.prob[:, ::-1], soft.tasks, soft.labels[::-1])
    assert attack(trained, x, turned, FGSM()).loss == pytest.approx(attack(net, x, soft, FGSM()).loss)
    with pytest.raises(InputError, match="labels"):
        attack(trained, x, SoftLabels.of(soft.prob, soft.tasks, "abz"), FGSM())


def test_images_are_matched_with_the_tasks_of_the_target_by_name(
    net: nn.Module, x: torch.Tensor, soft: SoftLabels
) -> None:
    named = SoftLabels.of(soft.prob, [f"t{i:02}" for i in range(N)], soft.labels)
    turned = attack(net, x.flip(0), named, FGSM(), tasks=named.tasks[::-1])
    np.testing.assert_array_equal(turned.soft.prob, attack(net, x, soft, FGSM()).soft.prob)
    with pytest.raises(InputError, match="the order of the rows of x cannot be known"):
        attack(net, x, named, FGSM())
