"""fit: inputs and a target in, a trained net out."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from plurivox.core.encoding import as_names, duplicates
from plurivox.core.errors import InputError, OptionError, first_few
from plurivox.core.progress import Progress, no_progress
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Names
from plurivox.core.votes import Votes
from plurivox.train.data.augment import Augmentation
from plurivox.train.heads import Head
from plurivox.train.loop.dev_eval import Dev, Measure
from plurivox.train.loop.net_fit import Log, NetFit
from plurivox.train.loop.spec import Record, TrainSpec, wanted_by
from plurivox.train.loop.training_set import TrainingSet
from plurivox.train.losses import Loss
from plurivox.train.nets import Net
from plurivox.train.plan import DEFAULT_LOSS, DEFAULT_NET, Plan
from plurivox.train.result import Trained
from plurivox.train.targets import Supervision, Target


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
    known = known or Supervision()
    if isinstance(target, SoftLabels | Votes):
        known, tasks = _known_with(target, known, spec.head), target.tasks if tasks is None else tasks
    rows = x if isinstance(x, Tensor) else np.asarray(x)
    names = _task_names(tasks, len(rows))
    data = TrainingSet.of(rows, spec, known, tasks=names, labels=labels, weight=weight)
    begun = NetFit(
        spec, data, dev=dev, measures=measures, folder=folder, save_seconds=save_seconds, log=log, progress=progress
    )
    return begun.finish()


def _task_names(tasks: Iterable[object] | None, n_inputs: int) -> Names:
    """The task of each row of x; an InputError where they are not given, too many or too few, or name a task twice."""
    if tasks is None:
        raise InputError("the inputs need the names of their tasks: give tasks, one for each row of x")
    names = as_names(tasks, "tasks")
    if len(names) != n_inputs:
        raise InputError(
            f"there are {n_inputs} inputs for {len(names)} tasks; give the task of each row of x in `tasks`"
        )
    if len(twice := duplicates(names)):
        raise InputError(f"the inputs name tasks twice: {first_few(twice)}")
    return names


def _known_with(given: SoftLabels | Votes, known: Supervision, head: Head | None) -> Supervision:
    """What is known, with the labels or votes that were given in place of a target."""
    if isinstance(given, SoftLabels):
        if head is not None and wanted_by(head) == "votes":
            raise OptionError(
                f"{head.name()} learns from votes, not from soft labels; give votes, or leave the head out"
            )
        return replace(known, soft=given)
    voted = SoftLabels.of_votes(given).on(given.voted)
    return replace(known, votes=given, soft=voted if known.soft is None else known.soft)
