"""Learning-rate schedules against those of torch; plans that are not possible."""

import pytest
import torch
from torch.optim import lr_scheduler as peers

from plurivox.core.errors import OptionError
from plurivox.train import Plan
from plurivox.train.loop.optim import learning_rate_of_step

EPOCHS, STEPS = 6, 5


def theirs(make: object, per_step: bool) -> list[float]:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.5)
    scheduler = make(optimizer)  # type: ignore[operator]
    found = []
    for i in range(EPOCHS * STEPS):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if per_step or i % STEPS == STEPS - 1:
            scheduler.step()
    return found


@pytest.mark.parametrize(
    ("options", "make", "per_step"),
    [
        ({"schedule": "step", "step_size": 2}, lambda o: peers.StepLR(o, 2), False),
        ({"schedule": "multistep", "milestones": "1,4"}, lambda o: peers.MultiStepLR(o, [1, 4]), False),
        ({"schedule": "cosine"}, lambda o: peers.CosineAnnealingLR(o, EPOCHS), False),
        ({"schedule": "one-cycle"}, lambda o: peers.OneCycleLR(o, 0.5, EPOCHS * STEPS, cycle_momentum=False), True),
        ({"schedule": "constant"}, lambda o: peers.LambdaLR(o, lambda _: 1.0), False),
    ],
)
def test_schedules_are_those_of_torch(options: dict[str, object], make: object, per_step: bool) -> None:
    plan = Plan(epochs=EPOCHS, lr=0.5, **options)  # type: ignore[arg-type]
    ours = [learning_rate_of_step(plan, i, STEPS) for i in range(EPOCHS * STEPS)]
    assert ours == pytest.approx(theirs(make, per_step), abs=1e-9)


def test_impossible_plans_raise_errors() -> None:
    with pytest.raises(OptionError, match="need milestones"):
        Plan(schedule="multistep")
    with pytest.raises(OptionError, match="whole numbers"):
        Plan(schedule="multistep", milestones="5,ten")
    with pytest.raises(OptionError, match="patience needs a measure"):
        Plan(patience=3)
