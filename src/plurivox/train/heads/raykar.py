"""EM around a net: what is so, how workers answer and the net itself, each found from the others."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from plurivox.core.method import option
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats
from plurivox.train.em.raykar_em import CLIP_HELP, PSEUDO_HELP, RaykarSteps
from plurivox.train.heads._contract import Batch, Head, HeadContext, HeadModule
from plurivox.train.heads._shared.worker_votes import votes_of
from plurivox.train.result import probabilities
from plurivox.train.targets._shared.examples import on_device


@dataclass(frozen=True)
class Raykar(Head):
    """EM around the net (AggNet): it learns from what its own belief and the votes together say of each task.

    Before every `every`-th epoch, E-step: q_i(k) is proportional to p_i(k) * product over its votes of
    matrix_worker[k, said], with p the net's probabilities held above `clip`; M-step: the matrices are the counts that q
    expects plus a pseudo-count, divided by their sums. Then the net learns q by soft cross-entropy. It begins with even p
    and workers who nearly always say what is so, and leaves the net out for its first `wait` epochs. The fit holds q and the
    matrices of the end. For scikit-learn's classifiers there is `plurivox.train.raykar_em`.

    Raykar et al. (2010), http://jmlr.org/papers/v11/raykar10a.html; Albarqouni et al. (2016),
    https://doi.org/10.1109/TMI.2016.2528120
    """

    aliases: ClassVar[tuple[str, ...]] = ("aggnet",)

    pseudo: float = option(0.01, PSEUDO_HELP, low=0)
    clip: float = option(1e-3, CLIP_HELP, low=0, high=0.5)
    every: int = option(1, "epochs from one E-step to the next", low=1)
    wait: int = option(1, "epochs before the net has a say in the E-step", low=0)

    def build(self, net: nn.Module, context: HeadContext) -> HeadModule:
        del net
        return _Em(self, context)


class _Em(HeadModule):
    posterior: Tensor  # (n_tasks, n_labels) what the net learns
    matrices: Tensor  # (n_workers, true, said)

    def __init__(self, head: Raykar, context: HeadContext) -> None:
        super().__init__()
        self.head = head
        self.steps = RaykarSteps(votes_of(context, head.name()), None, head.pseudo, head.clip)
        self.register_buffer("posterior", torch.full((len(context.tasks), context.n_labels), 1 / context.n_labels))
        self.register_buffer("matrices", torch.tensor(self.steps.identity()))

    def before_epoch(self, epoch: int, predict: Callable[[], Tensor]) -> None:
        if epoch % self.head.every:
            return
        prior = probabilities(predict()) if epoch >= self.head.wait else self._even()
        posterior, _ = self.steps.e_step(prior, self.matrices.cpu().numpy())
        self._set(posterior, self.steps.m_step(posterior))

    def _even(self) -> Floats:
        return np.full(tuple(self.posterior.shape), 1 / self.posterior.shape[1])

    def _set(self, posterior: Floats, matrices: Floats) -> None:
        for held, new in ((self.posterior, posterior), (self.matrices, matrices)):
            held.copy_(on_device(new, held.device, held.dtype))  # in place: a recorded step reads this memory

    def forward(self, logits: Tensor, batch: Batch) -> Tensor:
        return -(self.posterior.index_select(0, batch.rows) * logits.log_softmax(1)).sum(1)

    def fit_result(self, soft: SoftLabels, x: Tensor, logits: Tensor) -> Fit:
        del soft, x
        posterior, _ = self.steps.e_step(probabilities(logits), self.matrices.cpu().numpy())
        return self.steps.fit(self.head.spec, posterior, self.steps.m_step(posterior))
