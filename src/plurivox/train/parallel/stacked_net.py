"""Nets of dense layers, one a run, as one net: block i of the rows goes through the layers of run i."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Generator, Tensor, nn

from plurivox.engine import threads
from plurivox.train.nets._shared.trunk_head import ACTIVATIONS, Headed, Numbers

PLAIN: tuple[type[nn.Module], ...] = (
    Numbers,
    *ACTIVATIONS.values(),
)  # layers without weights or randomness: they take the rows of all runs alike
LONG = 2**12  # numbers a run above which masks are drawn on several threads


class Linears(nn.Module):
    """The same linear layer of several runs. Their weights lie here in one piece, and each run's own are a slice of it.

    >>> one, two = nn.Linear(3, 2), nn.Linear(3, 2)
    >>> x, both = torch.ones(8, 3), Linears([one, two])
    >>> torch.allclose(both(x), torch.cat([one(x[:4]), two(x[4:])]))
    True
    >>> _ = one.weight.data.zero_()
    >>> both.weight[0].abs().sum().item()
    0.0
    """

    def __init__(self, layers: Sequence[nn.Linear]) -> None:
        super().__init__()
        self.weight = _joined([one.weight for one in layers])  # (n_runs, n_out, n_in)
        self.bias = _joined([one.bias for one in layers])  # (n_runs, n_out)

    def forward(self, x: Tensor) -> Tensor:
        """(n_runs * n, n_out) for rows (n_runs * n, n_in)."""
        passed: Tensor = _Pass.apply(x, self.weight, self.bias)
        return passed


class _Pass(torch.autograd.Function):
    """What autograd would do, but gradients come out in the order in which the weights lie, so that none is copied."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        rows = x.view(len(weight), -1, x.shape[1])  # (n_runs, n, n_in)
        return torch.baddbmm(bias[:, None], rows, weight.transpose(1, 2)).flatten(0, 1)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        x, weight = ctx.saved_tensors
        rows, by = x.view(len(weight), -1, x.shape[1]), grad.reshape(len(weight), -1, grad.shape[1])
        back = torch.bmm(by, weight).flatten(0, 1) if ctx.needs_input_grad[0] else None
        return back, torch.bmm(by.transpose(1, 2), rows), by.sum(1)


class Dropouts(nn.Module):
    """Dropout whose masks are drawn from the generator of each run, as `nn.Dropout` draws them from torch's own."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        self.generators: Sequence[Generator] = ()  # one per run

    def forward(self, x: Tensor) -> Tensor:
        """The same shape, (n_runs * n, width)."""
        mask = torch.empty_like(x)
        parts = mask.chunk(len(self.generators))

        def draw(run: int) -> None:
            parts[run].bernoulli_(1 - self.share, generator=self.generators[run])

        if torch.get_num_threads() > 1 and parts[0].numel() > LONG:
            threads.parallel_map(draw, len(parts))  # torch draws on one thread only
        else:
            for run in range(len(parts)):
                draw(run)
        return x * mask.div_(1 - self.share)


class Stacked(nn.Module):
    """The nets of several runs as one, in training mode only; every run's net keeps its weights as slices of this one's."""

    def __init__(self, nets: Sequence[nn.Module]) -> None:
        super().__init__()
        *trunk, head = (_stacked(layers) for layers in zip(*map(layers_of, nets), strict=True))
        self.trunk, self.head = nn.Sequential(*trunk), head

    def forward(self, x: Tensor) -> Tensor:
        """(n_runs * n, n_labels) logits."""
        logits: Tensor = self.head(self.trunk(x))
        return logits

    def use_generators(self, generators: Sequence[Generator]) -> None:
        """Draw from these generators from now on, one per run."""
        for one in self.trunk:
            if isinstance(one, Dropouts):
                one.generators = generators


def layers_of(net: nn.Module) -> list[nn.Module]:
    """The layers of a dense net in their order; an error of ours where it is another."""
    assert type(net) is Headed and not net.freeze, "only nets that say they are dense are stacked"
    trunk = list(net.trunk) if isinstance(net.trunk, nn.Sequential) else [net.trunk]
    return [*trunk, net.head]


def _stacked(layers: Sequence[nn.Module]) -> nn.Module:
    """The layer that stands for these, one a run."""
    first = layers[0]
    if isinstance(first, nn.Linear):
        return Linears([one for one in layers if isinstance(one, nn.Linear)])
    if isinstance(first, nn.Dropout):
        return Dropouts(first.p)
    assert isinstance(first, PLAIN), f"{type(first).__name__} cannot be stacked"
    return first


def _joined(held: Sequence[Tensor]) -> nn.Parameter:
    """One parameter of all; those that were given become its slices."""
    whole = nn.Parameter(torch.stack([one.detach() for one in held]))
    for i, one in enumerate(held):
        one.data = whole.data[i]
    return whole
