"""Head `crowd-layer`: a layer per worker that maps the net's output to the worker's votes."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn

from plurivox.core.method import option
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.engine.kernels import crowd_layer
from plurivox.train.heads._contract import Batch, Head, HeadContext, HeadModule
from plurivox.train.heads._shared.vote_cross_entropy_and_fit_result import (
    ON_HELP,
    flat_identity_matrices,
    get_padded_votes_or_raise,
    get_votes_with_workers_or_raise,
    make_fit_from_confusion_logits,
    one_hot_or_mean_logits_per_label,
    summed_vote_cross_entropy_per_task,
)
from plurivox.train.loop.worker_parameter_table import WorkerTable
from plurivox.train.targets._contract import PaddedVotes

Variant = Literal["MW", "VW", "VB", "VW+B", "SW"]
KERNEL_KINDS: dict[Variant, int] = {
    "MW": crowd_layer.FULL,
    "VW": crowd_layer.SCALE,
    "VB": crowd_layer.SHIFT,
    "VW+B": crowd_layer.SCALE_SHIFT,
    "SW": crowd_layer.ONE_SCALE,
}


@dataclass(frozen=True)
class CrowdLayer(Head):
    """A layer per worker on top of the net, trained with it on the votes themselves.

    The label that worker j gives to a task with the net's output f has the distribution softmax(f W_j) for MW, a full matrix;
    softmax(v_j * f) for VW, a weight per label; softmax(f + b_j) for VB, a bias per label; both for VW+B; softmax(s_j f) for
    SW, one weight. All start as the identity and are unconstrained: the matrices are not probabilities. The loss of a task is
    the summed cross-entropy of its votes, divided by the mean number of votes per task. A step updates only the workers in
    its batch. The layer is removed for prediction. In the fit, row k of a worker's matrix is the layer's output if the net is
    certain of k (on logits: for the net's mean logits of k), which sums to one.

    Rodrigues & Pereira (2018), https://doi.org/10.1609/aaai.v32i1.11506
    """

    can_stack: ClassVar[bool] = True

    variant: Variant = option(
        "MW",
        "parameters of a worker's layer: MW a matrix, VW a weight per label, VB a bias per label, VW+B both, SW one weight",
    )
    on: Literal["probabilities", "logits"] = option("probabilities", ON_HELP)

    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        del net
        return _CrowdLayerModule(self, context)


class _CrowdLayerModule(HeadModule):
    """Torch module of the head `crowd-layer`."""

    def __init__(self, head: CrowdLayer, context: HeadContext, rows: WorkerTable | None = None) -> None:
        super().__init__()
        votes = get_votes_with_workers_or_raise(context, head.name())
        self.head, self.context, self.kind = head, context, KERNEL_KINDS[head.variant]
        self.applies_softmax, self.share = head.on == "probabilities", votes.n_tasks / float(votes.weights.sum())
        self.rows = rows or WorkerTable(
            _initial_identity_layer_parameters(self.kind, context.n_workers, context.n_labels)
        )

    def forward(self, logits: Tensor, labelled_batch: Batch) -> Tensor:
        if logits.device.type != "cpu":
            return self.losses_by_torch(logits, get_padded_votes_or_raise(labelled_batch))
        each: Tensor = _CrowdLayerLoss.apply(logits, get_padded_votes_or_raise(labelled_batch), self)
        return each

    def losses_by_torch(self, logits: Tensor, votes: PaddedVotes) -> Tensor:
        """(n,) the loss of each task computed with torch operations, on any device."""
        output = logits.softmax(1) if self.applies_softmax else logits
        vote_logits = _vote_logits(
            self.kind, output[:, None], self.rows.take_rows_ignoring_padding_gradient(votes.worker, votes.weight)
        )
        return summed_vote_cross_entropy_per_task(vote_logits, votes) * self.share

    def stacking_compatibility_key(self) -> Hashable:
        return self.head, self.share, self.rows.table.shape

    def stack_heads(self, heads_of_runs: Sequence["_CrowdLayerModule"], stacked_net: nn.Module) -> HeadModule:
        del stacked_net
        return _StackedCrowdLayers(
            self.head, self.context, WorkerTable.concat_tables_sharing_memory([one.rows for one in heads_of_runs])
        )

    def make_fit_with_worker_estimates(self, predictions: SoftLabels, x: Tensor, logits: Tensor) -> Fit:
        del x
        output = one_hot_or_mean_logits_per_label(self.head.on, predictions, logits)
        # (n_workers, true label, given label)
        vote_logits = _vote_logits(self.kind, output[None], self.rows.table[:, None])
        return make_fit_from_confusion_logits(self.head.spec, predictions, self.context, vote_logits)


class _StackedCrowdLayers(_CrowdLayerModule):
    """The crowd layers of several stacked runs; every run has its own rows for the workers."""

    def forward(self, logits: Tensor, labelled_batch: Batch) -> Tensor:
        votes, n_workers = get_padded_votes_or_raise(labelled_batch), self.context.n_workers
        n_runs = len(self.rows.table) // n_workers
        run = torch.arange(n_runs).repeat_interleave(len(logits) // n_runs)  # (n,)
        shifted = PaddedVotes(votes.worker + n_workers * run[:, None], votes.label, votes.weight)
        return super().forward(logits, Batch(labelled_batch.x, labelled_batch.rows, shifted))


def _initial_identity_layer_parameters(layer_kind: int, n_workers: int, n_labels: int) -> Tensor:
    """(n_workers, width) the initial layer parameters of each worker, with which the layer returns its input."""
    if layer_kind == crowd_layer.FULL:
        return flat_identity_matrices(n_workers, n_labels)
    rows = torch.ones(n_workers, crowd_layer.ROW_SIZES[layer_kind](n_labels))
    rows[:, n_labels if layer_kind == crowd_layer.SCALE_SHIFT else 0 :] *= layer_kind not in (
        crowd_layer.SHIFT,
        crowd_layer.SCALE_SHIFT,
    )
    return rows


def _vote_logits(layer_kind: int, net_output: Tensor, layer_parameters: Tensor) -> Tensor:
    """(..., n_labels) the logits of votes, from net outputs (..., n_labels) and layer parameters (..., width)."""
    k = net_output.shape[-1]
    if layer_kind == crowd_layer.FULL:
        return (net_output[..., None, :] @ layer_parameters.unflatten(-1, (k, k)))[..., 0, :]
    if layer_kind == crowd_layer.SHIFT:
        return net_output + layer_parameters
    return net_output * layer_parameters[..., :k] + (
        layer_parameters[..., k:] if layer_kind == crowd_layer.SCALE_SHIFT else 0
    )


class _CrowdLayerLoss(torch.autograd.Function):
    """The loss of each task and its gradients by compiled kernels on the CPU, one pass over the votes each."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, votes: PaddedVotes, layer: _CrowdLayerModule) -> Tensor:
        worker, label, weight = votes.worker.numpy(), votes.label.numpy(), votes.weight.numpy()
        output, each = torch.empty_like(logits), logits.new_empty(len(logits))
        excess = np.empty((*worker.shape, logits.shape[1]), np.float32)  # gradient of the loss in the vote logits
        given, rows, result = (
            logits.detach().contiguous().numpy(),
            layer.rows.as_memory_sharing_numpy_arrays().table,
            output.numpy(),
        )
        ctx.layer, ctx.saved = layer, (result, worker, weight, rows, excess)
        arrays = (given, worker, label, weight, rows, result, each.numpy(), excess)
        crowd_layer.crowd_layer_forward(layer.kind, layer.applies_softmax, layer.share, *arrays)
        return each

    @staticmethod
    def backward(ctx: Any, loss_gradients: Tensor) -> tuple[Tensor, None, None]:
        layer, back, rows = ctx.layer, torch.empty(ctx.saved[0].shape), ctx.layer.rows.as_memory_sharing_numpy_arrays()
        arrays = (loss_gradients.contiguous().numpy(), *ctx.saved, back.numpy(), rows.grad, rows.touched)
        crowd_layer.crowd_layer_backward(layer.kind, layer.applies_softmax, *arrays)
        return back, None, None
