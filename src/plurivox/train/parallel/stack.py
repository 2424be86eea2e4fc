"""Stack: several runs of one training as one net with all their weights, so that a step costs its overhead once."""

import math
from collections.abc import Hashable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from plurivox.train.heads import Head
from plurivox.train.heads._contract import Attached, Batch
from plurivox.train.loop.optim import forget, make_optimizer, rate, set_rate
from plurivox.train.loop.step import losses_of
from plurivox.train.loop.trainer import Training
from plurivox.train.loop.worker_table import Rows
from plurivox.train.nets import Net
from plurivox.train.parallel.stacked_net import Stacked
from plurivox.train.plan import Plan
from plurivox.train.targets._contract import Drawn, Said

CELLS = 2**20  # weights and inputs of a step in one stack: with gradients and moments 16 MB, about what a cache holds
INPUT_CELLS = 2**28  # numbers of all inputs, where every run has its own


def runs_at_once(net: Net, head: Head | None, plan: Plan, x: "tuple[int, ...]", n_labels: int) -> int:
    """How many runs on inputs of the shape `x` (n, ...) are best stacked to one net; 1: they are trained one by one.

    Only nets of dense layers on a CPU are stacked, with no head or one that can be; and only while all that a step touches
    stays in a cache: beyond that the matrices are large enough to keep the cores busy, and a stack is slower.
    """
    plain = plan.engine in ("auto", "eager") and plan.precision == "float32" and plan.accumulate == 1
    if not (plain and net.dense and (head is None or head.stacks)):
        return 1
    with torch.device("meta"):
        weights = sum(one.numel() for one in net.build(x[1:], n_labels).parameters())
    touched, held = weights + plan.batch * math.prod(x[1:]), math.prod(x)
    return max(1, min(CELLS // touched, INPUT_CELLS // max(held, 1)))


def mould(training: Training) -> Hashable:
    """What must be the same in several trainings, that they may be stacked: all but the seed and what is learnt."""
    head, lessons, step = training.head, training.lessons, training.step
    shapes = step.x.shape[1:], lessons.n_visits, lessons.most, lessons.weight is None
    kind = None if head is None else (type(head), head.mould())
    return str(training.net), replace(training.plan, seed=0), step.loss, shapes, kind


class Stack:
    """Trainings of one mould that stand at the same epoch.

    Their weights, and what their optimizers remember, are slices of the stack's own: between two epochs each can be measured,
    saved and stopped as if it were alone. Each draws its orders, lessons and masks from its own chance.
    """

    def __init__(self, trainings: Sequence[Training]) -> None:
        self.trainings, first = tuple(trainings), trainings[0]
        self.plan, self.loss, self.done = first.plan, first.step.loss, first.done
        self.net = Stacked([one.net for one in trainings])
        self.head: Attached | None = None
        if first.head is not None:
            self.head = first.head.stacked([one.head for one in trainings if one.head is not None], self.net)
        modules = [self.net] if self.head is None else [self.net, self.head]
        self.params = [p for module in modules for p in module.parameters() if p.requires_grad]
        self.tables = [one for module in modules for one in module.modules() if isinstance(one, Rows)]
        self.optimizer = make_optimizer(self.plan, self.params, False)
        self._remember()
        self.shared = False  # whether the runs' own optimizers know what ours remembers
        self.total = torch.zeros(len(trainings), dtype=torch.float64)

    def run_epoch(self) -> None:
        """Take the steps of the next epoch for all of them, and tell each the sum of its losses."""
        plan, n = self.plan, self.trainings[0].lessons.n_visits
        per_epoch = math.ceil(n / plan.batch)
        if plan.restart and self.done in plan.stages():
            forget(self.optimizer)
            for table in self.tables:
                table.restart()
        self.total.zero_()
        for one in self.trainings:
            with one.chance.taken():
                one.look()
        orders = torch.stack([torch.randperm(n, generator=one.chance.draws) for one in self.trainings])  # (n_runs, n)
        with ExitStack() as held:
            self.net.take_chances([held.enter_context(one.chance.lent()) for one in self.trainings])
            for i, visits in enumerate(orders.split(plan.batch, 1)):
                set_rate(self.optimizer, rate(plan, self.done * per_epoch + i, per_epoch))
                self._learn(visits)
        if not self.shared:
            self._share()
        self.done += 1
        for one, total in zip(self.trainings, self.total, strict=True):
            one.step.total.copy_(total)
            one.stepped = True

    def _learn(self, visits: Tensor) -> None:
        """One step; `visits` (n_runs, n)."""
        self.optimizer.zero_grad(set_to_none=True)
        each = self._losses(visits).view(visits.shape).sum(1)  # (n_runs,)
        total = each.sum()
        (total / visits.shape[1] if self.plan.reduction == "mean" else total).backward()
        if self.plan.clip is not None:
            self._clip(self.plan.clip)
        self.optimizer.step()
        for table in self.tables:
            table.step(self.plan, self.optimizer.param_groups[0]["lr"])
        self.total += each.detach()

    def _losses(self, visits: Tensor) -> Tensor:
        """(n_runs * n,) the loss of each lesson."""
        every = [one.step.batch(mine) for one, mine in zip(self.trainings, visits, strict=True)]
        batch = _joined(every)
        logits = self.net(batch.x)
        for one, own_batch, said in zip(self.trainings, every, logits.chunk(len(every)), strict=True):
            one.step.remember(own_batch.rows, said)
        each = losses_of(logits, batch, self.head, self.loss)
        weights = [one.lessons.weight for one in self.trainings]
        weighed = [held.index_select(0, mine) for held, mine in zip(weights, visits, strict=True) if held is not None]
        return each * torch.cat(weighed) if weighed else each

    def _clip(self, most: float) -> None:
        """Cut the norm of each run's gradient, as `clip_grad_norm_` cuts that of one."""
        n_runs = len(self.trainings)
        grads = [p.grad.view(n_runs, -1) for p in self.params if p.grad is not None]
        grads += [table.grad.view(n_runs, -1) for table in self.tables]
        norm = torch.stack([one.norm(dim=1) for one in grads]).norm(dim=0)  # (n_runs,)
        share = (most / (norm + 1e-6)).clamp(max=1.0)[:, None]
        for one in grads:
            one.mul_(share)

    def _remember(self) -> None:
        """Go on with what the optimizers of the runs remember."""
        for i, param in enumerate(self.params):
            known = [one.optimizer.state[one.step.params[i]] for one in self.trainings]
            if known[0]:
                self.optimizer.state[param] = {name: _whole([one[name] for one in known]) for name in known[0]}

    def _share(self) -> None:
        """Make what the runs' own optimizers remember slices of what ours does; only its first step makes it."""
        for i, param in enumerate(self.params):
            for run, one in enumerate(self.trainings):
                held = self.optimizer.state[param]
                one.optimizer.state[one.step.params[i]] = {name: _slice(value, run) for name, value in held.items()}
        self.shared = True


def _whole(values: Sequence[Any]) -> Any:
    """What several optimizers remember under one name; steps are counted once."""
    first = values[0]
    if not isinstance(first, Tensor):
        return first
    return torch.stack(list(values)) if first.ndim else first.clone()


def _slice(value: Any, run: int) -> Any:
    return value[run] if isinstance(value, Tensor) and value.ndim else value


def _joined(every: Sequence[Batch]) -> Batch:
    """The batches of all runs, one after another."""
    x, rows = (torch.cat([getattr(one, name) for one in every]) for name in ("x", "rows"))
    return Batch(x, rows, _joined_drawn([one.drawn for one in every]))


def _joined_drawn(drawn: Sequence[Drawn]) -> Drawn:
    first = drawn[0]
    if isinstance(first, Tensor):
        return torch.cat([one for one in drawn if isinstance(one, Tensor)])
    if isinstance(first, Said):
        said = [one for one in drawn if isinstance(one, Said)]
        return Said(*(torch.cat([getattr(one, name) for one in said]) for name in ("worker", "label", "weight")))
    main, soft = zip(*(one for one in drawn if isinstance(one, tuple)), strict=True)
    return torch.cat(main), torch.cat(soft)


def own(module: nn.Module) -> None:
    """Give a module memory of its own again, so that it keeps no stack alive."""
    for held in (*module.parameters(), *module.buffers()):
        held.data = held.data.clone()
