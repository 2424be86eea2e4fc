"""Fork a server for every line on stdin, so that tests can start and kill servers without importing again.

A line is the settings as JSON plus `port`; the reply on stdout is the process id of the server.
"""

import json
import os
import signal
import sys

from plurivox.web.server.uvicorn_server import serve
from plurivox.web.server_settings import Settings


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
