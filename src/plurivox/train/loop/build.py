"""A trainer for a spec and its data: the net, the head on it and the examples are built here."""

from dataclasses import replace

import numpy as np
import torch
from torch import nn

from plurivox.train.data.augment import frozen
from plurivox.train.heads._contract import Attached, Scene
from plurivox.train.loop.rng import TrainRng
from plurivox.train.loop.spec import TrainSpec
from plurivox.train.loop.trainer import Trainer
from plurivox.train.loop.training_set import TrainingSet
from plurivox.train.targets._contract import Examples
from plurivox.train.targets._shared.examples import on_device


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


def _build_net(spec: TrainSpec, data: TrainingSet) -> tuple[nn.Module, Attached | None]:
    """Net and head with new weights, on the device."""
    net, head, device = spec.net.build(data.shape, len(data.labels)), None, data.x.device
    spec.net.start(net)
    if spec.head is not None:
        votes = data.known.votes
        mine = None if votes is None else votes.on(data.tasks).with_labels(data.labels)
        workers = np.empty(0, np.int64) if votes is None else votes.workers
        head = spec.head.build(net, Scene(data.shape, data.tasks, data.labels, workers, mine)).to(device)
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
