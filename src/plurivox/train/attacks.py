"""Adversarial attacks: small changes of pixels that increase the loss of a net.

Pixels are from 0 to 1 and normalised inside the net, so that a budget of 4/255 is four steps of a byte.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn
from torch.nn.functional import cross_entropy

from plurivox.core.errors import InputError, first_few, unknown_name_error
from plurivox.core.method import Method, option, parse_spec
from plurivox.core.rows_by_task_name import select_rows_of_tasks
from plurivox.core.soft_labels import SoftLabels
from plurivox.train.loop.dev_evaluation_and_history import check_true_labels_known_to_net
from plurivox.train.trained_net import Trained, softmax_probabilities


@dataclass(frozen=True)
class Attack(Method, ABC):
    """A method that changes pixels to increase the net's cross-entropy; base class."""

    @abstractmethod
    def perturb(self, net: nn.Module, images: Tensor, loss_target: Tensor, rng: Generator) -> Tensor:
        """Return `images` (n, ...) with pixels changed to increase the net's loss against `loss_target` (n, n_labels)."""


@dataclass(frozen=True)
class FGSM(Attack):
    """Fast gradient sign method: one step along the sign of the gradient.

    x' = clip(x + epsilon sign(d loss(x) / dx), 0, 1)

    Goodfellow et al. (2015), https://arxiv.org/abs/1412.6572; epsilon 4 in Collins et al. (2022).
    """

    epsilon: float = option(4.0, "maximum change of a pixel, in units of 1/255", low=0, high=255)

    def perturb(self, net: nn.Module, images: Tensor, loss_target: Tensor, rng: Generator) -> Tensor:
        del rng
        return (images + self.epsilon / 255 * _loss_gradient_by_pixels(net, images, loss_target).sign()).clamp(0, 1)


@dataclass(frozen=True)
class PGD(Attack):
    """Projected gradient descent: steps along the sign of the gradient, projected into the ball around the image.

    x_0 = x, or drawn from the ball; x_(t+1) = clip(x_t + step sign(d loss(x_t) / dx), x - epsilon, x + epsilon), and from 0
    to 1.

    Madry et al. (2018), https://arxiv.org/abs/1706.06083; Peterson et al. (2019), https://doi.org/10.1109/ICCV.2019.00971,
    use epsilon 4 and 8 with steps of 1.
    """

    epsilon: float = option(4.0, "maximum change of a pixel, in units of 1/255", low=0, high=255)
    step: float = option(1.0, "length of a gradient step, in units of 1/255", low=0, high=255)
    steps: int = option(10, "number of gradient steps", low=1)
    random_start: bool = option(True, "start at a random point within epsilon of the image; no: at the image")

    def perturb(self, net: nn.Module, images: Tensor, loss_target: Tensor, rng: Generator) -> Tensor:
        low, high = (images - self.epsilon / 255).clamp(min=0), (images + self.epsilon / 255).clamp(max=1)
        moved = images
        if self.random_start:
            moved = low + (high - low) * torch.rand(images.shape, generator=rng, device=images.device)
        for _ in range(self.steps):
            moved = moved + self.step / 255 * _loss_gradient_by_pixels(net, moved, loss_target).sign()
            moved = moved.maximum(low).minimum(high)
        return moved


ATTACKS: dict[str, type[Attack]] = {one.name(): one for one in (FGSM, PGD)}


def attack_from_spec(spec: str) -> Attack:
    """Return the attack of a spec, its name with options in brackets.

    >>> attack_from_spec("pgd[epsilon=8,steps=20]")
    PGD(epsilon=8.0, step=1.0, steps=20, random_start=True)
    """
    name, given = parse_spec(spec)
    if name not in ATTACKS:
        raise unknown_name_error("attack", name, list(ATTACKS))
    return ATTACKS[name].from_options(given)


@dataclass(frozen=True, eq=False)
class AttackResult:
    """Predictions of a net for attacked images, and its loss before and after the attack."""

    soft: SoftLabels  # predictions for the changed images
    loss: float  # mean cross-entropy against the targets after the attack, in nats
    loss_before: float  # mean cross-entropy on the unchanged images
    made_by: str  # spec of the attack


def attack(
    net: nn.Module | Trained,
    x: Tensor | NDArray[Any],
    target: SoftLabels,
    method: Attack,
    *,
    tasks: Iterable[object] | None = None,
    batch: int = 256,
    seed: int = 0,
) -> AttackResult:
    """Change images x by an adversarial attack on a net; return its predictions for them, and its loss before and after.

    `tasks` are the names of the rows of `x`, in any order; they may be left out only if the tasks of the target are the numbers
    0, 1, 2, ... in order. Images are bytes, or floats from 0 to 1; targets are hard or soft. The outputs of a
    `Trained` are matched with the labels of the target by name, those of a plain module by order. The net is used in evaluation
    mode and not changed.
    """
    given = x if isinstance(x, Tensor) else torch.as_tensor(np.array(x))
    images: Tensor = select_rows_of_tasks(given, target.tasks, tasks, owner="targets", all_tasks=target.tasks)[0]
    _check_images_and_pixel_range(images, target)
    if isinstance(net, Trained):
        check_true_labels_known_to_net(target, net.labels, "targets")
        target = target.on_labels(net.labels)
        net = net.net
    device = next((one.device for one in net.parameters()), images.device)
    rng, was_training = Generator(device).manual_seed(seed), net.training
    predicted, losses = [], []
    net.eval()
    try:
        for rows, prob in target.rows(batch):
            pixels = images[rows].to(device)
            pixels = pixels if pixels.is_floating_point() else pixels.float() / 255
            truth = torch.tensor(prob, dtype=pixels.dtype, device=device)
            changed = method.perturb(net, pixels, truth, rng)
            with torch.no_grad():
                after, before = net(changed), net(pixels)
            losses.append(torch.stack([cross_entropy(one, truth, reduction="sum").double() for one in (after, before)]))
            predicted.append(softmax_probabilities(after))
    finally:
        net.train(was_training)
    mean = torch.stack(losses).sum(0).cpu().numpy() / len(target)
    soft = SoftLabels.of(np.concatenate(predicted), target.tasks, target.labels)
    return AttackResult(soft, float(mean[0]), float(mean[1]), method.spec)


def _loss_gradient_by_pixels(net: nn.Module, images: Tensor, target: Tensor) -> Tensor:
    """Return the gradient of the summed loss with respect to the pixels; the weights get no gradient."""
    images = images.detach().requires_grad_(True)
    with torch.enable_grad():
        loss = cross_entropy(net(images), target, reduction="sum")
        (gradient,) = torch.autograd.grad(loss, images)
    return gradient


def _check_images_and_pixel_range(x: Tensor, target: SoftLabels) -> None:
    """Raise InputError if there are no images, or float pixels outside 0 to 1."""
    if not len(x):
        raise InputError("there are no images to attack")
    if x.is_floating_point():
        outside = (~((x >= 0) & (x <= 1))).flatten(1).any(1).nonzero().flatten().tolist()  # NaN is outside too
        if outside:
            raise InputError(
                f"attacks need pixels from 0 to 1; {len(outside)} images have others, such as "
                f"{first_few(target.tasks[outside])}: give plain pixels and let the net normalise them"
            )
