"""Run code in a new Python process without the settings of this one's caches."""

import os
import subprocess
import sys


def run_python(code: str, **env: str) -> str:
    """Run `code` with the environment variables `env` in a new process; return what it prints."""
    paths = os.pathsep.join(p for p in sys.path if p)
    clean = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**clean, "PYTHONPATH": paths, **env}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
