"""Time of `plurivox --help` and `plurivox aggregate --help`, relative to importing click."""

import sys
from pathlib import Path

from benchmarks.measurement import run_alternating, run_command


def run() -> list[tuple[str, str, str]]:
    """Run the benchmark and return table rows (claim, measured value, limit)."""
    plurivox = str(Path(sys.executable).parent / "plurivox")
    found = run_alternating(
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
