"""What is kept of a training while it runs: its history, the best epoch, the last good one, and how to go on later."""

import json
import math
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from plurivox.core.errors import InputError
from plurivox.core.files import whole_file
from plurivox.core.names import Names
from plurivox.train.loop import Epoch, Training
from plurivox.train.plan import Plan
from plurivox.train.trained import refuse_other_labels
from plurivox.train.weights import read_tensors, write_tensors

CHECKPOINT = "checkpoint.safetensors"
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


class Checkpoint:
    """Where a training goes on after it was killed: one file, written whole, and the logits recorded so far."""

    def __init__(self, folder: Path, made_by: Mapping[str, Any], labels: Names, seconds: float) -> None:
        self.folder, self.path, self.made_by, self.labels = folder, folder / CHECKPOINT, made_by, labels
        self.seconds, self.last = seconds, time.monotonic()
        self.written = 0  # how many epochs of logits are on the disk

    def save(self, training: Training, keeper: Keeper, recorded: "list[np.ndarray[Any, Any]]", now: bool) -> None:
        """Write everything, unless that was done a moment ago."""
        if not now and time.monotonic() - self.last < self.seconds:
            return
        for i in range(self.written, len(recorded)):
            with whole_file(self._logits(i)) as part, part.open("wb") as file:
                np.save(file, recorded[i])
        self.written = len(recorded)
        facts = {"done": training.done, "keeper": keeper.facts(), "recorded": len(recorded)}
        notes = {"labels": self.labels.tolist(), "made_by": dict(self.made_by), "facts": facts}
        kept = {f"kept/{name}": value for name, value in keeper.weights.items()}
        write_tensors(self.path, training.state() | kept, {name: json.dumps(one) for name, one in notes.items()})
        self.last = time.monotonic()

    def resume(self, training: Training, keeper: Keeper) -> "list[np.ndarray[Any, Any]]":
        """Go on from the file, where there is one; the logits recorded before."""
        if not self.path.is_file():
            return []
        tensors, notes = read_tensors(self.path)
        refuse_other_labels(np.asarray(json.loads(notes["labels"])), self.labels, self.path)
        refuse_other_training(json.loads(notes["made_by"]), self.made_by, self.path)
        facts = json.loads(notes["facts"])
        device = training.step.total.device
        kept = {name: value for name, value in tensors.items() if name.startswith("kept/")}
        training.restore({name: value for name, value in tensors.items() if name not in kept}, facts["done"])
        keeper.weights = {name.partition("/")[2]: value.to(device) for name, value in kept.items()}
        held = facts["keeper"]
        keeper.history, keeper.epoch, keeper.value = held["history"], held["epoch"], held["value"]
        keeper.stopped = held["stopped"]
        self.written = facts["recorded"]
        return [np.load(self._logits(i)) for i in range(self.written)]

    def remove(self) -> None:
        """Nothing is left to go on with."""
        self.path.unlink(missing_ok=True)
        for file in self.folder.glob("logits-*.npy"):
            file.unlink()

    def _logits(self, epoch: int) -> Path:
        return self.folder / f"logits-{epoch:05d}.npy"


def refuse_other_training(mine: Mapping[str, Any], other: Mapping[str, Any], where: object) -> None:
    """An error where two trainings are not the same, with the first thing that differs."""
    for name in other:
        if name != "versions" and mine.get(name) != other[name]:
            raise InputError(
                f"{where} belongs to another training: its {name} is {mine.get(name)!r}, here it is {other[name]!r}. "
                "Choose another folder, or remove it"
            )
