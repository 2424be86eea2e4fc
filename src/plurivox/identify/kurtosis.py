"""How peaked a task's soft label is."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.errors import PlurivoxWarning
from plurivox.core.labels import SoftLabels
from plurivox.core.names import Floats
from plurivox.core.results import Of, Scores
from plurivox.core.rows import Dense
from plurivox.core.watch import Watch
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shares import beliefs, where_told

CONSTANT = {2: -2, 3: -1.5}  # labels: what the kurtosis of so many numbers always is
EVEN = 1e-20  # a variance below it is rounding: the row is even


@dataclass(frozen=True)
class Kurtosis(Identifier):
    """How peaked a task's soft label is: the kurtosis of its numbers.

    raw(task) = m_4 / m_2^2 - 3 with m_r = mean over the K labels of (p_k - 1/K)^r: excess and biased. It is largest, at
    K^2 / (K - 1) - 6, where one label has everything, so value = -raw; but a row that is even save for one label ruled
    out is as peaked. With two labels it is -2 and with three -1.5 whatever they are (a warning says so), and for an even row
    it is not defined (nan): take entropy there. A task without votes gets nan.

    As a measure of disagreement: Fornaciari et al. (2021), section 5, https://doi.org/10.18653/v1/2021.naacl-main.204

    >>> soft = SoftLabels.of([[1, 0, 0, 0], [.4, .3, .2, .1]], tasks=["a", "b"], labels=list("wxyz"))
    >>> Kurtosis().score(Evidence(soft=soft)).raw.round(3)
    array([-0.667, -1.36 ])
    """

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})
    of: ClassVar[Of] = "task"
    needs: ClassVar[tuple[str, ...]] = ("votes|soft",)

    def _score(self, seen: Evidence, watch: Watch) -> Scores:
        del watch
        soft = beliefs(seen)
        if soft.n_labels in CONSTANT:
            text = (
                f"the kurtosis of {soft.n_labels} numbers is {CONSTANT[soft.n_labels]} whatever they are, "
                "so it cannot rank tasks; take entropy"
            )
            warnings.warn(text, PlurivoxWarning, stacklevel=2)
        second, fourth = (_moment(soft, power) for power in (2, 4))
        raw = np.divide(fourth, second**2, out=np.full(len(soft), np.nan), where=second > EVEN) - 3
        raw = where_told(soft, raw)
        return Scores("task", soft.tasks, -raw, self.word, raw=raw, n=soft.support)


def _moment(soft: SoftLabels, power: int) -> Floats:
    """(n_tasks,) the mean over labels of (p - 1/K)^power."""
    body, mean, k = soft.body, 1 / max(soft.n_labels, 1), max(soft.n_labels, 1)
    if isinstance(body, Dense):
        parts = [((block - mean) ** power).sum(1) for _, block in soft.rows()]
        return np.concatenate([np.zeros(0), *parts]) / k
    listed = np.bincount(body.row, (body.mass - mean) ** power, minlength=len(soft))
    return (listed + body.others * (body.each - mean) ** power) / k
