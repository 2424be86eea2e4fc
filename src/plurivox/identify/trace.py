"""The sum of the diagonal of a worker's confusion matrix."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.progress import Watch
from plurivox.core.results import Of, Scores
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.requirements import each_worker, matrices, workload


@dataclass(frozen=True)
class Trace(Identifier):
    """The sum of the diagonal of a worker's confusion matrix: how often right, every label counted alike.

    `raw` is the trace, sum_k P(says k | k is true), n_labels for who is always right and 1 for who guesses;
    value = 1 - trace / n_labels. The matrix of a worker with few votes would be made
    mostly of pseudo-counts, so the fit draws it to the whole crowd's (pool=4); the paper's own is --by dawid-skene.

    Lefort, Charlier, Joly & Salmon (2024), Peerannot, Computo, https://doi.org/10.57750/qmaz-gr91

    >>> import plurivox as pv
    >>> votes = pv.votes(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> Trace().score(Evidence(fit=pv.fit(votes, "dawid-skene"))).raw.round(2)
    array([1.99, 1.99, 0.51])
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
        raw = each_worker(confusion, np.trace(confusion.matrices, axis1=1, axis2=2))
        value = 1 - raw / len(confusion.labels)
        return Scores("worker", confusion.workers, value, self.word, raw=raw, n=workload(seen, confusion.workers))
