"""Timing and peak memory: code in fresh processes, alternating repeats, medians."""

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
REPORT_CODE = """
took = time.perf_counter() - start
lines = dict(line.split(":") for line in open("/proc/self/status") if ":" in line)  # ru_maxrss would count the parent's peak
print(json.dumps([{result}, int(lines["VmHWM"].split()[0]) / 1024]))
"""


@dataclass(frozen=True)
class Measurement:
    """Median seconds and median peak memory of one case."""

    seconds: float
    peak_mb: float


def run_code(code: str, setup: str = "", *, result: str = "took", python: str | Path = sys.executable) -> Measurement:
    """Run `code` in a new interpreter and return its seconds (or its variable `result`) and its peak memory.

    Neither `setup` nor the start of the interpreter is timed.
    """
    text = f"import json, time\n{setup}\nstart = time.perf_counter()\n{code}\n{REPORT_CODE.format(result=result)}"
    done = subprocess.run([str(python), "-W", "ignore", "-c", text], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return Measurement(*json.loads(done.stdout.splitlines()[-1]))


def run_command(command: list[str]) -> Measurement:
    """Run a command and return its wall-clock seconds, start-up included; its memory is not measured (NaN)."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return Measurement(time.perf_counter() - start, float("nan"))


def run_alternating(cases: dict[str, Callable[[], Measurement]], repeats: int = REPEATS) -> dict[str, Measurement]:
    """Run the cases in turn, `repeats` times, so that other load affects all; return the median of each case."""
    runs: dict[str, list[Measurement]] = {name: [] for name in cases}
    for _ in range(repeats):
        for name, case in cases.items():
            runs[name].append(case())
    return {
        name: Measurement(statistics.median(r.seconds for r in found), statistics.median(r.peak_mb for r in found))
        for name, found in runs.items()
    }


def describe_machine() -> str:
    """Return architecture, number of cores and Python version in one line."""
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
