"""Weights from files: safetensors, or the state dictionaries that torch saves."""

import pickle
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from plurivox.core.errors import InputError, first_few
from plurivox.train.loop.tensors import read_tensors


def read_weights(path: str | Path) -> dict[str, Tensor]:
    """Tensors by name. A file of torch is read as plain tensors; anything else that is pickled in it is refused."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {path} to take weights from")
    if path.suffix == ".safetensors":
        return read_tensors(path)[0]
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, ValueError, EOFError, OSError) as cause:
        words = " ".join(str(cause).split())[:120] or type(cause).__name__
        raise InputError(f"{path} holds no plain weights, or it is damaged or cut short ({words})") from cause
    if isinstance(found, Mapping) and isinstance(found.get("state_dict"), Mapping):
        found = found["state_dict"]
    if not isinstance(found, Mapping) or not all(isinstance(one, Tensor) for one in found.values()):
        raise InputError(f"{path} holds {type(found).__name__}; weights are tensors by name (net.state_dict())")
    return dict(found)


def load_weights(module: nn.Module, weights: Mapping[str, Tensor], path: str | Path) -> None:
    """Put the weights into the module; every tensor of the module must be there in its shape, others may be left over."""
    wanted = module.state_dict()
    # counters of batches are younger than many weight files, and nothing reads them
    absent = [name for name in wanted if name not in weights and not name.endswith("num_batches_tracked")]
    if absent:
        raise InputError(
            f"{path} lacks {len(absent)} of {len(wanted)} weights: {first_few(absent)}; it is of another net"
        )
    wrong = [name for name in wanted if name in weights and weights[name].shape != wanted[name].shape]
    if wrong:
        shapes = f"{tuple(weights[wrong[0]].shape)}, not {tuple(wanted[wrong[0]].shape)}"
        raise InputError(f"{path} has weights of other shapes: {first_few(wrong)}; the first is {shapes}")
    module.load_state_dict({name: weights[name] for name in wanted if name in weights}, strict=False)
