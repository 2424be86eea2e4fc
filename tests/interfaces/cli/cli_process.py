"""Run the command line in a new process."""

import os
import subprocess
import sys
from pathlib import Path

import plurivox

SOURCE = Path(plurivox.__file__).parent.parent
PYTHON = (sys.executable, "-m", "plurivox.cli")


def environment(*folders: Path, **more: str) -> dict[str, str]:
    """Return environment variables that let a process import this plurivox and packages in `folders`."""
    path = os.pathsep.join(map(str, [*folders, SOURCE]))
    return {**os.environ, "PYTHONPATH": path, **more}


def process(*words: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command line in a new process and return the completed process."""
    return subprocess.run(
        [*PYTHON, *map(str, words)], env=env or environment(), capture_output=True, text=True, timeout=600
    )
