"""Run a server: uvicorn with our limits."""

import asyncio
import json
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from plurivox.web.app import create_app
from plurivox.web.house import House, create_house, lodge
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


def serve(
    settings: Settings | Sequence[Settings], host: str, port: int, processes: int = 1, fd: int | None = None
) -> None:
    """Serve a study, or several, until told to stop."""
    studies = [settings] if isinstance(settings, Settings) else settings
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    told = [one.model_copy(update={"processes": processes}).model_dump(mode="json") for one in studies]
    os.environ[SETTINGS] = json.dumps(told)
    uvicorn.run(
        "plurivox.web.serving:from_environment",
        factory=True,
        host=host,
        port=port,
        fd=fd,
        workers=processes,
        **_habits(studies[0]),
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=5,
        timeout_worker_healthcheck=60,  # a process that is still starting on a busy machine is not a dead one
    )


def _habits(settings: Settings) -> dict[str, Any]:
    """What every server does."""
    return {
        "http": PatientProtocol,
        "ws": "none",
        "log_config": None,
        "log_level": "warning",
        "access_log": False,  # addresses hold people's platform ids
        "proxy_headers": bool(settings.behind_proxy),
        "forwarded_allow_ips": settings.behind_proxy or None,
    }


@contextmanager
def running(settings: Settings, port: int = 0) -> Iterator[tuple[str, FastAPI]]:
    """A server in a thread of this process, on a free port unless one is said: its address and the application.

    Where the settings name a base_url of their own, people are thought to come by that.
    """
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        given = settings if "base_url" in settings.model_fields_set else settings.model_copy(update={"base_url": url})
        app = create_app(given)
        with _listening(app, settings, listening):
            yield url, app


@contextmanager
def running_house(studies: Sequence[Settings], base_url: str = "") -> Iterator[tuple[str, House]]:
    """Several studies in a thread of this process, on a free port."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        house = create_house(lodge(studies, base_url or url))
        with _listening(house, studies[0], listening):
            yield url, house


@contextmanager
def _listening(app: Any, settings: Settings, line: socket.socket) -> Iterator[None]:
    server = uvicorn.Server(uvicorn.Config(app, **_habits(settings)))
    thread = threading.Thread(target=server.run, args=([line],), daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.005)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


def from_environment() -> FastAPI | House:
    """The application of one server process."""
    studies = [Settings.model_validate(one) for one in json.loads(os.environ[SETTINGS])]
    return create_house(studies) if studies[0].in_house else create_app(studies[0])
