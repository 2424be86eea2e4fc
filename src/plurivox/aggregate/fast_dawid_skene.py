"""Fast Dawid-Skene: EM in which every task takes its best label for certain."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.confusion_model import MatrixModel, earlier_params
from plurivox.aggregate._shared.em_options import PRIOR_HELP, TOL_HELP, check_room, fixed_prior, soft_labels
from plurivox.aggregate._shared.keyed_votes import Crowd
from plurivox.core.method import option
from plurivox.core.progress import Watch
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats
from plurivox.core.votes import Votes
from plurivox.engine.em import climb


@dataclass(frozen=True)
class FastDawidSkene(Aggregator):
    """Dawid-Skene in which every task takes its best label for certain: few passes, firm answers.

    In turn, label = argmax_k of prior_k * product over votes of matrix_worker[k, said] ^ weight, and matrices and prior
    are the counts under these labels, pseudo-counts added. It begins with the majority's labels (tied ones share) and
    ends when no label changes; the trace is the likelihood of votes and labels together. The answer is the labels
    themselves, as published, or the posterior under the last matrices.

    Sinha, Rao & Balasubramanian (2018), https://doi.org/10.48550/arXiv.1803.02781

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> fit = FastDawidSkene().fit(votes)
    >>> fit.soft.prob[:2], fit.converged
    (array([[1., 0.],
           [0., 1.]]), True)
    """

    smooth: float = option(0.01, "pseudo-count in every cell of a matrix", low=0)
    answer: Literal["labels", "posterior"] = option("labels", "all mass on the label found, or the posterior")
    prior: str = option("learnt", PRIOR_HELP)
    max_iter: int = option(100, "most passes over the votes", low=1)
    tol: float = option(1e-6, TOL_HELP, low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold", "start"})

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, watch: Watch) -> Fit:
        check_room(votes, self.name())
        crowd = Crowd(votes, gold)
        pseudo = np.full((votes.n_labels, votes.n_labels), self.smooth)
        model = MatrixModel(crowd, crowd.hard_sweep, fixed_prior(self.prior, votes.labels), pseudo)
        params = earlier_params(crowd, start) or model.maximise(crowd.count(_best(crowd.first_guess(start))))
        end = climb(model.sweep, params, max_iter=self.max_iter, tol=self.tol * votes.n_answers, watch=watch)
        fit = model.answer(self.word, end)
        if self.answer == "posterior":
            return fit
        prob = fit.soft.prob.copy()
        prob[crowd.open] = np.eye(votes.n_labels)[prob[crowd.open].argmax(1)]
        return replace(fit, soft=soft_labels(votes, prob))


def _best(guess: Floats) -> Floats:
    """The rows with all mass on their largest number, shared where some tie."""
    best = guess >= guess.max(1, keepdims=True, initial=0) - 1e-9
    return best / best.sum(1, keepdims=True)
