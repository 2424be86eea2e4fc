"""StackedNet: the dense nets of several runs as one net; block i of the input rows goes through the layers of run i."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Generator, Tensor, nn

from plurivox.engine import parallel_task_blocks
from plurivox.train.nets._shared.trunk_head import ACTIVATIONS, FlattenToFloat, TrunkHeadNet

# layers without weights or randomness: the rows of all runs go through the same one
SHARED_LAYERS: tuple[type[nn.Module], ...] = (
    FlattenToFloat,
    *ACTIVATIONS.values(),
)
THREADED_CELLS = 2**12  # dropout masks with more numbers per run are drawn on several threads


class StackedLinear(nn.Module):
    """The linear layers of several runs as one; the weights of each given layer become a slice of the stacked weights.

    >>> one, two = nn.Linear(3, 2), nn.Linear(3, 2)
    >>> x, both = torch.ones(8, 3), StackedLinear([one, two])
    >>> torch.allclose(both(x), torch.cat([one(x[:4]), two(x[4:])]))
    True
    >>> _ = one.weight.data.zero_()
    >>> both.weight[0].abs().sum().item()
    0.0
    """

    def __init__(self, layers: Sequence[nn.Linear]) -> None:
        super().__init__()
        self.weight = _stack_parameters_sharing_memory([one.weight for one in layers])  # (n_runs, n_out, n_in)
        self.bias = _stack_parameters_sharing_memory([one.bias for one in layers])  # (n_runs, n_out)

    def forward(self, layer_inputs_of_all_runs: Tensor) -> Tensor:
        """(n_runs * n, n_out) the outputs for rows of inputs (n_runs * n, n_in), run after run."""
        out: Tensor = _StackedLinearFunction.apply(layer_inputs_of_all_runs, self.weight, self.bias)
        return out


class _StackedLinearFunction(torch.autograd.Function):
    """Autograd function of `StackedLinear`; unlike autograd's own, gradients have the memory layout of the weights."""

    @staticmethod
    def forward(ctx: Any, inputs_of_all_runs: Tensor, weight_per_run: Tensor, bias_per_run: Tensor) -> Tensor:
        ctx.save_for_backward(inputs_of_all_runs, weight_per_run)
        rows = inputs_of_all_runs.view(len(weight_per_run), -1, inputs_of_all_runs.shape[1])  # (n_runs, n, n_in)
        return torch.baddbmm(bias_per_run[:, None], rows, weight_per_run.transpose(1, 2)).flatten(0, 1)

    @staticmethod
    def backward(ctx: Any, output_grad_of_all_runs: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        x, weight = ctx.saved_tensors
        rows, by = (
            x.view(len(weight), -1, x.shape[1]),
            output_grad_of_all_runs.reshape(len(weight), -1, output_grad_of_all_runs.shape[1]),
        )
        back = torch.bmm(by, weight).flatten(0, 1) if ctx.needs_input_grad[0] else None
        return back, torch.bmm(by.transpose(1, 2), rows), by.sum(1)


class StackedDropout(nn.Module):
    """Dropout of several runs; masks are drawn from the generator of each run as `nn.Dropout` would draw them."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.generators: Sequence[Generator] = ()  # one per run

    def forward(self, values_to_drop_out: Tensor) -> Tensor:
        """(n_runs * n, width) the values after dropout, with a mask per run."""
        mask = torch.empty_like(values_to_drop_out)
        masks = mask.chunk(len(self.generators))

        def fill_dropout_mask_of_run(run: int) -> None:
            masks[run].bernoulli_(1 - self.rate, generator=self.generators[run])

        if torch.get_num_threads() > 1 and masks[0].numel() > THREADED_CELLS:
            parallel_task_blocks.parallel_map(fill_dropout_mask_of_run, len(masks))  # torch draws on one thread only
        else:
            for run in range(len(masks)):
                fill_dropout_mask_of_run(run)
        return values_to_drop_out * mask.div_(1 - self.rate)


class StackedNet(nn.Module):
    """The dense nets of several runs as one, in training mode; the weights of each given net become slices of its own."""

    def __init__(self, nets: Sequence[nn.Module]) -> None:
        super().__init__()
        *trunk, head = (
            _stack_same_layer_of_all_runs(layers)
            for layers in zip(*map(list_dense_net_layers_or_raise, nets), strict=True)
        )
        self.trunk, self.head = nn.Sequential(*trunk), head

    def forward(self, inputs_of_all_runs: Tensor) -> Tensor:
        """(n_runs * n, n_labels) the logits for inputs (n_runs * n, ...), run after run."""
        logits: Tensor = self.head(self.trunk(inputs_of_all_runs))
        return logits

    def set_dropout_generator_per_run(self, generators: Sequence[Generator]) -> None:
        """Set the random generators of the dropout layers, one per run."""
        for one in self.trunk:
            if isinstance(one, StackedDropout):
                one.generators = generators


def list_dense_net_layers_or_raise(net: nn.Module) -> list[nn.Module]:
    """Return the layers of a dense net in order: those of its trunk, then the head."""
    assert type(net) is TrunkHeadNet and not net.freeze, "only dense nets are stacked"
    trunk = list(net.trunk) if isinstance(net.trunk, nn.Sequential) else [net.trunk]
    return [*trunk, net.head]


def _stack_same_layer_of_all_runs(layer_per_run: Sequence[nn.Module]) -> nn.Module:
    """Return one stacked layer for the corresponding layers of all runs."""
    first = layer_per_run[0]
    if isinstance(first, nn.Linear):
        return StackedLinear([one for one in layer_per_run if isinstance(one, nn.Linear)])
    if isinstance(first, nn.Dropout):
        return StackedDropout(first.p)
    assert isinstance(first, SHARED_LAYERS), f"{type(first).__name__} cannot be stacked"
    return first


def _stack_parameters_sharing_memory(parameter_per_run: Sequence[Tensor]) -> nn.Parameter:
    """Return a new parameter with the given tensors stacked along the first axis; their data become slices of it, in place."""
    stacked = nn.Parameter(torch.stack([one.detach() for one in parameter_per_run]))
    for i, one in enumerate(parameter_per_run):
        one.data = stacked.data[i]
    return stacked
