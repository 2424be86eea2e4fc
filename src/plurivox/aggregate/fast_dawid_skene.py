"""Fast Dawid-Skene: hard EM, each task takes its most probable label."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.aggregate._contract import EMAggregator, max_iter_option, prior_option, tol_option
from plurivox.aggregate._shared.tasks_without_gold import (
    TasksWithoutGold,
    posterior_to_soft_labels,
)
from plurivox.aggregate.dawid_skene import DawidSkeneModel
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.confusion_em import KeyedVotes, confusion_kernel_calls
from plurivox.engine.em import run_em
from plurivox.engine.second_compiler import KernelCall


@dataclass(frozen=True)
class FastDawidSkene(EMAggregator):
    """Dawid-Skene with hard EM: each task takes its most probable label; converges in few passes.

    It alternates between label = argmax_k of prior_k * product over votes of matrix_worker[k, said] ^ weight, and matrices and
    prior as the counts under these labels plus pseudo-counts. It starts from majority labels (ties shared) and stops when no
    label changes; the trace is the joint likelihood of votes and labels. The result is these labels, as published, or the
    posterior under the last matrices.

    Sinha, Rao & Balasubramanian (2018), https://doi.org/10.48550/arXiv.1803.02781

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> fit = FastDawidSkene().fit(votes)
    >>> fit.soft.prob[:2], fit.converged
    (array([[1., 0.],
           [0., 1.]]), True)
    """

    smooth: float = option(0.01, "pseudo-count in every entry of a confusion matrix", low=0)
    answer: Literal["labels", "posterior"] = option(
        "labels", "soft labels to return: probability 1 on the most probable label, or the posterior"
    )
    prior: str = prior_option()
    max_iter: int = max_iter_option()
    tol: float = tol_option()

    estimates: ClassVar[Estimand] = "truth"
    numbers_workers_and_labels: ClassVar[bool] = True

    def estimated_worker_table_floats(self, votes: Votes) -> int:
        return 8 * votes.n_workers * votes.n_labels**2 + len(votes) * votes.n_labels // 8

    def kernel_calls(self, votes: Votes) -> list[KernelCall]:
        return confusion_kernel_calls(KeyedVotes.without_rows(votes), votes.n_labels, hard=True)

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        tasks = TasksWithoutGold(votes, gold)
        pseudo = np.full((votes.n_labels, votes.n_labels), self.smooth)
        model = DawidSkeneModel(tasks, self.fixed_prior(votes.labels), pseudo, hard=True)
        result = run_em(model.em_pass, model.initial_params(start), **self.run_em_arguments(votes, progress))
        fit = model.fit_from_em_result(self.spec, result)
        if self.answer == "posterior":
            return fit
        prob = fit.soft.prob.copy()
        prob[tasks.open] = np.eye(votes.n_labels)[prob[tasks.open].argmax(1)]
        return fit.with_soft(posterior_to_soft_labels(votes, prob))
