"""Decorators that compile kernels with numba, and the folder in which machine code is cached."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

numba_config: Any = numba.config
ENGINE_FOLDER = Path(__file__).parent
# fused multiply-add is allowed, reordering is not: with it, LLVM turns loops over votes into slow gathers
FASTMATH_FLAGS = {"contract"}


def compile_kernel(function: F) -> F:
    """Decorator: compile a function on arrays with numba; it runs without the GIL, and its machine code is cached on disk.

    The Python function is `.py_func`, the reference in tests.
    """
    folder = compiled_code_cache_folder_or_none()
    options: dict[str, Any] = {"nogil": True, "fastmath": FASTMATH_FLAGS, "error_model": "numpy"}
    with _temporarily_set_numba_cache_dir(folder):
        compiled: Any = numba.njit(cache=folder is not None, **options)(function)
    return cast(F, compiled)


def compile_inlined_by_numba(function: F) -> F:
    """Decorator: compile a helper function of kernels with numba, which copies its body into each caller before compiling it.

    The default for code that kernels share, with loops or without. Numba then sees the caller's own arrays, and the helper
    can be an argument of another function. Use `compile_inlined_by_llvm` if measurement shows that numba's reference counts
    cost time.
    """
    compiled: Any = numba.njit(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")(function)
    return cast(F, compiled)


def compile_inlined_by_llvm(function: F) -> F:
    """Decorator: compile a helper function of kernels with numba; LLVM inlines its machine code into each caller.

    For a body copied by `compile_inlined_by_numba`, numba counts references to its arrays each time it runs. For a body that
    runs once per task or vote and has a short loop, that can take longer than the loop; LLVM's inlining counts none. The
    function may take one compiled by `compile_inlined_by_numba` as an argument.
    """
    compiled: Any = numba.njit(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy", forceinline=True)(function)
    return cast(F, compiled)


@cache
def compiled_code_cache_folder_or_none() -> Path | None:
    """Return the folder for cached machine code: in NUMBA_CACHE_DIR, else next to the sources, else in the user's cache.

    Its name has a digest of all sources of the engine: numba checks only the file of the kernel itself, and would keep
    using a kernel whose helper in another file has changed. None: no folder is writable, and each process compiles.
    """
    name = f"plurivox-{_engine_source_hash()}"
    if numba_config.CACHE_DIR:
        return Path(numba_config.CACHE_DIR) / name
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    places = [ENGINE_FOLDER / "__pycache__", home / "plurivox", Path(tempfile.gettempdir()) / f"plurivox-{os.getuid()}"]
    return next((place / name for place in places if _create_folder_return_whether_private(place / name)), None)


def _engine_source_hash() -> str:
    """Return a hash of all source files of the engine, 12 hex digits."""
    whole = hashlib.sha256()
    for file in sorted(ENGINE_FOLDER.rglob("*.py")):
        whole.update(str(file.relative_to(ENGINE_FOLDER)).encode() + file.read_bytes())
    return whole.hexdigest()[:12]


def _create_folder_return_whether_private(folder: Path) -> bool:
    """Create a cache folder if needed; return whether it is writable and owned by this user.

    Machine code is loaded from it, so a folder created by another user is not trusted.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            return folder.stat().st_uid == os.getuid()
    except OSError:
        return False


@contextmanager
def _temporarily_set_numba_cache_dir(folder: Path | None) -> Iterator[None]:
    """Context manager that sets numba's cache folder inside the block and restores it afterwards; None changes nothing."""
    before = numba_config.CACHE_DIR
    numba_config.CACHE_DIR = str(folder) if folder else before
    try:
        yield
    finally:
        numba_config.CACHE_DIR = before
