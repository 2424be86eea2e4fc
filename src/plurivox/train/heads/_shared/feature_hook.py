"""Where a head gets at what a net knows before its last layer."""

from collections.abc import Callable
from functools import partial
from typing import Any, Self

from torch import Tensor, nn

from plurivox.core.errors import InputError


class Tap:
    """The features that enter the last layer of a net, as of its latest call, and what makes a layer like it.

    >>> import torch
    >>> net = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2))
    >>> tap, _ = Tap(net, 2), net(torch.ones(4, 3))
    >>> tuple(tap.take().shape), tap.make_head(2)
    ((4, 5), Linear(in_features=5, out_features=2, bias=True))
    """

    _features: Tensor | None = None  # (n, width)

    def __init__(self, net: nn.Module, n_labels: int) -> None:
        last, self.make_head = _last_layer(net, n_labels)
        last.register_forward_pre_hook(self._keep)

    @classmethod
    def before(cls, last: nn.Module) -> Self:
        """A tap on what enters this layer; it makes no other."""
        tap = cls.__new__(cls)
        last.register_forward_pre_hook(tap._keep)
        return tap

    def _keep(self, module: nn.Module, given: tuple[Any, ...]) -> None:
        del module
        self._features = given[0]

    def take(self) -> Tensor:
        """(n, width) the features; they are not kept, so that nothing holds the way back to the weights alive."""
        features, self._features = self._features, None
        assert features is not None, "the net was not called"
        return features


def _last_layer(net: nn.Module, n_labels: int) -> tuple[nn.Module, Callable[[int], nn.Module]]:
    """The layer that gives the logits, and what makes another: as the net says, or its last linear one."""
    head, make_head = getattr(net, "head", None), getattr(net, "make_head", None)
    if isinstance(head, nn.Module) and callable(make_head):
        return head, make_head
    last = [one for one in net.modules() if isinstance(one, nn.Linear) and one.out_features == n_labels]
    if not last:
        raise InputError(f"a second head needs a net that ends in a linear layer of {n_labels} outputs; this has none")
    return last[-1], partial(nn.Linear, last[-1].in_features)
