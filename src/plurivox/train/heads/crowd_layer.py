"""A layer on the net for every worker, which turns what is so into what the worker says."""

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
from plurivox.train.heads._shared.worker_votes import (
    ON_HELP,
    cross_entropy,
    fit_of,
    identity,
    said_in,
    typical_output,
    votes_of,
)
from plurivox.train.loop.worker_table import WorkerTable
from plurivox.train.targets._contract import PaddedVotes

Variant = Literal["MW", "VW", "VB", "VW+B", "SW"]
KINDS: dict[Variant, int] = {
    "MW": crowd_layer.FULL,
    "VW": crowd_layer.SCALE,
    "VB": crowd_layer.SHIFT,
    "VW+B": crowd_layer.SCALE_SHIFT,
    "SW": crowd_layer.ONE_SCALE,
}


@dataclass(frozen=True)
class CrowdLayer(Head):
    """A layer for every worker on top of the net, trained with it on the votes themselves.

    What worker j says of a task with the output f is softmax(f W_j) for MW, a whole matrix; softmax(v_j * f) for VW, a
    weight a label; softmax(f + b_j) for VB, a shift a label; both for VW+B; softmax(s_j f) for SW, one weight. All begin by
    changing nothing, and nothing holds them: the matrices are no probabilities. The loss of a task is the cross-entropy of
    its votes added up, over the mean number of votes of a task. Only workers in the batch learn in a step. The layer is
    dropped to predict. In the fit, row k of a worker's matrix is what the layer says where the net is certain of k (on
    logits: where they are the net's mean ones for k), which sums to one.

    Rodrigues & Pereira (2018), https://doi.org/10.1609/aaai.v32i1.11506
    """

    stacks: ClassVar[bool] = True

    variant: Variant = option("MW", "what a worker has: MW a matrix, VW weights, VB shifts, VW+B both, SW one weight")
    on: Literal["probabilities", "logits"] = option("probabilities", ON_HELP)

    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        del net
        return _Layer(self, context)


class _Layer(HeadModule):
    def __init__(self, head: CrowdLayer, context: HeadContext, rows: WorkerTable | None = None) -> None:
        super().__init__()
        votes = votes_of(context, head.name())
        self.head, self.context, self.kind = head, context, KINDS[head.variant]
        self.applies_softmax, self.share = head.on == "probabilities", votes.n_tasks / float(votes.weights.sum())
        self.rows = rows or WorkerTable(_start(self.kind, context.n_workers, context.n_labels))

    def forward(self, logits: Tensor, batch: Batch) -> Tensor:
        if logits.device.type != "cpu":
            return self.by_torch(logits, said_in(batch))
        each: Tensor = _Say.apply(logits, said_in(batch), self)
        return each

    def by_torch(self, logits: Tensor, said: PaddedVotes) -> Tensor:
        """(n,) the loss of each task in torch's own words, for any device."""
        output = logits.softmax(1) if self.applies_softmax else logits
        score = _score(self.kind, output[:, None], self.rows.take(said.worker, said.weight))
        return cross_entropy(score, said) * self.share

    def stack_key(self) -> Hashable:
        return self.head, self.share, self.rows.table.shape

    def stacked(self, heads: Sequence["_Layer"], net: nn.Module) -> HeadModule:
        del net
        return _Layers(self.head, self.context, WorkerTable.stacked([one.rows for one in heads]))

    def fit_result(self, soft: SoftLabels, x: Tensor, logits: Tensor) -> Fit:
        del x
        output = typical_output(self.head.on, soft, logits)
        score = _score(self.kind, output[None], self.rows.table[:, None])  # (n_workers, true, said)
        return fit_of(self.head.spec, soft, self.context, score)


class _Layers(_Layer):
    """The layers of several runs: a worker is somebody else in every run."""

    def forward(self, logits: Tensor, batch: Batch) -> Tensor:
        said, n_workers = said_in(batch), self.context.n_workers
        n_runs = len(self.rows.table) // n_workers
        run = torch.arange(n_runs).repeat_interleave(len(logits) // n_runs)  # (n,)
        mine = PaddedVotes(said.worker + n_workers * run[:, None], said.label, said.weight)
        return super().forward(logits, Batch(batch.x, batch.rows, mine))


def _start(kind: int, n_workers: int, n_labels: int) -> Tensor:
    """(n_workers, width) rows that change nothing."""
    if kind == crowd_layer.FULL:
        return identity(n_workers, n_labels)
    rows = torch.ones(n_workers, crowd_layer.ROW_SIZES[kind](n_labels))
    rows[:, n_labels if kind == crowd_layer.SCALE_SHIFT else 0 :] *= kind not in (
        crowd_layer.SHIFT,
        crowd_layer.SCALE_SHIFT,
    )
    return rows


def _score(kind: int, output: Tensor, rows: Tensor) -> Tensor:
    """(..., n_labels) what rows (..., width) make of outputs (..., n_labels), before the softmax."""
    k = output.shape[-1]
    if kind == crowd_layer.FULL:
        return (output[..., None, :] @ rows.unflatten(-1, (k, k)))[..., 0, :]
    if kind == crowd_layer.SHIFT:
        return output + rows
    return output * rows[..., :k] + (rows[..., k:] if kind == crowd_layer.SCALE_SHIFT else 0)


class _Say(torch.autograd.Function):
    """The loss of each task by one pass over its votes, and its gradients by another: on a CPU many small steps cost."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, said: PaddedVotes, layer: _Layer) -> Tensor:
        told = said.worker.numpy(), said.label.numpy(), said.weight.numpy()
        output, each = torch.empty_like(logits), logits.new_empty(len(logits))
        excess = np.empty((*told[0].shape, logits.shape[1]), np.float32)
        ctx.layer, ctx.told = layer, (output.numpy(), told[0], told[2], layer.rows.here().table, excess)
        given = logits.detach().contiguous().numpy()
        crowd_layer.forward(
            layer.kind, layer.applies_softmax, layer.share, given, *told, ctx.told[3], ctx.told[0], each.numpy(), excess
        )
        return each

    @staticmethod
    def backward(ctx: Any, by: Tensor) -> tuple[Tensor, None, None]:
        layer, back, rows = ctx.layer, torch.empty(ctx.told[0].shape), ctx.layer.rows.here()
        told = (by.contiguous().numpy(), *ctx.told, back.numpy(), rows.grad, rows.touched)
        crowd_layer.backward(layer.kind, layer.applies_softmax, *told)
        return back, None, None
