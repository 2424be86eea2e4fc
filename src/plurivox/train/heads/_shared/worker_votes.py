"""Functions for heads that are trained on votes: checks, cross-entropy of votes, initial matrices, the resulting Fit."""

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

ON_HELP = "net output that the matrices are applied to: probabilities (as published) or logits"


def require_votes(context: HeadContext, name: str) -> Votes:
    """Return the votes of the training tasks; InputError if there are none or some have no worker."""
    if context.votes is None or not len(context.votes):
        raise InputError(f"the head {name} is trained on votes; give the votes of the crowd")
    return context.votes.require_workers(f"the head {name}")


def padded_votes(batch: Batch) -> PaddedVotes:
    """Return the votes of a batch; the target must be one of votes."""
    assert isinstance(batch.labels, PaddedVotes)
    return batch.labels


def vote_cross_entropy(score: Tensor, votes: PaddedVotes) -> Tensor:
    """(n,) the summed weighted cross-entropy of the votes of each task; `score` (n, max_votes, n_labels) are logits."""
    loss = -score.log_softmax(-1).gather(-1, votes.label[..., None])[..., 0]
    return (votes.weight * loss).sum(1)


def output_per_label(on: str, soft: SoftLabels, logits: Tensor) -> Tensor:
    """(true, n_labels) a typical net output for tasks of each label: one-hot, or with `on="logits"` the mean logits."""
    if on == "probabilities":
        return torch.eye(soft.n_labels, device=logits.device)
    share = torch.tensor(soft.prob, dtype=logits.dtype, device=logits.device)
    return (share.T @ logits) / share.sum(0).clamp(min=1e-12)[:, None]


def make_fit(
    name: str, soft: SoftLabels, context: HeadContext, score: Tensor, found: dict[str, Floats] | None = None
) -> Fit:
    """Return a Fit with the softmax of `score` (n_workers, true label, given label) as confusion matrices.

    `ability` is the accuracy of each worker under the mean prediction of the net.
    """
    matrices = score.double().softmax(-1).cpu().numpy()
    prior = np.asarray(soft.prob).mean(0)
    ability = np.einsum("wkk,k->w", matrices, prior)
    confusion = Confusion(matrices, context.workers, context.labels)
    return Fit(soft, context.workers, name, prior=prior, confusion=confusion, ability=ability, found=found or {})


def identity_rows(n: int, n_labels: int, scale: float = 1.0) -> Tensor:
    """(n, n_labels * n_labels) n flattened copies of the identity matrix times `scale`."""
    flat: Tensor = nn.init.eye_(torch.empty(n_labels, n_labels)).mul_(scale).flatten().repeat(n, 1)
    return flat
