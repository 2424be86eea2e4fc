"""TrainSpec: what is trained, on what target and how, as objects; names become objects here and nowhere below."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import torch

from plurivox.core.encoding import positions
from plurivox.core.errors import InputError, OptionError, first_few
from plurivox.core.method import Method
from plurivox.core.types import Floats, Names
from plurivox.core.votes import Votes
from plurivox.engine.pair_agreement import pair_agreement
from plurivox.train import heads, losses, nets, targets
from plurivox.train.data.augment import Augmentation, augmentation
from plurivox.train.data.inputs import device_of
from plurivox.train.heads import Head
from plurivox.train.losses import Loss
from plurivox.train.nets import Net
from plurivox.train.plan import DEFAULT_LOSS, DEFAULT_NET, Plan
from plurivox.train.targets import Target
from plurivox.train.targets._contract import Gives
from plurivox.train.targets.pair import Pair
from plurivox.train.targets.soft import Soft

Record = bool | Literal["", "visit", "after"]
NATURAL: dict[Gives, str] = {
    "distribution": "soft",
    "votes": "all-votes",
    "pair": "pair",
}  # what a head wants -> target
MAIN = Pair().main


@dataclass(frozen=True)
class AgreementWeighting:
    """Weigh tasks by the agreement of their votes, or leave out those below a least agreement, or both."""

    weigh: bool = True
    least: float = 0.0

    def weights(self, votes: Votes, tasks: Names) -> Floats:
        """(n_tasks,) the weight of each task; 0 leaves it out."""
        share = agreement(votes, tasks)
        kept = (share >= self.least).astype(np.float64)
        return kept * share if self.weigh else kept


def agreement(votes: Votes, tasks: Names) -> Floats:
    """(n_tasks,) the share of pairs of answers to each of `tasks` that agree; 1 where there are no two answers.

    Used as weights of tasks, or to leave out those below some value: Uma et al. (2021), section 4,
    https://doi.org/10.1613/jair.1.12752

    >>> agreement(Votes.of(["a", "a", "a", "b"], [1, 2, 3, 1], ["x", "x", "y", "y"]), np.array(["a", "b"]))
    array([0.33333333, 1.        ])
    """
    share, place = np.clip(pair_agreement(votes), 0, 1), positions(votes.tasks, tasks)
    return np.where((place >= 0) & ~np.isnan(share[place]), share[place], 1.0)


@dataclass(frozen=True)
class TrainSpec:
    """A training without its data: net, target, loss, head and plan.

    >>> spec = TrainSpec.of(net="mlp[hidden=8]", head="crowd-layer")
    >>> spec.net.hidden, spec.target.spec, spec.described
    ('8', 'all-votes', 'mlp[hidden=8] under crowd-layer on all-votes')
    """

    target: Target
    net: Net
    loss: Loss
    head: Head | None = None
    plan: Plan = field(default_factory=Plan)
    augment: Augmentation | None = None
    augment_once: bool = False  # change the images once, not in every epoch
    record: Literal["", "visit", "after"] = ""  # which logits of every epoch are recorded
    weighting: AgreementWeighting | None = None
    soft: Method | None = None  # the aggregator of the soft labels that the target uses; training is given its result

    @classmethod
    def of(
        cls,
        target: str | Target | None = None,
        *,
        net: str | Net = DEFAULT_NET,
        loss: str | Loss = DEFAULT_LOSS,
        head: str | Head | None = None,
        plan: Plan | None = None,
        augment: str | Augmentation | None = None,
        augment_once: bool = False,
        record: Record = False,
        weighting: AgreementWeighting | None = None,
        soft: Method | None = None,
        main: str | None = None,
        net_options: Mapping[str, Any] | None = None,
    ) -> Self:
        """The spec of these names or objects.

        Without a target it is the natural one of the head: soft labels without a head, else all votes, or a pair for two heads.
        With `main`, the hard target of two heads, the target of soft labels stands for a pair of both under two heads.
        `net_options` are further options of a net that is given by its name.
        """
        made_head = None if head is None or head == "" else heads.methods.make(head)
        return cls(
            _target_under(made_head, target, main),
            nets.methods.make(net, **(net_options or {})),
            losses.methods.make(loss),
            made_head,
            plan or Plan(),
            _as_augmentation(augment),
            augment_once,
            "visit" if record is True else record or "",
            weighting,
            soft,
        )

    def __post_init__(self) -> None:
        """Raise an OptionError where the head cannot use the target, or the engine not the head."""
        wanted, given = wanted_by(self.head), self.target.gives
        if given != wanted:
            raise OptionError(
                f"{'no head' if self.head is None else self.head.name()} goes with a target that gives {wanted}; "
                f"{self.taught} gives {given}: leave the target out, which takes {NATURAL[wanted]!r}, or take "
                f"{_heads_for(given)}"
            )
        if self.plan.engine == "graphs" and self.head is not None and not self.head.records:
            raise OptionError(
                f"a step under {self.head.name()} is not recorded as a CUDA graph; take engine=auto or eager"
            )

    @cached_property
    def device(self) -> torch.device:
        """The device of the plan; an InputError where this machine has none of that name."""
        return device_of(self.plan.device)

    @property
    def taught(self) -> str:
        """The labels that the net learns from, for people: a target, an aggregator, or both labels of two heads."""
        if self.soft is not None and isinstance(self.target, Soft) and not self.target.hard:
            return self.soft.spec
        if self.soft is not None and isinstance(self.target, Pair) and self.target.soft == "soft":
            return f"{self.target.main} and {self.soft.spec}"
        return self.target.spec

    @property
    def described(self) -> str:
        """Net, head and labels in one line, for people."""
        return f"{self.net.spec}{'' if self.head is None else f' under {self.head.spec}'} on {self.taught}"

    def settings(self) -> dict[str, Any]:
        """The spec as names, as a trained net records them."""
        once = ", once" if self.augment_once else ""
        return {
            "net": self.net.spec,
            "target": self.target.spec,
            "loss": self.loss.spec,
            "head": "" if self.head is None else self.head.spec,
            "plan": self.plan.spec,
            "augment": "" if self.augment is None else self.augment.spec + once,
            "record": self.record,
        }


def wanted_by(head: Head | None) -> Gives:
    """What the target of this head must give; without a head a distribution per task."""
    return "distribution" if head is None else head.wants


def _target_under(head: Head | None, target: str | Target | None, main: str | None) -> Target:
    """The target that was given, or else the natural one of the head.

    With `main`, two heads learn from a pair of it and the soft labels where no target or that of soft labels was given. An
    InputError is raised where there are no two heads for a `main` that is not the default.
    """
    wanted = wanted_by(head)
    if main not in (None, MAIN) and wanted != "pair":
        raise InputError(f"main={main} is the hard target of two heads; add --head two-heads, or leave it out")
    made = targets.methods.make(NATURAL[wanted] if target is None else target)
    if main is not None and wanted == "pair" and (target is None or made == Soft()):
        return Pair(main=main)
    return made


def _as_augmentation(augment: str | Augmentation | None) -> Augmentation | None:
    if isinstance(augment, str):
        return None if augment in ("", "none") else augmentation(augment)
    return augment


def _heads_for(gives: Gives) -> str:
    fitting = [name for name in heads.methods if heads.methods[name].wants == gives]
    return f"a head such as {first_few(fitting)}" if fitting else "no head"
