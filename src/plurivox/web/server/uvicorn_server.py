"""Functions that run the application with uvicorn, with limits on connections and slow clients."""

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
from plurivox.web.server.multi_study import MultiStudyApp, create_multi_study_app
from plurivox.web.server_settings import Settings

SETTINGS_VARIABLE = "PLURIVOX_STUDIO"  # environment variable that passes the settings to server processes
HEADER_SECONDS = 10.0
READ_SECONDS = 60.0
MAX_CONNECTIONS = 2_000
MAX_OPEN_FILES = 4_096  # connections and database files


class TimeoutProtocol(H11Protocol):
    """HTTP protocol that disconnects clients that send headers or read responses too slowly."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._timers: dict[str, asyncio.TimerHandle] = {}
        if (
            line := transport.get_extra_info("socket")
        ) is not None:  # else headers and body are delayed by Nagle's algorithm
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._timers["headers"] = self.loop.call_later(HEADER_SECONDS, transport.close)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:  # headers complete; the middleware limits the body
            self._cancel_timeout_timer("headers")
        elif "headers" not in self._timers:  # next request on this connection
            self._timers["headers"] = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._timers["reading"] = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._cancel_timeout_timer("reading")

    def connection_lost(self, exc: Exception | None) -> None:
        for name in list(self._timers):
            self._cancel_timeout_timer(name)
        super().connection_lost(exc)

    def _cancel_timeout_timer(self, timer_name: str) -> None:
        if timer := self._timers.pop(timer_name, None):
            timer.cancel()


def uvicorn_options(settings: Settings) -> dict[str, Any]:
    """Return the keyword arguments for uvicorn.run and uvicorn.Config: protocol, logging, proxies, limits, timeouts."""
    return {
        "http": TimeoutProtocol,
        "ws": "none",
        "log_config": None,
        "log_level": "warning",
        "access_log": False,  # addresses contain platform ids
        "server_header": False,
        "proxy_headers": bool(settings.behind_proxy),
        "forwarded_allow_ips": settings.behind_proxy or None,
        "limit_concurrency": MAX_CONNECTIONS,
        "timeout_keep_alive": 30,
        "timeout_graceful_shutdown": 5,
        "timeout_worker_healthcheck": 60,  # starting can be slow on a busy machine
    }


def raise_open_file_limit() -> None:
    """Raise this process's limit of open files to MAX_OPEN_FILES, or as far as allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(MAX_OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def serve(
    settings: Settings | Sequence[Settings], host: str, port: int, processes: int = 1, fd: int | None = None
) -> None:
    """Run the web server of one or several studies until it is interrupted; `fd` is an open socket instead of host and port."""
    studies = [settings] if isinstance(settings, Settings) else settings
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    values = [one.model_copy(update={"processes": processes}).model_dump(mode="json") for one in studies]
    os.environ[SETTINGS_VARIABLE] = json.dumps(values)
    raise_open_file_limit()
    options = uvicorn_options(studies[0])
    app = "plurivox.web.server.uvicorn_server:create_app_from_settings_in_environment"
    uvicorn.run(app, factory=True, host=host, port=port, fd=fd, workers=processes, **options)


def raise_if_port_is_not_free(host: str, port: int) -> None:
    """Raise InputError if the server cannot listen on this address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as cause:
            if cause.errno == errno.EADDRINUSE:
                raise InputError(
                    f"port {port} of {host} is in use, perhaps by another study; choose another with --port"
                ) from None
            raise InputError(f"cannot listen on {host}:{port}: {cause.strerror or cause}") from None


@contextmanager
def serve_in_thread(settings: Settings, port: int = 0) -> Iterator[tuple[str, FastAPI]]:
    """Context manager: serve a study from a thread, on a free port if `port` is 0; yields (URL, application).

    A base_url in the settings is used for links instead of the address.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        given = settings if "base_url" in settings.model_fields_set else settings.model_copy(update={"base_url": url})
        app = create_app(given)
        with serve_app_while_block_runs(app, settings, listener):
            yield url, app


@contextmanager
def serve_app_while_block_runs(app: Any, settings: Settings, listener: socket.socket) -> Iterator[None]:
    """Context manager: serve an ASGI application on a bound socket from a thread of this process."""
    server = uvicorn.Server(uvicorn.Config(app, **uvicorn_options(settings)))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.005)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


def create_app_from_settings_in_environment() -> FastAPI | MultiStudyApp:
    """Create the application of a server process from the settings that `serve` put into the environment."""
    studies = [Settings.model_validate(one) for one in json.loads(os.environ[SETTINGS_VARIABLE])]
    return create_multi_study_app(studies) if studies[0].multi_study else create_app(studies[0])
