"""How a kernel is compiled, and where the machine code is kept."""

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

numba_config: Any = numba.config  # numba fills it as it is imported
ENGINE_FOLDER = Path(__file__).parent
# products and sums may be fused, but never reordered: freed from that, LLVM turns loops over votes into slow gathers
FASTMATH_FLAGS = {"contract"}


def kernel(function: F) -> F:
    """Compile a function over plain arrays: it lets go of the GIL, and is compiled once a machine.

    The Python function stays at hand as `.py_func`, the oracle of the tests.
    """
    place = cache_folder()
    with _numba_cache_dir(place):
        compiled: Any = numba.njit(nogil=True, cache=place is not None, fastmath=FASTMATH_FLAGS, error_model="numpy")(
            function
        )
    return cast(F, compiled)


def inline(function: F) -> F:
    """Compile a function that kernels call; numba copies its body into each caller before it compiles that.

    The default for what kernels share, with loops or without. Numba then sees the caller's own arrays, and a `inline` can be
    an argument of another function. Use `routine` where measurement shows that numba's reference counts cost time.
    """
    compiled: Any = numba.njit(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy", inline="always")(function)
    return cast(F, compiled)


def routine(function: F) -> F:
    """Compile a function that kernels call; LLVM inlines the machine code into each caller.

    Numba counts references to the arrays that a copied body (`inline`) is given, each time it runs. For a body that runs once
    per task or vote and has a short loop, that can take longer than the loop; LLVM's inlining counts none. A routine may
    take a part as an argument.
    """
    compiled: Any = numba.njit(nogil=True, fastmath=FASTMATH_FLAGS, error_model="numpy", forceinline=True)(function)
    return cast(F, compiled)


@cache
def cache_folder() -> Path | None:
    """Where machine code is kept: NUMBA_CACHE_DIR, else beside the sources, else in the user's cache folder.

    The folder is named after what all sources of the engine say: numba looks only at the file a kernel stands in, and
    would go on using a kernel whose helper in another file has changed. None: nothing can be written anywhere, and
    kernels are compiled anew by each process.
    """
    name = f"plurivox-{_source_digest()}"
    if numba_config.CACHE_DIR:
        return Path(numba_config.CACHE_DIR) / name
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    places = [ENGINE_FOLDER / "__pycache__", home / "plurivox", Path(tempfile.gettempdir()) / f"plurivox-{os.getuid()}"]
    return next((place / name for place in places if _is_private_folder(place / name)), None)


def _source_digest() -> str:
    """A short word that changes with any source of the engine."""
    whole = hashlib.sha256()
    for file in sorted(ENGINE_FOLDER.rglob("*.py")):
        whole.update(str(file.relative_to(ENGINE_FOLDER)).encode() + file.read_bytes())
    return whole.hexdigest()[:12]


def _is_private_folder(folder: Path) -> bool:
    """Whether the folder is there or can be made, belongs to this user, and can be written.

    Machine code is loaded from it, so a folder that somebody else made in a public place will not do.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            return folder.stat().st_uid == os.getuid()
    except OSError:
        return False


@contextmanager
def _numba_cache_dir(place: Path | None) -> Iterator[None]:
    """Numba's own setting, changed only while one of our kernels is declared: other packages keep theirs."""
    before = numba_config.CACHE_DIR
    numba_config.CACHE_DIR = str(place) if place else before
    try:
        yield
    finally:
        numba_config.CACHE_DIR = before
