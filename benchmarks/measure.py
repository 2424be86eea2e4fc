"""How we measure: alternating repeats in fresh processes, medians, ratios."""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

REPEATS = 5
PEAK = """
took = time.perf_counter() - began
lines = dict(line.split(":") for line in open("/proc/self/status") if ":" in line)  # ru_maxrss would count the parent's peak
print(json.dumps([{answer}, int(lines["VmHWM"].split()[0]) / 1024]))
"""


@dataclass(frozen=True)
class Measured:
    """Median seconds and median peak memory of one case."""

    seconds: float
    peak_mb: float


def fresh(code: str, setup: str = "", *, answer: str = "took", python: str | Path = sys.executable) -> Measured:
    """Run `code` in a new interpreter: the seconds it took (or the number it calls `answer`), and its peak memory.

    What stands in `setup` is not timed, nor is the start of the interpreter.
    """
    text = f"import json, time\n{setup}\nbegan = time.perf_counter()\n{code}\n{PEAK.format(answer=answer)}"
    done = subprocess.run([str(python), "-W", "ignore", "-c", text], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return Measured(*json.loads(done.stdout.splitlines()[-1]))


def whole(command: list[str]) -> Measured:
    """Wall-clock seconds of a whole command, start-up included; its memory is not looked at."""
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return Measured(time.perf_counter() - began, float("nan"))


def alternate(cases: dict[str, Callable[[], Measured]], repeats: int = REPEATS) -> dict[str, Measured]:
    """Every case `repeats` times, turn by turn, so that a busy moment hits all of them: medians."""
    runs: dict[str, list[Measured]] = {name: [] for name in cases}
    for _ in range(repeats):
        for name, case in cases.items():
            runs[name].append(case())
    return {
        name: Measured(statistics.median(r.seconds for r in found), statistics.median(r.peak_mb for r in found))
        for name, found in runs.items()
    }


def machine() -> str:
    """The machine in one line, for the head of a table."""
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
