"""Optimisers, their state, gradient clipping and learning-rate schedules."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from plurivox.core.errors import InputError
from plurivox.train.loop.worker_parameter_table import WorkerTable
from plurivox.train.training_hyperparameters import Plan

FUSED_DEVICES = ("cpu", "cuda")  # devices on which one kernel updates all parameters


class NetOptimizer:
    """Optimiser of a net and its head: torch's for parameters, the sparse one of `WorkerTable` for worker tables.

    With `n_runs` > 1 the parameters are those of stacked runs, run by run along their first axis; the gradient of each run is
    clipped separately. `capturable`: steps can be recorded as a CUDA graph.
    """

    def __init__(
        self,
        plan: Plan,
        modules: Sequence[nn.Module],
        steps_per_epoch: int,
        *,
        n_runs: int = 1,
        capturable: bool = False,
    ) -> None:
        self.plan, self.steps_per_epoch, self.n_runs = plan, steps_per_epoch, n_runs
        self.params = [p for module in modules for p in module.parameters() if p.requires_grad]
        self.tables = [one for module in modules for one in module.modules() if isinstance(one, WorkerTable)]
        if not self.params:
            raise InputError("the net has no trainable weights: all of them are frozen")
        self._torch = make_torch_optimizer(plan, self.params, capturable)

    def zero_optimizer_state_at_restart_milestone(self, epoch: int) -> None:
        """Set the optimiser state to zero if the plan has `restart` and `epoch` is one of its milestones."""
        if self.plan.restart and epoch in self.plan.milestone_epochs:
            zero_optimizer_state(self._torch)
            for table in self.tables:
                table.zero_optimizer_state_of_all_workers()

    def set_scheduled_learning_rate(self, epoch: int, step_in_epoch: int) -> None:
        """Set the learning rate of a step by the plan's schedule; within an epoch only one-cycle changes it."""
        if step_in_epoch == 0 or self.plan.schedule == "one-cycle":
            lr = learning_rate_of_step(self.plan, epoch * self.steps_per_epoch + step_in_epoch, self.steps_per_epoch)
            fill_learning_rate(self._torch, lr)

    def zero_grad(self) -> None:
        """Set the gradients of all parameters to None."""
        self._torch.zero_grad(set_to_none=True)

    def backward(self, loss_sum: Tensor, batch_size: int) -> None:
        """Backpropagate the summed losses of examples, divided by `batch_size` if the plan's reduction is the mean."""
        (loss_sum / batch_size if self.plan.reduction == "mean" else loss_sum).backward()

    def step(self) -> None:
        """Take one optimiser step: clip gradients if the plan has `clip`, then update parameters and worker tables in place."""
        if self.plan.clip is not None:
            self._clip_gradients_per_run(self.plan.clip)
        self._torch.step()
        for table in self.tables:
            table.step(self.plan, self._torch.param_groups[0]["lr"])

    def _clip_gradients_per_run(self, max_norm: float) -> None:
        """Scale all gradients in place so that their norm, per stacked run, is at most `max_norm`."""
        if self.n_runs == 1:
            nn.utils.clip_grad_norm_(
                [*self.params, *(one.attach_grad_and_return_parameter() for one in self.tables)], max_norm
            )
            return
        grads = [p.grad.view(self.n_runs, -1) for p in self.params if p.grad is not None]
        grads += [table.grad.view(self.n_runs, -1) for table in self.tables]
        norm = torch.stack([one.norm(dim=1) for one in grads]).norm(dim=0)  # (n_runs,)
        share = (max_norm / (norm + 1e-6)).clamp(max=1.0)[:, None]
        for one in grads:
            one.mul_(share)

    def clear_worker_table_gradients(self) -> None:
        """Drop the gradients of the worker tables, after a step that failed."""
        for table in self.tables:
            table.clear_gradient_and_batch_workers()

    def has_finite_parameters(self) -> bool:
        """Return whether all trainable parameters are finite; worker tables are not checked."""
        norms = torch._foreach_norm([p.detach() for p in self.params])
        return bool(torch.stack(list(norms)).isfinite().all())

    def optimizer_state_per_parameter(self) -> list[dict[str, Any]]:
        """Return torch's optimiser state (such as moments) of every parameter, in order; worker tables are not included."""
        return [self._torch.state[param] for param in self.params]

    def set_optimizer_state_per_parameter(self, states: Sequence[dict[str, Any]]) -> None:
        """Set torch's optimiser state (such as moments) of every parameter; tensors are shared, not copied."""
        for param, state in zip(self.params, states, strict=True):
            self._torch.state[param] = state

    def optimizer_state_tensors_by_name(self) -> dict[str, Tensor]:
        """Return torch's optimiser state of all parameters as named tensors, for a checkpoint."""
        return {
            f"{i}/{name}": value
            for i, state in self._torch.state_dict()["state"].items()
            for name, value in state.items()
            if isinstance(value, Tensor)
        }

    def load_optimizer_state(self, tensors_by_name: dict[str, Tensor]) -> None:
        """Set torch's optimiser state of all parameters from the result of `optimizer_state_tensors_by_name`."""
        states: dict[int, dict[str, Tensor]] = {}
        for key, value in tensors_by_name.items():
            i, _, name = key.partition("/")
            states.setdefault(int(i), {})[name] = value
        self._torch.load_state_dict({"state": states, "param_groups": self._torch.state_dict()["param_groups"]})


def make_torch_optimizer(plan: Plan, params: Sequence[nn.Parameter], capturable: bool) -> torch.optim.Optimizer:
    """Return the plan's optimiser of torch for `params`; if `capturable` by CUDA graphs, its learning rate is a tensor."""
    device = params[0].device
    fused = device.type in FUSED_DEVICES and all(p.is_floating_point() for p in params)
    lr: float | Tensor = torch.tensor(plan.lr, device=device) if capturable else plan.lr
    if plan.optimizer == "sgd":
        nesterov = plan.nesterov and plan.momentum > 0
        return torch.optim.SGD(
            params, lr, momentum=plan.momentum, weight_decay=plan.weight_decay, nesterov=nesterov, fused=fused
        )
    adam = torch.optim.Adam if plan.optimizer == "adam" else torch.optim.AdamW
    return adam(params, lr, weight_decay=plan.weight_decay, fused=fused, capturable=capturable)


def fill_learning_rate(optimizer: torch.optim.Optimizer, lr: float) -> None:
    """Set the learning rate of all parameters of torch's optimiser, in place if it is a tensor."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(lr)
        else:
            group["lr"] = lr


def zero_optimizer_state(optimizer: torch.optim.Optimizer) -> None:
    """Set the state tensors of torch's optimiser to zero in place: a recorded CUDA graph uses their memory."""
    for state in optimizer.state.values():
        for value in state.values():
            if isinstance(value, Tensor):
                value.zero_()


START_DIVISOR, END_DIVISOR = 25.0, 1e4  # one-cycle: the rate starts at lr / 25 and ends at lr / 25 / 10,000


def learning_rate_of_step(plan: Plan, step_over_all_epochs: int, steps_per_epoch: int) -> float:
    """Return the learning rate of step `step_over_all_epochs`, counted from 0 over all epochs.

    step and multistep multiply by gamma after some epochs; cosine decreases from epoch to epoch; one-cycle rises and falls
    from step to step (Smith and Topin 2019, https://doi.org/10.1117/12.2520589).

    >>> plan = Plan(lr=1, schedule="multistep", milestones="2,3", epochs=4)
    >>> [round(learning_rate_of_step(plan, epoch * 10, 10), 3) for epoch in range(4)]
    [1.0, 1.0, 0.1, 0.01]
    """
    epoch = step_over_all_epochs // steps_per_epoch
    if plan.schedule == "step":
        return plan.lr * plan.gamma ** (epoch // plan.step_size)
    if plan.schedule == "multistep":
        return plan.lr * plan.gamma ** sum(milestone <= epoch for milestone in plan.milestone_epochs)
    if plan.schedule == "cosine":
        return plan.lr * (1 + math.cos(math.pi * epoch / plan.epochs)) / 2
    if plan.schedule == "one-cycle":
        return _one_cycle_learning_rate(plan, step_over_all_epochs, plan.epochs * steps_per_epoch)
    return plan.lr


def _one_cycle_learning_rate(plan: Plan, step_over_all_epochs: int, n_steps: int) -> float:
    """Return the learning rate of a step under the one-cycle schedule."""
    low, top = plan.lr / START_DIVISOR, plan.lr
    peak, end = plan.warm_share * n_steps - 1, n_steps - 1  # steps
    if step_over_all_epochs <= peak:
        return _cosine_interpolation(low, top, step_over_all_epochs / peak if peak > 0 else 1.0)
    return _cosine_interpolation(
        top, low / END_DIVISOR, min((step_over_all_epochs - peak) / max(end - peak, 1e-9), 1.0)
    )


def _cosine_interpolation(begin: float, end: float, fraction: float) -> float:
    """Interpolate from `begin` (fraction 0) to `end` (fraction 1) along a half cosine."""
    return end + (begin - end) * (1 + math.cos(math.pi * fraction)) / 2
