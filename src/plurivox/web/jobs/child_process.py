"""Child processes of a server: started with its settings, on one core at a lower priority, ended together with the server."""

import os
import subprocess
import sys
import threading
import time
from typing import IO

from plurivox.web.server_settings import Settings

ONE_CORE = dict.fromkeys(("PLURIVOX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
NICENESS = 10  # lower priority than the server, if both need the same core


def start_child_process(module: str, settings: Settings, stdout: int | IO[str]) -> "subprocess.Popen[str]":
    """Start `python -m module` as a child process, and send it the settings of the server as the first line of stdin."""
    child = subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=stdout,
        text=True,
        env={**os.environ, **ONE_CORE},
    )
    assert child.stdin is not None
    child.stdin.write(settings.model_dump_json() + "\n")  # not as arguments, which other users of the machine can see
    return child


def lower_priority_and_exit_with_parent() -> None:
    """In a child process: lower its priority, and exit it as soon as its parent has ended."""
    os.nice(NICENESS)
    threading.Thread(target=_exit_when_parent_has_ended, args=(os.getppid(),), daemon=True).start()


def _exit_when_parent_has_ended(parent_pid: int) -> None:
    """Exit this process as soon as its parent has ended, since a killed server cannot stop it; polls every second."""
    while os.getppid() == parent_pid:
        time.sleep(1.0)
    os._exit(1)
