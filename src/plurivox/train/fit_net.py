"""`plurivox.train.fit`: train a net on inputs and a target."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from plurivox.core.array_types import Names
from plurivox.core.errors import InputError, OptionError
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.rows_by_task_name import (
    HOW_TO_NAME_ROWS,
    rows_with_task_names,
    select_rows_of_tasks,
    weights_by_row,
)
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

# inputs, true labels, and the tasks of the inputs unless these name them or the tasks are 0, 1, 2, ...
NamedDev = tuple[Any, SoftLabels] | tuple[Any, SoftLabels, Iterable[object] | str]


def fit(
    x: Any,
    target: SoftLabels | Votes | Target | str,
    *,
    tasks: Iterable[object] | str | None = None,
    known: Supervision | None = None,
    labels: Iterable[object] | None = None,
    net: str | Net = DEFAULT_NET,
    loss: str | Loss = DEFAULT_LOSS,
    head: str | Head | None = None,
    plan: Plan | None = None,
    dev: NamedDev | None = None,
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
    of a target. `known` holds the votes, gold and soft labels that a target given by name uses.

    Rows and labels meet by the name of the task, so rows may be in any order: `tasks` are the names of the rows of x, or the
    name of a column of x with them; without `tasks` x is a DataFrame whose index names the tasks, or a mapping {task: row}.
    Rows without names are accepted only if the tasks are the numbers 0, 1, 2, ... Rows whose task has no label are left out
    with a warning; a task of the target without a row is an error. `weight` is one number per row of x, or a mapping {task:
    weight}; tasks of weight 0 are left out.

    With `dev`, (inputs, true labels) or (inputs, true labels, tasks of the inputs), named like x, every epoch is evaluated by
    loss, accuracy and further `measures`, and `plan.best` chooses the best epoch. `augment` changes
    images at random in every epoch, or with `augment_once` once for the whole training. `record` stores the logits of every
    epoch as `Dynamics`: those of the training steps, with dropout and augmentation (True or "visit", as in the definition of
    AUM, Pleiss et al. 2020, https://arxiv.org/abs/2001.10528), or those of the net "after" the epoch. Weights and history are
    written to `folder`; an interrupted training is resumed from there with the same result, and a finished one is loaded.
    `log` is called with the history after every epoch.

    >>> soft = SoftLabels.of([[.9, .1], [.2, .8]] * 8, range(16), ["no", "yes"])
    >>> trained = fit([[0., 1.], [1., 0.]] * 8, soft, net="linear", plan=Plan(epochs=60, lr=.1))
    >>> trained.predict([[0., 1.]]).prob.round(1)
    array([[0.9, 0.1]])
    >>> votes = Votes.of(task=["cat.png", "ape.png"] * 2, worker=[1, 1, 2, 2], label=["cat", "ape"] * 2)
    >>> trained = fit([[0., 1.], [1., 0.]], votes, tasks=["cat.png", "ape.png"], net="linear", plan=Plan(epochs=60, lr=.1))
    >>> trained.predict([[0., 1.]]).hard().tolist()
    ['cat']
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
        known = _supervision_with_target(target, known, spec.head)
        x, names, weight = _rows_names_and_weights_of_target(x, target, tasks, weight)
    else:
        x, names, weight = _rows_names_and_weights_as_given(x, tasks, weight)
    data = PreparedData.from_inputs_dropping_unusable_tasks(
        x if isinstance(x, Tensor) else np.asarray(x), spec, known, tasks=names, labels=labels, weight=weight
    )
    run = TrainingRun(
        spec,
        data,
        dev=None if dev is None else _dev_in_order_of_truth(*dev),
        measures=measures,
        folder=folder,
        save_seconds=save_seconds,
        log=log,
        progress=progress,
        gold_used=[TRAINING_LABELS] if spec.target.trains_on_gold(known, data.tasks) else [],
    )
    return run.train_to_end()


def _rows_names_and_weights_of_target(
    x: Any, target: SoftLabels | Votes, tasks: Iterable[object] | str | None, weight: Any
) -> tuple[Any, Names, Any]:
    """Return the rows, names and weights of the tasks of the target that have a label, in its order; else InputError."""
    soft = isinstance(target, SoftLabels)
    wanted = target.tasks if isinstance(target, SoftLabels) else target.tasks_with_votes
    rows, place, given = select_rows_of_tasks(
        x, wanted, tasks, owner="soft labels" if soft else "votes", all_tasks=target.tasks
    )
    by_row = weights_by_row(weight, given)
    return rows, wanted, by_row if by_row is None else np.asarray(by_row)[place]


def _rows_names_and_weights_as_given(
    x: Any, tasks: Iterable[object] | str | None, weight: Any
) -> tuple[Any, Names, Any]:
    """Return all rows, their names and weights, in the order given; InputError if the rows have no names."""
    given = rows_with_task_names(x, tasks)
    if given.tasks is None:
        raise InputError(f"the rows of x need the names of their tasks; {HOW_TO_NAME_ROWS}")
    return given.rows, given.tasks, weights_by_row(weight, given)


def _dev_in_order_of_truth(x: Any, truth: SoftLabels, tasks: Iterable[object] | str | None = None) -> Dev:
    """Return (inputs, true labels) of the dev tasks in the same order; InputError if a task has no input."""
    rows, _, _ = select_rows_of_tasks(
        x,
        truth.tasks,
        tasks,
        owner="true labels of dev",
        all_tasks=truth.tasks,
        what="the inputs of dev",
        how_to_name_rows="give the task of each row: dev=(inputs, labels, tasks), or inputs that name their tasks as x does",
    )
    return rows if isinstance(rows, Tensor) else np.asarray(rows), truth


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
