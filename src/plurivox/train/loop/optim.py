"""Optimisers, their state, clipping, and learning-rate schedules."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from plurivox.core.errors import InputError
from plurivox.train.loop.worker_table import WorkerTable
from plurivox.train.plan import Plan

FUSED = ("cpu", "cuda")  # where one kernel updates all parameters


class NetOptimizer:
    """The optimiser of a net and its head: torch's for their parameters, that of `WorkerTable` for tables of workers.

    With several runs the parameters are those of a stack, run by run along their first axis; the gradient of each run is
    clipped by itself.
    """

    def __init__(
        self, plan: Plan, modules: Sequence[nn.Module], steps_per_epoch: int, *, n_runs: int = 1, recorded: bool = False
    ) -> None:
        self.plan, self.steps_per_epoch, self.n_runs = plan, steps_per_epoch, n_runs
        self.params = [p for module in modules for p in module.parameters() if p.requires_grad]
        self.tables = [one for module in modules for one in module.modules() if isinstance(one, WorkerTable)]
        if not self.params:
            raise InputError("the net has no weights that may learn: all of them are frozen")
        self._torch = make_optimizer(plan, self.params, recorded)

    def restart(self, epoch: int) -> None:
        """Forget all state if the plan wants a fresh optimiser at this epoch."""
        if self.plan.restart and epoch in self.plan.stages:
            forget(self._torch)
            for table in self.tables:
                table.restart()

    def schedule(self, epoch: int, step: int) -> None:
        """Set the learning rate of a step; within an epoch only one-cycle changes it."""
        if step == 0 or self.plan.schedule == "one-cycle":
            set_rate(self._torch, rate(self.plan, epoch * self.steps_per_epoch + step, self.steps_per_epoch))

    def zero_grad(self) -> None:
        """Drop the gradients of the parameters."""
        self._torch.zero_grad(set_to_none=True)

    def backward(self, total: Tensor, n: int) -> None:
        """Add the gradient of a sum of losses, of which the batch of a run has n."""
        (total / n if self.plan.reduction == "mean" else total).backward()

    def step(self) -> None:
        """Clip the gradients where the plan says so, and update parameters and tables."""
        if self.plan.clip is not None:
            self._clip(self.plan.clip)
        self._torch.step()
        for table in self.tables:
            table.step(self.plan, self._torch.param_groups[0]["lr"])

    def _clip(self, most: float) -> None:
        if self.n_runs == 1:
            nn.utils.clip_grad_norm_([*self.params, *(one.with_grad() for one in self.tables)], most)
            return
        grads = [p.grad.view(self.n_runs, -1) for p in self.params if p.grad is not None]
        grads += [table.grad.view(self.n_runs, -1) for table in self.tables]
        norm = torch.stack([one.norm(dim=1) for one in grads]).norm(dim=0)  # (n_runs,)
        share = (most / (norm + 1e-6)).clamp(max=1.0)[:, None]
        for one in grads:
            one.mul_(share)

    def clear_tables(self) -> None:
        """Forget the gradients of a step that was not taken."""
        for table in self.tables:
            table.clear()

    def is_finite(self) -> bool:
        """Whether all parameters are finite."""
        norms = torch._foreach_norm([p.detach() for p in self.params])
        return bool(torch.stack(list(norms)).isfinite().all())

    def state(self) -> list[dict[str, Any]]:
        """The state of every parameter, in their order; empty before the first step. Tables save their own."""
        return [self._torch.state[param] for param in self.params]

    def replace_state(self, states: Sequence[dict[str, Any]]) -> None:
        """Use these states from now on, one per parameter; tensors are not copied."""
        for param, state in zip(self.params, states, strict=True):
            self._torch.state[param] = state

    def state_tensors(self) -> dict[str, Tensor]:
        """The state as named tensors, for a file."""
        return {
            f"{i}/{name}": value
            for i, state in self._torch.state_dict()["state"].items()
            for name, value in state.items()
            if isinstance(value, Tensor)
        }

    def load_state_tensors(self, tensors: dict[str, Tensor]) -> None:
        """Continue from such tensors."""
        states: dict[int, dict[str, Tensor]] = {}
        for key, value in tensors.items():
            i, _, name = key.partition("/")
            states.setdefault(int(i), {})[name] = value
        self._torch.load_state_dict({"state": states, "param_groups": self._torch.state_dict()["param_groups"]})


def make_optimizer(plan: Plan, params: Sequence[nn.Parameter], recorded: bool) -> torch.optim.Optimizer:
    """The optimiser of torch; for a step `recorded` as a CUDA graph the learning rate is a tensor that may change."""
    device = params[0].device
    fused = device.type in FUSED and all(p.is_floating_point() for p in params)
    lr: float | Tensor = torch.tensor(plan.lr, device=device) if recorded else plan.lr
    if plan.optimizer == "sgd":
        nesterov = plan.nesterov and plan.momentum > 0
        return torch.optim.SGD(
            params, lr, momentum=plan.momentum, weight_decay=plan.weight_decay, nesterov=nesterov, fused=fused
        )
    kind = torch.optim.Adam if plan.optimizer == "adam" else torch.optim.AdamW
    return kind(params, lr, weight_decay=plan.weight_decay, fused=fused, capturable=recorded)


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate of all parameters."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def forget(optimizer: torch.optim.Optimizer) -> None:
    """Set the state to zero; in place, because a recorded step knows where its memory lies."""
    for memory in optimizer.state.values():
        for value in memory.values():
            if isinstance(value, Tensor):
                value.zero_()


RISE, FALL = 25.0, 1e4  # one-cycle: the rate begins at lr / 25 and ends at lr / 25 / 10,000


def rate(plan: Plan, step: int, steps_per_epoch: int) -> float:
    """The learning rate of step `step`, counted from 0 over all epochs.

    step and multistep multiply by gamma after so many epochs; cosine falls from epoch to epoch; one-cycle rises and falls
    from step to step (Smith and Topin 2019, https://doi.org/10.1117/12.2520589).

    >>> plan = Plan(lr=1, schedule="multistep", milestones="2,3", epochs=4)
    >>> [round(rate(plan, epoch * 10, 10), 3) for epoch in range(4)]
    [1.0, 1.0, 0.1, 0.01]
    """
    epoch = step // steps_per_epoch
    if plan.schedule == "step":
        return plan.lr * plan.gamma ** (epoch // plan.step_size)
    if plan.schedule == "multistep":
        return plan.lr * plan.gamma ** sum(stage <= epoch for stage in plan.stages)
    if plan.schedule == "cosine":
        return plan.lr * (1 + math.cos(math.pi * epoch / plan.epochs)) / 2
    if plan.schedule == "one-cycle":
        return _one_cycle(plan, step, plan.epochs * steps_per_epoch)
    return plan.lr


def _one_cycle(plan: Plan, step: int, n_steps: int) -> float:
    low, top = plan.lr / RISE, plan.lr
    turn, end = plan.warm_share * n_steps - 1, n_steps - 1
    if step <= turn:
        return _between(low, top, step / turn if turn > 0 else 1.0)
    return _between(top, low / FALL, min((step - turn) / max(end - turn, 1e-9), 1.0))


def _between(begin: float, end: float, share: float) -> float:
    return end + (begin - end) * (1 + math.cos(math.pi * share)) / 2
