"""Scott's pi of two workers, or its mean over pairs of workers."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.votes import Votes  # noqa: F401, for the example
from plurivox.identify._contract import Evidence  # noqa: F401, for the example
from plurivox.identify._shared.mean_kappa_of_worker_pairs import MeanKappaOfWorkerPairs


@dataclass(frozen=True)
class ScottPi(MeanKappaOfWorkerPairs):
    """Scott's pi of two workers, or its mean over all pairs of workers who share tasks.

    pi = 1 - D_observed / D_chance over the tasks that both answered: the mean distance between their labels, over the mean
    distance between two labels drawn from all labels of both workers together. Cohen's kappa differs in that it draws one
    from each worker's own labels. Two different labels have distance 1, or one by `weights`. A pair counts if it shares at
    least `least` tasks, and is left out if both always give the same single label; `n` is the number of pairs that count.
    For soft answers the distances are expected ones. Fleiss' kappa is the other generalisation to more workers: it takes the
    labels of all. The pis of pairs that share few tasks are biased downwards and vary much, and the interval (from resamples,
    shifted to be centred at the coefficient) is rough for these. `raw` is pi, badness = 1 - pi.

    Scott (1955), https://doi.org/10.1086/266577

    >>> votes = Votes.of(task=list("aabbccdd"), worker=["ann", "bo"] * 4, label=list("xxxyyyyy"))
    >>> ScottPi(least=4, resamples=0).score(Evidence(votes=votes)).raw.round(3)
    array([0.467])
    """

    pooled: ClassVar[bool] = True
