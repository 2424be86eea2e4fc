"""The history of a training, its best weights, and when it has gone on long enough."""

import math
import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from plurivox.train.loop.trainer import Epoch
from plurivox.train.plan import Plan

HIGH = re.compile("accuracy|f1|precision|recall|correlation|similarity|likelihood|agreement|auc")
Weights = dict[str, Tensor]


class Keeper:
    """The history and the weights worth keeping."""

    def __init__(self, plan: Plan, net: nn.Module, head: nn.Module | None) -> None:
        self.plan, self.parts = plan, {"net": net, **({} if head is None else {"head": head})}
        self.history: dict[str, list[float]] = {}
        self.weights: Weights = {}  # of the epoch kept
        self.epoch = -1  # the epoch kept
        self.value: float | None = None  # what made it the best
        self.stopped = ""

    def look(self, epoch: Epoch, dev: Mapping[str, float]) -> bool:
        """Write down an epoch and keep its weights where it is the best yet; True: that is enough."""
        row = {"epoch": epoch.number, "loss": epoch.loss, "lr": epoch.lr, "seconds": epoch.seconds}
        for name, value in (row | {f"dev_{name}": one for name, one in dev.items()}).items():
            self.history.setdefault(name, []).append(value)
        if self.plan.best == "last":
            self._keep(epoch.number)
            return False
        value = dev[self.plan.best]
        if self._is_better(value):
            self.value = value
            self._keep(epoch.number)
        waited = epoch.number - self.epoch
        if self.plan.patience is not None and waited >= self.plan.patience:
            self.stopped = f"no better {self.plan.best} in {waited} epochs"
        return bool(self.stopped)

    def _is_better(self, value: float) -> bool:
        if self.value is None or math.isnan(
            self.value
        ):  # a correlation has no value while the net says the same of all
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
        """Give net and head the weights that were kept."""
        for part, module in self.parts.items():
            mine = {name: value for name, value in self.weights.items() if name.startswith(f"{part}/")}
            module.load_state_dict({name.partition("/")[2]: value for name, value in mine.items()})

    def facts(self) -> dict[str, Any]:
        """What it holds beside weights."""
        return {"history": self.history, "epoch": self.epoch, "value": self.value, "stopped": self.stopped}
