"""Checkpoint files: write, read, refuse those of another training."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from plurivox.core.atomic_write import whole_file
from plurivox.core.errors import InputError
from plurivox.core.types import Names
from plurivox.train.loop.early_stopping import Keeper
from plurivox.train.loop.tensors import read_tensors, write_tensors
from plurivox.train.loop.trainer import Training
from plurivox.train.result import refuse_other_labels

CHECKPOINT = "checkpoint.safetensors"


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
