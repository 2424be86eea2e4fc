"""Atomic writes of files and folders: write to a temporary name in the same folder, fsync, rename.

Symbolic links are followed. Pipes and devices receive the finished bytes. Error messages name the requested path, never
the temporary one.
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
    """Context manager that yields a temporary path to write to and renames it to `path` if the block succeeds.

    An error, Ctrl-C or a full disk inside the block leaves an existing file at `path` unchanged.
    """
    given, target = Path(path), Path(os.path.realpath(path))
    with _os_errors_as_input_errors(given) as hidden:
        stream = _is_pipe_or_device(given)
        if not stream:
            _check_parent_exists(given, target)
            if target.is_dir():
                raise InputError(f"{given} is a folder; name a file in it")
        handle, name = tempfile.mkstemp(".part", _temporary_name_prefix(target), None if stream else target.parent)
        os.close(handle)
        part = Path(name)
        hidden.append(part)
        try:
            yield part
            if stream:
                _copy_to_stream(part, given)
            else:
                part.chmod(0o666 & ~_current_umask())
                _fsync(part)
                part.replace(target)
                _fsync(target.parent)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: str | Path, *, replace: bool = False) -> Iterator[Path]:
    """Context manager that yields a temporary folder to write to and renames it to `path` if the block succeeds.

    Raise InputError if there is a folder at `path` that is not empty, unless `replace` is true.
    """
    given, target = Path(path), Path(os.path.realpath(path))
    with _os_errors_as_input_errors(given) as hidden:
        _check_parent_exists(given, target)
        existing = _stat_or_none_if_missing(target)
        if existing and not stat.S_ISDIR(existing.st_mode):
            raise InputError(f"{given} is a file; give a folder name")
        if existing and not replace and any(target.iterdir()):
            raise _folder_not_empty_error(given)
        fixed = existing is not None and _folder_cannot_be_renamed(target, existing)
        part = Path(tempfile.mkdtemp(".part", _temporary_name_prefix(target), target if fixed else target.parent))
        hidden.append(part)
        try:
            yield part
            part.chmod(0o777 & ~_current_umask())
            for file in part.rglob("*"):
                _fsync(file)
            if fixed:
                _replace_folder_contents(part, target)
            elif not _try_move_folder_into_place(part, target, replace):
                raise _folder_not_empty_error(given)
            _fsync(target.parent)
        finally:
            shutil.rmtree(part, ignore_errors=True)


# ---- replace an existing folder


def _try_move_folder_into_place(temporary: Path, target: Path, replace: bool) -> bool:
    """Rename folder `temporary` to `target`, deleting a folder there if `replace`; return False if one stays in the way.

    If several processes write the same folder, each version is complete and the last one remains.
    """
    while not _try_rename_to_absent_or_empty_folder(temporary, target):
        if not replace:
            return False
        aside = Path(tempfile.mkdtemp(".part", _temporary_name_prefix(target), target.parent))
        try:
            with suppress(FileNotFoundError):  # another process has just moved it
                target.rename(aside)
            if _try_rename_to_absent_or_empty_folder(temporary, target):
                return True
        except BaseException:
            if any(aside.iterdir()):
                _try_rename_to_absent_or_empty_folder(aside, target)  # restore it, unless another process was first
            raise
        finally:
            if aside.exists():
                shutil.rmtree(aside)
    return True


def _try_rename_to_absent_or_empty_folder(folder: Path, new_path: Path) -> bool:
    """Rename a folder; return False, and rename nothing, if there is a folder with files at the new path."""
    try:
        folder.rename(new_path)
    except OSError as cause:
        if cause.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    return True


def _folder_cannot_be_renamed(folder: Path, folder_stat: os.stat_result) -> bool:
    """Return whether a folder cannot be renamed: it is a mount point, the working directory, or its parent is read-only."""
    is_working_directory = os.path.samestat(folder_stat, Path().stat())
    return is_working_directory or os.path.ismount(folder) or not os.access(folder.parent, os.W_OK | os.X_OK)


def _replace_folder_contents(temporary: Path, target: Path) -> None:
    """Replace the files of folder `target` by those of its subfolder `temporary`; undo all moves if one fails."""
    aside = Path(tempfile.mkdtemp(".part", _temporary_name_prefix(target), target))
    old = [one for one in target.iterdir() if one not in (temporary, aside)]
    moves = [(one, aside / one.name) for one in old] + [(one, target / one.name) for one in temporary.iterdir()]
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


def _is_pipe_or_device(path: Path) -> bool:
    """Return whether `path` is a pipe, a device or an open file descriptor, which is written to and not replaced by a file."""
    found = _stat_or_none_if_missing(path)
    if found is None:
        return False
    return _dev_fd_descriptor_number_or_none(path) is not None or not (
        stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
    )


def _copy_to_stream(source_file: Path, stream_path: Path) -> None:
    """Write the bytes of file `source_file` to the pipe, device or open file descriptor at `stream_path`."""
    number = _dev_fd_descriptor_number_or_none(stream_path)
    # a duplicated descriptor shares the file offset, so that later output comes after these bytes
    with (
        source_file.open("rb") as source,
        stream_path.open("wb") if number is None else os.fdopen(os.dup(number), "wb") as stream,
    ):
        shutil.copyfileobj(source, stream)


def _dev_fd_descriptor_number_or_none(path: Path) -> int | None:
    """Return the file descriptor of this process that a path such as /dev/stdout or /dev/fd/3 leads to, or None."""
    here = path.absolute()
    for _ in range(40):  # as many links as Linux follows
        home = os.path.realpath(here.parent)
        if home == f"/proc/{os.getpid()}/fd" and here.name.isdigit():
            return int(here.name)
        if not here.is_symlink():
            return None
        here = Path(home, here.readlink())
    return None


# ---- errors


@contextmanager
def _os_errors_as_input_errors(output_path: Path) -> Iterator[list[Path]]:
    """Context manager that turns OSErrors into InputErrors about `output_path`; it yields a list of temporary paths to hide."""
    temporary_paths: list[Path] = []
    try:
        yield temporary_paths
    except BrokenPipeError:  # the reader closed the pipe: not an error of the path
        raise
    except OSError as cause:
        raise InputError(
            f"{output_path} could not be written: {_os_error_text_without_own_paths(cause, output_path, temporary_paths)}"
        ) from cause
    except PlurivoxError as cause:
        if (text := _replace_temporary_paths_in_text(str(cause), output_path, temporary_paths)) == str(cause):
            raise
        raise type(cause)(text) from cause.__cause__


def _os_error_text_without_own_paths(cause: OSError, output_path: Path, temporary_paths: list[Path]) -> str:
    """Return the text of an OSError, with its file name unless that is `output_path` or a temporary path."""
    if cause.strerror is None:
        return _replace_temporary_paths_in_text(str(cause), output_path, temporary_paths)
    name = str(cause.filename or output_path)
    ours = not temporary_paths or name == str(output_path) or any(name.startswith(str(one)) for one in temporary_paths)
    return cause.strerror if ours else f"{cause.strerror}: {name!r}"


def _replace_temporary_paths_in_text(text: str, output_path: Path, temporary_paths: list[Path]) -> str:
    """Replace every temporary path in an error text by `output_path`."""
    for one in temporary_paths:
        text = text.replace(str(one), str(output_path))
    return text


def _folder_not_empty_error(folder: Path) -> InputError:
    """Return (not raise) the InputError for an output folder that is not empty."""
    return InputError(f"{folder} is not empty; choose another folder or replace it: replace=True (--force)")


def _check_parent_exists(requested_path: Path, link_target: Path) -> None:
    """Raise InputError if the parent folder of the requested path, or of the file its link points to, does not exist."""
    for path in (requested_path, link_target):
        if not path.parent.is_dir():
            raise InputError(f"the folder {path.parent} for {path.name} does not exist; make it first")


# ---- the system


def _temporary_name_prefix(target: Path) -> str:
    """Return the start of the names of temporary files for `target`: a dot and the first 40 letters of its name."""
    return f".{target.name[:40]}."


def _stat_or_none_if_missing(path: Path) -> os.stat_result | None:
    """Return the os.stat result of a path, following links; None if the path does not exist."""
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _fsync(path: Path) -> None:
    """Flush a file or folder to disk with os.fsync."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _current_umask() -> int:
    """Return the umask of this process."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
