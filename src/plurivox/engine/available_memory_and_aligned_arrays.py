"""Available memory, checked before large computations, and arrays aligned to cache lines."""

from pathlib import Path

import numpy as np

from plurivox.core.array_types import Floats

MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")
CACHE_LINE_FLOATS = 8  # float64 in a cache line


def available_memory_or_none() -> int | None:
    """Return the bytes this process can still allocate, limited by machine and container; None if unknown."""
    found = [free for free in (_available_memory_in_proc_meminfo(), _available_container_memory()) if free is not None]
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

    >>> format_bytes(3.2e9), format_bytes(4e5)
    ('3.0 GiB', '0.4 MiB')
    """
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.1f} MiB"
