"""Pretrained weights from files: safetensors, or state dictionaries saved by torch."""

import pickle
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from plurivox.core.errors import InputError, first_few
from plurivox.train.loop.safetensors_files import read_safetensors_and_metadata


def read_weights(path: str | Path) -> dict[str, Tensor]:
    """Return the tensors of a weights file by name; InputError if it is missing, damaged or contains other objects.

    A file saved by torch is read as plain tensors only, so that no code in it can run.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no weights file {path}")
    if path.suffix == ".safetensors":
        return read_safetensors_and_metadata(path)[0]
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, ValueError, EOFError, OSError) as cause:
        words = " ".join(str(cause).split())[:120] or type(cause).__name__
        raise InputError(f"{path} does not contain plain weights, or it is damaged or truncated ({words})") from cause
    if isinstance(found, Mapping) and isinstance(found.get("state_dict"), Mapping):
        found = found["state_dict"]
    if not isinstance(found, Mapping) or not all(isinstance(one, Tensor) for one in found.values()):
        raise InputError(
            f"{path} contains an object of type {type(found).__name__}; expected tensors by name (net.state_dict())"
        )
    return dict(found)


def load_weights(module: nn.Module, weights: Mapping[str, Tensor], path_in_errors: str | Path) -> None:
    """Load the weights into the module in place; InputError if a tensor of the module is missing or has another shape.

    Tensors that the module does not have are ignored.
    """
    wanted = module.state_dict()
    # old weight files lack the batch counters, which nothing uses
    absent = [name for name in wanted if name not in weights and not name.endswith("num_batches_tracked")]
    if absent:
        raise InputError(
            f"{path_in_errors} lacks {len(absent)} of {len(wanted)} weights: {first_few(absent)}; "
            "the file belongs to another net"
        )
    wrong = [name for name in wanted if name in weights and weights[name].shape != wanted[name].shape]
    if wrong:
        shapes = f"{tuple(weights[wrong[0]].shape)}, not {tuple(wanted[wrong[0]].shape)}"
        raise InputError(f"{path_in_errors} has weights of other shapes: {first_few(wrong)}; the first is {shapes}")
    module.load_state_dict({name: weights[name] for name in wanted if name in weights}, strict=False)
