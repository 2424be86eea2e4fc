"""What heads on votes share: the mean number of votes, and the workers' matrices as a fit."""

import numpy as np
import torch
from torch import Tensor, nn

from plurivox.core.errors import InputError
from plurivox.core.results import Confusion, Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats
from plurivox.core.votes import Votes
from plurivox.train.heads._contract import HeadContext
from plurivox.train.targets._contract import Batch, PaddedVotes

ON_HELP = "what the matrices are applied to: the net's probabilities, as published, or its logits"


def votes_of(context: HeadContext, name: str) -> Votes:
    """The votes of the scene; a head on votes cannot do without, nor without the names of all who voted."""
    if context.votes is None or not len(context.votes):
        raise InputError(f"the head {name} learns from votes; give the votes of the crowd")
    return context.votes.require_workers(f"the head {name}")


def said_in(batch: Batch) -> PaddedVotes:
    """What was said of the tasks of a batch."""
    assert isinstance(batch.drawn, PaddedVotes)
    return batch.drawn


def cross_entropy(score: Tensor, said: PaddedVotes) -> Tensor:
    """(n,) the weighted cross-entropy of all votes of each task; `score` (n, most, n_labels) before the softmax."""
    against = -score.log_softmax(-1).gather(-1, said.label[..., None])[..., 0]
    return (said.weight * against).sum(1)


def typical_output(on: str, soft: SoftLabels, logits: Tensor) -> Tensor:
    """(true, n_labels) the output of a net on a task of each label: certain, or the mean of its logits there."""
    if on == "probabilities":
        return torch.eye(soft.n_labels, device=logits.device)
    share = torch.tensor(soft.prob, dtype=logits.dtype, device=logits.device)
    return (share.T @ logits) / share.sum(0).clamp(min=1e-12)[:, None]


def fit_of(
    name: str, soft: SoftLabels, context: HeadContext, score: Tensor, found: dict[str, Floats] | None = None
) -> Fit:
    """A fit whose matrices are the softmax of `score` (n_workers, true, said); ability is accuracy by the net's prior."""
    matrices = score.double().softmax(-1).cpu().numpy()
    prior = np.asarray(soft.prob).mean(0)
    ability = np.einsum("wkk,k->w", matrices, prior)
    confusion = Confusion(matrices, context.workers, context.labels)
    return Fit(soft, context.workers, name, prior=prior, confusion=confusion, ability=ability, found=found or {})


def identity(n: int, n_labels: int, scale: float = 1.0) -> Tensor:
    """(n, n_labels * n_labels) flat matrices [true, said] that change nothing but the scale."""
    flat: Tensor = nn.init.eye_(torch.empty(n_labels, n_labels)).mul_(scale).flatten().repeat(n, 1)
    return flat
