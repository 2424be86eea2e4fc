"""Head `raykar` (alias `aggnet`): EM that estimates true labels and confusion matrices around the net."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from plurivox.core.array_types import Floats
from plurivox.core.method import option
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.train.em.raykar_em import CLIP_HELP, PSEUDO_HELP, RaykarSteps
from plurivox.train.heads._contract import Batch, Head, HeadContext, HeadModule
from plurivox.train.heads._shared.vote_cross_entropy_and_fit_result import get_votes_with_workers_or_raise
from plurivox.train.targets._shared.training_examples import copy_to_device
from plurivox.train.trained_net import softmax_probabilities


@dataclass(frozen=True)
class Raykar(Head):
    """EM around the net (AggNet): the net is trained on the posterior of its own predictions and the votes.

    `aggnet` is another name of this head. Before every `every`-th epoch, E-step: q_i(k) is proportional to p_i(k) * product
    over its votes of matrix_worker[k, said], with p the net's probabilities clipped to at least `clip`; M-step: the matrices
    are the expected counts under q plus a pseudo-count, normalised by row. Then the net is trained on q by soft
    cross-entropy. It starts with uniform p and nearly perfect workers; in the first `wait` epochs p stays uniform. The fit
    contains the final q and matrices. For classifiers of scikit-learn use `plurivox.train.raykar_em`.

    Raykar et al. (2010), http://jmlr.org/papers/v11/raykar10a.html; Albarqouni et al. (2016),
    https://doi.org/10.1109/TMI.2016.2528120
    """

    aliases: ClassVar[tuple[str, ...]] = ("aggnet",)

    pseudo: float = option(0.01, PSEUDO_HELP, low=0)
    clip: float = option(1e-3, CLIP_HELP, low=0, high=0.5)
    every: int = option(1, "number of epochs from one E-step of EM to the next", low=1)
    wait: int = option(1, "number of first epochs in which the E-step of EM does not use the net's predictions", low=0)

    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        del net
        return _RaykarModule(self, context)


class _RaykarModule(HeadModule):
    """Torch module of the head `raykar`."""

    posterior: Tensor  # (n_tasks, n_labels) the target of the net
    matrices: Tensor  # (n_workers, true label, given label)

    def __init__(self, head: Raykar, context: HeadContext) -> None:
        super().__init__()
        self.head = head
        self.steps = RaykarSteps(get_votes_with_workers_or_raise(context, head.name()), None, head.pseudo, head.clip)
        self.register_buffer("posterior", torch.full((len(context.tasks), context.n_labels), 1 / context.n_labels))
        self.register_buffer("matrices", torch.tensor(self.steps.near_diagonal_confusion_matrices()))

    def update_head_before_epoch(self, epoch: int, predict_logits: Callable[[], Tensor]) -> None:
        """Update posterior and matrices by an E-step and an M-step, before every `every`-th epoch."""
        if epoch % self.head.every:
            return
        prior = softmax_probabilities(predict_logits()) if epoch >= self.head.wait else self._uniform_prior_per_task()
        posterior, _ = self.steps.e_step(prior, self.matrices.cpu().numpy())
        self._copy_into_buffers(posterior, self.steps.m_step_confusion_matrices(posterior))

    def _uniform_prior_per_task(self) -> Floats:
        """(n_tasks, n_labels) the prior before the net is used: probability 1 / n_labels for every label."""
        return np.full(tuple(self.posterior.shape), 1 / self.posterior.shape[1])

    def _copy_into_buffers(self, posterior: Floats, matrices: Floats) -> None:
        """Copy the new posterior and matrices into the buffers in place: a recorded CUDA graph reads their memory."""
        for buffer, new in ((self.posterior, posterior), (self.matrices, matrices)):
            buffer.copy_(copy_to_device(new, buffer.device, buffer.dtype))

    def forward(self, logits: Tensor, labelled_batch: Batch) -> Tensor:
        return -(self.posterior.index_select(0, labelled_batch.rows) * logits.log_softmax(1)).sum(1)

    def make_fit_with_worker_estimates(self, predictions: SoftLabels, x: Tensor, logits: Tensor) -> Fit:
        del predictions, x
        posterior, _ = self.steps.e_step(softmax_probabilities(logits), self.matrices.cpu().numpy())
        return self.steps.fit_from_posterior(self.head.spec, posterior, self.steps.m_step_confusion_matrices(posterior))
