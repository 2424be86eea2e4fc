"""Simulate hammers, who are always right, and spammers, who guess."""

from dataclasses import dataclass

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.method import option
from plurivox.simulate._contract import Simulator


@dataclass(frozen=True)
class HammerSpammer(Simulator):
    """A share of the workers (spammers) answers at random, the others (hammers) are always right.

    A hammer's confusion matrix is the identity, all entries of a spammer's are 1 / n_labels. The spammers are the last
    int(ratio * n_workers) workers.

    Karger, Oh and Shah (2011), https://doi.org/10.48550/arXiv.1110.3564; Lefort et al. (2024), §3.2.

    >>> crowd = HammerSpammer(n_tasks=20, n_workers=4, n_labels=2, feedback=2, ratio=0.25).draw()
    >>> crowd.confusion.of("worker-3")
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """

    ratio: float = option(0.5, "share of the workers who are spammers", low=0, high=1)

    def make_confusion_matrices(self, n_labels: int, rng: np.random.Generator) -> Floats:
        del rng
        spammers = np.arange(self.n_workers) >= self.n_workers - self.worker_count_of_share(self.ratio)
        return np.where(spammers[:, None, None], 1 / n_labels, np.eye(n_labels))
