"""Helper: a `TrainingRun` before its first epoch, from the arguments of `plurivox.train.fit`."""

from typing import Any

from plurivox.core.name_encoding import as_names
from plurivox.core.soft_labels import SoftLabels
from plurivox.train import Supervision
from plurivox.train.loop.prepared_data_and_trainer import PreparedData
from plurivox.train.loop.train_spec import TrainSpec
from plurivox.train.loop.training_run import TrainingRun

SPEC = ("net", "loss", "head", "plan", "augment", "augment_once", "record")
DATA = ("labels", "weight")


def start_fit(x: Any, target: str | SoftLabels, *, known: Supervision | None = None, **given: Any) -> TrainingRun:
    """Return a training run on a named target, or on soft labels, before its first epoch."""
    if isinstance(target, SoftLabels):
        given = {"tasks": target.tasks, **given}
        target, known = "soft", Supervision(soft=target)
    spec = TrainSpec.from_names_or_objects(target, **{name: given.pop(name) for name in SPEC if name in given})
    more = {name: given.pop(name) for name in DATA if name in given}
    data = PreparedData.from_inputs_dropping_unusable_tasks(
        x, spec, known or Supervision(), tasks=as_names(given.pop("tasks"), "tasks"), **more
    )
    return TrainingRun(spec, data, **given)
