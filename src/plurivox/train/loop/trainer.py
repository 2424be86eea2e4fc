"""Trainer: the training loop of one net, step by step and epoch by epoch."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from plurivox.core.errors import InputError, OptionError, PlurivoxError, warn_user
from plurivox.train.heads._contract import HeadModule
from plurivox.train.loop.cuda_graph import GraphStep
from plurivox.train.loop.optim import NetOptimizer, learning_rate_of_step
from plurivox.train.loop.rng import TrainRng
from plurivox.train.losses import Loss
from plurivox.train.targets._contract import Batch, Examples
from plurivox.train.trained_net import predict_logits
from plurivox.train.training_hyperparameters import Plan

Augment = Callable[[Tensor, torch.Generator], Tensor]


@dataclass(frozen=True, slots=True)
class StepDone:
    """Event of a training: a step has been taken."""

    epoch: int  # from 0
    step: int  # within the epoch, from 0


@dataclass(frozen=True, slots=True, eq=False)
class EpochDone:
    """Event of a training: an epoch has ended, with its loss and duration."""

    epoch: int  # from 0
    loss: float  # mean over the examples, during the epoch
    lr: float  # learning rate of the last step
    seconds: float
    finite: bool  # whether loss and weights are finite
    logits: Tensor | None  # (n_tasks, n_labels) logits of every task in its latest step; None if they are not recorded


Event = StepDone | EpochDone


class Trainer:
    """The training loop of one net, which is trained in place. Net, head, inputs `x` and examples are on the same device.

    `train_and_yield_events` takes all steps and yields an event after every epoch, or after every step too; the caller
    evaluates, saves and stops early. `StackedTrainers` takes the steps of several trainers together by
    `begin_epoch_and_shuffle_batch_indices`, `make_augmented_batch`, `store_logits_if_recording` and
    `advance_epoch_and_make_event`.
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
            raise InputError("there is nothing to train on: no training example is left")
        self.net, self.head, self.x, self.examples, self.loss = net, head, x, examples, loss
        self.plan, self.rng, self.augment = plan, rng, augment
        graphs, modules = uses_cuda_graph(plan, x.device), [net] if head is None else [net, head]
        self.steps_per_epoch = math.ceil(examples.n_examples / plan.batch)
        self.optimizer = NetOptimizer(plan, modules, self.steps_per_epoch, capturable=graphs)
        self.epoch = 0  # the current epoch, or the next one
        self.total = torch.zeros((), device=x.device, dtype=torch.float64)  # sum of the losses of this epoch
        self.recorded_logits: Tensor | None = None  # (n_tasks, n_labels) logits of the latest step
        self.n_chunks = plan.accumulate  # number of forward and backward passes per step
        self.autocast, self.caches_casts = plan.precision == "bfloat16", not graphs
        self._forward: Callable[[Tensor], Tensor] = torch.compile(net) if plan.engine == "compile" else net
        self._step = self.train_batch_in_chunks_that_fit_memory
        if graphs:
            self._step = GraphStep(
                self.train_batch_in_chunks_that_fit_memory,
                self._backpropagate_in_chunks_and_step,
                self.optimizer,
                plan,
                rng.generator,
            )
        self._begun = time.perf_counter()

    def start_recording_logits(self, n_labels: int) -> None:
        """Record the logits of every task in training steps from now on, see `EpochDone.logits`."""
        self.recorded_logits = torch.zeros((len(self.x), n_labels), device=self.x.device)

    # ---- epochs

    def train_and_yield_events(self, yield_steps: bool = False) -> Iterator[Event]:
        """Train from the current epoch to the last of the plan; yield an event after every epoch, or after every step too."""
        while self.epoch < self.plan.epochs:
            with self.rng.training_rng_as_global_rng_context():
                self.optimizer.zero_optimizer_state_at_restart_milestone(self.epoch)
                batches = self.begin_epoch_and_shuffle_batch_indices()
                if not yield_steps:
                    for i, indices in enumerate(batches):
                        self.take_training_step(i, indices)
            if yield_steps:
                for i, indices in enumerate(batches):
                    with self.rng.training_rng_as_global_rng_context():
                        self.take_training_step(i, indices)
                    yield StepDone(self.epoch, i)
            yield self.advance_epoch_and_make_event(self.total)

    def begin_epoch_and_shuffle_batch_indices(self) -> tuple[Tensor, ...]:
        """Prepare net and head for an epoch and return the indices of the examples of every batch, in random order."""
        self._begun = time.perf_counter()
        if self.head is not None:
            self.head.train()
            self.head.update_head_before_epoch(self.epoch, lambda: predict_logits(self.net, self.x, self.plan))
        self.net.train()
        self.total.zero_()
        order = torch.randperm(self.examples.n_examples, generator=self.rng.generator, device=self.x.device)
        return order.split(self.plan.batch)

    def advance_epoch_and_make_event(self, loss_sum: Tensor) -> EpochDone:
        """Advance `epoch` by 1 and return the event of the finished epoch; `loss_sum` is the sum of its losses."""
        mean, epoch = float(loss_sum) / self.examples.n_examples, self.epoch
        finite = self.optimizer.has_finite_parameters() and math.isfinite(mean)
        self.epoch += 1
        lr = learning_rate_of_step(self.plan, self.epoch * self.steps_per_epoch - 1, self.steps_per_epoch)
        return EpochDone(epoch, mean, lr, time.perf_counter() - self._begun, finite, self.recorded_logits)

    # ---- steps

    def take_training_step(self, step_in_epoch: int, example_indices: Tensor) -> None:
        """Train on one batch, these examples, as step `step_in_epoch` (from 0); does not wait for the device."""
        self.optimizer.set_scheduled_learning_rate(self.epoch, step_in_epoch)
        self._step(example_indices)

    def train_batch_in_chunks_that_fit_memory(self, example_indices: Tensor) -> None:
        """Train on one batch, these examples, without a CUDA graph; if memory runs out, compute it in more chunks."""
        while True:
            try:
                return self._backpropagate_in_chunks_and_step(example_indices)
            except RuntimeError as cause:
                if not is_gpu_or_cpu_out_of_memory_error(cause):
                    raise
                self.optimizer.clear_worker_table_gradients()
                if len(example_indices) <= self.n_chunks:
                    raise PlurivoxError(
                        "out of memory with a single example; use a smaller net, smaller inputs or another device"
                    ) from cause
            self.n_chunks = _double_chunks_and_warn_out_of_memory(self.n_chunks, len(example_indices))

    def _backpropagate_in_chunks_and_step(self, example_indices: Tensor) -> None:
        """Compute losses and gradients of the examples in `n_chunks` chunks, and update the weights."""
        self.optimizer.zero_grad()
        batch_total: Tensor | None = None
        for chunk in (example_indices,) if self.n_chunks == 1 else example_indices.chunk(self.n_chunks):
            total = self.compute_losses_and_record_logits(chunk).sum()
            self.optimizer.backward(total, len(example_indices))
            batch_total = total.detach() if batch_total is None else batch_total + total.detach()
        assert batch_total is not None
        self.optimizer.step()
        self.total += batch_total

    def compute_losses_and_record_logits(self, example_indices: Tensor) -> Tensor:
        """(n,) the weighted loss of each of the examples `example_indices`; records their logits if requested."""
        batch = self.make_augmented_batch(example_indices)
        logits = self._net_logits_in_plan_precision(batch.x)
        self.store_logits_if_recording(batch.rows, logits)
        return weighted_loss_per_example(logits, batch, self.head, self.loss)

    def make_augmented_batch(self, example_indices: Tensor) -> Batch:
        """Return augmented inputs, drawn labels and weights of the examples `example_indices`."""
        examples, rng = self.examples, self.rng.generator
        rows = example_indices if examples.row is None else examples.row.index_select(0, example_indices)
        x = self.x.index_select(0, rows)
        if self.augment is not None:
            x = self.augment(x, rng)
        labels = examples.get_or_draw_labels(example_indices, rng)
        if self.head is not None:
            x, labels = self.head.transform_batch(x, labels, rng)
        weight = examples.weight
        return Batch(x, rows, labels, None if weight is None else weight.index_select(0, example_indices))

    def store_logits_if_recording(self, input_rows: Tensor, logits: Tensor) -> None:
        """Store the logits of the tasks in `input_rows` as recorded logits; do nothing if logits are not recorded."""
        if self.recorded_logits is not None:
            self.recorded_logits.index_copy_(0, input_rows, logits.detach())

    def _net_logits_in_plan_precision(self, x: Tensor) -> Tensor:
        """(n, n_labels) the net's logits for the inputs x, computed in the precision that the plan sets."""
        if not self.autocast:
            return self._forward(x)
        with torch.autocast(x.device.type, torch.bfloat16, cache_enabled=self.caches_casts):
            return self._forward(x).float()

    # ---- state

    def training_state_tensors_by_name(self) -> dict[str, Tensor]:
        """Return weights of net and head, optimiser state and random state as named tensors, for a checkpoint."""
        groups = {
            "net": self.net.state_dict(),
            "optimizer": self.optimizer.optimizer_state_tensors_by_name(),
            "chance": self.rng.rng_state_tensors_by_name(),
        }
        if self.head is not None:
            groups["head"] = self.head.state_dict()
        return {f"{group}/{name}": value for group, members in groups.items() for name, value in members.items()}

    def load_training_state(self, tensors_by_name: dict[str, Tensor], epoch: int) -> None:
        """Set weights, optimiser and random state from `training_state_tensors_by_name`; training continues with `epoch`."""
        groups: dict[str, dict[str, Tensor]] = {"net": {}, "optimizer": {}, "chance": {}, "head": {}}
        for key, value in tensors_by_name.items():
            group, _, name = key.partition("/")
            groups[group][name] = value if group == "chance" else value.to(self.x.device)
        self.net.load_state_dict(groups["net"])
        if self.head is not None:
            self.head.load_state_dict(groups["head"])
        self.optimizer.load_optimizer_state(groups["optimizer"])
        self.rng.load_rng_state(groups["chance"])
        self.epoch = epoch


def weighted_loss_per_example(logits: Tensor, batch: Batch, head: HeadModule | None, loss: Loss) -> Tensor:
    """(n,) the weighted loss of each example, computed by the head if there is one, else by `loss`."""
    each: Tensor
    if head is not None:
        each = head(logits, batch)
    else:
        assert isinstance(batch.labels, Tensor)
        each = loss(logits, batch.labels)
    return each if batch.weight is None else each * batch.weight


def uses_cuda_graph(plan: Plan, device: torch.device) -> bool:
    """Return whether training steps are recorded as a CUDA graph; OptionError if the plan requires it without CUDA."""
    if plan.engine == "graphs" and device.type != "cuda":
        raise OptionError(f"engine=graphs needs CUDA, but the device is {device.type}; use engine=auto")
    return plan.engine == "graphs" or (plan.engine == "auto" and device.type == "cuda")


def is_gpu_or_cpu_out_of_memory_error(error: RuntimeError) -> bool:
    """Return whether an error of torch is a lack of memory; on a CPU it is recognised by its message."""
    return isinstance(error, torch.OutOfMemoryError) or "DefaultCPUAllocator" in str(error)


def _double_chunks_and_warn_out_of_memory(n_chunks: int, batch_size: int) -> int:
    """Return twice the number of chunks per batch, at most `batch_size`; free cached CUDA memory and warn."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    more = min(2 * n_chunks, batch_size)
    warn_user(
        f"out of memory with {-(-batch_size // n_chunks)} examples: a batch of {batch_size} is now computed in {more} chunks "
        "whose gradients are added (batch normalisation then uses the statistics of a chunk)"
    )
    return more
