"""Callbacks that are told when the engine compiles a kernel, which takes seconds at its first use on a machine."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

CompilationCallback = Callable[[bool], None]

_callbacks: list[CompilationCallback] = []


@contextmanager
def call_when_compiling(callback: CompilationCallback) -> Iterator[None]:
    """Context manager: call `callback(True)` when a compilation starts inside the block, `callback(False)` when it ends.

    Kernels loaded from the cache of compiled code are not reported. The callback runs in the thread that compiles.

    >>> seen = []
    >>> with call_when_compiling(seen.append):
    ...     report_compilation(True)
    >>> seen
    [True]
    """
    _callbacks.append(callback)
    try:
        yield
    finally:
        _callbacks.remove(callback)


def report_compilation(active: bool) -> None:
    """Tell every callback that a compilation has started (`active`) or ended."""
    for callback in tuple(_callbacks):
        callback(active)
