"""Evaluation on the dev set after every epoch; the history of a training, its best epoch and early stopping."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from plurivox.core.encoding import positions
from plurivox.core.errors import InputError, first_few, unknown_name
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Names
from plurivox.train.data.inputs import as_inputs
from plurivox.train.loop.trainer import EpochDone
from plurivox.train.losses import Loss
from plurivox.train.plan import Plan
from plurivox.train.result import predict_logits, probabilities

Measure = Callable[[SoftLabels, SoftLabels], float]  # (prediction, truth) -> number
Weights = dict[str, Tensor]
Dev = tuple[Any, SoftLabels]  # inputs and what is true of them, in the same order


class DevEvaluation:
    """Loss and accuracy on the dev tasks, on the device, and further measures of (prediction, truth)."""

    def __init__(
        self,
        dev: Dev | None,
        measures: Mapping[str, Measure],
        labels: Names,
        net: nn.Module,
        loss: Loss,
        plan: Plan,
        device: torch.device,
    ) -> None:
        self.net, self.loss, self.plan, self.labels, self.measures = net, loss, plan, labels, dict(measures)
        self._refuse(dev)
        self.x: Tensor | None = None
        if dev is not None:
            x, self.truth = dev
            refuse_strange_labels(self.truth, labels)
            self.x = as_inputs(x, device, self.truth.tasks, plan.channels_last)
            prob = self.truth.on_labels(labels).prob
            self.target = torch.tensor(prob, dtype=torch.float32, device=device)

    def _refuse(self, dev: Dev | None) -> None:
        best = self.plan.best
        if best != "last" and dev is None:
            raise InputError(f"the best epoch by {best} is chosen on dev tasks; give dev, or best=last")
        if best not in (known := ("last", "loss", "accuracy", *self.measures)):
            raise unknown_name("measure of the best epoch", best, known)

    def evaluate(self) -> dict[str, float]:
        """The measures by name; empty without dev tasks."""
        if self.x is None:
            return {}
        logits = predict_logits(self.net, self.x, self.plan)
        loss = self.loss(logits, self.target).mean()
        right = (logits.argmax(1) == self.target.argmax(1)).float().mean()
        found = dict(zip(("loss", "accuracy"), torch.stack([loss, right]).tolist(), strict=True))
        if self.measures:
            prediction = SoftLabels.of(probabilities(logits), self.truth.tasks, self.labels)
            found |= {name: float(measure(prediction, self.truth)) for name, measure in self.measures.items()}
        return found


class TrainingHistory:
    """What has happened in a training: a row per epoch, the weights of the best epoch by the plan, and why it stopped early."""

    def __init__(self, plan: Plan, net: nn.Module, head: nn.Module | None) -> None:
        self.plan, self.parts = plan, {"net": net, **({} if head is None else {"head": head})}
        self.columns: dict[str, list[float]] = {}  # epoch, loss, lr, seconds, dev measures; a value per epoch
        self.best_weights: Weights = {}
        self.best_epoch = -1  # so far; with best=last the last one
        self.best_value: float | None = None  # of the measure on dev; None with best=last
        self.stopped = ""  # why the training ended before its last epoch

    def update(self, done: EpochDone, dev: Mapping[str, float]) -> bool:
        """Add an epoch, copy its weights if it is the best so far; True if training should stop."""
        row = {"epoch": done.epoch, "loss": done.loss, "lr": done.lr, "seconds": done.seconds}
        for name, value in (row | {f"dev_{name}": one for name, one in dev.items()}).items():
            self.columns.setdefault(name, []).append(value)
        if self.plan.best == "last":
            self._keep(done.epoch)
            return False
        value = dev[self.plan.best]
        if self._is_better(value):
            self.best_value = value
            self._keep(done.epoch)
        waited = done.epoch - self.best_epoch
        if self.plan.patience is not None and waited >= self.plan.patience:
            self.stopped = f"no better {self.plan.best} in {waited} epochs"
        return bool(self.stopped)

    def _is_better(self, value: float) -> bool:
        if self.best_value is None or math.isnan(
            self.best_value
        ):  # a correlation has none while all predictions are alike
            return True
        gain = (value - self.best_value) * (1 if self.plan.highest else -1)
        return gain > 0 or (gain == 0 and self.plan.ties == "last")

    def _keep(self, epoch: int) -> None:
        self.best_epoch = epoch
        for part, module in self.parts.items():
            for name, value in module.state_dict().items():
                held = self.best_weights.get(f"{part}/{name}")
                if held is None:
                    self.best_weights[f"{part}/{name}"] = value.detach().clone()
                else:
                    held.copy_(value)

    def put_back(self) -> None:
        """Load the weights of the best epoch into net and head."""
        for part, module in self.parts.items():
            mine = {name: value for name, value in self.best_weights.items() if name.startswith(f"{part}/")}
            module.load_state_dict({name.partition("/")[2]: value for name, value in mine.items()})

    def state(self) -> dict[str, Any]:
        """All but the weights, for a checkpoint."""
        best = {"epoch": self.best_epoch, "value": self.best_value}
        return {"history": self.columns, **best, "stopped": self.stopped}

    def restore(self, state: Mapping[str, Any], weights: Weights) -> None:
        """Resume from such a state, with the weights of the best epoch."""
        self.columns, self.best_epoch, self.best_value = state["history"], state["epoch"], state["value"]
        self.stopped, self.best_weights = state["stopped"], weights


def refuse_strange_labels(truth: SoftLabels, labels: Names, whose: str = "dev tasks") -> None:
    """An error where tasks have labels that the net does not know."""
    strange = positions(labels, truth.labels) < 0
    if strange.any() and bool((truth.prob[:, strange] > 0).any()):
        raise InputError(
            f"the {whose} have the labels {first_few(truth.labels[strange])}, which no training task has; the net knows "
            f"{first_few(labels, 6)}. Give the whole list: labels=[...]"
        )
