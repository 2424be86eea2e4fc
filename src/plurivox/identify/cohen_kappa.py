"""Cohen's kappa of two workers, or its mean over pairs of workers."""

from dataclasses import dataclass

from plurivox.core.votes import Votes  # noqa: F401, for the example
from plurivox.identify._contract import Evidence  # noqa: F401, for the example
from plurivox.identify._shared.mean_kappa_of_worker_pairs import MeanKappaOfWorkerPairs


@dataclass(frozen=True)
class CohenKappa(MeanKappaOfWorkerPairs):
    """Cohen's kappa of two workers, or its mean over all pairs of workers who share tasks (Light's kappa).

    kappa = 1 - D_observed / D_chance over the tasks that both answered: the mean distance between their labels, over the
    mean distance between a label drawn from all of one worker's and a label drawn from all of the other's. Two different
    labels have distance 1 (none), their distance on the scale (linear), its square (quadratic), or r (r + 1) / 2 with r the
    difference of their ranks (ordinal). For soft answers the distances are expected ones. A pair counts if it
    shares at least `least` tasks, and is left out if both always give the same single label; `n` is the number of pairs that
    count. `raw` is kappa, badness = 1 - kappa. The kappas of pairs that share few tasks are biased downwards and vary much, and
    the interval (from resamples, shifted to be centred at kappa) is rough for these. Every resample computes all pairs:
    with millions of votes, set resamples to 0.

    Cohen (1960), https://doi.org/10.1177/001316446002000104; weights: Cohen (1968), https://doi.org/10.1037/h0026256;
    pairs: Light (1971), https://doi.org/10.1037/h0031643

    >>> votes = Votes.of(task=list("aabbccdd"), worker=["ann", "bo"] * 4, label=list("xxxyyyyy"))
    >>> CohenKappa(least=4, resamples=0).score(Evidence(votes=votes)).raw
    array([0.5])
    """
