"""Mixtures of two tasks, said to be mixtures of labels by mixtures of workers."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.train.heads._contract import Batch, Head, HeadContext, HeadModule
from plurivox.train.heads._shared.worker_votes import fit_of, identity, said_in, votes_of
from plurivox.train.loop.worker_table import WorkerTable
from plurivox.train.targets._contract import Drawn, PaddedVotes

TINY = 1e-30  # in the place of a 0 that has no logarithm or inverse


@dataclass(frozen=True)
class AnnotMix(Head):
    """annot-mix: the net sees mixtures of two tasks, and mixtures of two workers say mixtures of two labels of them.

    At every visit one vote of the task is drawn, and paired with one of another task of the batch. With c from
    Beta(alpha, alpha) the net sees x = c x_1 + (1 - c) x_2, the worker is e = c e_1 + (1 - c) e_2, e_j being the embedding of
    worker j, and what is said is c times the first label and (1 - c) times the second. A worker with the embedding e says l
    with probability sum over k of f[k] A[k, l], where f are the net's probabilities of x and A = softmax(B + e M), by rows; B
    makes every worker right `eta` of the time at the start. The loss is the cross-entropy of what is said, times the task's
    number of votes over the mean number. In the paper all votes are visited in turn, and A hangs on the task's features too.
    Logits at the visits are those of mixtures and cannot be recorded; those after the epoch can.

    Herde et al. (2024), https://doi.org/10.3233/FAIA240829
    """

    records: ClassVar[bool] = False  # nobody has seen gamma draw anew at every play of a graph

    alpha: float = option(1.0, "how even mixtures are, by Beta(alpha, alpha); 0: nothing is mixed", low=0)
    eta: float = option(0.9, "how often workers are right at the start", low=0.01, high=0.99)
    embedding: int = option(128, "numbers that describe a worker", low=1)

    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        del net
        return _Mixing(self, context)


class _Mixing(HeadModule):
    def __init__(self, head: AnnotMix, context: HeadContext) -> None:
        super().__init__()
        votes, k, n = votes_of(context, head.name()), context.n_labels, context.n_workers
        self.head, self.context, self.share = head, context, votes.n_tasks / float(votes.weights.sum())
        bound = 1 / math.sqrt(n)  # a linear layer on the worker's one-hot, as torch begins it
        self.worker = WorkerTable(torch.empty(n, head.embedding).uniform_(-bound, bound))
        self.matrix = nn.Linear(head.embedding, k * k)
        sure = math.log(head.eta * max(k - 1, 1) / (1 - head.eta))
        self.matrix.bias = nn.Parameter(identity(1, k, sure)[0])

    def before_net(self, x: Tensor, drawn: Drawn, rng: torch.Generator) -> tuple[Tensor, Drawn]:
        assert isinstance(drawn, PaddedVotes)
        if not x.is_floating_point():
            raise InputError(
                "annot-mix mixes inputs, which whole numbers do not allow: codes of words have no mixtures; give features as "
                "floats, such as x.astype(float)"
            )
        mine, total = _one_of(drawn, rng)  # (n,) a slot of each task
        other = torch.rand(len(x), generator=rng, device=x.device).argsort(stable=True)
        share = self._shares(x, rng)
        pair = [torch.stack([one, one[other]], 1) for one in (_at(drawn.worker, mine), _at(drawn.label, mine))]
        weight = torch.stack([share, 1 - share], 1) * total[:, None] * self.share
        c = share.view(-1, *[1] * (x.ndim - 1))
        return c * x + (1 - c) * x[other], PaddedVotes(pair[0], pair[1], weight)

    def _shares(self, x: Tensor, rng: torch.Generator) -> Tensor:
        """(n,) how much of a mixture is the first of its two."""
        alpha = self.head.alpha
        if not alpha:
            return x.new_ones(len(x))
        if alpha >= 1:
            two = torch._standard_gamma(x.new_full((len(x), 2), alpha), generator=rng)
            return two[:, 0] / two.sum(1)
        # gammas below 1 may be too small for a float: gamma(alpha) = gamma(alpha + 1) u^(1 / alpha), by its logarithm
        large = torch._standard_gamma(x.new_full((len(x), 2), alpha + 1), generator=rng)
        u = torch.rand((len(x), 2), generator=rng, device=x.device).clamp(min=TINY)
        return (large.log() + u.log() / max(alpha, TINY)).softmax(1)[:, 0]

    def forward(self, logits: Tensor, batch: Batch) -> Tensor:
        said, k = said_in(batch), self.context.n_labels
        part = said.weight / said.weight.sum(1, keepdim=True)  # (n, 2)
        worker = (part[..., None] * self.worker.take(said.worker, said.weight)).sum(1)
        matrix = self.matrix(worker).unflatten(-1, (k, k)).log_softmax(-1)  # (n, true, said)
        spoken = (logits.log_softmax(1)[..., None] + matrix).logsumexp(1)  # (n, said)
        return -(said.weight * spoken.gather(1, said.label)).sum(1)

    def fit_result(self, soft: SoftLabels, x: Tensor, logits: Tensor) -> Fit:
        del x, logits
        k = self.context.n_labels
        return fit_of(self.head.spec, soft, self.context, self.matrix(self.worker.table).detach().unflatten(-1, (k, k)))


def _one_of(said: PaddedVotes, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """(n,) a slot of each task drawn by its weight, and the weight of all its slots."""
    until = said.weight.cumsum(1)
    total = until[:, -1]
    lot = torch.rand(len(total), generator=rng, device=total.device) * total
    slot = (until <= lot[:, None]).sum(1)
    place = torch.arange(said.weight.shape[1], device=total.device)
    last = ((said.weight > 0) * place).amax(1)  # whatever rounding says, not one of the padding
    return torch.minimum(slot, last), total


def _at(table: Tensor, slot: Tensor) -> Tensor:
    """(n,) the cell of each row."""
    return table.gather(1, slot[:, None])[:, 0]
