"""Inputs of a net as tensors on the device, with checks; and the choice of the device."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from plurivox.core.array_types import Names
from plurivox.core.errors import InputError, first_few


def to_input_tensor(
    x: Any, device: torch.device, tasks_of_rows: Names | None = None, channels_last: bool = False
) -> Tensor:
    """Return inputs (n, ...) as a tensor on the device: floats as float32, bytes as pixels from 0 to 1, integers as int64.

    Raises InputError if they are not one row per task or contain NaN or infinity.

    >>> to_input_tensor(np.array([[0, 255]], np.uint8), torch.device("cpu"))
    tensor([[0., 1.]])
    """
    table = x if isinstance(x, Tensor) else torch.as_tensor(_as_numeric_array_for_torch(x))
    if table.ndim < 2:
        raise InputError(f"inputs have the shape {tuple(table.shape)}; they need one row per task, (n_tasks, ...)")
    if tasks_of_rows is not None and len(table) != len(tasks_of_rows):
        raise InputError(f"there are {len(table)} inputs for {len(tasks_of_rows)} tasks")
    if table.dtype == torch.uint8:
        table = table.to(device).float() / 255
    elif table.is_floating_point():
        table = table.to(device, torch.float32)
        _check_input_rows_finite(table, tasks_of_rows)
    else:
        table = table.to(device, torch.int64)
    return table.contiguous(memory_format=torch.channels_last) if channels_last and table.ndim == 4 else table


def check_inputs_finite(x: np.ndarray[Any, Any], tasks: Names) -> None:
    """Raise InputError if inputs contain NaN or infinity."""
    if x.dtype.kind == "f":
        to_input_tensor(x, torch.device("cpu"), tasks)


def _as_numeric_array_for_torch(x: Any) -> np.ndarray[Any, Any]:
    """Return inputs x as a writable numpy array of a type that torch supports; InputError if they are not numeric."""
    table = np.asarray(x)
    if table.dtype.kind not in "fiub":
        raise InputError(f"inputs have the type {table.dtype}; they must be numbers")
    if table.dtype.kind == "u" and table.dtype != np.uint8:
        table = table.astype(np.int64)
    table = table.astype(np.float32, copy=False) if table.dtype.kind == "f" else table
    return table if table.flags.writeable else table.copy()


def _check_input_rows_finite(table: Tensor, tasks: Names | None) -> None:
    """Raise InputError naming the tasks whose inputs contain NaN or infinity."""
    bad = (~table.flatten(1).isfinite().all(1)).nonzero().flatten().cpu().numpy()  # rows
    if len(bad):
        names = bad if tasks is None else tasks[bad]
        raise InputError(
            f"{len(bad)} of {len(table)} inputs contain missing values (NaN) or infinity, such as those of the tasks "
            f"{first_few(names)}; drop or fill them"
        )


def torch_device_from_name(name: str | torch.device) -> torch.device:
    """Return the device of a name such as cpu or cuda:1; `auto` is CUDA if available; InputError if it does not exist."""
    if isinstance(name, torch.device):
        return name
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InputError(f"there is no device {name!r}; use auto, cpu, cuda or cuda:N") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"this machine has no CUDA device, so {name!r} is not available; use device=auto or cpu")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise InputError(f"there is no {name}; this machine has {torch.cuda.device_count()} CUDA devices")
    return device
