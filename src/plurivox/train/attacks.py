"""Attacks: how far the net's belief moves when every pixel may change a little.

Pixels go from 0 to 1 and the net normalises them itself, so that a budget of 4/255 means four steps of a byte.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import cross_entropy

from plurivox.core.errors import InputError, first_few
from plurivox.core.method import Method, option
from plurivox.core.soft_labels import SoftLabels
from plurivox.train.loop.dev_eval import refuse_strange_labels
from plurivox.train.result import Trained, probabilities


@dataclass(frozen=True)
class Attack(Method, ABC):
    """A way to change pixels so that the net's cross entropy grows."""

    @abstractmethod
    def change(self, net: nn.Module, x: Tensor, target: Tensor, rng: Generator) -> Tensor:
        """The images (n, ...) changed, still from 0 to 1; `target` (n, n_labels) is what they are pushed away from."""


@dataclass(frozen=True)
class FGSM(Attack):
    """One step along the sign of the gradient.

    x' = clip(x + epsilon sign(d loss(x) / dx), 0, 1)

    Goodfellow et al. (2015), https://arxiv.org/abs/1412.6572; epsilon 4 in Collins et al. (2022).
    """

    epsilon: float = option(4.0, "most that a pixel may change, in steps of 1/255", low=0, high=255)

    def change(self, net: nn.Module, x: Tensor, target: Tensor, rng: Generator) -> Tensor:
        del rng
        return (x + self.epsilon / 255 * _slope(net, x, target).sign()).clamp(0, 1)


@dataclass(frozen=True)
class PGD(Attack):
    """Many small steps along the sign of the gradient, each brought back into the ball around the image.

    x_0 = x, or drawn from the ball; x_(t+1) = clip(x_t + step sign(d loss(x_t) / dx), x - epsilon, x + epsilon), and from 0
    to 1.

    Madry et al. (2018), https://arxiv.org/abs/1706.06083; Peterson et al. (2019), https://doi.org/10.1109/ICCV.2019.00971,
    use epsilon 4 and 8 with steps of 1.
    """

    epsilon: float = option(4.0, "most that a pixel may change, in steps of 1/255", low=0, high=255)
    step: float = option(1.0, "length of a step, in steps of 1/255", low=0, high=255)
    steps: int = option(10, "number of steps", low=1)
    random_start: bool = option(True, "begin at a place in the ball that chance draws; no: at the image")

    def change(self, net: nn.Module, x: Tensor, target: Tensor, rng: Generator) -> Tensor:
        low, high = (x - self.epsilon / 255).clamp(min=0), (x + self.epsilon / 255).clamp(max=1)
        moved = x
        if self.random_start:
            moved = low + (high - low) * torch.rand(x.shape, generator=rng, device=x.device)
        for _ in range(self.steps):
            moved = moved + self.step / 255 * _slope(net, moved, target).sign()
            moved = moved.maximum(low).minimum(high)
        return moved


@dataclass(frozen=True, eq=False)
class Attacked:
    """The predictions of the net for the changed images, and what the change cost it."""

    soft: SoftLabels  # predictions on the changed images, for any measure
    loss: float  # mean cross entropy against the targets after the attack, in nats
    loss_before: float  # the same on the images as they were
    made_by: str


def attack(
    net: nn.Module | Trained, x: Tensor, target: SoftLabels, method: Attack, *, batch: int = 256, seed: int = 0
) -> Attacked:
    """Attack the net with every image. Row i of `x` is task i of `target`, whose rows are hard or soft.

    Images are bytes, or numbers from 0 to 1. The outputs of a `Trained` are matched with the labels of the target by name,
    those of a bare net by their order. The net is left as it was; it predicts as it would without the attack, with
    dropout off.
    """
    _check(x, target)
    if isinstance(net, Trained):
        refuse_strange_labels(target, net.labels, "targets")
        target = target.on_labels(net.labels)
        net = net.net
    place = next((one.device for one in net.parameters()), x.device)
    rng, was_training = Generator(place).manual_seed(seed), net.training
    predicted, losses = [], []
    net.eval()
    try:
        for rows, prob in target.rows(batch):
            pixels = x[rows].to(place)
            pixels = pixels if pixels.is_floating_point() else pixels.float() / 255
            wanted = torch.tensor(prob, dtype=pixels.dtype, device=place)
            changed = method.change(net, pixels, wanted, rng)
            with torch.no_grad():
                after, before = net(changed), net(pixels)
            losses.append(
                torch.stack([cross_entropy(one, wanted, reduction="sum").double() for one in (after, before)])
            )
            predicted.append(probabilities(after))
    finally:
        net.train(was_training)
    mean = torch.stack(losses).sum(0).cpu().numpy() / len(target)
    soft = SoftLabels.of(np.concatenate(predicted), target.tasks, target.labels)
    return Attacked(soft, float(mean[0]), float(mean[1]), method.spec)


def _slope(net: nn.Module, x: Tensor, target: Tensor) -> Tensor:
    """The gradient of the summed loss in the pixels; the weights get none."""
    x = x.detach().requires_grad_(True)
    with torch.enable_grad():
        loss = cross_entropy(net(x), target, reduction="sum")
        (slope,) = torch.autograd.grad(loss, x)
    return slope


def _check(x: Tensor, target: SoftLabels) -> None:
    if len(x) != len(target):
        raise InputError(f"there are {len(x)} images to attack, but targets of {len(target)} tasks")
    if not len(x):
        raise InputError("there are no images to attack")
    if x.is_floating_point():
        outside = (~((x >= 0) & (x <= 1))).flatten(1).any(1).nonzero().flatten().tolist()  # not a number is outside too
        if outside:
            raise InputError(
                f"attacks need pixels from 0 to 1; {len(outside)} images go beyond, such as "
                f"{first_few(target.tasks[outside])}: give plain pixels and let the net normalise them"
            )
