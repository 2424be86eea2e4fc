"""fit: inputs and a target in, a trained net out."""

import json
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

import plurivox
from plurivox.core.errors import InputError, PlurivoxError, PlurivoxWarning
from plurivox.core.labels import SoftLabels
from plurivox.core.names import Names
from plurivox.core.results import Dynamics
from plurivox.core.votes import Votes
from plurivox.core.watch import Watch, quiet
from plurivox.train import losses, nets
from plurivox.train.asking import Asked, ask, fingerprint
from plurivox.train.chance import Chance
from plurivox.train.heads import Head
from plurivox.train.heads._contract import Attached, Scene
from plurivox.train.inputs import as_inputs, device_of
from plurivox.train.judging import Dev, Judge, Measure
from plurivox.train.keeping import Checkpoint, Keeper, refuse_other_training
from plurivox.train.loop import Training
from plurivox.train.losses import Loss
from plurivox.train.nets import Net
from plurivox.train.plan import Plan
from plurivox.train.seeing import see
from plurivox.train.steps import Augment
from plurivox.train.targets import Target
from plurivox.train.targets._contract import Known, Lessons
from plurivox.train.targets._lessons import on_device
from plurivox.train.trained import WEIGHTS, Trained

Record = bool | Literal["visit", "after"]
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
    augment: Augment | None = None,
    record: Record = False,
    folder: str | Path | None = None,
    save_seconds: float = 1.0,
    watch: Watch = quiet,
) -> Trained:
    """Train a net on inputs `x`, a row a task.

    `target` is what to teach: soft labels, votes (their shares; with a head the votes themselves), or a target by name that
    looks at what is `known`. Rows of x are the tasks of the target in their order, or those named in `tasks`; tasks that
    weigh 0 are left out. With `dev`, inputs and true labels, every epoch is measured by loss, accuracy and further
    `measures`, and the plan says which epoch is best. `record` keeps the logits of every epoch as `Dynamics`: as they
    were at the visit, with dropout and augmentation (True or "visit": this is what AUM is defined on, Pleiss et al. 2020,
    https://arxiv.org/abs/2001.10528), or "after" the epoch as the net predicts. A `folder` takes weights and history; a
    training that was killed goes on there with the same result, and one that has ended is read again.

    >>> soft = SoftLabels.of([[.9, .1], [.2, .8]] * 8, range(16), ["no", "yes"])
    >>> trained = fit([[0., 1.], [1., 0.]] * 8, soft, net="linear", plan=Plan(epochs=60, lr=.1))
    >>> trained.predict([[0., 1.]]).prob.round(1)
    array([[0.9, 0.1]])
    """
    plan, rows = plan or Plan(), x if isinstance(x, Tensor) else np.asarray(x)
    asked = ask(len(rows), target, tasks=tasks, known=known, labels=labels, head=head, weight=weight)
    maker, taught_loss = nets.methods.make(net), losses.methods.make(loss)
    device = device_of(plan.device)
    mine = rows if asked.taught.all() else rows[asked.taught]
    inputs = as_inputs(mine, device, asked.tasks, plan.channels_last)
    maker = maker.sized_for(inputs)
    made_by = _made_by(maker, asked, taught_loss, plan, rows, inputs)
    if folder is not None and (done := _finished(Path(folder), made_by, asked.labels, plan)) is not None:
        return done
    chance = Chance(plan.seed, device)
    with chance.taken():
        module, on_top = _build(maker, asked, inputs, plan)
    lessons = asked.target.lessons(asked.known, asked.tasks, asked.labels, device)
    _weigh(lessons, asked, device)
    training = Training(module, inputs, lessons, taught_loss, plan, chance, on_top, augment)
    judge = Judge(dev, measures or {}, asked.labels, module, taught_loss, plan, device)
    keeper = Keeper(plan, module, on_top)
    saved = None if folder is None else Checkpoint(Path(folder), made_by, asked.labels, save_seconds)
    logits = _run(training, keeper, judge, saved, record, watch)
    keeper.put_back()
    trained = _trained(keeper, module, on_top, asked, made_by, inputs, logits)
    if saved is not None:
        trained.save(saved.folder)
        saved.remove()
    return trained


def _run(
    training: Training, keeper: Keeper, judge: Judge, saved: Checkpoint | None, record: Record, watch: Watch
) -> list[np.ndarray[Any, Any]]:
    """Train to the end, or until it is enough; the logits recorded."""
    step, plan = training.step, training.plan
    logits = [] if saved is None else saved.resume(training, keeper)
    if record and record != "after":
        step.seen = torch.zeros((len(step.x), len(judge.labels)), device=step.x.device)
    if keeper.stopped:
        return logits
    for epoch in training.run():
        if not epoch.finite:
            _stop_at_nan(keeper, epoch.number)
            break
        if record:
            now = step.seen if step.seen is not None else see(training.net, step.x, plan)
            logits.append(now.float().cpu().numpy().copy())
        enough = keeper.look(epoch, judge())
        if saved is not None:
            saved.save(training, keeper, logits, now=enough)
        watch(epoch.number, plan.epochs, epoch.loss)
        if enough:
            break
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


def _build(maker: Net, asked: Asked, inputs: Tensor, plan: Plan) -> tuple[nn.Module, Attached | None]:
    shape = tuple(inputs.shape[1:])
    module = maker.build(shape, len(asked.labels))
    maker.start(module)
    on_top = None
    if asked.head is not None:
        votes = asked.known.votes
        mine = None if votes is None else votes.on(asked.tasks).with_labels(asked.labels)
        workers = np.empty(0, np.int64) if votes is None else votes.workers
        on_top = asked.head.build(module, Scene(shape, asked.tasks, asked.labels, workers, mine)).to(inputs.device)
    if plan.channels_last and inputs.ndim == 4:
        module = module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return module.to(inputs.device), on_top


def _weigh(lessons: Lessons, asked: Asked, device: torch.device) -> None:
    """Give every lesson the weight of its task."""
    if asked.weight is not None:
        own = on_device(asked.weight, device, torch.float32)
        own = own if lessons.row is None else own.index_select(0, lessons.row)
        lessons.weight = own if lessons.weight is None else lessons.weight * own


def _made_by(maker: Net, asked: Asked, loss: Loss, plan: Plan, x: Any, inputs: Tensor) -> dict[str, Any]:
    return {
        "net": maker.word,
        "shape": list(inputs.shape[1:]),
        "target": asked.target.word,
        "loss": loss.word,
        "head": "" if asked.head is None else asked.head.word,
        "plan": plan.word,
        "tasks": len(asked.tasks),
        "data": fingerprint(x.cpu() if isinstance(x, Tensor) else x, asked),
        "versions": {"plurivox": plurivox.__version__, "torch": torch.__version__},
    }


def _finished(folder: Path, made_by: Mapping[str, Any], labels: Names, plan: Plan) -> Trained | None:
    """The training that has ended in this folder, where there is one."""
    if not folder.is_dir():
        raise InputError(f"the folder {folder} for the training does not exist; make it first")
    if not (folder / WEIGHTS).is_file():
        return None
    trained = Trained.load(folder, device=plan.device, labels=labels)
    refuse_other_training(trained.made_by, json.loads(json.dumps(made_by)), folder)
    return trained


def _trained(
    keeper: Keeper,
    module: nn.Module,
    on_top: Attached | None,
    asked: Asked,
    made_by: Mapping[str, Any],
    inputs: Tensor,
    logits: list[np.ndarray[Any, Any]],
) -> Trained:
    columns = {name: tuple(column) for name, column in keeper.history.items()}
    recorded = Dynamics(np.stack(logits), asked.tasks, asked.labels) if logits else None
    trained = Trained(module.eval(), asked.labels, made_by, columns, keeper.epoch, keeper.stopped, recorded)
    learnt = None
    if on_top is not None:
        soft = trained.predict(inputs, asked.tasks)
        with torch.no_grad():
            learnt = on_top.eval().fit_result(soft, inputs, see(module, inputs))
    return Trained(module, asked.labels, made_by, columns, keeper.epoch, keeper.stopped, recorded, learnt)
