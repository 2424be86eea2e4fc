"""Evaluation on the dev set after every epoch, the history of the epochs, the best epoch and early stopping."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from plurivox.core.array_types import Names
from plurivox.core.errors import InputError, first_few, unknown_name_error
from plurivox.core.name_encoding import positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.train.data.input_tensors import to_input_tensor
from plurivox.train.loop.trainer import EpochDone
from plurivox.train.losses import Loss
from plurivox.train.trained_net import predict_logits, softmax_probabilities
from plurivox.train.training_hyperparameters import Plan

Measure = Callable[[SoftLabels, SoftLabels], float]  # (prediction, truth) -> number
Weights = dict[str, Tensor]
Dev = tuple[Any, SoftLabels]  # inputs and true labels of the dev tasks, in the same order


class DevEvaluator:
    """Computes loss, accuracy and further measures of a net on the dev tasks; without dev tasks nothing."""

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
        self._check_measure_of_best_epoch(dev)
        self.x: Tensor | None = None
        if dev is not None:
            x, self.truth = dev
            check_true_labels_known_to_net(self.truth, labels)
            self.x = to_input_tensor(x, device, self.truth.tasks, plan.channels_last)
            prob = self.truth.on_labels(labels).prob
            self.target = torch.tensor(prob, dtype=torch.float32, device=device)

    def _check_measure_of_best_epoch(self, dev: Dev | None) -> None:
        """Raise InputError if the measure that chooses the best epoch is unknown or needs dev tasks, which are missing."""
        best = self.plan.best
        if best != "last" and dev is None:
            raise InputError(f"choosing the best epoch by {best} needs dev tasks; give dev, or best=last")
        if best not in (names := ("last", "loss", "accuracy", *self.measures)):
            raise unknown_name_error("measure of the best epoch", best, names)

    def evaluate_measures_on_dev(self) -> dict[str, float]:
        """Return loss, accuracy and further measures of the net on the dev tasks by name; empty without dev tasks."""
        if self.x is None:
            return {}
        logits = predict_logits(self.net, self.x)  # in float32 also after mixed precision, as predictions are
        loss = self.loss(logits, self.target).mean()
        accuracy = (logits.argmax(1) == self.target.argmax(1)).float().mean()
        found = dict(zip(("loss", "accuracy"), torch.stack([loss, accuracy]).tolist(), strict=True))
        if self.measures:
            prediction = SoftLabels.of(softmax_probabilities(logits), self.truth.tasks, self.labels)
            found |= {name: float(measure(prediction, self.truth)) for name, measure in self.measures.items()}
        return found


class TrainingHistory:
    """Losses and dev measures of every epoch, the weights of the best epoch, and the reason for stopping early."""

    def __init__(self, plan: Plan, net: nn.Module, head: nn.Module | None) -> None:
        self.plan, self.modules = plan, {"net": net, **({} if head is None else {"head": head})}
        self.columns: dict[str, list[float]] = {}  # epoch, loss, lr, seconds, dev measures; a value per epoch
        self.best_weights: Weights = {}
        self.best_epoch = -1  # so far; with best=last the latest one
        self.best_value: float | None = None  # dev measure of the best epoch; None with best=last
        self.stopped = ""  # reason why the training ended before its last epoch

    def add_epoch_and_decide_to_stop(self, event: EpochDone, dev_measures: Mapping[str, float]) -> bool:
        """Append the measures of an epoch, and store the weights if it is the best so far; return whether to stop training."""
        row = {"epoch": event.epoch, "loss": event.loss, "lr": event.lr, "seconds": event.seconds}
        for name, value in (row | {f"dev_{name}": one for name, one in dev_measures.items()}).items():
            self.columns.setdefault(name, []).append(value)
        if self.plan.best == "last":
            self._store_weights_as_best(event.epoch)
            return False
        value = dev_measures[self.plan.best]
        if self._is_better_than_best_epoch(value):
            self.best_value = value
            self._store_weights_as_best(event.epoch)
        waited = event.epoch - self.best_epoch
        if self.plan.patience is not None and waited >= self.plan.patience:
            self.stopped = f"no better {self.plan.best} in {waited} epochs"
        return bool(self.stopped)

    def _is_better_than_best_epoch(self, dev_measure: float) -> bool:
        """Return whether a value of the dev measure is better than that of the best epoch so far; ties as the plan sets."""
        # the best may be NaN: a correlation is undefined if all predictions are the same
        if self.best_value is None or math.isnan(self.best_value):
            return True
        gain = (dev_measure - self.best_value) * (1 if self.plan.higher_is_better else -1)
        return gain > 0 or (gain == 0 and self.plan.ties == "last")

    def _store_weights_as_best(self, epoch: int) -> None:
        """Store the current weights of net and head as those of the best epoch."""
        self.best_epoch = epoch
        for prefix, module in self.modules.items():
            for name, value in module.state_dict().items():
                stored = self.best_weights.get(f"{prefix}/{name}")
                if stored is None:
                    self.best_weights[f"{prefix}/{name}"] = value.detach().clone()
                else:
                    stored.copy_(value)

    def load_best_weights_into_net_and_head(self) -> None:
        """Load the weights of the best epoch into net and head, in place."""
        for prefix, module in self.modules.items():
            weights = {name: value for name, value in self.best_weights.items() if name.startswith(f"{prefix}/")}
            module.load_state_dict({name.partition("/")[2]: value for name, value in weights.items()})

    def history_as_json_dict(self) -> dict[str, Any]:
        """Return the measures of all epochs, the best epoch and the reason for stopping as JSON values, for a checkpoint."""
        best = {"epoch": self.best_epoch, "value": self.best_value}
        return {"history": self.columns, **best, "stopped": self.stopped}

    def restore_history(self, saved_history: Mapping[str, Any], best_weights: Weights) -> None:
        """Set the history of the epochs from the result of `history_as_json_dict`, and the weights of the best epoch."""
        self.columns, self.best_epoch, self.best_value = (
            saved_history["history"],
            saved_history["epoch"],
            saved_history["value"],
        )
        self.stopped, self.best_weights = saved_history["stopped"], best_weights


def check_true_labels_known_to_net(truth: SoftLabels, net_labels: Names, tasks_text: str = "dev tasks") -> None:
    """Raise InputError if a task has a true label that is not in `net_labels`, the net's labels."""
    unknown = positions(net_labels, truth.labels) < 0
    if unknown.any() and bool((truth.prob[:, unknown] > 0).any()):
        raise InputError(
            f"the {tasks_text} have the labels {first_few(truth.labels[unknown])}, which no training task has; the "
            f"net's labels are {first_few(net_labels, 6)}. Give the full list: labels=[...]"
        )
