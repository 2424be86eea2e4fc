"""The optimizers of a plan, in their fastest form on the device."""

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
