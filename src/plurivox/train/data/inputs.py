"""Inputs of a net: numbers of any kind as a tensor on the device, once they are known to be numbers."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from plurivox.core.errors import InputError, first_few
from plurivox.core.types import Names


def as_inputs(x: Any, device: torch.device, tasks: Names | None = None, channels_last: bool = False) -> Tensor:
    """(n, ...) on the device: floats as float32, bytes as pixels from 0 to 1, other whole numbers as codes (int64).

    >>> as_inputs(np.array([[0, 255]], np.uint8), torch.device("cpu"))
    tensor([[0., 1.]])
    """
    table = x if isinstance(x, Tensor) else torch.as_tensor(_plain(x))
    if table.ndim < 2:
        raise InputError(f"inputs have the shape {tuple(table.shape)}; they need a row a task, (n_tasks, ...)")
    if tasks is not None and len(table) != len(tasks):
        raise InputError(f"there are {len(table)} inputs for {len(tasks)} tasks")
    if table.dtype == torch.uint8:
        table = table.to(device).float() / 255
    elif table.is_floating_point():
        table = table.to(device, torch.float32)
        _refuse_nan(table, tasks)
    else:
        table = table.to(device, torch.int64)
    return table.contiguous(memory_format=torch.channels_last) if channels_last and table.ndim == 4 else table


def check_inputs(x: np.ndarray[Any, Any], tasks: Names) -> None:
    """Raise an InputError where inputs are missing or infinite numbers; whole numbers, such as pixels, cannot be."""
    if x.dtype.kind == "f":
        as_inputs(x, torch.device("cpu"), tasks)


def _plain(x: Any) -> np.ndarray[Any, Any]:
    table = np.asarray(x)
    if table.dtype.kind not in "fiub":
        raise InputError(f"inputs are of the type {table.dtype}; they must be numbers")
    if table.dtype.kind == "u" and table.dtype != np.uint8:
        table = table.astype(np.int64)
    table = table.astype(np.float32, copy=False) if table.dtype.kind == "f" else table
    return table if table.flags.writeable else table.copy()


def _refuse_nan(table: Tensor, tasks: Names | None) -> None:
    bad = (~table.flatten(1).isfinite().all(1)).nonzero().flatten().cpu().numpy()  # rows
    if len(bad):
        names = bad if tasks is None else tasks[bad]
        raise InputError(
            f"{len(bad)} of {len(table)} inputs hold numbers that are missing or infinite, such as those of the tasks "
            f"{first_few(names)}; drop or fill them"
        )


def device_of(word: str | torch.device) -> torch.device:
    """The device of that name; `auto` is CUDA where there is one."""
    if isinstance(word, torch.device):
        return word
    if word == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(word)
    except RuntimeError:
        raise InputError(f"there is no device {word!r}; use auto, cpu, cuda or cuda:N") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"there is no CUDA device here for {word!r}; use device=auto or cpu")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise InputError(f"there is no {word}; this machine has {torch.cuda.device_count()} CUDA devices")
    return device
