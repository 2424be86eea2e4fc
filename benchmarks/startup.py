"""Time of help pages relative to importing click, and of first commands, compilation included, beside importing numba."""

import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from benchmarks.measurement import Measurement, run_alternating, run_command

PLURIVOX = str(Path(sys.executable).parent / "plurivox")
FIRST_COMMANDS = (  # command, its limits in seconds: with an empty cache of compiled code, and with a full one
    (("aggregate", "dawid-skene", "toy"), "4 s", "0.9 s"),
    (("aggregate", "average", "toy"), "8 s", "-"),
    (("aggregate", "toy"), "-", "-"),
    (("report", "toy"), "-", "-"),
)
REPEATS_OF_FIRST_COMMANDS = 3


def run() -> list[tuple[str, str, str]]:
    """Run the benchmark and return table rows (claim, measured value, limit)."""
    return help_rows() + first_command_rows()


def help_rows() -> list[tuple[str, str, str]]:
    """Return the rows of `--help`, relative to importing click."""
    found = run_alternating(
        {
            "click": lambda: run_command([sys.executable, "-c", "import click"]),
            "help": lambda: run_command([PLURIVOX, "--help"]),
            "step": lambda: run_command([PLURIVOX, "aggregate", "--help"]),
        },
        repeats=11,
    )
    base = found["click"].seconds
    return [
        (f"{name}", f"{found[key].seconds / base:.2f}x `import click` ({1000 * found[key].seconds:.0f} ms)", limit)
        for key, name, limit in (("help", "plurivox --help", "4x"), ("step", "plurivox aggregate --help", "-"))
    ]


def first_command_rows() -> list[tuple[str, str, str]]:
    """Return the rows of commands on `toy`, with an empty cache of compiled code and again with the cache they filled."""
    rows = []
    for words, limit_if_empty, limit_if_full in FIRST_COMMANDS:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)

            out = folder / ("out.html" if words[0] == "report" else "out.csv")
            run_command_in = partial(run_with_cache, [PLURIVOX, *words, "-o", str(out)], folder)
            run_command_in("kept")  # fills the cache that is kept
            found = run_alternating(
                {
                    "numba": lambda: run_command([sys.executable, "-c", "import numba"]),
                    "empty": run_command_in,
                    "full": partial(run_command_in, "kept"),
                },
                repeats=REPEATS_OF_FIRST_COMMANDS,
            )
        base, name = found["numba"].seconds, f"`plurivox {' '.join(words)}`"
        for case, what, limit in (
            ("empty", "at the first use on a computer", limit_if_empty),
            ("full", "compiled", limit_if_full),
        ):
            seconds = found[case].seconds
            rows.append(
                (f"{name}, {what}", f"{seconds:.1f} s ({seconds / base:.1f}x `import numba`, {base:.2f} s)", limit)
            )
    return rows


def run_with_cache(command: list[str], folder: Path, cache: str = "") -> Measurement:
    """Run a command and return its wall-clock seconds with start-up; its compiled code is in folder/cache (else a new one)."""
    env = os.environ | {"NUMBA_CACHE_DIR": str(folder / (cache or f"new-{time.monotonic_ns()}"))}
    start = time.perf_counter()
    subprocess.run(command, check=True, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return Measurement(time.perf_counter() - start, float("nan"))
