"""Run a server: uvicorn with our limits."""

import asyncio
import errno
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from plurivox.core.errors import InputError
from plurivox.web.app import create_app
from plurivox.web.settings import Settings

SETTINGS = "PLURIVOX_STUDIO"  # how the settings reach further server processes
HEADER_SECONDS = 10.0
MOST_CONNECTIONS = 2_000


class PatientProtocol(H11Protocol):
    """Lets go of a client that does not get its first request's headers sent in time."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if (line := transport.get_extra_info("socket")) is not None:  # or an answer's two parts wait for each other
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        asyncio.get_running_loop().call_later(HEADER_SECONDS, self._let_go)

    def _let_go(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()


def serve(settings: Settings, host: str, port: int, processes: int = 1, fd: int | None = None) -> None:
    """Serve until told to stop."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    os.environ[SETTINGS] = settings.model_dump_json()
    uvicorn.run(
        "plurivox.web.serving:from_environment",
        factory=True,
        host=host,
        port=port,
        fd=fd,
        workers=processes,
        http=PatientProtocol,
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,  # addresses hold people's platform ids
        server_header=False,
        proxy_headers=bool(settings.behind_proxy),
        forwarded_allow_ips=settings.behind_proxy or None,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=5,
    )


def must_be_free(host: str, port: int) -> None:
    """Refuse an address that cannot be listened to, before anything is promised."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as cause:
            if cause.errno == errno.EADDRINUSE:
                raise InputError(
                    f"port {port} of {host} is in use, perhaps by another study; choose one: --port"
                ) from None
            raise InputError(f"{host}:{port} cannot be listened to: {cause.strerror or cause}") from None


@contextmanager
def running(settings: Settings, port: int = 0) -> Iterator[tuple[str, FastAPI]]:
    """A server in a thread of this process, on a free port unless one is said: its address and the application."""
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        app = create_app(settings.model_copy(update={"base_url": url}))
        config = uvicorn.Config(app, http=PatientProtocol, ws="none", log_config=None, log_level="warning")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.005)
        try:
            yield url, app
        finally:
            server.should_exit = True
            thread.join()


def from_environment() -> FastAPI:
    """The application of one server process."""
    return create_app(Settings.model_validate_json(os.environ[SETTINGS]))
