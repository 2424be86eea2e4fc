"""TrainingSet: inputs and labels of the tasks that are trained on, and the trainer that a spec makes of them."""

import warnings
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from plurivox.core.encoding import as_names, duplicates
from plurivox.core.errors import InputError, PlurivoxWarning, first_few
from plurivox.core.types import Bools, Floats, Names
from plurivox.train.data.augment import frozen
from plurivox.train.data.inputs import as_inputs
from plurivox.train.heads._contract import HeadContext, HeadModule
from plurivox.train.loop.rng import TrainRng
from plurivox.train.loop.spec import TrainSpec
from plurivox.train.loop.trainer import Trainer
from plurivox.train.targets import Target
from plurivox.train.targets._contract import Examples, Supervision
from plurivox.train.targets._shared.examples import on_device


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Inputs and labels of the tasks that are trained on; row i of `x` is task i, and no task is there twice."""

    x: Tensor  # (n, *shape) on the device
    tasks: Names  # (n,)
    labels: Names
    known: Supervision
    weight: Floats | None  # (n,)
    fingerprint: str  # changes when the data do

    @classmethod
    def of(
        cls,
        x: Tensor | NDArray[Any],
        spec: TrainSpec,
        known: Supervision,
        *,
        tasks: Names,
        labels: Iterable[object] | None = None,
        weight: Any = None,
    ) -> Self:
        """Check inputs and weights, and leave out tasks without a target (with a warning) or of weight 0.

        `tasks` is the task of each row of x, none twice: `fit` and `PreparedTraining.of` check it.
        """
        assert len(tasks) == len(x) and not len(duplicates(tasks)), "one row per task"
        taught = spec.target.teaches(known, tasks)
        if not taught.all():
            _warn_untaught(spec.target, tasks[~taught], len(tasks))
        weights = None if weight is None else _checked_weights(weight, tasks)
        if weights is not None:
            taught &= weights > 0
            weights = weights[taught]
        if not taught.any():
            raise InputError("no task is left to learn from: none has a target and a weight above 0")
        mine = tasks[taught]
        kept = x if taught.all() else x[taught]
        inputs = as_inputs(kept, spec.device, mine, spec.plan.channels_last)
        if spec.augment is not None and inputs.ndim != 4:
            raise InputError(
                f"{spec.augment.name()} changes images (channels, height, width); an input here has the shape "
                f"{tuple(inputs.shape[1:])}: leave augment out"
            )
        listed = known.labels() if labels is None else as_names(labels, "labels")
        return cls(inputs, mine, listed, known, weights, _fingerprint(x, taught, weights, known, mine))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return tuple(self.x.shape[1:])


def build_trainer(spec: TrainSpec, data: TrainingSet) -> Trainer:
    """The trainer, before its first epoch."""
    plan, x, augment = spec.plan, data.x, spec.augment
    rng = TrainRng(plan.seed, x.device)
    with rng.active():
        net, head = _build_net(spec, data)
    if augment is not None and spec.augment_once:
        x, augment = frozen(augment, x, plan.seed), None
    if plan.engine == "auto" and spec.head is not None and not spec.head.records:
        plan = replace(plan, engine="eager")
    return Trainer(net, x, _build_examples(spec, data), spec.loss, plan, rng, head, augment)


def _build_net(spec: TrainSpec, data: TrainingSet) -> tuple[nn.Module, HeadModule | None]:
    """Net and head with new weights, on the device."""
    net, head, device = spec.net.build(data.shape, len(data.labels)), None, data.x.device
    spec.net.start(net)
    if spec.head is not None:
        votes = data.known.votes
        mine = None if votes is None else votes.on(data.tasks).with_labels(data.labels)
        workers = np.empty(0, np.int64) if votes is None else votes.workers
        head = spec.head.build(net, HeadContext(data.shape, data.tasks, data.labels, workers, mine)).to(device)
    if spec.plan.channels_last and data.x.ndim == 4:
        net = net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return net.to(device), head


def _build_examples(spec: TrainSpec, data: TrainingSet) -> Examples:
    """The examples of the target, each with the weight of its task."""
    examples = spec.target.examples(data.known, data.tasks, data.labels, data.x.device)
    if data.weight is not None:
        own = on_device(data.weight, data.x.device, torch.float32)
        own = own if examples.row is None else own.index_select(0, examples.row)
        examples.weight = own if examples.weight is None else examples.weight * own
    return examples


def _warn_untaught(target: Target, names: Names, n: int) -> None:
    if len(names) == n:
        raise InputError(
            f"{target.name()} has nothing to teach about any of the {n} tasks, such as {first_few(names)}; do the names match?"
        )
    warnings.warn(
        f"{len(names)} of {n} tasks are left out: {target.name()} has nothing to teach about {first_few(names)}",
        PlurivoxWarning,
        stacklevel=4,
    )


def _checked_weights(weight: Any, names: Names) -> Floats:
    column = np.asarray(weight, np.float64)
    if column.shape != names.shape:
        raise InputError(f"there are {column.size} weights for {len(names)} inputs; give one each")
    if not np.isfinite(column).all() or (column < 0).any():
        bad = ~np.isfinite(column) | (column < 0)
        raise InputError(f"weights must be 0 or more; look at the tasks {first_few(names[bad])}")
    return column


def _fingerprint(x: Any, taught: Bools, weight: Floats | None, known: Supervision, tasks: Names) -> str:
    """A checksum of inputs, weights, labels and task names."""
    parts: list[Any] = [np.asarray(x.cpu() if isinstance(x, Tensor) else x), taught, weight]
    votes = known.votes
    parts += [] if votes is None else [votes.task, votes.worker, votes.label, votes.weight]
    for soft in (known.soft, known.gold):
        parts += [] if soft is None else [block for _, block in soft.rows()]
    checksum = 0
    for part in parts:
        checksum = checksum if part is None else zlib.crc32(np.ascontiguousarray(part).data, checksum)
    return f"{zlib.crc32(repr(tasks.tolist()).encode(), checksum):08x}"
