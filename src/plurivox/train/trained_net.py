"""Trained: a trained net with its settings and history; and how it predicts, is saved and loaded."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from plurivox.core.array_types import Floats, Names
from plurivox.core.errors import InputError, first_few
from plurivox.core.method import parse_spec
from plurivox.core.name_encoding import as_names
from plurivox.core.results import Dynamics, Fit
from plurivox.core.rows_by_task_name import rows_with_task_names
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.training_history import read_training_history_csv, write_training_history_csv
from plurivox.train import nets
from plurivox.train.data.input_tensors import to_input_tensor, torch_device_from_name
from plurivox.train.loop.safetensors_files import read_safetensors_and_metadata, write_safetensors
from plurivox.train.training_hyperparameters import Plan

MAX_BATCH_CELLS = 2**22  # numbers of input per batch of a prediction
ESTIMATES = "estimates"  # the setting that says what the predictions estimate
FORMAT_VERSION = "1"  # of the metadata in a file of weights
WEIGHTS, HISTORY, DYNAMICS, WORKERS = "weights.safetensors", "history.csv", "dynamics.npz", "workers.npz"


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained net with its labels, settings and history; predicts for inputs of the shape it was trained on."""

    net: nn.Module
    labels: Names  # (n_labels,) in the order of the net's outputs
    made_by: Mapping[str, Any]  # net, shape, target, loss, head, plan and versions: enough to train it again
    history: Mapping[str, tuple[float, ...]]  # columns by name: epoch, loss, lr, seconds, dev measures
    best_epoch: int  # the epoch of these weights
    stopped: str = ""  # reason why training ended before the last epoch of the plan
    dynamics: Dynamics | None = None  # recorded logits
    fit: Fit | None = None  # the head's estimates about the workers
    notes: tuple[str, ...] = field(default=())

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input of the net."""
        return tuple(self.made_by["shape"])

    @property
    def estimates(self) -> Estimand:
        """What the predictions estimate: truth or people, by the training labels; unknown for a net of an earlier version."""
        found: Estimand = self.made_by.get(ESTIMATES, "unknown")
        return found

    def logits(self, x: Any, tasks: Names | None = None) -> Floats:
        """(n, n_labels) the net's logits for the inputs x; InputError if they have another shape."""
        device = next(self.net.parameters()).device
        inputs = to_input_tensor(x, device, tasks)
        if tuple(inputs.shape[1:]) != self.shape:
            raise InputError(
                f"the net takes inputs of the shape {self.shape}; these have {tuple(inputs.shape[1:])}{self._image_size_hint()}"
            )
        return np.asarray(predict_logits(self.net, inputs).double().cpu().numpy())

    def _image_size_hint(self) -> str:
        """Return the advice for images of another size, for an error message; empty if inputs are not square images."""
        square = len(self.shape) == 3 and self.shape[1] == self.shape[2]
        return f": resize images to its size (--image-size {self.shape[1]})" if square else ""

    def predict(self, x: Any, tasks: Iterable[object] | str | None = None) -> SoftLabels:
        """Return the predicted probabilities for the inputs x, by task; they estimate what the training labels do.

        `tasks` are the names of the rows of x, or a column of x with them. Without `tasks` they are the index of a DataFrame or
        the keys of a mapping {task: row}; else the tasks are called 0, 1, 2, ...
        """
        rows, given = rows_with_task_names(x, tasks)
        names = as_names(np.arange(len(rows))) if given is None else given
        logits = self.logits(rows, names)
        if len(wild := names[~np.isfinite(logits).all(1)]):
            raise InputError(
                f"the net's output is not finite for {len(wild)} of {len(names)} inputs, such as those of the tasks "
                f"{first_few(wild)}; check them for extreme values"
            )
        # numpy's softmax: torch's in `softmax_probabilities` differs in the last bits, and so would saved results
        powers = np.exp(logits - logits.max(1, keepdims=True))
        prob = powers / powers.sum(1, keepdims=True)
        return SoftLabels.of(prob, names, self.labels, estimates=self.estimates)

    def plot(self, chart: str | None = None, **options: Any) -> Any:
        """Draw this net's training, or another chart by name: `pv.plot(self, chart, ...)`; needs the extra `plot`."""
        import plurivox

        return plurivox.plot(self, chart, **options)

    # ---- files

    def save(self, folder: str | Path) -> None:
        """Write weights, history, recorded logits and estimates about workers into an existing folder."""
        home = Path(folder)
        notes = {
            "plurivox": FORMAT_VERSION,
            "labels": json.dumps(self.labels.tolist()),
            "made_by": json.dumps(dict(self.made_by)),
            "best_epoch": str(self.best_epoch),
            "stopped": self.stopped,
        }
        write_training_history_csv(home / HISTORY, self.history)
        for data, name in ((self.dynamics, DYNAMICS), (self.fit, WORKERS)):
            if data is not None:
                data.save(home / name)
        write_safetensors(home / WEIGHTS, self.net.state_dict(), notes)

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        device: str | torch.device = "auto",
        labels: Iterable[object] | None = None,
        trust: bool | str = False,
    ) -> Self:
        """Load a trained net from the folder that `save` wrote; `labels`, if given, must be those of the net.

        A net of the kind `module:function` is made by imported code: this is done only with trust=True, or if `trust` is the
        spec of that net.
        """
        home = Path(folder)
        tensors, notes = read_safetensors_and_metadata(home / WEIGHTS)
        if notes.get("plurivox") != FORMAT_VERSION:
            raise InputError(f"{home / WEIGHTS} was not written by plurivox, so that its labels are unknown")
        names, made_by = as_names(json.loads(notes["labels"]), "labels"), json.loads(notes["made_by"])
        if labels is not None:
            check_same_labels_in_same_order(names, as_names(labels, "labels"), home)
        if trust is not True and trust != made_by["net"]:
            check_net_runs_no_untrusted_code(made_by["net"], home)
        net = nets.methods.make(made_by["net"]).build(tuple(made_by["shape"]), len(names))
        _check_weight_names_and_shapes(tensors, net, home)
        net.load_state_dict(tensors)
        dynamics = Dynamics.load(home / DYNAMICS) if (home / DYNAMICS).is_file() else None
        workers = Fit.load(home / WORKERS) if (home / WORKERS).is_file() else None
        history = read_training_history_csv(home / HISTORY) if (home / HISTORY).is_file() else {}
        best, stopped = int(notes["best_epoch"]), notes["stopped"]
        return cls(
            net.to(torch_device_from_name(device)).eval(), names, made_by, history, best, stopped, dynamics, workers
        )


def predict_logits(net: nn.Module, x: Tensor, plan: Plan | None = None) -> Tensor:
    """(n, n_labels) the net's logits in evaluation mode, in batches; the mode of the net is restored afterwards."""
    size = max(1, min(8192, MAX_BATCH_CELLS // max(x[:1].numel(), 1)))
    mixed = plan is not None and plan.precision == "bfloat16"
    was_training = net.training
    net.eval()
    try:
        with torch.no_grad(), torch.autocast(x.device.type, torch.bfloat16, enabled=mixed):
            logits = [net(batch).float() for batch in x.split(size)]
        return torch.cat(logits) if len(logits) != 1 else logits[0]
    finally:
        net.train(was_training)


def softmax_probabilities(logits: Tensor) -> Floats:
    """(n, n_labels) the softmax of logits as a numpy array, computed in float64 on their device."""
    return np.asarray(logits.double().softmax(1).cpu().numpy())


def check_net_runs_no_untrusted_code(net_spec: str, where: object) -> None:
    """Raise InputError if a net of a saved file would be made by importing and running code other than torchvision's."""
    source = parse_spec(net_spec)[0]
    if ":" in source and not source.startswith("torchvision:"):
        raise InputError(
            f"the net in {where} is {source}: loading it imports that module and runs its function. "
            "If you trust the source of the folder, load it with trust=True (--trust)"
        )


def check_same_labels_in_same_order(net_labels: Names, labels: Names, where: object) -> None:
    """Raise InputError if the labels of a trained net differ from `labels`, or are in another order."""
    if net_labels.tolist() != labels.tolist():
        raise InputError(
            f"{where} was trained on another list of labels: {first_few(net_labels, 6)}; this one is {first_few(labels, 6)}. "
            "Train again, or give the same labels in the same order"
        )


def _check_weight_names_and_shapes(tensors: dict[str, Tensor], net: nn.Module, where: Path) -> None:
    """Raise InputError if names or shapes of the tensors are not those of the net's weights."""
    expected = net.state_dict()
    wrong = [
        name
        for name in {*expected, *tensors}
        if name not in tensors or name not in expected or tensors[name].shape != expected[name].shape
    ]
    if wrong:
        raise InputError(
            f"the weights in {where} do not fit their net: {first_few(sorted(wrong))} are missing or have another shape"
        )
