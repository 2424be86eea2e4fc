"""Run a server: uvicorn with our limits."""

import asyncio
import errno
import json
import logging
import os
import resource
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from plurivox.core.errors import InputError
from plurivox.web.server.app import create_app
from plurivox.web.server.multi_study import MultiStudyApp, create_house
from plurivox.web.settings import Settings

SETTINGS = "PLURIVOX_STUDIO"  # how the settings reach further server processes
HEADER_SECONDS = 10.0
READ_SECONDS = 60.0
MOST_CONNECTIONS = 2_000
MOST_FILES = 4_096  # connections, and the files of the database


class PatientProtocol(H11Protocol):
    """Lets go of a client that does not get the headers of a request sent in time, or does not read what it asked for."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._timers: dict[str, asyncio.TimerHandle] = {}
        if (line := transport.get_extra_info("socket")) is not None:  # or an answer's two parts wait for each other
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._timers["headers"] = self.loop.call_later(HEADER_SECONDS, transport.close)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:  # the headers are whole; the guard looks after the body
            self._stop("headers")
        elif "headers" not in self._timers:  # of a further request on this connection
            self._timers["headers"] = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._timers["reading"] = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop("reading")

    def connection_lost(self, exc: Exception | None) -> None:
        for name in list(self._timers):
            self._stop(name)
        super().connection_lost(exc)

    def _stop(self, name: str) -> None:
        if timer := self._timers.pop(name, None):
            timer.cancel()


def options_of(settings: Settings) -> dict[str, Any]:
    """How uvicorn runs, in a process of its own and in a thread alike."""
    return {
        "http": PatientProtocol,
        "ws": "none",
        "log_config": None,
        "log_level": "warning",
        "access_log": False,  # addresses hold people's platform ids
        "server_header": False,
        "proxy_headers": bool(settings.behind_proxy),
        "forwarded_allow_ips": settings.behind_proxy or None,
        "limit_concurrency": MOST_CONNECTIONS,
        "timeout_keep_alive": 30,
        "timeout_graceful_shutdown": 5,
        "timeout_worker_healthcheck": 60,  # a process that is still starting on a busy machine is not a dead one
    }


def allow_files() -> None:
    """As many open files as connections need: where fewer are allowed, the database could not be opened either."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def serve(
    settings: Settings | Sequence[Settings], host: str, port: int, processes: int = 1, fd: int | None = None
) -> None:
    """Serve a study, or several, until told to stop."""
    studies = [settings] if isinstance(settings, Settings) else settings
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    told = [one.model_copy(update={"processes": processes}).model_dump(mode="json") for one in studies]
    os.environ[SETTINGS] = json.dumps(told)
    allow_files()
    how = options_of(studies[0])
    app = "plurivox.web.server.run:from_environment"
    uvicorn.run(app, factory=True, host=host, port=port, fd=fd, workers=processes, **how)


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
    """A server in a thread of this process, on a free port unless one is said: its address and the application.

    Where the settings name a base_url of their own, people are thought to come by that.
    """
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        line.bind(("127.0.0.1", port))
        url = f"http://127.0.0.1:{line.getsockname()[1]}"
        given = settings if "base_url" in settings.model_fields_set else settings.model_copy(update={"base_url": url})
        app = create_app(given)
        with listening(app, settings, line):
            yield url, app


@contextmanager
def listening(app: Any, settings: Settings, line: socket.socket) -> Iterator[None]:
    """Serve an application on a socket, from a thread of this process."""
    server = uvicorn.Server(uvicorn.Config(app, **options_of(settings)))
    thread = threading.Thread(target=server.run, args=([line],), daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.005)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


def from_environment() -> FastAPI | MultiStudyApp:
    """The application of one server process."""
    studies = [Settings.model_validate(one) for one in json.loads(os.environ[SETTINGS])]
    return create_house(studies) if studies[0].in_house else create_app(studies[0])
