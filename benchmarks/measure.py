"""How we measure: alternating repeats in fresh processes, medians, ratios."""

import json
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import dataclass

REPEATS = 5
PEAK = (
    "import resource\n"
    "print(json.dumps([time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))"
)


@dataclass(frozen=True)
class Measured:
    """Median seconds and median peak memory of one case."""

    seconds: float
    peak_mb: float


def fresh(code: str, setup: str = "") -> Measured:
    """Run `code` in a new interpreter: its seconds (without `setup` and start-up) and the process' peak memory."""
    text = f"import json, time\n{setup}\nbegan = time.perf_counter()\n{code}\n{PEAK}"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", text], capture_output=True, text=True, check=True)
    return Measured(*json.loads(done.stdout.splitlines()[-1]))


def whole(command: list[str]) -> Measured:
    """Wall-clock seconds and peak memory of a whole command."""
    text = (
        "import json, resource, subprocess, sys, time\nbegan = time.perf_counter()\n"
        f"subprocess.run({command!r}, check=True, stdout=subprocess.DEVNULL)\n"
        "took = time.perf_counter() - began\n"
        "print(json.dumps([took, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024]))"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    return Measured(*json.loads(done.stdout.splitlines()[-1]))


def alternate(cases: dict[str, object], repeats: int = REPEATS) -> dict[str, Measured]:
    """Every case `repeats` times, turn by turn, so that a busy moment hits all of them: medians."""
    runs: dict[str, list[Measured]] = {name: [] for name in cases}
    for _ in range(repeats):
        for name, case in cases.items():
            runs[name].append(case())  # type: ignore[operator]
    return {
        name: Measured(statistics.median(r.seconds for r in found), statistics.median(r.peak_mb for r in found))
        for name, found in runs.items()
    }


def machine() -> str:
    """The machine in one line, for the head of a table."""
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
