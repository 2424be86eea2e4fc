"""Writing that is whole or absent: a temporary neighbour, fsync, rename.

Links are followed, so that what they point to is written. A pipe or a device takes the finished bytes. What goes wrong
on the way is told of the path that was asked for; temporary names stay inside.
"""

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from plurivox.core.errors import InputError, PlurivoxError


@contextmanager
def atomic_file(path: str | Path) -> Iterator[Path]:
    """Write to the path this yields; it takes the name `path` only when the block ends well.

    An error, Ctrl-C or a full disk inside the block leaves what was at `path` as it was.
    """
    given, target = Path(path), Path(os.path.realpath(path))
    with _told_of(given) as hidden:
        stream = _is_stream(given)
        if not stream:
            _parent_must_exist(given, target)
            if target.is_dir():
                raise InputError(f"{given} is a folder; name a file in it")
        handle, name = tempfile.mkstemp(".part", _prefix(target), None if stream else target.parent)
        os.close(handle)
        part = Path(name)
        hidden.append(part)
        try:
            yield part
            if stream:
                _pour(part, given)
            else:
                part.chmod(0o666 & ~_umask())
                _sync(part)
                part.replace(target)
                _sync(target.parent)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: str | Path, *, replace: bool = False) -> Iterator[Path]:
    """The same for a folder. A folder with something in it is only replaced on request."""
    given, target = Path(path), Path(os.path.realpath(path))
    with _told_of(given) as hidden:
        _parent_must_exist(given, target)
        there = _seen(target)
        if there and not stat.S_ISDIR(there.st_mode):
            raise InputError(f"{given} is a file; name a folder")
        if there and not replace and any(target.iterdir()):
            raise _not_empty(given)
        fixed = there is not None and _must_stay(target, there)
        part = Path(tempfile.mkdtemp(".part", _prefix(target), target if fixed else target.parent))
        hidden.append(part)
        try:
            yield part
            part.chmod(0o777 & ~_umask())
            for file in part.rglob("*"):
                _sync(file)
            if fixed:
                _refill(part, target)
            elif not _swap_in(part, target, replace):
                raise _not_empty(given)
            _sync(target.parent)
        finally:
            shutil.rmtree(part, ignore_errors=True)


# ---- taking the place of what is there


def _swap_in(part: Path, target: Path, replace: bool) -> bool:
    """Put a folder in the place of another: False where there is one that may not be replaced.

    Where several processes write the same folder at once, each is there whole for a while and the last one stays.
    """
    while not _renamed(part, target):
        if not replace:
            return False
        aside = Path(tempfile.mkdtemp(".part", _prefix(target), target.parent))
        try:
            with suppress(FileNotFoundError):  # another process has just moved it
                target.rename(aside)
            if _renamed(part, target):
                return True
        except BaseException:
            if any(aside.iterdir()):
                _renamed(aside, target)  # back again, unless another process came first
            raise
        finally:
            if aside.exists():
                shutil.rmtree(aside)
    return True


def _renamed(folder: Path, name: Path) -> bool:
    """Rename a folder; False where another one with something in it has the name."""
    try:
        folder.rename(name)
    except OSError as cause:
        if cause.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    return True


def _must_stay(target: Path, seen: os.stat_result) -> bool:
    """Whether a folder cannot be renamed, or somebody works in it: then only what is in it can change."""
    worked_in = os.path.samestat(seen, Path().stat())
    return worked_in or os.path.ismount(target) or not os.access(target.parent, os.W_OK | os.X_OK)


def _refill(part: Path, target: Path) -> None:
    """Exchange what is in `target` for what is in its subfolder `part`; what fails halfway is undone."""
    aside = Path(tempfile.mkdtemp(".part", _prefix(target), target))
    old = [one for one in target.iterdir() if one not in (part, aside)]
    moves = [(one, aside / one.name) for one in old] + [(one, target / one.name) for one in part.iterdir()]
    done: list[tuple[Path, Path]] = []
    try:
        for source, goal in moves:
            source.rename(goal)
            done.append((source, goal))
    except BaseException:
        for source, goal in reversed(done):
            goal.rename(source)
        raise
    finally:
        shutil.rmtree(aside)


# ---- pipes and devices


def _is_stream(path: Path) -> bool:
    """Whether there is something at `path` to write into and not to replace: a pipe, a device, what is already open."""
    seen = _seen(path)
    if seen is None:
        return False
    return _descriptor(path) is not None or not (stat.S_ISREG(seen.st_mode) or stat.S_ISDIR(seen.st_mode))


def _pour(part: Path, path: Path) -> None:
    number = _descriptor(path)
    # a copy of an open file shares its place in it, so that what is printed later comes after
    with part.open("rb") as source, path.open("wb") if number is None else os.fdopen(os.dup(number), "wb") as stream:
        shutil.copyfileobj(source, stream)


def _descriptor(path: Path) -> int | None:
    """The number of the open file of this process that a path such as /dev/stdout or /dev/fd/3 leads to."""
    here = path.absolute()
    for _ in range(40):  # as many links as Linux follows
        home = os.path.realpath(here.parent)
        if home == f"/proc/{os.getpid()}/fd" and here.name.isdigit():
            return int(here.name)
        if not here.is_symlink():
            return None
        here = Path(home, here.readlink())
    return None


# ---- what is told


@contextmanager
def _told_of(path: Path) -> Iterator[list[Path]]:
    """Tell every failure of `path`, and of none of the temporary names in the list this yields."""
    hidden: list[Path] = []
    try:
        yield hidden
    except BrokenPipeError:  # whoever read our output has seen enough: no fault of the path
        raise
    except OSError as cause:
        raise InputError(f"{path} could not be written: {_reason(cause, path, hidden)}") from cause
    except PlurivoxError as cause:
        if (text := _unhidden(str(cause), path, hidden)) == str(cause):
            raise
        raise type(cause)(text) from cause.__cause__


def _reason(cause: OSError, path: Path, hidden: list[Path]) -> str:
    """The words of the system; the file that it names only where that is neither ours nor the one asked for."""
    if cause.strerror is None:
        return _unhidden(str(cause), path, hidden)
    name = str(cause.filename or path)
    ours = not hidden or name == str(path) or any(name.startswith(str(one)) for one in hidden)
    return cause.strerror if ours else f"{cause.strerror}: {name!r}"


def _unhidden(text: str, path: Path, hidden: list[Path]) -> str:
    for one in hidden:
        text = text.replace(str(one), str(path))
    return text


def _not_empty(path: Path) -> InputError:
    return InputError(f"{path} is not empty; choose another folder or replace it (--force)")


def _parent_must_exist(given: Path, target: Path) -> None:
    for path in (given, target):
        if not path.parent.is_dir():
            raise InputError(f"the folder {path.parent} for {path.name} does not exist; make it first")


# ---- the system


def _prefix(target: Path) -> str:
    """How temporary neighbours begin: hidden, and short enough beside any name."""
    return f".{target.name[:40]}."


def _seen(path: Path) -> os.stat_result | None:
    """What is at the end of the path; None where there is nothing."""
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


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
