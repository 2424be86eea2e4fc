"""Spammer score of a worker's confusion matrix that is shrunk towards the whole crowd's."""

from dataclasses import dataclass

from plurivox.identify._shared.confusion_matrix_score_base_class import PooledConfusionScore
from plurivox.identify.spam_score import SpamScore


@dataclass(frozen=True)
class SpamScorePooled(PooledConfusionScore, SpamScore):
    """Spammer score of a confusion matrix that is shrunk towards the whole crowd's: ranks workers with few votes.

    `raw` is the spammer score of a fit by dawid-skene[pool=4], in which the matrix of the whole crowd counts as four votes on
    each label; badness = 1 - raw. It ranks workers, but its size is not the score of Raykar & Yu (2012), which is
    `spam-score`: a worker with few votes has nearly the score of the whole crowd. On the 500 images of CIFAR-10H, with ten
    votes per worker and ten labels, the rank correlation with the error rate on gold is .77, and .10 with `spam-score`
    (plurivox recipe rankings --datasets cifar10h).

    Pooling: Paun et al. (2018), https://doi.org/10.1162/tacl_a_00040

    >>> import plurivox as pv
    >>> from plurivox.identify import Evidence
    >>> votes = pv.votes(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> SpamScorePooled().score(Evidence(fit=pv.fit(votes, "dawid-skene[pool=4]"))).raw.round(2)
    array([0.2 , 0.2 , 0.04])
    """
