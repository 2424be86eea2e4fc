"""The label most people chose."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from plurivox.core.method import option
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Names
from plurivox.train.targets._contract import Examples, Supervision
from plurivox.train.targets._shared.examples import Table
from plurivox.train.targets._shared.target_bases import Voted, votes_on


@dataclass(frozen=True)
class Majority(Voted):
    """The label that most people chose: a silver label."""

    ties: Literal["random", "first", "share"] = option("random", "who wins a tie: one by lot, the first, all of them")
    seed: int = option(0, "the lot", low=0)

    def _examples(self, known: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        counts = votes_on(known, tasks, labels).counts()
        top = (counts >= counts.max(1, keepdims=True) - 1e-9).astype(np.float64)  # (n_tasks, n_labels)
        if self.ties != "share":
            lot = np.random.default_rng(self.seed).random(top.shape) if self.ties == "random" else np.ones(top.shape)
            top = np.eye(len(labels))[(top * lot).argmax(1)]
        return Table.of(SoftLabels.shares(top, tasks, labels), tasks, labels, device)
