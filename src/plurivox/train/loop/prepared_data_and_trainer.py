"""PreparedData: checked inputs on the device with the labels of their tasks; and `build_trainer`, the trainer on them."""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from plurivox.core.array_types import Bools, Floats, Names
from plurivox.core.errors import InputError, first_few, warn_user
from plurivox.core.name_encoding import as_names, duplicates
from plurivox.train.data.image_augmentation import augment_once
from plurivox.train.data.input_tensors import to_input_tensor
from plurivox.train.data.text_encoding import Vocabulary
from plurivox.train.heads._contract import HeadContext, HeadModule
from plurivox.train.loop.rng import TrainRng
from plurivox.train.loop.train_spec import TrainSpec
from plurivox.train.loop.trainer import Trainer
from plurivox.train.targets._contract import Examples, Supervision
from plurivox.train.targets._shared.training_examples import copy_to_device


@dataclass(frozen=True, eq=False)
class PreparedData:
    """Checked inputs on the device with the labels of their tasks; row i of `x` is task i, and tasks are unique."""

    x: Tensor  # (n, *shape) on the device
    tasks: Names  # (n,)
    labels: Names  # (n_labels,) in the order of the net's outputs
    supervision: Supervision
    weight: Floats | None  # (n,)
    fingerprint: str  # checksum of the data
    left_out: Mapping[str, Names] = field(default_factory=dict)  # reason -> tasks that are not trained on
    words: Vocabulary | None = None  # of the word codes in x, for a net with word vectors

    @classmethod
    def from_inputs_dropping_unusable_tasks(
        cls,
        x: Tensor | NDArray[Any],
        spec: TrainSpec,
        supervision: Supervision,
        *,
        tasks: Names,
        labels: Iterable[object] | None = None,
        weight: Any = None,
        words: Vocabulary | None = None,
    ) -> Self:
        """Check inputs and weights, drop tasks without a target (with a warning) or of weight 0, and copy inputs to the device.

        `tasks` are the tasks of the rows of x, without duplicates: `fit` and `PreparedTraining.prepare_training` check that.
        """
        assert len(tasks) == len(x) and not len(duplicates(tasks)), "one row per task"
        used = spec.target.mask_of_tasks_with_target(supervision, tasks)  # (n_tasks,)
        left_out = {}
        if not used.all():
            left_out[f"no label for the target {spec.target_text}"] = tasks[~used]
            _warn_or_raise_tasks_without_target(spec.target_text, tasks[~used], len(tasks))
        weights = None if weight is None else _checked_task_weights(weight, tasks)
        if weights is not None:
            if (unweighted := used & (weights == 0)).any():
                left_out["a weight of 0"] = tasks[unweighted]
            used &= weights > 0
            weights = weights[used]
        if not used.any():
            raise InputError("no task is left to train on: none has a target and a weight above 0")
        kept = tasks[used]
        inputs = to_input_tensor(x if used.all() else x[used], spec.device, kept, spec.plan.channels_last)
        if spec.augment is not None and inputs.ndim != 4:
            raise InputError(
                f"{spec.augment.name()} changes images (channels, height, width); an input here has the shape "
                f"{tuple(inputs.shape[1:])}: leave augment out"
            )
        all_labels = supervision.merge_labels_of_votes_gold_and_soft() if labels is None else as_names(labels, "labels")
        checksum = _data_checksum(x, used, weights, supervision, kept)
        return cls(inputs, kept, all_labels, supervision, weights, checksum, left_out, words)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of the input of one task."""
        return tuple(self.x.shape[1:])


def build_trainer(spec: TrainSpec, data: PreparedData) -> Trainer:
    """Return a trainer for the spec on the data, with new weights, before its first epoch."""
    plan, x, augment = spec.plan, data.x, spec.augment
    rng = TrainRng(plan.seed, x.device)
    with rng.training_rng_as_global_rng_context():
        net, head = _build_net_and_head(spec, data)
    if augment is not None and spec.augment_once:
        x, augment = augment_once(augment, x, plan.seed), None
    if plan.engine == "auto" and spec.head is not None and not spec.head.capturable:
        plan = replace(plan, engine="eager")
    return Trainer(net, x, _build_weighted_examples(spec, data), spec.loss, plan, rng, head, augment)


def _build_net_and_head(spec: TrainSpec, data: PreparedData) -> tuple[nn.Module, HeadModule | None]:
    """Return new modules of net and head (None without a head) on the device; pretrained weights are loaded."""
    net, head, device = spec.net.build(data.input_shape, len(data.labels)), None, data.x.device
    spec.net.load_pretrained_and_vectors(net, data.words)
    if spec.head is not None:
        votes = data.supervision.votes
        task_votes = None if votes is None else votes.on(data.tasks).with_labels(data.labels)
        workers = np.empty(0, np.int64) if votes is None else votes.workers
        head = spec.head.build(net, HeadContext(data.input_shape, data.tasks, data.labels, workers, task_votes)).to(
            device
        )
    if spec.plan.channels_last and data.x.ndim == 4:
        net = net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return net.to(device), head


def _build_weighted_examples(spec: TrainSpec, data: PreparedData) -> Examples:
    """Return the training examples that the target makes of the data, weighted by the weights of their tasks."""
    examples = spec.target.make_examples(data.supervision, data.tasks, data.labels, data.x.device)
    if data.weight is not None:
        weight = copy_to_device(data.weight, data.x.device, torch.float32)
        weight = weight if examples.row is None else weight.index_select(0, examples.row)
        examples.weight = weight if examples.weight is None else examples.weight * weight
    return examples


def _warn_or_raise_tasks_without_target(target: str, dropped_tasks: Names, n_tasks: int) -> None:
    """Warn that `dropped_tasks` have no label for the target and are not trained on; InputError if these are all tasks."""
    if len(dropped_tasks) == n_tasks:
        raise InputError(
            f"none of the {n_tasks} tasks, such as {first_few(dropped_tasks)}, has a label for the target {target}; "
            "check that the task names match"
        )
    warn_user(
        f"{len(dropped_tasks)} of {n_tasks} tasks are left out, because they have no label for the target {target}: "
        f"{first_few(dropped_tasks)}"
    )


def _checked_task_weights(weight: Any, tasks: Names) -> Floats:
    """(n_tasks,) the weights of tasks as floats; InputError if one is missing, negative or not finite."""
    column = np.asarray(weight, np.float64)
    if column.shape != tasks.shape:
        raise InputError(f"there are {column.size} weights for {len(tasks)} inputs; give one weight per input")
    if not np.isfinite(column).all() or (column < 0).any():
        bad = ~np.isfinite(column) | (column < 0)
        raise InputError(f"weights must be 0 or more; check the tasks {first_few(tasks[bad])}")
    return column


def _data_checksum(x: Any, is_used: Bools, weight: Floats | None, supervision: Supervision, tasks: Names) -> str:
    """Return a checksum (8 hex digits) of inputs, weights, votes, soft and gold labels, task names and chosen tasks."""
    arrays: list[Any] = [np.asarray(x.cpu() if isinstance(x, Tensor) else x), is_used, weight]
    votes = supervision.votes
    arrays += [] if votes is None else [votes.task, votes.worker, votes.label, votes.weight]
    for soft in (supervision.soft, supervision.gold):
        arrays += [] if soft is None else [block for _, block in soft.rows()]
    checksum = 0
    for array in arrays:
        checksum = checksum if array is None else zlib.crc32(np.ascontiguousarray(array).data, checksum)
    names = repr(tasks.tolist()) + ("" if supervision.chosen is None else repr(sorted(supervision.chosen.tolist())))
    return f"{zlib.crc32(names.encode(), checksum):08x}"
