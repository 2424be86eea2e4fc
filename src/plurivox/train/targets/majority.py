"""Target `majority`: the label with the most votes."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch

from plurivox.core.array_types import Names
from plurivox.core.method import option
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.train.targets._contract import Examples, Supervision
from plurivox.train.targets._shared.target_base_classes import VoteTarget, votes_on_tasks_with_label_codes
from plurivox.train.targets._shared.training_examples import FixedExamples


@dataclass(frozen=True)
class Majority(VoteTarget):
    """The label with the most votes: a silver label."""

    estimates: ClassVar[Estimand] = "truth"  # the label that most people give, taken as the right one

    ties: Literal["random", "first", "share"] = option(
        "random", "label of a tie: a random one, the first, or an equal share for each"
    )
    seed: int = option(0, "seed of the random choice in ties", low=0)

    def _make_examples(self, supervision: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        counts = votes_on_tasks_with_label_codes(supervision, tasks, labels).counts()
        top = (counts >= counts.max(1, keepdims=True) - 1e-9).astype(np.float64)  # (n_tasks, n_labels)
        if self.ties != "share":
            rank = np.random.default_rng(self.seed).random(top.shape) if self.ties == "random" else np.ones(top.shape)
            top = np.eye(len(labels))[(top * rank).argmax(1)]
        return FixedExamples.from_soft_labels(SoftLabels.shares(top, tasks, labels), tasks, labels, device)
