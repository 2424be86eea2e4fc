"""Available memory, checked before large computations, and arrays aligned to cache lines."""

from pathlib import Path

import numpy as np

from plurivox.core.array_types import Floats

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")
STATM = Path("/proc/self/statm")
CACHE_LINE_FLOATS = 8  # float64 in a cache line


def available_memory_or_none() -> int | None:
    """Return the bytes this process can still allocate, limited by machine, container and ulimit -v; None if unknown."""
    limits = _available_memory_in_proc_meminfo(), _available_container_memory(), _available_address_space()
    found = [free for free in limits if free is not None]
    return min(found) if found else None


def _available_memory_in_proc_meminfo() -> int | None:
    """Return the available bytes of the machine from /proc/meminfo; None if it cannot be read."""
    try:
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines() if ":" in line)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _available_container_memory() -> int | None:
    """Return the bytes left below the cgroup limit of the container; None if there is no limit."""
    try:
        most, used = (CGROUP / "memory.max").read_text().strip(), (CGROUP / "memory.current").read_text()
        return max(int(most) - int(used), 0) if most != "max" else None
    except (OSError, ValueError):
        return None


def _available_address_space() -> int | None:
    """Return the bytes left below the limit of the process's address space (ulimit -v); None if there is no limit."""
    if resource is None or (most := resource.getrlimit(resource.RLIMIT_AS)[0]) == resource.RLIM_INFINITY:
        return None
    try:
        used = int(STATM.read_text().split()[0]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return None
    return max(most - used, 0)


def cache_line_aligned_empty(n: int) -> Floats:
    """(n,) an uninitialised float64 array whose first element starts a cache line.

    Numpy aligns to 16 bytes. A SIMD vector that straddles two cache lines takes about twice as long to read or write.
    """
    whole = np.empty(n + CACHE_LINE_FLOATS)
    skip = -whole.ctypes.data // whole.itemsize % CACHE_LINE_FLOATS
    return whole[skip : skip + n]


def cache_line_aligned_zeros(n: int) -> Floats:
    """(n,) float64 zeros whose first element starts a cache line."""
    zeros = cache_line_aligned_empty(n)
    zeros[:] = 0.0
    return zeros


def format_bytes(n_bytes: float) -> str:
    """Return a number of bytes as text in GiB or MiB.

    >>> format_bytes(3.2e9), format_bytes(4e5), format_bytes(5e15)
    ('3.0 GiB', '0.4 MiB', '4,656,612.9 GiB')
    """
    return f"{n_bytes / 2**30:,.1f} GiB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.1f} MiB"
