"""fit: inputs and a target in, a trained net out."""

import math
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from plurivox.core.errors import InputError, OptionError, PlurivoxError, PlurivoxWarning
from plurivox.core.progress import Watch, quiet
from plurivox.core.results import Dynamics
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.train.data.augment import Augmentation
from plurivox.train.heads import Head
from plurivox.train.loop.checkpoint import Checkpoint, refuse_other_training
from plurivox.train.loop.dev_eval import Dev, Judge, Measure
from plurivox.train.loop.early_stopping import Keeper
from plurivox.train.loop.job import Job
from plurivox.train.loop.predict import see
from plurivox.train.loop.spec import Asked, ask
from plurivox.train.loop.trainer import Pause, Training
from plurivox.train.losses import Loss
from plurivox.train.nets import Net
from plurivox.train.parallel.scheduler import Fitting, finished
from plurivox.train.plan import Plan
from plurivox.train.result import WEIGHTS, Trained
from plurivox.train.targets import Target
from plurivox.train.targets._contract import Known

Record = bool | Literal["visit", "after"]
Log = Callable[[Mapping[str, Sequence[float]]], None]  # of the history so far, a column a name
TRY = "try a lower learning rate, a clipped gradient (clip=1) or precision=float32, and look for wild inputs"


def fitting(
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
    pause: Pause = "epoch",
) -> Fitting:
    """Train a net on inputs `x`, a row a task.

    `target` is what to teach: soft labels, votes (their shares; with a head the votes themselves), or a target by name that
    looks at what is `known`. Rows of x are the tasks of the target in their order, or those named in `tasks`; tasks that
    weigh 0 are left out. With `dev`, inputs and true labels, every epoch is measured by loss, accuracy and further
    `measures`, and the plan says which epoch is best. `augment` changes images anew at every visit, or `augment_once` for
    the whole training. `record` keeps the logits of every epoch as `Dynamics`: as they were at the visit, with dropout
    and augmentation (True or "visit": what AUM is defined on, Pleiss et al. 2020, https://arxiv.org/abs/2001.10528), or
    "after" the epoch, as the net predicts. A `folder` takes weights and history; a training that was killed goes on there
    with the same result, and one that has ended is read again. `log` is told the history after every epoch.

    A `fitting` pauses after every epoch, or after every step, so that several may train side by side, or before every epoch
    for one `Stack` that takes the steps of all; `fit` goes on to the end.

    >>> soft = SoftLabels.of([[.9, .1], [.2, .8]] * 8, range(16), ["no", "yes"])
    >>> trained = fit([[0., 1.], [1., 0.]] * 8, soft, net="linear", plan=Plan(epochs=60, lr=.1))
    >>> trained.predict([[0., 1.]]).prob.round(1)
    array([[0.9, 0.1]])
    """
    plan, rows = plan or Plan(), x if isinstance(x, Tensor) else np.asarray(x)
    asked = ask(len(rows), target, tasks=tasks, known=known, labels=labels, head=head, weight=weight)
    job = Job.of(rows, asked, net, loss, plan, augment, augment_once)
    made_by = job.made_by(rows) | {"record": _how(record), "dev": 0 if dev is None else len(dev[1])}
    saved = None if folder is None else Checkpoint(Path(folder), made_by, asked.labels, save_seconds)
    if saved is not None and (done := _finished(saved, plan)) is not None:
        return done
    training = job.training()
    if _how(record) == "visit":
        _refuse_changed_inputs(training, asked)
    judge = Judge(dev, measures or {}, asked.labels, training.net, job.loss, plan, job.inputs.device)
    keeper = Keeper(plan, training.net, training.head)
    logits = yield from _run(training, keeper, judge, saved, record, log, watch, pause)
    _warn_of_no_value(keeper, plan)
    keeper.put_back()
    trained = _trained(keeper, training, asked, made_by, logits)
    if saved is not None:
        trained.save(saved.folder)
        saved.remove()
    return trained


def _warn_of_no_value(keeper: Keeper, plan: Plan) -> None:
    if keeper.value is not None and math.isnan(keeper.value):
        told = f"{plan.best} had no value on the dev tasks in any epoch; the weights are those of epoch {keeper.epoch}"
        warnings.warn(told, PlurivoxWarning, stacklevel=4)


fit = finished(fitting)


def _how(record: Record) -> str:
    return "visit" if record is True else record or ""


def _refuse_changed_inputs(training: Training, asked: Asked) -> None:
    """Logits of mixtures would be taken for those of tasks."""
    if training.head is not None and training.head.changes_inputs and asked.head is not None:
        raise OptionError(
            f"{asked.head.name()} shows the net mixtures, whose logits are not those of a task; record them after the epoch: "
            'record="after" (on the command line --record after)'
        )


def _run(
    training: Training,
    keeper: Keeper,
    judge: Judge,
    saved: Checkpoint | None,
    record: Record,
    log: Log | None,
    watch: Watch,
    pause: Pause,
) -> Generator[Training | None, None, list[np.ndarray[Any, Any]]]:
    """Train to the end, or until it is enough; the logits recorded."""
    step, plan = training.step, training.plan
    logits = [] if saved is None else saved.resume(training, keeper)
    if record and record != "after":
        step.seen = torch.zeros((len(step.x), len(judge.labels)), device=step.x.device)
    if keeper.stopped:
        return logits
    for epoch in training.run(pause):
        if epoch is None:
            yield training
            continue
        if not epoch.finite:
            _stop_at_nan(keeper, epoch.number)
            break
        if record:
            now = step.seen if step.seen is not None else see(training.net, step.x, plan)
            logits.append(now.float().cpu().numpy().copy())
        enough = keeper.look(epoch, judge())
        if saved is not None:
            saved.save(training, keeper, logits, now=enough)
        if log is not None:
            log(keeper.history)
        watch(epoch.number, plan.epochs, epoch.loss)
        if enough:
            break
        yield None
    return logits


def _stop_at_nan(keeper: Keeper, epoch: int) -> None:
    if keeper.epoch < 0:
        raise PlurivoxError(f"the loss is no number in the first epoch; {TRY}")
    keeper.stopped = f"the loss is no number in epoch {epoch}"
    warnings.warn(
        f"{keeper.stopped}: training stops with the weights of epoch {keeper.epoch}; {TRY}",
        PlurivoxWarning,
        stacklevel=4,
    )


def _finished(saved: Checkpoint, plan: Plan) -> Trained | None:
    """The training that has ended in this folder, where there is one."""
    folder = saved.folder
    if not folder.is_dir():
        raise InputError(f"the folder {folder} for the training does not exist; make it first")
    if not (folder / WEIGHTS).is_file():
        return None
    trained = Trained.load(folder, device=plan.device, labels=saved.labels, trust=saved.made_by["net"])
    refuse_other_training(trained.made_by, saved.made_by, folder)
    saved.remove()
    return trained


def _trained(
    keeper: Keeper,
    training: Training,
    asked: Asked,
    made_by: Mapping[str, Any],
    logits: list[np.ndarray[Any, Any]],
) -> Trained:
    columns = {name: tuple(column) for name, column in keeper.history.items()}
    recorded = Dynamics(np.stack(logits), asked.tasks, asked.labels) if logits else None
    net, head, x = training.net.eval(), training.head, training.step.x
    trained = Trained(net, asked.labels, made_by, columns, keeper.epoch, keeper.stopped, recorded)
    if head is None:
        return trained
    soft = trained.predict(x, asked.tasks)
    with torch.no_grad():
        return replace(trained, fit=head.eval().fit_result(soft, x, see(net, x)))
