"""Optimisers, their state, and learning-rate schedules."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from plurivox.train.plan import Plan

FUSED = ("cpu", "cuda")  # where one kernel updates all parameters


def make_optimizer(plan: Plan, params: Sequence[nn.Parameter], recorded: bool) -> torch.optim.Optimizer:
    """The optimizer; for a `recorded` step its rate is a tensor that may change between plays."""
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
    """Use this learning rate from now on."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def forget(optimizer: torch.optim.Optimizer) -> None:
    """Make the optimizer as good as new; in place, because a recorded step knows where its memory lies."""
    for memory in optimizer.state.values():
        for value in memory.values():
            if isinstance(value, Tensor):
                value.zero_()


def pack(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What the optimizer remembers of each parameter, as named tensors."""
    return {
        f"{i}/{name}": value
        for i, memory in optimizer.state_dict()["state"].items()
        for name, value in memory.items()
        if isinstance(value, Tensor)
    }


def unpack(optimizer: torch.optim.Optimizer, packed: dict[str, Tensor]) -> None:
    """Remember that again."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in packed.items():
        i, _, name = key.partition("/")
        state.setdefault(int(i), {})[name] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


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
        return plan.lr * plan.gamma ** sum(stage <= epoch for stage in plan.stages())
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
