"""TrainSpec: net, target, loss, head and plan of a training; the only place in which their names become objects."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import torch

from plurivox.core.array_types import Floats, Names
from plurivox.core.errors import InputError, OptionError, first_few, warn_user
from plurivox.core.method import Method, parse_spec
from plurivox.core.name_encoding import positions
from plurivox.core.soft_labels import Estimand
from plurivox.core.votes import Votes
from plurivox.engine.answer_pair_agreement import agreeing_pair_share_per_task
from plurivox.train import heads, losses, nets, targets
from plurivox.train.data.image_augmentation import Augmentation, augmentation
from plurivox.train.data.input_tensors import torch_device_from_name
from plurivox.train.heads import Head
from plurivox.train.losses import Loss
from plurivox.train.nets import Net
from plurivox.train.targets import Target
from plurivox.train.targets._contract import TargetKind
from plurivox.train.targets.pair import Pair
from plurivox.train.targets.smoothed import DEFAULT_OF, Smoothed
from plurivox.train.targets.soft import Soft
from plurivox.train.training_hyperparameters import DEFAULT_LOSS, DEFAULT_NET, Plan

Record = bool | Literal["", "visit", "after"]
Choose = Literal["", "gold", "votes"]  # labels of the dev tasks that choose the best epoch; "": gold labels, else votes
# kind of target that a head needs -> target if none is given
DEFAULT_TARGETS: dict[TargetKind, str] = {
    "distribution": "soft",
    "votes": "all-votes",
    "pair": "pair",
}
DEFAULT_MAIN_TARGET = Pair().main
HOW_TO_ESTIMATE: dict[Estimand, str] = {  # advice in an error
    "truth": "leave the target out, or name gold, majority or an aggregation method for the truth, such as dawid-skene",
    "people": "leave head and target out, or name de-aggregated, vote-shares or another method for what people say",
}


@dataclass(frozen=True)
class AgreementWeighting:
    """Weights of tasks by the agreement of their votes: the agreement itself, or 0 below a minimum, or both."""

    weigh: bool = True
    least: float = 0.0

    def task_weights_by_agreement(self, votes: Votes, tasks: Names) -> Floats:
        """(n_tasks,) the weight of each task by the agreement of its votes; a task of weight 0 is not trained on."""
        share = pair_agreement_per_task(votes, tasks)
        kept = (share >= self.least).astype(np.float64)
        return kept * share if self.weigh else kept


def pair_agreement_per_task(votes: Votes, tasks: Names) -> Floats:
    """(n_tasks,) the share of pairs of answers to each of `tasks` that agree; 1 with fewer than two answers.

    Used as weights of tasks, or to drop tasks below some value: Uma et al. (2021), section 4,
    https://doi.org/10.1613/jair.1.12752

    >>> pair_agreement_per_task(Votes.of(["a", "a", "a", "b"], [1, 2, 3, 1], ["x", "x", "y", "y"]), np.array(["a", "b"]))
    array([0.33333333, 1.        ])
    """
    share, row = np.clip(agreeing_pair_share_per_task(votes), 0, 1), positions(votes.tasks, tasks)
    return np.where((row >= 0) & ~np.isnan(share[row]), share[row], 1.0)


@dataclass(frozen=True)
class TrainSpec:
    """Specification of a training without its data: net, target, loss, head, plan and further settings.

    >>> spec = TrainSpec.from_names_or_objects(net="mlp[hidden=8]", head="crowd-layer")
    >>> spec.net.hidden, spec.target.spec, spec.net_head_and_target_text
    ('8', 'all-votes', 'mlp[hidden=8] under crowd-layer on all-votes')
    """

    target: Target
    net: Net
    loss: Loss
    head: Head | None = None
    plan: Plan = field(default_factory=Plan)
    augment: Augmentation | None = None
    augment_once: bool = False  # augment images once, not in every epoch
    record: Literal["", "visit", "after"] = (
        ""  # logits recorded per epoch: none, in the training steps, after the epoch
    )
    weighting: AgreementWeighting | None = None
    soft: Method | None = None  # the aggregator of the soft labels; only for description: training gets its result
    choose: Choose = ""
    estimates: Estimand = "unknown"  # what the net is to estimate; unknown: what the target declares
    answers_per_task: int | None = (
        None  # train on this many answers of each task, drawn by the seed of the plan; None: all
    )

    @classmethod
    def from_names_or_objects(
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
        """Return the spec of net, target, loss and head given by name or as objects.

        The default target depends on the head: soft labels without a head, a pair for `two-heads`, else all votes. `main` is
        the hard target of `two-heads`; with it, the target of soft labels becomes a pair of both. `net_options` are further
        options of a net that is given by name.
        """
        made_head = None if head is None or head == "" else heads.methods.make(head)
        return cls(
            _given_default_or_hard_soft_pair(made_head, target, main),
            nets.methods.make(net, **(net_options or {})),
            losses.methods.make(loss),
            made_head,
            plan or Plan(),
            _as_augmentation_or_none(augment),
            augment_once,
            "visit" if record is True else record or "",
            weighting,
            soft,
        )

    def __post_init__(self) -> None:
        """Raise OptionError if the head cannot use the target, or its steps cannot be recorded as the engine requires."""
        needed, given = required_target_kind(self.head), self.target.kind
        if given != needed:
            who = "training without a head" if self.head is None else f"the head {self.head.name()}"
            raise OptionError(
                f"{who} needs a target of the kind {needed}; {self.target_text} is of the kind {given}: leave the target out "
                f"to use {DEFAULT_TARGETS[needed]!r}, or use {_suggested_heads_text(given)}"
            )
        if self.plan.engine == "graphs" and self.head is not None and not self.head.capturable:
            raise OptionError(
                f"a step with the head {self.head.name()} cannot be recorded as a CUDA graph; use engine=auto or eager"
            )

    def estimated_quantity(self, soft: Estimand = "unknown") -> Estimand:
        """Return what the net's predictions estimate, given what the soft labels of the training tasks estimate.

        With a head that models workers it is the truth behind their votes; else it is what the target declares, or, if that is
        not known, `estimates`. Raise InputError if the two differ.
        """
        found: Estimand = "truth" if self.target.kind == "votes" else self.target.estimated_quantity(soft)
        if found == "unknown":
            return self.estimates
        if self.estimates not in ("unknown", found):
            raise InputError(
                f"{self.net_head_and_target_text} estimates {found}, not {self.estimates}: {HOW_TO_ESTIMATE[self.estimates]}, "
                f"or use for_={found!r} (--for {found})"
            )
        return found

    @cached_property
    def device(self) -> torch.device:
        """The device of the plan; InputError if this machine does not have it."""
        return torch_device_from_name(self.plan.device)

    @property
    def target_text(self) -> str:
        """The target as text for users: its spec, the spec of the aggregator of soft labels, or both targets of two heads."""
        if self.soft is not None and isinstance(self.target, Soft) and not self.target.hard:
            return self.soft.spec
        if self.soft is not None and isinstance(self.target, Pair) and self.target.soft == "soft":
            return f"{self.target.main} and {self.soft.spec}"
        return self.target.spec

    @property
    def net_head_and_target_text(self) -> str:
        """The specs of net, head and target as one line of text for users."""
        return f"{self.net.spec}{'' if self.head is None else f' under {self.head.spec}'} on {self.target_text}"

    def setting_texts_by_name(self) -> dict[str, Any]:
        """Return the specs of net, target, loss, head, plan and augmentation, and `record`, by name, for `Trained.made_by`."""
        once = ", once" if self.augment_once else ""
        return {
            "net": self.net.spec,
            "target": self.target.spec,
            "loss": self.loss.spec,
            "head": "" if self.head is None else self.head.spec,
            "plan": self.plan.spec,
            "augment": "" if self.augment is None else self.augment.spec + once,
            "record": self.record,
            **({} if self.answers_per_task is None else {"answers_per_task": self.answers_per_task}),
        }


def required_target_kind(head: Head | None) -> TargetKind:
    """Return the kind of target that a head needs: its `target_kind`, or "distribution" without a head."""
    return "distribution" if head is None else head.target_kind


def _given_default_or_hard_soft_pair(head: Head | None, target: str | Target | None, hard_target: str | None) -> Target:
    """Return the given target, or the default target of the head.

    With `hard_target` ("": the default one) and a head of two heads, it is a pair of `hard_target` and the soft labels if no
    target or the target `soft` was given, and a given pair gets `hard_target`. Raises InputError for a `hard_target` that is
    not the default with another head, or that contradicts the pair.
    """
    needed = required_target_kind(head)
    if hard_target and hard_target != DEFAULT_MAIN_TARGET and needed != "pair":
        raise InputError(
            f"main={hard_target} is the hard target of two heads; add head='two-heads' (--head two-heads), or leave it out"
        )
    made = targets.methods.make(DEFAULT_TARGETS[needed] if target is None else target)
    if isinstance(target, str):
        _warn_if_smoothed_target_is_not_named(target)
    if needed != "pair" or hard_target is None:
        return made
    if target is None or made == Soft():
        return Pair(main=hard_target or DEFAULT_MAIN_TARGET)
    return _pair_with_hard_target(made, target, hard_target) if isinstance(made, Pair) and hard_target else made


def _pair_with_hard_target(pair: Pair, given: str | Target, hard_target: str) -> Pair:
    """Return the pair with `hard_target` as its main target; InputError if `given`, its spec or itself, names another one."""
    default = None if pair.main == DEFAULT_MAIN_TARGET else pair.main
    named = parse_spec(given)[1].get("main") if isinstance(given, str) else default
    if named not in (None, hard_target):
        raise InputError(
            f"two hard targets for two heads: {named}, in the target {given if isinstance(given, str) else pair.spec}, and "
            f"main={hard_target}; give only one"
        )
    return replace(pair, main=hard_target)


def _warn_if_smoothed_target_is_not_named(target: str) -> None:
    """Warn if `target` is, or contains, `smoothed` without its option `of`, whose default was gold before version 0.2."""
    name, given = parse_spec(target)
    for inner in given.values():
        if isinstance(inner, str) and inner:
            _warn_if_smoothed_target_is_not_named(inner)
    if name == Smoothed.name() and not given.get("of"):
        warn_user(
            f"smoothed smooths the {DEFAULT_OF} vote; before version 0.2 it smoothed gold labels: write smoothed[of=gold] for "
            f"them, or smoothed[of={DEFAULT_OF}]"
        )


def _as_augmentation_or_none(augment: str | Augmentation | None) -> Augmentation | None:
    """Return the image augmentation of a spec such as crop-flip, an object unchanged, and None for "" and "none"."""
    if isinstance(augment, str):
        return None if augment in ("", "none") else augmentation(augment)
    return augment


def _suggested_heads_text(target_kind: TargetKind) -> str:
    """Return the heads that can use a kind of target as text for an error message, such as "a head such as crowd-layer"."""
    fitting = [name for name in heads.methods if heads.methods[name].target_kind == target_kind]
    return f"a head such as {first_few(fitting)}" if fitting else "no head"
