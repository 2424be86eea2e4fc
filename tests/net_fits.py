"""A training before its first epoch, by the arguments of `plurivox.train.fit`: for tests that take the steps themselves."""

from typing import Any

from plurivox.core.encoding import as_names
from plurivox.core.soft_labels import SoftLabels
from plurivox.train import Supervision
from plurivox.train.loop.net_fit import NetFit
from plurivox.train.loop.spec import TrainSpec
from plurivox.train.loop.training_set import TrainingSet

SPEC = ("net", "loss", "head", "plan", "augment", "augment_once", "record")
DATA = ("labels", "weight")


def start_fit(x: Any, target: str | SoftLabels, *, known: Supervision | None = None, **given: Any) -> NetFit:
    """The training on a named target, or on soft labels."""
    if isinstance(target, SoftLabels):
        given = {"tasks": target.tasks, **given}
        target, known = "soft", Supervision(soft=target)
    spec = TrainSpec.of(target, **{name: given.pop(name) for name in SPEC if name in given})
    more = {name: given.pop(name) for name in DATA if name in given}
    data = TrainingSet.of(x, spec, known or Supervision(), tasks=as_names(given.pop("tasks"), "tasks"), **more)
    return NetFit(spec, data, **given)
