"""Writing that is whole or absent: a temporary neighbour, fsync, rename."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plurivox.core.errors import InputError


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Write to the path this yields; it takes the name `path` only when the block ends well.

    An error, Ctrl-C or a full disk inside the block leaves what was at `path` as it was.
    """
    target = Path(path)
    _parent_must_exist(target)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(0o666 & ~_umask())
        _sync(part)
        part.replace(target)
        _sync(target.parent)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: str | Path, *, replace: bool = False) -> Iterator[Path]:
    """The same for a folder. A folder with something in it is only replaced on request."""
    target = Path(path)
    _parent_must_exist(target)
    if target.exists() and not target.is_dir():
        raise InputError(f"{target} is a file; name a folder")
    if target.is_dir() and any(target.iterdir()) and not replace:
        raise InputError(f"{target} is not empty; choose another folder or replace it (--force)")
    part = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    try:
        yield part
        part.chmod(0o777 & ~_umask())
        for file in part.rglob("*"):
            _sync(file)
        _swap_in(part, target)
        _sync(target.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _swap_in(part: Path, target: Path) -> None:
    if not target.is_dir():
        part.rename(target)
        return
    old = target.with_name(f".{target.name}.old-{os.getpid()}")
    target.rename(old)
    try:
        part.rename(target)
    except BaseException:
        old.rename(target)
        raise
    shutil.rmtree(old)


def _parent_must_exist(target: Path) -> None:
    if not target.parent.is_dir():
        raise InputError(f"the folder {target.parent} for {target.name} does not exist; make it first")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
