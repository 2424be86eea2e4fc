"""Files of the safetensors format against the package safetensors."""

from pathlib import Path

import pytest
import torch

from plurivox.core.errors import InputError
from plurivox.train.loop.safetensors_files import read_safetensors_and_metadata, write_safetensors

TENSORS = {
    "a": torch.arange(6.0).reshape(2, 3),
    "half": torch.ones(3, dtype=torch.bfloat16),
    "bytes": torch.tensor([1, 2, 255], dtype=torch.uint8),
    "none": torch.zeros(0, 4),
    "one": torch.tensor(7),
    "truth": torch.tensor([True, False]),
}


def test_files_are_exchanged_with_the_package_in_both_directions(tmp_path: Path) -> None:
    peer = pytest.importorskip("safetensors.torch")
    write_safetensors(tmp_path / "x.safetensors", TENSORS, {"labels": '["Zürich"]'})
    theirs = peer.load_file(tmp_path / "x.safetensors")
    ours, notes = read_safetensors_and_metadata(tmp_path / "x.safetensors")
    assert notes == {"labels": '["Zürich"]'} and set(ours) == set(theirs) == set(TENSORS)
    assert all(torch.equal(ours[n], TENSORS[n]) and torch.equal(theirs[n], TENSORS[n]) for n in TENSORS)
    peer.save_file(TENSORS, tmp_path / "y.safetensors", {"by": "the package"})
    again, notes = read_safetensors_and_metadata(tmp_path / "y.safetensors")
    assert notes == {"by": "the package"} and all(torch.equal(again[n], TENSORS[n]) for n in TENSORS)


@pytest.mark.parametrize("damage", [b"", b"\xff" * 20, b"\x02\0\0\0\0\0\0\0{}x", b"\x08\0\0\0\0\0\0\0[1, 2,3]"])
def test_damaged_files_raise_an_error(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "x").write_bytes(damage)
    if damage.endswith(b"{}x"):
        assert read_safetensors_and_metadata(tmp_path / "x") == ({}, {})
        return
    with pytest.raises(InputError, match="not a safetensors file"):
        read_safetensors_and_metadata(tmp_path / "x")


def test_a_truncated_file_raises_an_error(tmp_path: Path) -> None:
    write_safetensors(tmp_path / "x", TENSORS, {})
    whole = (tmp_path / "x").read_bytes()
    (tmp_path / "x").write_bytes(whole[:-3])
    with pytest.raises(InputError, match="truncated"):
        read_safetensors_and_metadata(tmp_path / "x")
