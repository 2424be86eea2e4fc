"""Read and write files of the safetensors format: named tensors and text metadata. Needs no package.

Eight bytes contain the length of the header; the header is JSON with the type, shape and position of every tensor and the
metadata; the numbers follow. Such a file contains no code.
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

DTYPES = {
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
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
MAX_HEADER_BYTES = 2**27  # a longer header is an error


def write_safetensors(path: str | Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write the tensors and text metadata to a safetensors file, atomically."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    begin, ordered = 0, sorted(tensors.items(), key=lambda one: (-one[1].element_size(), one[0]))  # keeps them aligned
    for name, value in ordered:
        size = value.numel() * value.element_size()
        header[name] = {
            "dtype": DTYPE_NAMES[value.dtype],
            "shape": list(value.shape),
            "data_offsets": [begin, begin + size],
        }
        begin += size
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with atomic_file(path) as part, part.open("wb") as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        for _, value in ordered:
            file.write(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)


def read_safetensors_and_metadata(path: str | Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return (tensors on the CPU, metadata) of a safetensors file; InputError if it is missing or damaged."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    try:
        (length,) = struct.unpack("<Q", data[:8])
        if length > min(MAX_HEADER_BYTES, len(data) - 8):
            raise ValueError("its header is longer than the file")
        header = json.loads(data[8 : 8 + length])
        notes = header.pop("__metadata__", {})
        body = memoryview(bytearray(data[8 + length :]))  # a copy, so that the tensors are writable
        return {name: _decode_tensor(body, entry) for name, entry in header.items()}, notes
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, RuntimeError) as cause:
        raise InputError(f"{path} is not a safetensors file, or it is damaged or truncated ({cause})") from cause


def _decode_tensor(body: memoryview, header_entry: Mapping[str, Any]) -> Tensor:
    """Return the tensor whose type, shape and position in `body` the header entry contains; ValueError if it is outside."""
    dtype, (begin, end) = DTYPES[header_entry["dtype"]], header_entry["data_offsets"]
    if end > len(body) or begin > end:
        raise ValueError("a tensor is outside the file")
    if begin == end:
        return torch.empty(header_entry["shape"], dtype=dtype)
    return torch.frombuffer(body[begin:end], dtype=dtype).reshape(header_entry["shape"])
