"""Trace of a worker's confusion matrix that is shrunk towards the whole crowd's."""

from dataclasses import dataclass

from plurivox.identify._shared.confusion_matrix_score_base_class import PooledConfusionScore
from plurivox.identify.trace import Trace


@dataclass(frozen=True)
class TracePooled(PooledConfusionScore, Trace):
    """Trace of a worker's confusion matrix, shrunk towards the whole crowd's: ranks workers with few votes.

    `raw` is the trace of a fit by dawid-skene[pool=4], in which the matrix of the whole crowd counts as four votes on each
    label; badness = 1 - raw / n_labels. It ranks workers, but its size is not the trace of Lefort et al. (2024), which is
    `trace`: a worker with few votes has nearly the trace of the whole crowd, also if all of them are wrong. On the 500 images
    of CIFAR-10H, with ten votes per worker and ten labels, the rank correlation with the error rate on gold is .76, and .27
    with `trace`; a worker who is wrong on all 15 votes gets 7.11 of 10, and 0.25 by `trace` (plurivox recipe rankings
    --datasets cifar10h).

    Pooling: Paun et al. (2018), https://doi.org/10.1162/tacl_a_00040

    >>> import plurivox as pv
    >>> from plurivox.identify import Evidence
    >>> votes = pv.votes(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> TracePooled().score(Evidence(fit=pv.fit(votes, "dawid-skene[pool=4]"))).raw.round(2)
    array([1.45, 1.45, 1.2 ])
    """
