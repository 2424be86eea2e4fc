"""Trained: a net after training, its settings and its history."""

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from plurivox.core.atomic_write import atomic_file
from plurivox.core.encoding import as_names
from plurivox.core.errors import InputError, first_few
from plurivox.core.method import parse_spec
from plurivox.core.results import Dynamics, Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats, Names
from plurivox.train import nets
from plurivox.train.data.inputs import as_inputs, device_of
from plurivox.train.loop.tensors import read_tensors, write_tensors
from plurivox.train.plan import Plan

CELLS = 2**22  # numbers of input taken at a time
FORM = "1"  # of the notes in a file of weights
WEIGHTS, HISTORY, DYNAMICS, WORKERS = "weights.safetensors", "history.csv", "dynamics.npz", "workers.npz"


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained net; it predicts for any inputs of the shape it was trained on."""

    net: nn.Module
    labels: Names  # (n_labels,) in the order of its outputs
    made_by: Mapping[str, Any]  # net, shape, target, loss, head, plan and versions: enough to make it again
    history: Mapping[str, tuple[float, ...]]  # a column each: epoch, loss, lr, seconds, dev measures
    best_epoch: int  # the epoch of these weights
    stopped: str = ""  # why it ended before the last epoch of the plan
    dynamics: Dynamics | None = None
    fit: Fit | None = None  # what a head learnt about the workers
    notes: tuple[str, ...] = field(default=())

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return tuple(self.made_by["shape"])

    def logits(self, x: Any, tasks: Names | None = None) -> Floats:
        """(n, n_labels) the logits of the net for these inputs."""
        device = next(self.net.parameters()).device
        inputs = as_inputs(x, device, tasks)
        if tuple(inputs.shape[1:]) != self.shape:
            raise InputError(
                f"the net takes inputs of the shape {self.shape}; these have {tuple(inputs.shape[1:])}{self._way_out()}"
            )
        return np.asarray(predict_logits(self.net, inputs).double().cpu().numpy())

    def _way_out(self) -> str:
        """What to do about images of another size."""
        square = len(self.shape) == 3 and self.shape[1] == self.shape[2]
        return f": bring images to its size (on the command line --image-size {self.shape[1]})" if square else ""

    def predict(self, x: Any, tasks: Iterable[object] | None = None) -> SoftLabels:
        """The predicted probabilities for these inputs; tasks without names are called 0, 1, 2, ..."""
        names = as_names(np.arange(len(x)) if tasks is None else tasks, "tasks")
        logits = self.logits(x, names)
        if len(wild := names[~np.isfinite(logits).all(1)]):
            raise InputError(
                f"the net finds no finite numbers for {len(wild)} of {len(names)} inputs, such as those of the tasks "
                f"{first_few(wild)}; look for wild values in them"
            )
        # numpy's softmax: that of torch in `probabilities` differs in the last bits, and so would saved results
        raised = np.exp(logits - logits.max(1, keepdims=True))
        return SoftLabels.of(raised / raised.sum(1, keepdims=True), names, self.labels)

    # ---- files

    def save(self, folder: str | Path) -> None:
        """Write weights, history and what was recorded into a folder that is there."""
        home = Path(folder)
        notes = {
            "plurivox": FORM,
            "labels": json.dumps(self.labels.tolist()),
            "made_by": json.dumps(dict(self.made_by)),
            "best_epoch": str(self.best_epoch),
            "stopped": self.stopped,
        }
        write_history(home / HISTORY, self.history)
        for noun, name in ((self.dynamics, DYNAMICS), (self.fit, WORKERS)):
            if noun is not None:
                noun.save(home / name)
        write_tensors(home / WEIGHTS, self.net.state_dict(), notes)

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        device: str | torch.device = "auto",
        labels: Iterable[object] | None = None,
        trust: bool | str = False,
    ) -> Self:
        """Read what `save` wrote; `labels`, where given, must be the net's own.

        A net of the kind `module:function` is made by code that the file merely names: it runs only with `trust`, or
        where trust is that very net's word.
        """
        home = Path(folder)
        tensors, notes = read_tensors(home / WEIGHTS)
        if notes.get("plurivox") != FORM:
            raise InputError(f"{home / WEIGHTS} holds weights that plurivox did not write; its labels are unknown")
        names, made_by = as_names(json.loads(notes["labels"]), "labels"), json.loads(notes["made_by"])
        if labels is not None:
            refuse_other_labels(names, as_names(labels, "labels"), home)
        if trust is not True and trust != made_by["net"]:
            refuse_named_code(made_by["net"], home)
        net = nets.methods.make(made_by["net"]).build(tuple(made_by["shape"]), len(names))
        net.load_state_dict(_fitting(tensors, net, home))
        recorded = Dynamics.load(home / DYNAMICS) if (home / DYNAMICS).is_file() else None
        workers = Fit.load(home / WORKERS) if (home / WORKERS).is_file() else None
        history = read_history(home / HISTORY) if (home / HISTORY).is_file() else {}
        best, stopped = int(notes["best_epoch"]), notes["stopped"]
        return cls(net.to(device_of(device)).eval(), names, made_by, history, best, stopped, recorded, workers)


def predict_logits(net: nn.Module, x: Tensor, plan: Plan | None = None) -> Tensor:
    """(n, n_labels) logits of the net as it predicts: no dropout, running means; its mode is put back afterwards."""
    size = max(1, min(8192, CELLS // max(x[:1].numel(), 1)))
    mixed = plan is not None and plan.precision == "bfloat16"
    was_training = net.training
    net.eval()
    try:
        with torch.no_grad(), torch.autocast(x.device.type, torch.bfloat16, enabled=mixed):
            parts = [net(part).float() for part in x.split(size)]
        return torch.cat(parts) if len(parts) != 1 else parts[0]
    finally:
        net.train(was_training)


def probabilities(logits: Tensor) -> Floats:
    """(n, n_labels) softmax of logits, computed in float64 on their device."""
    return np.asarray(logits.double().softmax(1).cpu().numpy())


def refuse_named_code(net: str, where: object) -> None:
    """An error where a net can be made only by importing code that a file names."""
    source = parse_spec(net)[0]
    if ":" in source and not source.startswith("torchvision:"):
        raise InputError(
            f"the net in {where} is {source}: to make it that module is imported and its function run. "
            "If you trust whoever made the folder, say so: --trust (in Python trust=True)"
        )


def refuse_other_labels(mine: Names, other: Names, where: object) -> None:
    """An error where two lists of labels are not the same, in the same order."""
    if mine.tolist() != other.tolist():
        raise InputError(
            f"{where} was trained on another list of labels: {first_few(mine, 6)}; this one is {first_few(other, 6)}. "
            "Train anew, or give the same labels in the same order"
        )


def _fitting(tensors: dict[str, Tensor], net: nn.Module, where: Path) -> dict[str, Tensor]:
    wanted = net.state_dict()
    odd = [
        name
        for name in {*wanted, *tensors}
        if name not in tensors or name not in wanted or tensors[name].shape != wanted[name].shape
    ]
    if odd:
        raise InputError(f"the weights in {where} do not fit their net: {first_few(sorted(odd))} are amiss")
    return tensors


def write_history(path: Path, history: Mapping[str, tuple[float, ...]]) -> None:
    """A row an epoch."""
    with atomic_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(history)
        rows.writerows(zip(*history.values(), strict=True))


def read_history(path: Path) -> dict[str, tuple[float, ...]]:
    """The columns of such a file."""
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    columns = zip(*rows, strict=True) if rows else [()] * len(head)
    kinds = {"epoch": int}
    return {
        name: tuple(kinds.get(name, float)(cell) for cell in column) for name, column in zip(head, columns, strict=True)
    }
