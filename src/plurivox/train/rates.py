"""How the learning rate changes: a plain function of the step, so that nothing has to be kept to go on later."""

import math

from plurivox.train.plan import Plan

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
