"""StackedTrainers: several runs trained as one net with all their weights, so that a step has its overhead only once."""

from collections.abc import Hashable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from plurivox.train.heads._contract import HeadModule
from plurivox.train.loop.optim import NetOptimizer
from plurivox.train.loop.trainer import EpochDone, Trainer, weighted_loss_per_example
from plurivox.train.parallel.stacked_net import StackedNet
from plurivox.train.targets._contract import Batch, DrawnLabels, PaddedVotes


def trainer_stack_key(trainer: Trainer) -> Hashable:
    """Return a value that must be equal in several trainers to stack them: all settings but the seed, and shapes."""
    head, examples = trainer.head, trainer.examples
    shapes = trainer.x.shape[1:], examples.n_examples, examples.max_votes, examples.weight is None
    kind = None if head is None else (type(head), head.stacking_compatibility_key())
    return str(trainer.net), replace(trainer.plan, seed=0), trainer.loss, shapes, kind


class StackedTrainers:
    """Trainers with the same `trainer_stack_key` at the same epoch, whose steps are taken together.

    Their weights and optimiser states become slices of the stacked ones: between two epochs each trainer can be evaluated,
    saved and stopped separately. Each draws its orders, examples and dropout masks from its own generators.
    """

    def __init__(self, trainers: Sequence[Trainer]) -> None:
        self.trainers, first = tuple(trainers), trainers[0]
        self.loss, self.epoch = first.loss, first.epoch
        self.net = StackedNet([one.net for one in trainers])
        self.head: HeadModule | None = None
        if first.head is not None:
            self.head = first.head.stack_heads([one.head for one in trainers if one.head is not None], self.net)
        modules = [self.net] if self.head is None else [self.net, self.head]
        self.optimizer = NetOptimizer(first.plan, modules, first.steps_per_epoch, n_runs=len(trainers))
        # by parameter, then by run
        states = zip(*(one.optimizer.optimizer_state_per_parameter() for one in trainers), strict=True)
        self.optimizer.set_optimizer_state_per_parameter([_stack_optimizer_states(of_runs) for of_runs in states])
        self.shared = False  # whether the states of the trainers' optimisers are slices of the stacked one
        self.total = torch.zeros(len(trainers), dtype=torch.float64)  # (n_runs,) sums of the losses of this epoch

    def train_one_epoch_return_event_per_run(self) -> list[EpochDone]:
        """Train all runs for one epoch, each step for all of them together; return the epoch event of each."""
        self.optimizer.zero_optimizer_state_at_restart_milestone(self.epoch)
        self.total.zero_()
        orders = []
        for one in self.trainers:
            with one.rng.training_rng_as_global_rng_context():
                orders.append(one.begin_epoch_and_shuffle_batch_indices())
        with ExitStack() as contexts:
            self.net.set_dropout_generator_per_run(
                [contexts.enter_context(one.rng.new_generator_from_stored_state_context()) for one in self.trainers]
            )
            for i, indices in enumerate(zip(*orders, strict=True)):
                self.optimizer.set_scheduled_learning_rate(self.epoch, i)
                self._step_all_runs(indices)
        if not self.shared:  # the first step creates the state
            self._make_optimizer_states_slices_of_stack()
        self.epoch += 1
        return [one.advance_epoch_and_make_event(total) for one, total in zip(self.trainers, self.total, strict=True)]

    def _step_all_runs(self, example_indices_per_run: Sequence[Tensor]) -> None:
        """Take one training step for all runs together; `example_indices_per_run` are the examples of each run, (n,) each."""
        n = len(example_indices_per_run[0])
        self.optimizer.zero_grad()
        each = self._losses_of_all_runs_and_record_logits(example_indices_per_run).view(-1, n).sum(1)  # (n_runs,)
        self.optimizer.backward(each.sum(), n)
        self.optimizer.step()
        self.total += each.detach()

    def _losses_of_all_runs_and_record_logits(self, example_indices_per_run: Sequence[Tensor]) -> Tensor:
        """(n_runs * n,) the weighted loss of each example of the batches of all runs, run after run."""
        batches = [
            one.make_augmented_batch(examples)
            for one, examples in zip(self.trainers, example_indices_per_run, strict=True)
        ]
        batch = _concat_batches(batches)
        logits = self.net(batch.x)
        for one, run_batch, run_logits in zip(self.trainers, batches, logits.chunk(len(batches)), strict=True):
            one.store_logits_if_recording(run_batch.rows, run_logits)
        return weighted_loss_per_example(logits, batch, self.head, self.loss)

    def _make_optimizer_states_slices_of_stack(self) -> None:
        """Make the states of the trainers' optimisers slices of the stacked state."""
        for run, one in enumerate(self.trainers):
            one.optimizer.set_optimizer_state_per_parameter(
                [
                    {name: _slice_of_run_if_tensor(value, run) for name, value in state.items()}
                    for state in self.optimizer.optimizer_state_per_parameter()
                ]
            )
        self.shared = True


def _stack_optimizer_states(state_per_run: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the optimiser states of one parameter in several runs as one stacked state."""
    return {name: _stack_tensors_or_take_first([one[name] for one in state_per_run]) for name in state_per_run[0]}


def _stack_tensors_or_take_first(value_per_run: Sequence[Any]) -> Any:
    """Return the tensors of several runs stacked; for scalars (step counts) and other values, equal in all runs, the first."""
    first = value_per_run[0]
    if not isinstance(first, Tensor):
        return first
    return torch.stack(list(value_per_run)) if first.ndim else first.clone()


def _slice_of_run_if_tensor(stacked_value: Any, run: int) -> Any:
    """Return slice `run` of a stacked tensor; scalars and other values are returned unchanged."""
    return stacked_value[run] if isinstance(stacked_value, Tensor) and stacked_value.ndim else stacked_value


def _concat_batches(batch_per_run: Sequence[Batch]) -> Batch:
    """Return the batches of several runs concatenated to one batch, run after run."""
    x, rows = (torch.cat([getattr(one, name) for one in batch_per_run]) for name in ("x", "rows"))
    weights = [one.weight for one in batch_per_run if one.weight is not None]
    return Batch(
        x, rows, _concat_batch_labels([one.labels for one in batch_per_run]), torch.cat(weights) if weights else None
    )


def _concat_batch_labels(labels_per_run: Sequence[DrawnLabels]) -> DrawnLabels:
    """Return the labels of the batches of several runs concatenated, run after run; all are of the same kind."""
    first = labels_per_run[0]
    if isinstance(first, Tensor):
        return torch.cat([one for one in labels_per_run if isinstance(one, Tensor)])
    if isinstance(first, PaddedVotes):
        votes = [one for one in labels_per_run if isinstance(one, PaddedVotes)]
        return PaddedVotes(
            *(torch.cat([getattr(one, name) for one in votes]) for name in ("worker", "label", "weight"))
        )
    main, soft = zip(*(one for one in labels_per_run if isinstance(one, tuple)), strict=True)
    return torch.cat(main), torch.cat(soft)


def copy_weights_out_of_stack(module: nn.Module) -> None:
    """Replace the weights of a module, slices of stacked weights, by copies, so that the stack's memory can be freed."""
    for tensor in (*module.parameters(), *module.buffers()):
        tensor.data = tensor.data.clone()
