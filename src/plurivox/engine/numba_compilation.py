"""Decorators that compile kernels with numba, and the folder in which machine code is cached."""

import gc
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from plurivox.core.compilation_callbacks import report_compilation
from plurivox.engine.second_compiler import start_second_compiler_if_kernels_announced

with suppress(ImportError):  # not on Windows
    import fcntl

F = TypeVar("F", bound=Callable[..., Any])

numba_config: Any = numba.config
ENGINE_FOLDER = Path(__file__).parent
# fused multiply-add is allowed, reordering is not: with it, LLVM turns loops over votes into slow gathers
FASTMATH_FLAGS = {"contract"}


class CompilationListener(event.Listener):
    """Numba's event listener: report when compilation starts and ends, and pause garbage collection meanwhile.

    A compilation makes millions of small objects that live until its end; collecting garbage takes a tenth of its time.
    Compilations nest, and numba runs one at a time in a process.
    """

    def __init__(self) -> None:
        self.depth, self.collects_garbage = 0, False

    def on_start(self, _: Any) -> None:
        self.depth += 1
        if self.depth == 1:
            self.collects_garbage = gc.isenabled()
            gc.disable()
            start_second_compiler_if_kernels_announced(compiled_code_cache_folder_or_none())
            report_compilation(True)

    def on_end(self, _: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            if self.collects_garbage:
                gc.enable()
            report_compilation(False)


event.register("numba:compile", CompilationListener())  # type: ignore[no-untyped-call]


def compile_kernel(function: F) -> F:
    """Decorator: compile a function on arrays with numba; it runs without the GIL, and its machine code is cached on disk.

    The Python function is `.py_func`, the reference in tests.
    """
    folder = compiled_code_cache_folder_or_none()
    options: dict[str, Any] = {
        "nogil": True,
        "fastmath": FASTMATH_FLAGS,
        "error_model": "numpy",
        "no_cfunc_wrapper": True,  # an entry for callers in C, of which there are none
    }
    with _temporarily_set_numba_cache_dir(folder):
        compiled: Any = numba.njit(cache=folder is not None, **options)(function)
    if folder is not None:
        compiled.compile = _locking_across_processes(compiled.compile, folder / f"{function.__name__}.lock")
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
    options: dict[str, Any] = {
        "nogil": True,
        "fastmath": FASTMATH_FLAGS,
        "error_model": "numpy",
        "forceinline": True,
        "no_cpython_wrapper": True,  # no entry for callers in Python: only kernels call it
        "no_cfunc_wrapper": True,
    }
    compiled: Any = numba.njit(**options)(function)
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


def _locking_across_processes(compile_or_load: Callable[[Any], Any], lock_file: Path) -> Callable[[Any], Any]:
    """Return a function that compiles a kernel for a signature, or loads it from the cache, in one process at a time.

    So two processes do not compile the same code, and do not write the index of the cache at the same time. The lock of the
    thread comes first: a thread that waits for a file holds it, so that no thread can hold a file and wait for the lock.
    """

    def compile_or_load_alone(signature: Any) -> Any:
        with global_compiler_lock, _file_lock(lock_file):
            return compile_or_load(signature)

    return compile_or_load_alone


@contextmanager
def _file_lock(lock_file: Path) -> Iterator[None]:
    """Context manager that holds a lock file, where the system and the file system have locks; else it does nothing.

    The lock ends with the process.
    """
    with ExitStack() as stack:
        try:
            fcntl.flock(stack.enter_context(lock_file.open("a")), fcntl.LOCK_EX)
        except (NameError, OSError):  # Windows, or a folder that cannot be written
            stack.close()
        yield


@contextmanager
def _temporarily_set_numba_cache_dir(folder: Path | None) -> Iterator[None]:
    """Context manager that sets numba's cache folder inside the block and restores it afterwards; None changes nothing."""
    before = numba_config.CACHE_DIR
    numba_config.CACHE_DIR = str(folder) if folder else before
    try:
        yield
    finally:
        numba_config.CACHE_DIR = before
