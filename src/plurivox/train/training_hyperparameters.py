"""Plan: the hyperparameters of a training (epochs, optimiser, schedule, device, ...); and the default net and loss."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from plurivox.core.errors import OptionError
from plurivox.core.method import Method, option

DEFAULT_NET, DEFAULT_LOSS = "mlp", "soft-cross-entropy"
# measures whose name contains one of these are better the higher they are
HIGHER_IS_BETTER = re.compile("accuracy|f1|precision|recall|correlation|similarity|likelihood|agreement|auc")


@dataclass(frozen=True)
class Plan(Method):
    """The hyperparameters of a training: epochs, batch size, optimiser, schedule, choice of the best epoch, device, seed.

    >>> Plan(epochs=65, optimizer="sgd", lr=0.1, schedule="multistep", milestones="50,55").spec
    'plan[epochs=65,optimizer=sgd,lr=0.1,schedule=multistep,milestones=[50,55]]'
    """

    epochs: int = option(20, "passes over all training examples", low=1)
    batch: int = option(64, "batch size: examples per step", low=1)
    optimizer: Literal["adam", "adamw", "sgd"] = option("adam", "optimiser of the weights")
    lr: float = option(1e-3, "learning rate", low=0)
    momentum: float = option(0.9, "momentum of sgd", low=0, high=1)
    nesterov: bool = option(False, "Nesterov's momentum for sgd")
    weight_decay: float = option(0.0, "L2 penalty; with adamw it is decoupled", low=0)
    clip: float | None = option(None, "maximum norm of the gradient; none: no clipping", low=0)
    reduction: Literal["mean", "sum"] = option("mean", "loss of a batch: mean or sum of the losses of its examples")
    schedule: Literal["constant", "step", "multistep", "cosine", "one-cycle"] = option(
        "constant", "learning-rate schedule"
    )
    milestones: str = option("", "multistep: epochs after which the rate is multiplied by gamma, such as 50,55")
    step_size: int = option(30, "step: number of epochs after which the rate is multiplied by gamma", low=1)
    gamma: float = option(0.1, "step and multistep: factor of the learning rate", low=0)
    warm_share: float = option(0.3, "one-cycle: share of steps in which the rate rises", low=0, high=1)
    restart: bool = option(False, "reset the optimiser at every milestone")
    best: str = option(
        "last", "epoch whose weights are kept: last, or the best on dev by loss, accuracy or another measure"
    )
    goal: Literal["auto", "highest", "lowest"] = option(
        "auto", "whether the highest or the lowest value of the measure best is best; auto: by its name"
    )
    ties: Literal["first", "last"] = option("first", "which of two epochs with the same value of best is kept")
    patience: int | None = option(
        None, "early stopping: end training after this many epochs without a better value of best; none: never", low=1
    )
    accumulate: int = option(1, "gradient accumulation: compute a batch in this many chunks; needs less memory", low=1)
    precision: Literal["float32", "bfloat16"] = option(
        "float32", "number type of the net: float32, or mixed precision with bfloat16"
    )
    channels_last: bool = option(False, "store images with channels last in memory")
    engine: Literal["auto", "eager", "graphs", "compile"] = option(
        "auto", "execution of a step: eager, as a CUDA graph, or torch.compile; auto: graphs on CUDA, else eager"
    )
    device: str = option("auto", "cpu, cuda, cuda:1, ...; auto: CUDA if available")
    seed: int = option(0, "random seed; same seed, same net", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.patience is not None and self.best == "last":
            raise OptionError("patience needs a measure of the best epoch: best=loss or best=accuracy")
        if (self.schedule == "multistep" or self.restart) and not self.milestone_epochs:
            raise OptionError("multistep and restart need milestones, such as milestones=50,55")

    @cached_property
    def higher_is_better(self) -> bool:
        """Whether the highest value of the measure `best` is best: by `goal`, or with goal=auto by the measure's name.

        In Python any function may be a measure, so that only its name is known; workflows set the goal of their measures.

        >>> [Plan(best=name).higher_is_better for name in ("macro-f1", "loss")], Plan(best="f1", goal="lowest").higher_is_better
        ([True, False], False)
        """
        return self.goal == "highest" or (self.goal == "auto" and HIGHER_IS_BETTER.search(self.best) is not None)

    @cached_property
    def milestone_epochs(self) -> tuple[int, ...]:
        """Epochs of the option `milestones`, parsed and sorted; OptionError if they are not whole numbers.

        >>> Plan(milestones="50, 55").milestone_epochs
        (50, 55)
        """
        numbers = [text.strip() for text in self.milestones.split(",") if text.strip()]
        if not all(text.isdigit() for text in numbers):
            raise OptionError(f"milestones are whole numbers separated by commas; got {self.milestones!r}")
        return tuple(sorted(map(int, numbers)))
