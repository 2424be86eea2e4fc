"""`plurivox.train.fit`: train a net on inputs and a target."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from plurivox.core.array_types import Names
from plurivox.core.errors import InputError, OptionError, first_few
from plurivox.core.name_encoding import as_names, duplicates
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train.data.image_augmentation import Augmentation
from plurivox.train.heads import Head
from plurivox.train.loop.dev_evaluation_and_history import Dev, Measure
from plurivox.train.loop.prepared_data_and_trainer import PreparedData
from plurivox.train.loop.train_spec import Record, TrainSpec, required_target_kind
from plurivox.train.loop.training_run import TRAINING_LABELS, Log, TrainingRun
from plurivox.train.losses import Loss
from plurivox.train.nets import Net
from plurivox.train.targets import Supervision, Target
from plurivox.train.trained_net import Trained
from plurivox.train.training_hyperparameters import DEFAULT_LOSS, DEFAULT_NET, Plan


def fit(
    x: Any,
    target: SoftLabels | Votes | Target | str,
    *,
    tasks: Iterable[object] | None = None,
    known: Supervision | None = None,
    labels: Iterable[object] | None = None,
    net: str | Net = DEFAULT_NET,
    loss: str | Loss = DEFAULT_LOSS,
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
    progress: Progress = no_progress,
) -> Trained:
    """Train a net on inputs `x`, one row per task, and return it as `Trained`.

    `target` is what the net is trained on: soft labels, votes (their shares; with a head the votes themselves), or the name
    of a target. `known` holds the votes, gold and soft labels that a target given by name uses. Rows of x are the tasks of
    the target in their order, or those in `tasks`; tasks of weight 0 are left out. With `dev`, inputs and true labels, every
    epoch is evaluated by loss, accuracy and further `measures`, and `plan.best` chooses the best epoch. `augment` changes
    images at random in every epoch, or with `augment_once` once for the whole training. `record` stores the logits of every
    epoch as `Dynamics`: those of the training steps, with dropout and augmentation (True or "visit", as in the definition of
    AUM, Pleiss et al. 2020, https://arxiv.org/abs/2001.10528), or those of the net "after" the epoch. Weights and history are
    written to `folder`; an interrupted training is resumed from there with the same result, and a finished one is loaded.
    `log` is called with the history after every epoch.

    >>> soft = SoftLabels.of([[.9, .1], [.2, .8]] * 8, range(16), ["no", "yes"])
    >>> trained = fit([[0., 1.], [1., 0.]] * 8, soft, net="linear", plan=Plan(epochs=60, lr=.1))
    >>> trained.predict([[0., 1.]]).prob.round(1)
    array([[0.9, 0.1]])
    """
    named_target = None if isinstance(target, SoftLabels | Votes) else target
    spec = TrainSpec.from_names_or_objects(
        named_target,
        net=net,
        loss=loss,
        head=head,
        plan=plan,
        augment=augment,
        augment_once=augment_once,
        record=record,
    )
    known = known or Supervision()
    if isinstance(target, SoftLabels | Votes):
        known, tasks = _supervision_with_target(target, known, spec.head), target.tasks if tasks is None else tasks
    rows = x if isinstance(x, Tensor) else np.asarray(x)
    names = _require_given_unique_task_names(tasks, len(rows))
    data = PreparedData.from_inputs_dropping_unusable_tasks(
        rows, spec, known, tasks=names, labels=labels, weight=weight
    )
    run = TrainingRun(
        spec,
        data,
        dev=dev,
        measures=measures,
        folder=folder,
        save_seconds=save_seconds,
        log=log,
        progress=progress,
        gold_used=[TRAINING_LABELS] if spec.target.trains_on_gold(known, data.tasks) else [],
    )
    return run.train_to_end()


def _require_given_unique_task_names(tasks: Iterable[object] | None, n_inputs: int) -> Names:
    """Return the names of the tasks; InputError if they are missing, not one per row of the inputs, or not unique."""
    if tasks is None:
        raise InputError("the inputs need the names of their tasks: give `tasks`, one for each row of x")
    names = as_names(tasks, "tasks")
    if len(names) != n_inputs:
        raise InputError(
            f"there are {n_inputs} inputs for {len(names)} tasks; give the task of each row of x in `tasks`"
        )
    if len(twice := duplicates(names)):
        raise InputError(f"the inputs name tasks twice: {first_few(twice)}")
    return names


def _supervision_with_target(target: SoftLabels | Votes, supervision: Supervision, head: Head | None) -> Supervision:
    """Return a copy of `supervision` that contains `target`, soft labels or votes; OptionError if the head needs votes."""
    if isinstance(target, SoftLabels):
        if head is not None and required_target_kind(head) == "votes":
            raise OptionError(
                f"{head.name()} is trained on votes, not on soft labels; give votes, or leave the head out"
            )
        return replace(supervision, soft=target)
    voted = SoftLabels.from_vote_shares(target).on(target.tasks_with_votes)
    return replace(supervision, votes=target, soft=voted if supervision.soft is None else supervision.soft)
