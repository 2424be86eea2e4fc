"""The epoch loop: a generator that pauses after every epoch."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch
from torch import Tensor, nn

from plurivox.core.errors import InputError, OptionError
from plurivox.train.heads._contract import Attached
from plurivox.train.loop.cuda_graph import GraphStep
from plurivox.train.loop.optim import forget, make_optimizer, pack, rate, set_rate, unpack
from plurivox.train.loop.predict import see
from plurivox.train.loop.rng import Chance
from plurivox.train.loop.step import Augment, Step
from plurivox.train.losses import Loss
from plurivox.train.plan import Plan
from plurivox.train.targets._contract import Lessons

Pause = Literal["epoch", "step", "stack"]


@dataclass(frozen=True)
class Epoch:
    """What the loop tells when it pauses."""

    number: int  # from 0
    loss: float  # mean over the lessons, as they were learnt
    lr: float  # at its end
    seconds: float
    finite: bool  # whether loss and weights are still numbers


class Training:
    """A net being fitted in place. `x[i]` is the input of task i of the lessons; everything lies on one device.

    Recording, measuring, keeping the best and stopping early are the caller's business.
    """

    def __init__(
        self,
        net: nn.Module,
        x: Tensor,
        lessons: Lessons,
        loss: Loss,
        plan: Plan,
        chance: Chance,
        head: Attached | None = None,
        augment: Augment | None = None,
    ) -> None:
        if not lessons.n_visits:
            raise InputError("there is nothing to learn: no lesson is left")
        self.net, self.head, self.plan, self.chance, self.lessons = net, head, plan, chance, lessons
        kind = step_kind(plan, x.device)
        self.step = kind(net, head, x, lessons, loss, plan, chance.draws, augment)
        if not self.step.params:
            raise InputError("the net has no weights that may learn: all of them are frozen")
        self.optimizer = make_optimizer(plan, self.step.params, kind is GraphStep)
        self.done = 0  # epochs
        self.stepped = False  # whether a stack has taken the steps of the epoch under way

    def run(self, pause: Pause = "epoch") -> Iterator[Epoch | None]:
        """Train epoch by epoch, from where it stands to the end of the plan.

        It pauses after every epoch, and tells it; where asked, after every step too, so that others may train between, or
        before every epoch, whose steps a `Stack` must take then.
        """
        plan, n = self.plan, self.lessons.n_visits
        per_epoch = math.ceil(n / plan.batch)
        while self.done < plan.epochs:
            begin = time.perf_counter()
            if pause == "stack":
                self.stepped = False
                yield None
                if not self.stepped:
                    raise OptionError(
                        "pause=stack leaves the steps to a stack and none has taken them; take pause=epoch"
                    )
            else:
                yield from self._steps(n, per_epoch, pause == "step")
            mean, finite = float(self.step.total) / n, self._is_finite()
            number, self.done = self.done, self.done + 1
            lr = rate(plan, self.done * per_epoch - 1, per_epoch)
            yield Epoch(number, mean, lr, time.perf_counter() - begin, finite and math.isfinite(mean))

    def _steps(self, n: int, per_epoch: int, every_step: bool) -> Iterator[None]:
        """Take the steps of an epoch."""
        with self.chance.taken():
            steps = self._begin_epoch(n, per_epoch)
            if not every_step:
                for take in steps:
                    take()
        for take in steps:  # those that are left: all of them, or none
            with self.chance.taken():
                take()
            yield None

    def _begin_epoch(self, n: int, per_epoch: int) -> Iterator[Callable[[], None]]:
        """Set everything up, and give the steps to take."""
        if self.plan.restart and self.done in self.plan.stages():
            forget(self.optimizer)
            for table in self.step.tables:
                table.restart()
        self.look()
        self.net.train()
        self.step.total.zero_()
        order = torch.randperm(n, generator=self.chance.draws, device=self.step.total.device)
        first = self.done * per_epoch
        set_rate(self.optimizer, rate(self.plan, first, per_epoch))
        return (
            partial(self._take, visits, first + i, per_epoch) for i, visits in enumerate(order.split(self.plan.batch))
        )

    def _take(self, visits: Tensor, number: int, per_epoch: int) -> None:
        if self.plan.schedule == "one-cycle":
            set_rate(self.optimizer, rate(self.plan, number, per_epoch))
        self.step(visits, self.optimizer)

    def look(self) -> None:
        """Let the head look at everything before an epoch."""
        if self.head is not None:
            self.head.train()
            self.head.before_epoch(self.done, lambda: see(self.net, self.step.x, self.plan))

    def _is_finite(self) -> bool:
        norms = torch._foreach_norm([p.detach() for p in self.step.params])
        return bool(torch.stack(list(norms)).isfinite().all())

    def state(self) -> dict[str, Tensor]:
        """All that is needed to go on later, as named tensors."""
        parts = {"net": self.net.state_dict(), "optimizer": pack(self.optimizer), "chance": self.chance.state()}
        if self.head is not None:
            parts["head"] = self.head.state_dict()
        return {f"{part}/{name}": value for part, held in parts.items() for name, value in held.items()}

    def restore(self, state: dict[str, Tensor], done: int) -> None:
        """Go on from such a state after `done` epochs."""
        device = self.step.total.device
        parts: dict[str, dict[str, Tensor]] = {"net": {}, "optimizer": {}, "chance": {}, "head": {}}
        for key, value in state.items():
            part, _, name = key.partition("/")
            parts[part][name] = value if part == "chance" else value.to(device)
        self.net.load_state_dict(parts["net"])
        if self.head is not None:
            self.head.load_state_dict(parts["head"])
        unpack(self.optimizer, parts["optimizer"])
        self.chance.restore(parts["chance"])
        self.done = done


def step_kind(plan: Plan, device: torch.device) -> type[Step]:
    """The kind of step that a plan asks for on this device."""
    if plan.engine == "graphs" and device.type != "cuda":
        raise OptionError(f"engine=graphs needs CUDA; this trains on {device.type}: take auto")
    wanted = plan.engine == "graphs" or (plan.engine == "auto" and device.type == "cuda")
    return GraphStep if wanted else Step
