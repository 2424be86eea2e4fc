"""Stack: several runs of one training as one net with all their weights, so that a step costs its overhead once."""

from collections.abc import Hashable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from plurivox.train.heads._contract import HeadModule
from plurivox.train.loop.optim import NetOptimizer
from plurivox.train.loop.trainer import EpochDone, Trainer, weighted_losses
from plurivox.train.parallel.stacked_net import Stacked
from plurivox.train.targets._contract import Batch, Drawn, PaddedVotes


def stack_key(trainer: Trainer) -> Hashable:
    """What must be equal in several trainers for them to be stacked: all but the seed and what is learnt."""
    head, examples = trainer.head, trainer.examples
    shapes = trainer.x.shape[1:], examples.n_examples, examples.most, examples.weight is None
    kind = None if head is None else (type(head), head.stack_key())
    return str(trainer.net), replace(trainer.plan, seed=0), trainer.loss, shapes, kind


class Stack:
    """Trainers with one `stack_key` that stand at the same epoch, whose steps are taken together.

    Their weights and the states of their optimisers are slices of the stack's own: between two epochs each can be evaluated,
    saved and stopped as if it were alone. Each draws its orders, examples and dropout masks from its own generators.
    """

    def __init__(self, trainers: Sequence[Trainer]) -> None:
        self.trainers, first = tuple(trainers), trainers[0]
        self.loss, self.epoch = first.loss, first.epoch
        self.net = Stacked([one.net for one in trainers])
        self.head: HeadModule | None = None
        if first.head is not None:
            self.head = first.head.stacked([one.head for one in trainers if one.head is not None], self.net)
        modules = [self.net] if self.head is None else [self.net, self.head]
        self.optimizer = NetOptimizer(first.plan, modules, first.steps_per_epoch, n_runs=len(trainers))
        states = zip(*(one.optimizer.state() for one in trainers), strict=True)  # by parameter, then by run
        self.optimizer.replace_state([_joined_state(of_runs) for of_runs in states])
        self.shared = False  # whether the states of the trainers' own optimisers are slices of ours
        self.total = torch.zeros(len(trainers), dtype=torch.float64)  # (n_runs,) sums of the losses of this epoch

    def run_epoch(self) -> list[EpochDone]:
        """Take the steps of the next epoch for all trainers, and return the event of each."""
        self.optimizer.restart(self.epoch)
        self.total.zero_()
        orders = []
        for one in self.trainers:
            with one.rng.active():
                orders.append(one.begin_epoch())
        with ExitStack() as held:
            self.net.use_generators([held.enter_context(one.rng.as_generator()) for one in self.trainers])
            for i, indices in enumerate(zip(*orders, strict=True)):
                self.optimizer.schedule(self.epoch, i)
                self._step(indices)
        if not self.shared:  # the first step makes the state
            self._share_state()
        self.epoch += 1
        return [one.end_epoch(total) for one, total in zip(self.trainers, self.total, strict=True)]

    def _step(self, indices: Sequence[Tensor]) -> None:
        """Take one step; `indices` are the examples of every run, (n,) each."""
        n = len(indices[0])
        self.optimizer.zero_grad()
        each = self._losses(indices).view(-1, n).sum(1)  # (n_runs,)
        self.optimizer.backward(each.sum(), n)
        self.optimizer.step()
        self.total += each.detach()

    def _losses(self, indices: Sequence[Tensor]) -> Tensor:
        """(n_runs * n,) the weighted loss of each example."""
        batches = [one.batch(mine) for one, mine in zip(self.trainers, indices, strict=True)]
        batch = _joined(batches)
        logits = self.net(batch.x)
        for one, mine, said in zip(self.trainers, batches, logits.chunk(len(batches)), strict=True):
            one.record(mine.rows, said)
        return weighted_losses(logits, batch, self.head, self.loss)

    def _share_state(self) -> None:
        """Make the states of the trainers' own optimisers slices of ours."""
        for run, one in enumerate(self.trainers):
            one.optimizer.replace_state(
                [{name: _slice(value, run) for name, value in state.items()} for state in self.optimizer.state()]
            )
        self.shared = True


def _joined_state(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The states of one parameter in several runs as one; steps are counted once."""
    return {name: _joined_values([one[name] for one in states]) for name in states[0]}


def _joined_values(values: Sequence[Any]) -> Any:
    first = values[0]
    if not isinstance(first, Tensor):
        return first
    return torch.stack(list(values)) if first.ndim else first.clone()


def _slice(value: Any, run: int) -> Any:
    return value[run] if isinstance(value, Tensor) and value.ndim else value


def _joined(every: Sequence[Batch]) -> Batch:
    """The batches of all runs, one after another."""
    x, rows = (torch.cat([getattr(one, name) for one in every]) for name in ("x", "rows"))
    weights = [one.weight for one in every if one.weight is not None]
    return Batch(x, rows, _joined_drawn([one.drawn for one in every]), torch.cat(weights) if weights else None)


def _joined_drawn(drawn: Sequence[Drawn]) -> Drawn:
    first = drawn[0]
    if isinstance(first, Tensor):
        return torch.cat([one for one in drawn if isinstance(one, Tensor)])
    if isinstance(first, PaddedVotes):
        said = [one for one in drawn if isinstance(one, PaddedVotes)]
        return PaddedVotes(*(torch.cat([getattr(one, name) for one in said]) for name in ("worker", "label", "weight")))
    main, soft = zip(*(one for one in drawn if isinstance(one, tuple)), strict=True)
    return torch.cat(main), torch.cat(soft)


def own(module: nn.Module) -> None:
    """Copy the weights of a module to memory of its own, so that it keeps no stack alive."""
    for held in (*module.parameters(), *module.buffers()):
        held.data = held.data.clone()
