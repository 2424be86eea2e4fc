"""A process that has everything loaded, and forks a server whenever a line comes: servers that can be killed.

A line is the settings as JSON with `port`; the answer is the number of the process.
"""

import json
import os
import signal
import sys

from plurivox.web.server.uvicorn_server import serve
from plurivox.web.settings import Settings


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        given = json.loads(line)
        port = given.pop("port")
        if not (child := os.fork()):
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            sys.stdin.close()
            serve(Settings(**given), "127.0.0.1", port)
            os._exit(0)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
