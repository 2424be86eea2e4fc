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
from plurivox.train.loop.dev_eval import EarlyStopping
from plurivox.train.loop.tensors import read_tensors, write_tensors
from plurivox.train.loop.trainer import Trainer
from plurivox.train.result import refuse_other_labels

CHECKPOINT = "checkpoint.safetensors"


class Checkpoint:
    """What a killed training is resumed from: one file, written whole, and the logits recorded so far."""

    def __init__(self, folder: Path, made_by: Mapping[str, Any], labels: Names, seconds: float) -> None:
        self.folder, self.path, self.made_by, self.labels = folder, folder / CHECKPOINT, made_by, labels
        self.seconds, self.last = seconds, time.monotonic()
        self.written = 0  # how many epochs of logits are on the disk

    def save(
        self, trainer: Trainer, stopping: EarlyStopping, recorded: "list[np.ndarray[Any, Any]]", now: bool
    ) -> None:
        """Write everything, unless the last save is less than `seconds` ago and it need not be `now`."""
        if not now and time.monotonic() - self.last < self.seconds:
            return
        for i in range(self.written, len(recorded)):
            with whole_file(self._logits(i)) as part, part.open("wb") as file:
                np.save(file, recorded[i])
        self.written = len(recorded)
        facts = {"done": trainer.epoch, "keeper": stopping.state(), "recorded": len(recorded)}
        notes = {"labels": self.labels.tolist(), "made_by": dict(self.made_by), "facts": facts}
        kept = {f"kept/{name}": value for name, value in stopping.weights.items()}
        write_tensors(self.path, trainer.state() | kept, {name: json.dumps(one) for name, one in notes.items()})
        self.last = time.monotonic()

    def resume(self, trainer: Trainer, stopping: EarlyStopping) -> "list[np.ndarray[Any, Any]]":
        """Restore both from the file, where there is one; return the logits recorded before."""
        if not self.path.is_file():
            return []
        tensors, notes = read_tensors(self.path)
        refuse_other_labels(np.asarray(json.loads(notes["labels"])), self.labels, self.path)
        refuse_other_training(json.loads(notes["made_by"]), self.made_by, self.path)
        facts = json.loads(notes["facts"])
        kept = {name: value for name, value in tensors.items() if name.startswith("kept/")}
        trainer.restore({name: value for name, value in tensors.items() if name not in kept}, facts["done"])
        best = {name.partition("/")[2]: value.to(trainer.x.device) for name, value in kept.items()}
        stopping.restore(facts["keeper"], best)
        self.written = facts["recorded"]
        return [np.load(self._logits(i)) for i in range(self.written)]

    def remove(self) -> None:
        """Delete the files of the checkpoint."""
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
