"""Trainer: one net being fitted, step by step and epoch by epoch."""

import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from plurivox.core.errors import InputError, OptionError, PlurivoxError, PlurivoxWarning
from plurivox.train.heads._contract import HeadModule
from plurivox.train.loop.cuda_graph import GraphStep
from plurivox.train.loop.optim import NetOptimizer, rate
from plurivox.train.loop.rng import TrainRng
from plurivox.train.losses import Loss
from plurivox.train.plan import Plan
from plurivox.train.result import predict_logits
from plurivox.train.targets._contract import Batch, Examples

Augment = Callable[[Tensor, torch.Generator], Tensor]


@dataclass(frozen=True, slots=True)
class StepDone:
    """A step was taken."""

    epoch: int  # from 0
    step: int  # within the epoch, from 0


@dataclass(frozen=True, slots=True, eq=False)
class EpochDone:
    """An epoch has ended."""

    epoch: int  # from 0
    loss: float  # mean over the examples, as they were learnt
    lr: float  # learning rate of the last step
    seconds: float
    finite: bool  # whether loss and weights are finite
    logits: Tensor | None  # (n_tasks, n_labels) of every task when it was last learnt from, where they are recorded


Event = StepDone | EpochDone


class Trainer:
    """A net that is fitted in place. `x[i]` is the input of task i of the examples; everything lies on one device.

    `run` takes all steps and yields an event after every epoch, or after every step too. A `Stack` drives several trainers
    at once by `begin_epoch`, `batch`, `record` and `end_epoch`, and takes their steps itself. What is done with the events
    (evaluating, saving, stopping early) is the caller's business.
    """

    def __init__(
        self,
        net: nn.Module,
        x: Tensor,
        examples: Examples,
        loss: Loss,
        plan: Plan,
        rng: TrainRng,
        head: HeadModule | None = None,
        augment: Augment | None = None,
    ) -> None:
        if not examples.n_examples:
            raise InputError("there is nothing to learn: no example is left")
        self.net, self.head, self.x, self.examples, self.loss = net, head, x, examples, loss
        self.plan, self.rng, self.augment = plan, rng, augment
        graphs, modules = uses_graphs(plan, x.device), [net] if head is None else [net, head]
        self.steps_per_epoch = math.ceil(examples.n_examples / plan.batch)
        self.optimizer = NetOptimizer(plan, modules, self.steps_per_epoch, recorded=graphs)
        self.epoch = 0  # the next one, or the one under way
        self.total = torch.zeros((), device=x.device, dtype=torch.float64)  # sum of the losses of this epoch
        self.recorded: Tensor | None = None  # (n_tasks, n_labels) logits as last learnt from
        self.parts, self.autocast, self.caches_casts = plan.accumulate, plan.precision == "bfloat16", not graphs
        self._forward: Callable[[Tensor], Tensor] = torch.compile(net) if plan.engine == "compile" else net
        self._step = self.plain_step
        if graphs:
            self._step = GraphStep(self.plain_step, self._learn, self.optimizer, plan, rng.draws)
        self._begun = time.perf_counter()

    def record_logits(self, n_labels: int) -> None:
        """From now on keep the logits of every task as it is learnt from."""
        self.recorded = torch.zeros((len(self.x), n_labels), device=self.x.device)

    # ---- epochs

    def run(self, every_step: bool = False) -> Iterator[Event]:
        """Train from the epoch it stands at to the end of the plan; pause after every epoch, or after every step too."""
        while self.epoch < self.plan.epochs:
            with self.rng.active():
                self.optimizer.restart(self.epoch)
                batches = self.begin_epoch()
                if not every_step:
                    for i, indices in enumerate(batches):
                        self.step(i, indices)
            if every_step:
                for i, indices in enumerate(batches):
                    with self.rng.active():
                        self.step(i, indices)
                    yield StepDone(self.epoch, i)
            yield self.end_epoch(self.total)

    def begin_epoch(self) -> tuple[Tensor, ...]:
        """Prepare net and head, and draw the order: the examples of every batch."""
        self._begun = time.perf_counter()
        if self.head is not None:
            self.head.train()
            self.head.before_epoch(self.epoch, lambda: predict_logits(self.net, self.x, self.plan))
        self.net.train()
        self.total.zero_()
        order = torch.randperm(self.examples.n_examples, generator=self.rng.draws, device=self.x.device)
        return order.split(self.plan.batch)

    def end_epoch(self, total: Tensor) -> EpochDone:
        """Count the epoch; `total` is the sum of its losses."""
        mean, epoch = float(total) / self.examples.n_examples, self.epoch
        finite = self.optimizer.is_finite() and math.isfinite(mean)
        self.epoch += 1
        lr = rate(self.plan, self.epoch * self.steps_per_epoch - 1, self.steps_per_epoch)
        return EpochDone(epoch, mean, lr, time.perf_counter() - self._begun, finite, self.recorded)

    # ---- steps

    def step(self, step: int, indices: Tensor) -> None:
        """Take a step of the epoch under way on these examples; never waits for the device."""
        self.optimizer.schedule(self.epoch, step)
        self._step(indices)

    def plain_step(self, indices: Tensor) -> None:
        """The same without a CUDA graph; where memory runs out the batch is cut into more parts."""
        while True:
            try:
                return self._learn(indices)
            except RuntimeError as cause:
                if not is_out_of_memory(cause):
                    raise
                self.optimizer.clear_tables()
                if len(indices) <= self.parts:
                    raise PlurivoxError(
                        "memory does not suffice for a single example; take a smaller net, smaller inputs or another device"
                    ) from cause
            self.parts = _more_parts(self.parts, len(indices))

    def _learn(self, indices: Tensor) -> None:
        self.optimizer.zero_grad()
        added: Tensor | None = None
        for part in (indices,) if self.parts == 1 else indices.chunk(self.parts):
            total = self.losses(part).sum()
            self.optimizer.backward(total, len(indices))
            added = total.detach() if added is None else added + total.detach()
        assert added is not None
        self.optimizer.step()
        self.total += added

    def losses(self, indices: Tensor) -> Tensor:
        """(n,) the weighted loss of each example."""
        batch = self.batch(indices)
        logits = self._logits(batch.x)
        self.record(batch.rows, logits)
        return weighted_losses(logits, batch, self.head, self.loss)

    def batch(self, indices: Tensor) -> Batch:
        """Inputs, augmented, and labels of these examples."""
        examples, rng = self.examples, self.rng.draws
        rows = indices if examples.row is None else examples.row.index_select(0, indices)
        x = self.x.index_select(0, rows)
        if self.augment is not None:
            x = self.augment(x, rng)
        drawn = examples.draw(indices, rng)
        if self.head is not None:
            x, drawn = self.head.before_net(x, drawn, rng)
        weight = examples.weight
        return Batch(x, rows, drawn, None if weight is None else weight.index_select(0, indices))

    def record(self, rows: Tensor, logits: Tensor) -> None:
        """Keep the logits of these tasks, where they are recorded."""
        if self.recorded is not None:
            self.recorded.index_copy_(0, rows, logits.detach())

    def _logits(self, x: Tensor) -> Tensor:
        if not self.autocast:
            return self._forward(x)
        with torch.autocast(x.device.type, torch.bfloat16, cache_enabled=self.caches_casts):
            return self._forward(x).float()

    # ---- state

    def state(self) -> dict[str, Tensor]:
        """All that is needed to resume, as named tensors."""
        parts = {"net": self.net.state_dict(), "optimizer": self.optimizer.state_tensors(), "chance": self.rng.state()}
        if self.head is not None:
            parts["head"] = self.head.state_dict()
        return {f"{part}/{name}": value for part, held in parts.items() for name, value in held.items()}

    def restore(self, state: dict[str, Tensor], epoch: int) -> None:
        """Resume from such a state at this epoch."""
        parts: dict[str, dict[str, Tensor]] = {"net": {}, "optimizer": {}, "chance": {}, "head": {}}
        for key, value in state.items():
            part, _, name = key.partition("/")
            parts[part][name] = value if part == "chance" else value.to(self.x.device)
        self.net.load_state_dict(parts["net"])
        if self.head is not None:
            self.head.load_state_dict(parts["head"])
        self.optimizer.load_state_tensors(parts["optimizer"])
        self.rng.restore(parts["chance"])
        self.epoch = epoch


def weighted_losses(logits: Tensor, batch: Batch, head: HeadModule | None, loss: Loss) -> Tensor:
    """(n,) the loss of each example by the head, or without one by the loss, times its weight."""
    each: Tensor
    if head is not None:
        each = head(logits, batch)
    else:
        assert isinstance(batch.drawn, Tensor)
        each = loss(logits, batch.drawn)
    return each if batch.weight is None else each * batch.weight


def uses_graphs(plan: Plan, device: torch.device) -> bool:
    """Whether steps are recorded as a CUDA graph."""
    if plan.engine == "graphs" and device.type != "cuda":
        raise OptionError(f"engine=graphs needs CUDA; this trains on {device.type}: take auto")
    return plan.engine == "graphs" or (plan.engine == "auto" and device.type == "cuda")


def is_out_of_memory(error: RuntimeError) -> bool:
    """Whether torch found no memory; for that of a CPU it has no error of its own."""
    return isinstance(error, torch.OutOfMemoryError) or "DefaultCPUAllocator" in str(error)


def _more_parts(parts: int, batch: int) -> int:
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    more = min(2 * parts, batch)
    warnings.warn(
        f"memory did not suffice for {-(-batch // parts)} examples at once: a batch of {batch} is now computed in {more} "
        "parts whose gradients add up (batch normalisation sees the parts)",
        PlurivoxWarning,
        stacklevel=2,
    )
    return more
