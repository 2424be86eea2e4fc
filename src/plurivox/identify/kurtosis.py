"""How peaked a task's soft label is."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.errors import PlurivoxWarning
from plurivox.core.progress import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.dispersion import spread_of

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

    >>> from plurivox.core.soft_labels import SoftLabels
    >>> soft = SoftLabels.of([[1, 0, 0, 0], [.4, .3, .2, .1]], tasks=["a", "b"], labels=list("wxyz"))
    >>> Kurtosis().score(Evidence(soft=soft)).raw.round(3)
    array([-0.667, -1.36 ])
    """

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})
    of: ClassVar[ScoreTarget] = "task"
    needs: ClassVar[tuple[str, ...]] = ("votes|soft",)

    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        del progress
        shares = spread_of(seen)
        n_labels = shares.n_labels
        if n_labels in CONSTANT:
            text = (
                f"the kurtosis of {n_labels} numbers is {CONSTANT[n_labels]} whatever they are, "
                "so it cannot rank tasks; take entropy"
            )
            warnings.warn(text, PlurivoxWarning, stacklevel=2)
        uneven = shares.second > EVEN
        ratio = np.divide(shares.fourth, shares.second**2, out=np.full(len(shares.tasks), np.nan), where=uneven)
        raw = shares.told(n_labels * ratio - 3)
        return Scores("task", shares.tasks, -raw, self.spec, raw=raw, n=shares.support)
