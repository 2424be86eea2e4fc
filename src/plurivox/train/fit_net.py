"""fit: inputs and a target in, a trained net out."""

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

import plurivox
from plurivox.core.errors import InputError, OptionError, PlurivoxError, PlurivoxWarning
from plurivox.core.progress import Watch, quiet
from plurivox.core.results import Dynamics
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train.data.augment import Augmentation
from plurivox.train.heads import Head
from plurivox.train.loop.checkpoint import Checkpoint, refuse_other_training
from plurivox.train.loop.dev_eval import Dev, DevEvaluation, EarlyStopping, Measure
from plurivox.train.loop.spec import Record, TrainSpec, wanted_by
from plurivox.train.loop.trainer import EpochDone, Event
from plurivox.train.loop.training_set import TrainingSet, build_trainer
from plurivox.train.losses import Loss
from plurivox.train.nets import Net
from plurivox.train.plan import Plan
from plurivox.train.result import WEIGHTS, Trained, predict_logits
from plurivox.train.targets import Known, Target

Log = Callable[[Mapping[str, Sequence[float]]], None]  # called with the history so far: columns by name
TRY = "try a lower learning rate, a clipped gradient (clip=1) or precision=float32, and look for wild inputs"


def fit(
    x: Any,
    target: SoftLabels | Votes | Target | str,
    *,
    tasks: Iterable[object] | None = None,
    known: Known | None = None,
    labels: Iterable[object] | None = None,
    net: str | Net = "mlp",
    loss: str | Loss = "soft-cross-entropy",
    head: str | Head | None = None,
    plan: Plan | None = None,
    dev: Dev | None = None,
    measures: Mapping[str, Measure] | None = None,
    weight: Any = None,
    augment: Augmentation | None = None,
    augment_once: bool = False,
    record: Record = False,
    folder: str | Path | None = None,
    save_seconds: float = 1.0,
    log: Log | None = None,
    watch: Watch = quiet,
) -> Trained:
    """Train a net on inputs `x`, one row per task.

    `target` is what to teach: soft labels, votes (their shares; with a head the votes themselves), or a target by name that
    uses what is `known`. Rows of x are the tasks of the target in their order, or those named in `tasks`; tasks of
    weight 0 are left out. With `dev`, inputs and true labels, every epoch is evaluated by loss, accuracy and further
    `measures`, and the plan says which epoch is best. `augment` changes images anew in every epoch, or with `augment_once`
    once for the whole training. `record` keeps the logits of every epoch as `Dynamics`: as they were when a task was learnt
    from, with dropout and augmentation (True or "visit": what AUM is defined on, Pleiss et al. 2020,
    https://arxiv.org/abs/2001.10528), or "after" the epoch, as the net predicts. Weights and history are written to a
    `folder`; a training that was killed is resumed there with the same result, and one that has ended is read again. `log`
    is called with the history after every epoch.

    >>> soft = SoftLabels.of([[.9, .1], [.2, .8]] * 8, range(16), ["no", "yes"])
    >>> trained = fit([[0., 1.], [1., 0.]] * 8, soft, net="linear", plan=Plan(epochs=60, lr=.1))
    >>> trained.predict([[0., 1.]]).prob.round(1)
    array([[0.9, 0.1]])
    """
    named = None if isinstance(target, SoftLabels | Votes) else target
    spec = TrainSpec.of(
        named, net=net, loss=loss, head=head, plan=plan, augment=augment, augment_once=augment_once, record=record
    )
    known = known or Known()
    if isinstance(target, SoftLabels | Votes):
        known, tasks = _known_with(target, known, spec.head), target.tasks if tasks is None else tasks
    data = TrainingSet.of(x, spec, known, tasks=tasks, labels=labels, weight=weight)
    begun = NetFit(
        spec, data, dev=dev, measures=measures, folder=folder, save_seconds=save_seconds, log=log, watch=watch
    )
    return begun.finish()


def _known_with(given: SoftLabels | Votes, known: Known, head: Head | None) -> Known:
    """What is known, with the labels or votes that were given in place of a target."""
    if isinstance(given, SoftLabels):
        if head is not None and wanted_by(head) == "votes":
            raise OptionError(
                f"{head.name()} learns from votes, not from soft labels; give votes, or leave the head out"
            )
        return replace(known, soft=given)
    voted = SoftLabels.of_votes(given).on(given.voted)
    return replace(known, votes=given, soft=voted if known.soft is None else known.soft)


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
        watch: Watch = quiet,
    ) -> None:
        self.spec, self.data, self.log, self.watch = replace(spec, net=spec.net.sized_for(data.x)), data, log, watch
        self.made_by = _made_by(self.spec, data, 0 if dev is None else len(dev[1]))
        self.saved = None if folder is None else Checkpoint(Path(folder), self.made_by, data.labels, save_seconds)
        self.trained: Trained | None = None  # once the training has ended
        self.logits: list[np.ndarray[Any, Any]] = []  # recorded, one array per epoch
        if self.saved is not None and (done := _read_finished(self.saved, data.x.device)) is not None:
            self.trained = done
            return
        self.trainer = build_trainer(self.spec, data)
        if spec.record == "visit":
            self._refuse_changed_inputs()
            self.trainer.record_logits(len(data.labels))
        net, head = self.trainer.net, self.trainer.head
        self.dev = DevEvaluation(dev, measures or {}, data.labels, net, spec.loss, spec.plan, data.x.device)
        self.stopping = EarlyStopping(spec.plan, net, head)
        if self.saved is not None:
            self.logits = self.saved.resume(self.trainer, self.stopping)
        if self.stopping.stopped or self.trainer.epoch >= spec.plan.epochs:
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
        enough = self.stopping.update(event, self.dev.evaluate())
        if self.saved is not None:
            self.saved.save(self.trainer, self.stopping, self.logits, now=enough)
        if self.log is not None:
            self.log(self.stopping.history)
        self.watch(event.epoch, self.spec.plan.epochs, event.loss)
        if enough or event.epoch + 1 >= self.spec.plan.epochs:
            self._end()

    def result(self) -> Trained:
        """The trained net; the training must have ended."""
        assert self.trained is not None, "the training has not ended"
        return self.trained

    def _stop_at_nan(self, epoch: int) -> None:
        stopping = self.stopping
        if stopping.epoch < 0:
            raise PlurivoxError(f"the loss is no number in the first epoch; {TRY}")
        stopping.stopped = f"the loss is no number in epoch {epoch}"
        told = f"{stopping.stopped}: training stops with the weights of epoch {stopping.epoch}; {TRY}"
        warnings.warn(told, PlurivoxWarning, stacklevel=5)

    def _end(self) -> None:
        """Put the weights of the best epoch back, and make and save the result."""
        stopping, plan, data = self.stopping, self.spec.plan, self.data
        if stopping.value is not None and math.isnan(stopping.value):
            told = f"{plan.best} had no value on the dev tasks in any epoch; the weights are those of epoch {stopping.epoch}"
            warnings.warn(told, PlurivoxWarning, stacklevel=5)
        stopping.put_back()
        columns = {name: tuple(column) for name, column in stopping.history.items()}
        recorded = Dynamics(np.stack(self.logits), data.tasks, data.labels) if self.logits else None
        net, head, x = self.trainer.net.eval(), self.trainer.head, self.trainer.x
        trained = Trained(net, data.labels, self.made_by, columns, stopping.epoch, stopping.stopped, recorded)
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


def _read_finished(saved: Checkpoint, device: torch.device) -> Trained | None:
    """The training that has ended in this folder, where there is one."""
    folder = saved.folder
    if not folder.is_dir():
        raise InputError(f"the folder {folder} for the training does not exist; make it first")
    if not (folder / WEIGHTS).is_file():
        return None
    trained = Trained.load(folder, device=device, labels=saved.labels, trust=saved.made_by["net"])
    refuse_other_training(trained.made_by, saved.made_by, folder)
    saved.remove()
    return trained
