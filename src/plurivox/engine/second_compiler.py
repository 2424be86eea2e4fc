"""A second process that compiles kernels ahead of their first call, so that two cores share the first compilation.

Numba compiles one kernel at a time in a process. Who is going to call several kernels announces them; when the first one
is not in the cache of compiled code, a child process starts at the end of the list and compiles into the cache, while this
process goes on from the beginning. Where they meet, one waits for the other: see `numba_compilation`. Nothing starts if all
is cached, and nothing depends on the child: what it has not compiled is compiled here.
"""

import atexit
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from plurivox.engine.parallel_task_blocks import n_threads

KernelCall = tuple[Callable[..., Any], tuple[Any, ...]]  # a kernel, and arguments of the types of the coming call

PACKAGE_PARENT = Path(__file__).parents[2]

_announced: list[Callable[[], Iterable[KernelCall]]] = []
_sent: set[tuple[str, str, Any]] = set()  # kernels that a second process has compiled, or is compiling
_process: subprocess.Popen[bytes] | None = None


@contextmanager
def announce_kernels(calls: Callable[[], Iterable[KernelCall]]) -> Iterator[None]:
    """Context manager: `calls()` returns the kernels that the block is going to call, in this order.

    It is called only if a kernel has to be compiled.
    """
    _announced.append(calls)
    try:
        yield
    finally:
        _announced.remove(calls)


def start_second_compiler_if_kernels_announced(cache_folder: Path | None) -> None:
    """Start the second process on all announced kernels, unless one is running, or there is no cache or second thread."""
    global _process
    if not _announced or cache_folder is None or n_threads() < 2 or not sys.executable:
        return
    if _process is not None and _process.poll() is None:
        return
    kernels = [_kernel_and_argument_types(*call) for announced in tuple(_announced) for call in announced()]
    new = [kernel for kernel in dict.fromkeys(kernels) if kernel not in _sent]
    _sent.update(new)
    if len(new) < 2:
        return
    paths = [str(PACKAGE_PARENT), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "NUMBA_CACHE_DIR": str(cache_folder.parent)}
    try:
        _process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert _process.stdin is not None
        _process.stdin.write(pickle.dumps(new))
        _process.stdin.close()
    except OSError:  # no more processes, or it has ended already: this process compiles alone
        return


def _kernel_and_argument_types(kernel: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, str, Any]:
    """Return (module, name, numba types of the arguments) of a call of a kernel."""
    import numba

    typeof: Any = numba.typeof
    return kernel.__module__, kernel.__name__, tuple(typeof(argument) for argument in arguments)


def compile_kernels_last_first(kernels: Iterable[tuple[str, str, Any]]) -> None:
    """Compile kernels, given as (module, name, numba types of the arguments), into the cache, the last one first."""
    for module, name, types in reversed(list(kernels)):
        getattr(import_module(module), name).compile(types)


@atexit.register
def _end_second_compiler() -> None:
    """End the second process: this one needs nothing more from it."""
    if _process is not None and _process.poll() is None:
        _process.kill()
        _process.wait()


def _forget_second_compiler_after_fork() -> None:
    """Forget the second process in a forked child, whose process it is not."""
    global _process
    _process = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_second_compiler_after_fork)

if __name__ == "__main__":
    compile_kernels_last_first(pickle.load(sys.stdin.buffer))  # noqa: S301  # the parent process wrote it
