"""TrainingRun: one training from its data to a `Trained`, with evaluation, checkpoints and early stopping."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

import plurivox
from plurivox.core.errors import OptionError, PlurivoxError, warn_user
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.results import Dynamics
from plurivox.train.loop.checkpoint import GOLD_USED, Checkpoint
from plurivox.train.loop.dev_evaluation_and_history import Dev, DevEvaluator, Measure, TrainingHistory
from plurivox.train.loop.prepared_data_and_trainer import PreparedData, build_trainer
from plurivox.train.loop.train_spec import TrainSpec
from plurivox.train.loop.trainer import EpochDone, Event
from plurivox.train.trained_net import ESTIMATES, Trained, predict_logits

# what gold labels may be used for, in `Trained.made_by["gold_used"]`
TRAINING_LABELS, CHOOSING_EPOCH = "training labels", "choosing the epoch"
Log = Callable[[Mapping[str, Sequence[float]]], None]  # called with the history so far: columns by name
NAN_HINT = (
    "try a lower learning rate, a clipped gradient (clip=1) or precision=float32, and check inputs for extreme values"
)


class TrainingRun:
    """One training from its data to a `Trained`: a `Trainer` with evaluation, checkpoints and early stopping.

    `train_to_end` trains to the end, `train_evaluate_and_yield_events` yields after every epoch or step. If the steps are taken
    elsewhere (by `StackedTrainers`), their events are passed to `evaluate_save_log_if_epoch_done`.
    """

    def __init__(
        self,
        spec: TrainSpec,
        data: PreparedData,
        *,
        dev: Dev | None = None,
        measures: Mapping[str, Measure] | None = None,
        folder: str | Path | None = None,
        save_seconds: float = 1.0,
        log: Log | None = None,
        progress: Progress = no_progress,
        gold_used: Sequence[str] = (),
    ) -> None:
        """Prepare the training; `gold_used` lists for what gold labels are used, see `TRAINING_LABELS`."""
        self.spec, self.data, self.log, self.progress = (
            replace(spec, net=spec.net.with_input_sizes(data.x)),
            data,
            log,
            progress,
        )
        self.made_by = {
            **_settings_data_checksum_and_versions(self.spec, data, 0 if dev is None else len(dev[1])),
            GOLD_USED: list(gold_used),
            ESTIMATES: self.spec.estimated_quantity(soft.estimates if (soft := data.supervision.soft) else "unknown"),
        }
        self.checkpoint = None if folder is None else Checkpoint(Path(folder), self.made_by, data.labels, save_seconds)
        self.trained: Trained | None = None  # set when the training has ended
        self.logits: list[np.ndarray[Any, Any]] = []  # recorded, one array per epoch
        if (
            self.checkpoint is not None
            and (done := self.checkpoint.load_net_if_finished_delete_checkpoint(data.x.device)) is not None
        ):
            self.trained = done
            return
        self.trainer = build_trainer(self.spec, data)
        if spec.record == "visit":
            self._raise_if_head_changes_inputs()
            self.trainer.start_recording_logits(len(data.labels))
        net, head = self.trainer.net, self.trainer.head
        self.dev = DevEvaluator(dev, measures or {}, data.labels, net, spec.loss, spec.plan, data.x.device)
        self.history = TrainingHistory(spec.plan, net, head)
        if self.checkpoint is not None:
            self.logits = self.checkpoint.restore_checkpoint_return_logits(self.trainer, self.history)
        if self.history.stopped or self.trainer.epoch >= spec.plan.epochs:
            self._make_and_save_net_with_best_weights()

    def _raise_if_head_changes_inputs(self) -> None:
        """Raise OptionError if the head changes inputs, so that logits in training are not those of a task."""
        head = self.trainer.head
        if head is not None and head.changes_inputs and self.spec.head is not None:
            raise OptionError(
                f"{self.spec.head.name()} trains on mixtures of tasks, whose logits are not those of a task; record them after "
                "the epoch: record='after' (--record after)"
            )

    def train_to_end(self) -> Trained:
        """Train to the end and return the trained net."""
        for _ in self.train_evaluate_and_yield_events():
            pass
        return self.get_trained_net_or_raise()

    def train_evaluate_and_yield_events(self, yield_steps: bool = False) -> Iterator[Event]:
        """Train to the end; evaluate and save every epoch, then yield its event; with `yield_steps` yield one per step too."""
        if self.trained is not None:
            return
        for event in self.trainer.train_and_yield_events(yield_steps):
            self.evaluate_save_log_if_epoch_done(event)
            yield event
            if self.trained is not None:
                return

    def evaluate_save_log_if_epoch_done(self, event: Event) -> None:
        """Process an event: after an epoch record logits, evaluate on dev, save and log; after a step do nothing.

        The training is ended after the last epoch, by early stopping, or if the loss is NaN.
        """
        if not isinstance(event, EpochDone):
            return
        if not event.finite:
            self._set_nan_stop_reason_and_warn_or_raise(event.epoch)
            self._make_and_save_net_with_best_weights()
            return
        if self.spec.record:
            logits = event.logits
            if logits is None:
                logits = predict_logits(self.trainer.net, self.trainer.x, self.spec.plan)
            self.logits.append(logits.float().cpu().numpy().copy())
        stop = self.history.add_epoch_and_decide_to_stop(event, self.dev.evaluate_measures_on_dev())
        if self.checkpoint is not None:
            self.checkpoint.save_checkpoint_if_due(self.trainer, self.history, self.logits, force=stop)
        if self.log is not None:
            self.log(self.history.columns)
        self.progress(event.epoch, self.spec.plan.epochs, event.loss)
        if stop or event.epoch + 1 >= self.spec.plan.epochs:
            self._make_and_save_net_with_best_weights()

    def get_trained_net_or_raise(self) -> Trained:
        """Return the trained net; the training must have ended."""
        assert self.trained is not None, "the training has not ended"
        return self.trained

    def _set_nan_stop_reason_and_warn_or_raise(self, epoch: int) -> None:
        """Warn that the loss is NaN and set the reason for stopping in the history; PlurivoxError in the first epoch."""
        history = self.history
        if history.best_epoch < 0:
            raise PlurivoxError(f"the loss is NaN in the first epoch; {NAN_HINT}")
        history.stopped = f"the loss is NaN in epoch {epoch}"
        message = f"{history.stopped}: training stops with the weights of epoch {history.best_epoch}; {NAN_HINT}"
        warn_user(message)

    def _make_and_save_net_with_best_weights(self) -> None:
        """Load the weights of the best epoch, set `self.trained`, save it to the folder and delete the checkpoint."""
        history, plan, data = self.history, self.spec.plan, self.data
        if history.best_value is not None and math.isnan(history.best_value):
            message = f"{plan.best} is NaN on the dev tasks in every epoch; the weights are those of epoch {history.best_epoch}"
            warn_user(message)
        history.load_best_weights_into_net_and_head()
        columns = {name: tuple(column) for name, column in history.columns.items()}
        dynamics = Dynamics(np.stack(self.logits), data.tasks, data.labels) if self.logits else None
        net, head, x = self.trainer.net.eval(), self.trainer.head, self.trainer.x
        trained = Trained(net, data.labels, self.made_by, columns, history.best_epoch, history.stopped, dynamics)
        if head is not None:
            soft = trained.predict(x, data.tasks)
            with torch.no_grad():
                trained = replace(
                    trained, fit=head.eval().make_fit_with_worker_estimates(soft, x, predict_logits(net, x))
                )
        if self.checkpoint is not None:
            trained.save(self.checkpoint.folder)
            self.checkpoint.delete_checkpoint_files()
        self.trained = trained


def _settings_data_checksum_and_versions(spec: TrainSpec, data: PreparedData, n_dev: int) -> dict[str, Any]:
    """Return all settings of a training, sizes and checksum of its data, and versions, for `Trained.made_by`."""
    versions = {"plurivox": plurivox.__version__, "torch": torch.__version__}
    about_data = {"shape": list(data.input_shape), "tasks": len(data.tasks), "data": data.fingerprint, "dev": n_dev}
    return {**spec.setting_texts_by_name(), **about_data, "versions": versions}
