"""Job: all that one training needs, on its device."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

import plurivox
from plurivox.core.errors import InputError, OptionError
from plurivox.train import losses, nets
from plurivox.train.data.augment import Augmentation, frozen
from plurivox.train.data.inputs import as_inputs, device_of
from plurivox.train.heads._contract import Attached, Scene
from plurivox.train.loop.rng import Chance
from plurivox.train.loop.spec import Asked, fingerprint
from plurivox.train.loop.trainer import Training
from plurivox.train.losses import Loss
from plurivox.train.nets import Net
from plurivox.train.plan import Plan
from plurivox.train.targets._contract import Lessons
from plurivox.train.targets._shared.examples import on_device


@dataclass(frozen=True, eq=False)
class Job:
    """What is taught to which net, how."""

    asked: Asked
    net: Net
    loss: Loss
    plan: Plan
    inputs: Tensor  # (n_taught, *shape) on the device
    augment: Augmentation | None
    augment_once: bool

    @classmethod
    def of(
        cls,
        x: Any,
        asked: Asked,
        net: str | Net,
        loss: str | Loss,
        plan: Plan,
        augment: Augmentation | None,
        augment_once: bool,
    ) -> Self:
        """The job on those inputs that are taught."""
        mine = x if asked.taught.all() else x[asked.taught]
        inputs = as_inputs(mine, device_of(plan.device), asked.tasks, plan.channels_last)
        if augment is not None and inputs.ndim != 4:
            raise InputError(
                f"{augment.name()} changes images (channels, height, width); an input here has the shape "
                f"{tuple(inputs.shape[1:])}: leave augment out"
            )
        if plan.engine == "graphs" and asked.head is not None and not asked.head.records:
            raise OptionError(
                f"a step under {asked.head.name()} is not recorded as a CUDA graph; take engine=auto or eager"
            )
        maker = nets.methods.make(net).sized_for(inputs)
        return cls(asked, maker, losses.methods.make(loss), plan, inputs, augment, augment_once)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return tuple(self.inputs.shape[1:])

    def made_by(self, x: Any) -> dict[str, Any]:
        """All settings, and a number that changes when the data do."""
        head, augment = self.asked.head, self.augment
        once = ", once" if augment is not None and self.augment_once else ""
        return {
            "net": self.net.word,
            "shape": list(self.shape),
            "target": self.asked.target.word,
            "loss": self.loss.word,
            "head": "" if head is None else head.word,
            "plan": self.plan.word,
            "augment": "" if augment is None else augment.word + once,
            "tasks": len(self.asked.tasks),
            "data": fingerprint(x.cpu() if isinstance(x, Tensor) else x, self.asked),
            "versions": {"plurivox": plurivox.__version__, "torch": torch.__version__},
        }

    def training(self) -> Training:
        """The training, not begun yet."""
        plan, asked, device = self.plan, self.asked, self.inputs.device
        chance = Chance(plan.seed, device)
        with chance.taken():
            module, head = self._build()
        lessons = asked.target.lessons(asked.known, asked.tasks, asked.labels, device)
        self._weigh(lessons)
        x, augment = self.inputs, self.augment
        if augment is not None and self.augment_once:
            x, augment = frozen(augment, x, plan.seed), None
        if plan.engine == "auto" and asked.head is not None and not asked.head.records:
            plan = replace(plan, engine="eager")
        return Training(module, x, lessons, self.loss, plan, chance, head, augment)

    def _build(self) -> tuple[nn.Module, Attached | None]:
        asked, device = self.asked, self.inputs.device
        module = self.net.build(self.shape, len(asked.labels))
        self.net.start(module)
        head = None
        if asked.head is not None:
            votes = asked.known.votes
            mine = None if votes is None else votes.on(asked.tasks).with_labels(asked.labels)
            workers = np.empty(0, np.int64) if votes is None else votes.workers
            scene = Scene(self.shape, asked.tasks, asked.labels, workers, mine)
            head = asked.head.build(module, scene).to(device)
        if self.plan.channels_last and self.inputs.ndim == 4:
            module = module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        return module.to(device), head

    def _weigh(self, lessons: Lessons) -> None:
        """Give every lesson the weight of its task."""
        if self.asked.weight is None:
            return
        own = on_device(self.asked.weight, self.inputs.device, torch.float32)
        own = own if lessons.row is None else own.index_select(0, lessons.row)
        lessons.weight = own if lessons.weight is None else lessons.weight * own
