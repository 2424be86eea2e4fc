"""Where a head gets at what a net knows before its last layer."""

from typing import Any

from torch import Tensor, nn

from plurivox.core.errors import InputError


class Tap:
    """The features that enter the last layer of a net, as of its latest call.

    >>> import torch
    >>> net = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2))
    >>> tap, _ = Tap(net, 2), net(torch.ones(4, 3))
    >>> tap.width, tuple(tap.features.shape)
    (5, (4, 5))
    """

    def __init__(self, net: nn.Module, n_labels: int) -> None:
        last = [one for one in net.modules() if isinstance(one, nn.Linear) and one.out_features == n_labels]
        if not last:
            raise InputError(
                f"a second head needs a net that ends in a linear layer with {n_labels} outputs; this one has none"
            )
        self.width = last[-1].in_features
        self.features: Tensor
        last[-1].register_forward_pre_hook(self._keep)

    def _keep(self, module: nn.Module, given: tuple[Any, ...]) -> None:
        del module
        self.features = given[0]
