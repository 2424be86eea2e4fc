"""NetFit: one training from its data to a `Trained`, and the checkpoint that it is resumed from."""

import json
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

import plurivox
from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError, OptionError, PlurivoxError, PlurivoxWarning
from plurivox.core.progress import Progress, no_progress
from plurivox.core.results import Dynamics
from plurivox.core.types import Names
from plurivox.train.loop.dev_eval import Dev, DevEvaluation, Measure, TrainingHistory
from plurivox.train.loop.spec import TrainSpec
from plurivox.train.loop.tensors import read_tensors, write_tensors
from plurivox.train.loop.trainer import EpochDone, Event, Trainer
from plurivox.train.loop.training_set import TrainingSet, build_trainer
from plurivox.train.result import WEIGHTS, Trained, predict_logits, refuse_other_labels
from plurivox.train.targets._contract import methods as targets

Log = Callable[[Mapping[str, Sequence[float]]], None]  # called with the history so far: columns by name
CHECKPOINT = "checkpoint.safetensors"
TRY = "try a lower learning rate, a clipped gradient (clip=1) or precision=float32, and look for wild inputs"


class NetFit:
    """One training from its data to a `Trained`: everything that is done between the epochs of a `Trainer`.

    `finish` trains to the end, `events` with a pause after every epoch or step. Where others take the steps (a `Stack`), they
    pass what happened to `handle`.
    """

    def __init__(
        self,
        spec: TrainSpec,
        data: TrainingSet,
        *,
        dev: Dev | None = None,
        measures: Mapping[str, Measure] | None = None,
        folder: str | Path | None = None,
        save_seconds: float = 1.0,
        log: Log | None = None,
        progress: Progress = no_progress,
    ) -> None:
        self.spec, self.data, self.log, self.progress = (
            replace(spec, net=spec.net.sized_for(data.x)),
            data,
            log,
            progress,
        )
        self.made_by = _made_by(self.spec, data, 0 if dev is None else len(dev[1]))
        self.saved = None if folder is None else Checkpoint(Path(folder), self.made_by, data.labels, save_seconds)
        self.trained: Trained | None = None  # once the training has ended
        self.logits: list[np.ndarray[Any, Any]] = []  # recorded, one array per epoch
        if self.saved is not None and (done := self.saved.read_finished(data.x.device)) is not None:
            self.trained = done
            return
        self.trainer = build_trainer(self.spec, data)
        if spec.record == "visit":
            self._refuse_changed_inputs()
            self.trainer.record_logits(len(data.labels))
        net, head = self.trainer.net, self.trainer.head
        self.dev = DevEvaluation(dev, measures or {}, data.labels, net, spec.loss, spec.plan, data.x.device)
        self.history = TrainingHistory(spec.plan, net, head)
        if self.saved is not None:
            self.logits = self.saved.resume(self.trainer, self.history)
        if self.history.stopped or self.trainer.epoch >= spec.plan.epochs:
            self._end()

    def _refuse_changed_inputs(self) -> None:
        """Raise an OptionError where recorded logits would be those of mixtures of tasks."""
        head = self.trainer.head
        if head is not None and head.changes_inputs and self.spec.head is not None:
            raise OptionError(
                f"{self.spec.head.name()} shows the net mixtures, whose logits are not those of a task; record them after "
                'the epoch: record="after" (on the command line --record after)'
            )

    def finish(self) -> Trained:
        """Train to the end."""
        for _ in self.events():
            pass
        return self.result()

    def events(self, every_step: bool = False) -> Iterator[Event]:
        """The events of the training to its end; each is handled before it is yielded."""
        if self.trained is not None:
            return
        for event in self.trainer.run(every_step):
            self.handle(event)
            yield event
            if self.trained is not None:
                return

    def handle(self, event: Event) -> None:
        """After an epoch: record logits, evaluate on dev, save, log; end the training where this was the last epoch."""
        if not isinstance(event, EpochDone):
            return
        if not event.finite:
            self._stop_at_nan(event.epoch)
            self._end()
            return
        if self.spec.record:
            last = event.logits
            seen = predict_logits(self.trainer.net, self.trainer.x, self.spec.plan) if last is None else last
            self.logits.append(seen.float().cpu().numpy().copy())
        enough = self.history.update(event, self.dev.evaluate())
        if self.saved is not None:
            self.saved.save(self.trainer, self.history, self.logits, now=enough)
        if self.log is not None:
            self.log(self.history.columns)
        self.progress(event.epoch, self.spec.plan.epochs, event.loss)
        if enough or event.epoch + 1 >= self.spec.plan.epochs:
            self._end()

    def result(self) -> Trained:
        """The trained net; the training must have ended."""
        assert self.trained is not None, "the training has not ended"
        return self.trained

    def _stop_at_nan(self, epoch: int) -> None:
        history = self.history
        if history.best_epoch < 0:
            raise PlurivoxError(f"the loss is no number in the first epoch; {TRY}")
        history.stopped = f"the loss is no number in epoch {epoch}"
        told = f"{history.stopped}: training stops with the weights of epoch {history.best_epoch}; {TRY}"
        warnings.warn(told, PlurivoxWarning, stacklevel=6)

    def _end(self) -> None:
        """Put the weights of the best epoch back, and make and save the result."""
        history, plan, data = self.history, self.spec.plan, self.data
        if history.best_value is not None and math.isnan(history.best_value):
            kept = f"the weights are those of epoch {history.best_epoch}"
            told = f"{plan.best} had no value on the dev tasks in any epoch; {kept}"
            warnings.warn(told, PlurivoxWarning, stacklevel=6)
        history.put_back()
        columns = {name: tuple(column) for name, column in history.columns.items()}
        recorded = Dynamics(np.stack(self.logits), data.tasks, data.labels) if self.logits else None
        net, head, x = self.trainer.net.eval(), self.trainer.head, self.trainer.x
        trained = Trained(net, data.labels, self.made_by, columns, history.best_epoch, history.stopped, recorded)
        if head is not None:
            soft = trained.predict(x, data.tasks)
            with torch.no_grad():
                trained = replace(trained, fit=head.eval().fit_result(soft, x, predict_logits(net, x)))
        if self.saved is not None:
            trained.save(self.saved.folder)
            self.saved.remove()
        self.trained = trained


def _made_by(spec: TrainSpec, data: TrainingSet, n_dev: int) -> dict[str, Any]:
    """All settings, and a number that changes when the data do."""
    versions = {"plurivox": plurivox.__version__, "torch": torch.__version__}
    facts = {"shape": list(data.shape), "tasks": len(data.tasks), "data": data.fingerprint, "dev": n_dev}
    return {**spec.settings(), **facts, "versions": versions}


# ---- checkpoint


class Checkpoint:
    """What a killed training is resumed from: one file, written whole, and the logits recorded so far."""

    def __init__(self, folder: Path, made_by: Mapping[str, Any], labels: Names, seconds: float) -> None:
        self.folder, self.path, self.made_by, self.labels = folder, folder / CHECKPOINT, made_by, labels
        self.seconds, self.last = seconds, time.monotonic()
        self.written = 0  # how many epochs of logits are on the disk

    def save(
        self, trainer: Trainer, history: TrainingHistory, recorded: "list[np.ndarray[Any, Any]]", now: bool
    ) -> None:
        """Write everything, unless the last save is less than `seconds` ago and it need not be `now`."""
        if not now and time.monotonic() - self.last < self.seconds:
            return
        for i in range(self.written, len(recorded)):
            with atomic_file(self._logits(i)) as part, part.open("wb") as file:
                np.save(file, recorded[i])
        self.written = len(recorded)
        facts = {"done": trainer.epoch, "keeper": history.state(), "recorded": len(recorded)}
        notes = {"labels": self.labels.tolist(), "made_by": dict(self.made_by), "facts": facts}
        kept = {f"kept/{name}": value for name, value in history.best_weights.items()}
        write_tensors(self.path, trainer.state() | kept, {name: json.dumps(one) for name, one in notes.items()})
        self.last = time.monotonic()

    def read_finished(self, device: torch.device) -> Trained | None:
        """The training that has ended in this folder, where there is one; its checkpoint is then removed."""
        if not self.folder.is_dir():
            raise InputError(f"the folder {self.folder} for the training does not exist; make it first")
        if not (self.folder / WEIGHTS).is_file():
            return None
        trained = Trained.load(self.folder, device=device, labels=self.labels, trust=self.made_by["net"])
        refuse_other_training(trained.made_by, self.made_by, self.folder)
        self.remove()
        return trained

    def resume(self, trainer: Trainer, history: TrainingHistory) -> "list[np.ndarray[Any, Any]]":
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
        history.restore(facts["keeper"], best)
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
    """Raise InputError if two trainings differ, naming the first setting that does."""
    mine = {**mine, "target": targets.with_current_names(mine.get("target", ""))}
    for name in other:
        if name != "versions" and mine.get(name) != other[name]:
            raise InputError(
                f"{where} belongs to another training: its {name} is {mine.get(name)!r}, here it is {other[name]!r}. "
                "Choose another folder, or remove it"
            )
