"""Time of `plurivox --help` and `plurivox aggregate --help`, relative to importing click."""

import sys
from pathlib import Path

from benchmarks.measurement import alternate, run_command


def run() -> list[tuple[str, str, str]]:
    """Return (claim, measured, limit) rows."""
    plurivox = str(Path(sys.executable).parent / "plurivox")
    found = alternate(
        {
            "click": lambda: run_command([sys.executable, "-c", "import click"]),
            "help": lambda: run_command([plurivox, "--help"]),
            "step": lambda: run_command([plurivox, "aggregate", "--help"]),
        },
        repeats=11,
    )
    base = found["click"].seconds
    return [
        (f"{name}", f"{found[key].seconds / base:.2f}x `import click` ({1000 * found[key].seconds:.0f} ms)", limit)
        for key, name, limit in (("help", "plurivox --help", "4x"), ("step", "plurivox aggregate --help", "-"))
    ]
