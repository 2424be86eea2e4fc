"""Functions for heads that are trained on votes: checks, cross-entropy of votes, initial matrices, the resulting Fit."""

import numpy as np
import torch
from torch import Tensor, nn

from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError
from plurivox.core.results import Confusion, Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train.heads._contract import HeadContext
from plurivox.train.targets._contract import Batch, PaddedVotes

ON_HELP = "net output that the matrices are applied to: probabilities (as published) or logits"


def get_votes_with_workers_or_raise(context: HeadContext, head_name: str) -> Votes:
    """Return the votes of the training tasks from the context; InputError if there are none or some have no worker."""
    if context.votes is None or not len(context.votes):
        raise InputError(f"the head {head_name} is trained on votes; give the votes of the crowd")
    return context.votes.require_worker_names(f"the head {head_name}")


def get_padded_votes_or_raise(batch: Batch) -> PaddedVotes:
    """Return the labels of a training batch, which must be `PaddedVotes` (the votes of each task); AssertionError otherwise."""
    assert isinstance(batch.labels, PaddedVotes)
    return batch.labels


def summed_vote_cross_entropy_per_task(vote_logits: Tensor, votes: PaddedVotes) -> Tensor:
    """(n,) the summed weighted cross-entropy of the votes of each task; `vote_logits` are (n, max_votes, n_labels)."""
    loss = -vote_logits.log_softmax(-1).gather(-1, votes.label[..., None])[..., 0]
    return (votes.weight * loss).sum(1)


def one_hot_or_mean_logits_per_label(output_kind: str, soft: SoftLabels, logits: Tensor) -> Tensor:
    """(n_labels, n_labels) the net output typical of each true label: one-hot, or for the kind "logits" the mean logits."""
    if output_kind == "probabilities":
        return torch.eye(soft.n_labels, device=logits.device)
    share = torch.tensor(soft.prob, dtype=logits.dtype, device=logits.device)
    return (share.T @ logits) / share.sum(0).clamp(min=1e-12)[:, None]


def make_fit_from_confusion_logits(
    made_by: str,
    soft: SoftLabels,
    context: HeadContext,
    confusion_logits: Tensor,
    extra_arrays: dict[str, Floats] | None = None,
) -> Fit:
    """Return a Fit whose confusion matrices are the softmax of `confusion_logits` (n_workers, true label, given label).

    `ability` is the accuracy of each worker under the mean prediction of the net.
    """
    matrices = confusion_logits.double().softmax(-1).cpu().numpy()
    prior = np.asarray(soft.prob).mean(0)
    ability = np.einsum("wkk,k->w", matrices, prior)
    confusion = Confusion(matrices, context.workers, context.labels)
    return Fit(
        soft, context.workers, made_by, prior=prior, confusion=confusion, ability=ability, found=extra_arrays or {}
    )


def flat_identity_matrices(n_matrices: int, n_labels: int, scale: float = 1.0) -> Tensor:
    """(n_matrices, n_labels * n_labels) flattened copies of the identity matrix times `scale`."""
    flat: Tensor = nn.init.eye_(torch.empty(n_labels, n_labels)).mul_(scale).flatten().repeat(n_matrices, 1)
    return flat
