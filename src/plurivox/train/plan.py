"""Plan: how a net is trained, as options that are also flags; and the net and loss that are taken where none is named."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from plurivox.core.errors import OptionError
from plurivox.core.method import Method, option

DEFAULT_NET, DEFAULT_LOSS = "mlp", "soft-cross-entropy"
# parts of the names of measures of which the highest value is best
HIGHEST = re.compile("accuracy|f1|precision|recall|correlation|similarity|likelihood|agreement|auc")


@dataclass(frozen=True)
class Plan(Method):
    """How a net is trained.

    >>> Plan(epochs=65, optimizer="sgd", lr=0.1, schedule="multistep", milestones="50,55").spec
    'plan[epochs=65,optimizer=sgd,lr=0.1,schedule=multistep,milestones=[50,55]]'
    """

    epochs: int = option(20, "passes over all training examples", low=1)
    batch: int = option(64, "batch size: examples per step", low=1)
    optimizer: Literal["adam", "adamw", "sgd"] = option("adam", "how a step follows the gradient")
    lr: float = option(1e-3, "learning rate", low=0)
    momentum: float = option(0.9, "momentum of sgd", low=0, high=1)
    nesterov: bool = option(False, "Nesterov's momentum for sgd")
    weight_decay: float = option(0.0, "L2 penalty; with adamw it is decoupled", low=0)
    clip: float | None = option(None, "the gradient's norm is cut down to this", low=0)
    reduction: Literal["mean", "sum"] = option("mean", "losses of a batch are averaged or added up")
    schedule: Literal["constant", "step", "multistep", "cosine", "one-cycle"] = option(
        "constant", "how the learning rate changes"
    )
    milestones: str = option("", "multistep: epochs after which the rate is multiplied by gamma, such as 50,55")
    step_size: int = option(30, "step: the rate is multiplied by gamma every so many epochs", low=1)
    gamma: float = option(0.1, "step and multistep: the factor", low=0)
    warm_share: float = option(0.3, "one-cycle: the share of steps on which the rate rises", low=0, high=1)
    restart: bool = option(False, "a fresh optimizer at every milestone")
    best: str = option("last", "the epoch kept: last, or best on the dev tasks by loss, accuracy or another measure")
    goal: Literal["auto", "highest", "lowest"] = option("auto", "which value of that measure is best")
    ties: Literal["first", "last"] = option("first", "which of two equally good epochs is kept")
    patience: int | None = option(None, "stop after so many epochs without a better one", low=1)
    accumulate: int = option(1, "compute a batch in so many parts whose gradients add up: less memory", low=1)
    precision: Literal["float32", "bfloat16"] = option("float32", "bfloat16: mixed precision")
    channels_last: bool = option(False, "keep images with their channels last in memory")
    engine: Literal["auto", "eager", "graphs", "compile"] = option(
        "auto", "how a step runs: plain, as a CUDA graph, compiled; auto: plain on a CPU, graphs on CUDA"
    )
    device: str = option("auto", "cpu, cuda, cuda:1, ...; auto: CUDA where there is one")
    seed: int = option(0, "same seed, same net", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.patience is not None and self.best == "last":
            raise OptionError("patience needs a measure that says which epoch is better: best=loss or best=accuracy")
        if (self.schedule == "multistep" or self.restart) and not self.stages:
            raise OptionError("multistep and restart need milestones, such as milestones=50,55")

    @cached_property
    def highest(self) -> bool:
        """Whether the highest value of the measure `best` is best: by the goal, or with goal=auto by the measure's name.

        Training from Python may bring any function as a measure, so that its name is all there is to go by; workflows set the
        goal of the measures that they know.

        >>> Plan(best="macro-f1").highest, Plan(best="loss").highest, Plan(best="f1", goal="lowest").highest
        (True, False, False)
        """
        return self.goal == "highest" or (self.goal == "auto" and HIGHEST.search(self.best) is not None)

    @cached_property
    def stages(self) -> tuple[int, ...]:
        """The milestones as numbers of epochs.

        >>> Plan(milestones="50, 55").stages
        (50, 55)
        """
        words = [word.strip() for word in self.milestones.split(",") if word.strip()]
        if not all(word.isdigit() for word in words):
            raise OptionError(f"milestones are whole numbers with commas between; got {self.milestones!r}")
        return tuple(sorted(map(int, words)))
