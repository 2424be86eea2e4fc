"""How long a person waits for the first help page, against importing click."""

import sys
from pathlib import Path

from benchmarks.measure import alternate, whole


def run() -> list[tuple[str, str, str]]:
    """(claim, measured, limit) rows."""
    plurivox = str(Path(sys.executable).parent / "plurivox")
    found = alternate(
        {
            "click": lambda: whole([sys.executable, "-c", "import click"]),
            "help": lambda: whole([plurivox, "--help"]),
            "step": lambda: whole([plurivox, "aggregate", "--help"]),
        },
        repeats=11,
    )
    base = found["click"].seconds
    return [
        (f"{name}", f"{found[key].seconds / base:.2f}x `import click` ({1000 * found[key].seconds:.0f} ms)", limit)
        for key, name, limit in (("help", "plurivox --help", "4x"), ("step", "plurivox aggregate --help", "-"))
    ]
