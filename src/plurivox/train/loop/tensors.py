"""Tensors by name in one file: the safetensors format, written and read here so that no package is needed.

Eight bytes say how long the header is; the header is JSON with the type, shape and place of every tensor and a little text
of our own; the numbers follow. Nothing in such a file can run.
"""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError

KINDS = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
WORDS = {kind: word for word, kind in KINDS.items()}
MOST = 2**27  # bytes of header: more is no header


def write_tensors(path: str | Path, tensors: Mapping[str, Tensor], notes: Mapping[str, str]) -> None:
    """Write the tensors and the notes, whole or not at all."""
    header: dict[str, Any] = {"__metadata__": dict(notes)}
    place, ordered = 0, sorted(tensors.items(), key=lambda one: (-one[1].element_size(), one[0]))  # keeps them aligned
    for name, value in ordered:
        size = value.numel() * value.element_size()
        header[name] = {"dtype": WORDS[value.dtype], "shape": list(value.shape), "data_offsets": [place, place + size]}
        place += size
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with atomic_file(path) as part, part.open("wb") as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        for _, value in ordered:
            file.write(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)


def read_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """(tensors, notes) of such a file, on the CPU."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    try:
        (length,) = struct.unpack("<Q", data[:8])
        if length > min(MOST, len(data) - 8):
            raise ValueError("its header is longer than the file")
        header = json.loads(data[8 : 8 + length])
        notes = header.pop("__metadata__", {})
        body = memoryview(bytearray(data[8 + length :]))  # of our own, so that tensors may be written to
        return {name: _tensor(body, about) for name, about in header.items()}, notes
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, RuntimeError) as cause:
        raise InputError(f"{path} is no safetensors file, or it is damaged or cut short ({cause})") from cause


def _tensor(body: memoryview, about: Mapping[str, Any]) -> Tensor:
    kind, (begin, end) = KINDS[about["dtype"]], about["data_offsets"]
    if end > len(body) or begin > end:
        raise ValueError("a tensor lies beyond the end of the file")
    if begin == end:
        return torch.empty(about["shape"], dtype=kind)
    return torch.frombuffer(body[begin:end], dtype=kind).reshape(about["shape"])
