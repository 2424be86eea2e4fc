"""Early stopping: the history of a training, its best weights, and when it ends."""

import math
import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from plurivox.train.loop.trainer import EpochDone
from plurivox.train.plan import Plan

HIGH = re.compile("accuracy|f1|precision|recall|correlation|similarity|likelihood|agreement|auc")
Weights = dict[str, Tensor]


class EarlyStopping:
    """The history of a training and the weights of its best epoch."""

    def __init__(self, plan: Plan, net: nn.Module, head: nn.Module | None) -> None:
        self.plan, self.parts = plan, {"net": net, **({} if head is None else {"head": head})}
        self.history: dict[str, list[float]] = {}
        self.weights: Weights = {}  # of the best epoch
        self.epoch = -1  # the best one so far
        self.value: float | None = None  # of the measure on dev
        self.stopped = ""  # why the training ended before its last epoch

    def update(self, done: EpochDone, dev: Mapping[str, float]) -> bool:
        """Add an epoch to the history, keep its weights if it is the best so far; True if training should stop."""
        row = {"epoch": done.epoch, "loss": done.loss, "lr": done.lr, "seconds": done.seconds}
        for name, value in (row | {f"dev_{name}": one for name, one in dev.items()}).items():
            self.history.setdefault(name, []).append(value)
        if self.plan.best == "last":
            self._keep(done.epoch)
            return False
        value = dev[self.plan.best]
        if self._is_better(value):
            self.value = value
            self._keep(done.epoch)
        waited = done.epoch - self.epoch
        if self.plan.patience is not None and waited >= self.plan.patience:
            self.stopped = f"no better {self.plan.best} in {waited} epochs"
        return bool(self.stopped)

    def _is_better(self, value: float) -> bool:
        if self.value is None or math.isnan(self.value):  # a correlation has none while all predictions are alike
            return True
        highest = self.plan.goal == "highest" or (self.plan.goal == "auto" and HIGH.search(self.plan.best) is not None)
        gain = (value - self.value) * (1 if highest else -1)
        return gain > 0 or (gain == 0 and self.plan.ties == "last")

    def _keep(self, epoch: int) -> None:
        self.epoch = epoch
        for part, module in self.parts.items():
            for name, value in module.state_dict().items():
                held = self.weights.get(f"{part}/{name}")
                if held is None:
                    self.weights[f"{part}/{name}"] = value.detach().clone()
                else:
                    held.copy_(value)

    def put_back(self) -> None:
        """Load the weights of the best epoch into net and head."""
        for part, module in self.parts.items():
            mine = {name: value for name, value in self.weights.items() if name.startswith(f"{part}/")}
            module.load_state_dict({name.partition("/")[2]: value for name, value in mine.items()})

    def state(self) -> dict[str, Any]:
        """All but the weights, for a checkpoint."""
        return {"history": self.history, "epoch": self.epoch, "value": self.value, "stopped": self.stopped}

    def restore(self, state: Mapping[str, Any], weights: Weights) -> None:
        """Resume from such a state, with the weights of the best epoch."""
        self.history, self.epoch, self.value = state["history"], state["epoch"], state["value"]
        self.stopped, self.weights = state["stopped"], weights
