"""How much memory is free, so that work that cannot fit is refused before it starts."""

from pathlib import Path

MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


def available() -> int | None:
    """Bytes this process may still take: what the machine has, and what its container allows; None: cannot be told."""
    found = [free for free in (_machine(), _container()) if free is not None]
    return min(found) if found else None


def _machine() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines() if ":" in line)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _container() -> int | None:
    try:
        most, used = (CGROUP / "memory.max").read_text().strip(), (CGROUP / "memory.current").read_text()
        return max(int(most) - int(used), 0) if most != "max" else None
    except (OSError, ValueError):
        return None


def gigabytes(n_bytes: float) -> str:
    """A size in words.

    >>> gigabytes(3.2e9), gigabytes(4e5)
    ('3.0 GiB', '0.4 MiB')
    """
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.1f} MiB"
