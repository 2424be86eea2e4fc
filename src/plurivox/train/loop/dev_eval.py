"""Evaluation on the dev set after every epoch."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from plurivox.core.encoding import positions
from plurivox.core.errors import InputError, some, unknown
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Names
from plurivox.train.data.inputs import as_inputs
from plurivox.train.loop.predict import predict_logits
from plurivox.train.losses import Loss
from plurivox.train.plan import Plan

Measure = Callable[[SoftLabels, SoftLabels], float]  # (guess, truth) -> number
Dev = tuple[Any, SoftLabels]  # inputs and what is true of them, in the same order


class DevEvaluation:
    """Loss and accuracy on the dev tasks, on the device, and further measures of (guess, truth)."""

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
            raise unknown("measure of the best epoch", best, known)

    def evaluate(self) -> dict[str, float]:
        """The measures by name; empty without dev tasks."""
        if self.x is None:
            return {}
        logits = predict_logits(self.net, self.x, self.plan)
        loss = self.loss(logits, self.target).mean()
        right = (logits.argmax(1) == self.target.argmax(1)).float().mean()
        found = dict(zip(("loss", "accuracy"), torch.stack([loss, right]).tolist(), strict=True))
        if self.measures:
            guess = SoftLabels.of(logits.double().softmax(1).cpu().numpy(), self.truth.tasks, self.labels)
            found |= {name: float(measure(guess, self.truth)) for name, measure in self.measures.items()}
        return found


def refuse_strange_labels(truth: SoftLabels, labels: Names, whose: str = "dev tasks") -> None:
    """An error where tasks have labels that the net does not know."""
    strange = positions(labels, truth.labels) < 0
    if strange.any() and bool((truth.prob[:, strange] > 0).any()):
        raise InputError(
            f"the {whose} have the labels {some(truth.labels[strange])}, which no training task has; the net knows "
            f"{some(labels, 6)}. Give the whole list: labels=[...]"
        )
