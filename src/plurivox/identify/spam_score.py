"""How far a worker's confusion matrix is from one with identical rows."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.progress import Watch
from plurivox.core.results import Of, Scores
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.requirements import each_worker, matrices, workload


@dataclass(frozen=True)
class SpamScore(Identifier):
    """How much a worker answers as if nobody had looked: near to a matrix whose rows are all the same.

    A spammer's answers do not depend on the truth, so the rows of the matrix pi are alike. With K labels

        raw = 1 / (K (K - 1)) * sum over pairs k < l of sum_said (pi[k, said] - pi[l, said])^2,

    every pair of rows taken once: the squared distance to the nearest matrix of identical rows, divided by K - 1. It is 0
    for a spammer and 1 for who is always right, or always wrong in the same way. value = 1 - raw. The matrix of a
    worker with few votes would be made mostly of pseudo-counts, so the fit draws it to the whole crowd's (pool=4). On the
    500 images of CIFAR-10H, ten votes a worker and ten labels, that lifts the rank correlation with accuracy on gold
    from .10 to .77. The paper's own fit is --by dawid-skene.

    Raykar & Yu (2012), Eliminating spammers and ranking annotators, JMLR 13, 491-518.

    >>> import plurivox as pv
    >>> votes = pv.votes(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> SpamScore().score(Evidence(fit=pv.fit(votes, "dawid-skene"))).raw.round(2)
    array([0.97, 0.97, 0.24])
    """

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[Of] = "worker"
    needs: ClassVar[tuple[str, ...]] = ("fit",)
    may_use: ClassVar[tuple[str, ...]] = ("votes",)
    fitted_by: ClassVar[tuple[str, ...]] = ("dawid-skene[pool=4]",)
    reads: ClassVar[tuple[str, ...]] = ("confusion",)

    def _score(self, seen: Evidence, watch: Watch) -> Scores:
        del watch
        assert seen.fit is not None
        confusion = matrices(seen.fit, self.name())
        pi = confusion.matrices  # (n_matrices, true, said)
        away = ((pi - pi.mean(1, keepdims=True)) ** 2).sum((1, 2))  # the sum over pairs is K times this
        raw = each_worker(confusion, away / (len(confusion.labels) - 1))
        return Scores("worker", confusion.workers, 1 - raw, self.word, raw=raw, n=workload(seen, confusion.workers))
