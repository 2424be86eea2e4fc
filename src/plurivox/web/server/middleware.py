"""ASGI middleware: body limits, deadlines, security headers, rate limits."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from plurivox.web.api.http_errors import ApiError, retry_after, too_many
from plurivox.web.api.rate_limit import Buckets, network_of
from plurivox.web.settings import Settings
from plurivox.web.study.config import Study
from plurivox.web.study.terms import MTURK_FRAMES

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "media-src 'self'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'; "
)
log = logging.getLogger(__name__)
PER_ADDRESS = 20  # one address may stand for a whole room of workers


class Gone(Exception):
    """The client left before its body was here."""


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: Asgi, settings: Settings, study: Study | None = None) -> None:
        self.app, self.settings, self.prefix = app, settings, settings.prefix
        self.buckets = Buckets(settings.requests_per_minute * PER_ADDRESS)
        frames = " ".join(study.frames() if study else ()) or "'none'"
        sends = " ".join(["'self'", *(MTURK_FRAMES if study and "mturk" in study.platforms else ())])
        self.plain = _headers(settings, frames, sends)
        self.owners = _headers(settings, "'none'", "'self'")

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = inside(self.prefix, scope["path"])
        scope = {**scope, "path": self.prefix + path, "root_path": self.prefix}
        started = False

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message.get("headers", ()), *self._headers_of(path)]
            await send(message)

        try:
            wait = self.buckets.take(network_of(scope["client"][0]) if scope["client"] else "")
            if wait:
                raise too_many(wait)
            await self.app(scope, await self._whole_body(scope, receive), guarded)
        except ApiError as cause:
            if started:
                raise
            await _answer(cause, guarded)
        except Gone:
            return
        except Exception:
            log.exception("a request failed")
            if started:
                raise
            await _answer(ApiError(500, "internal", "something went wrong here; it has been written down"), guarded)

    def _headers_of(self, path: str) -> list[tuple[bytes, bytes]]:
        headers = self.owners if path.startswith(("/owner", "/api/owner")) else self.plain
        return headers if path.startswith(("/media/", "/static/")) else [*headers, (b"cache-control", b"no-store")]

    async def _whole_body(self, scope: MutableMapping[str, Any], receive: Receive) -> Receive:
        """The body, read to its end before anything else happens; then the app may read it as if it came just now."""
        names = dict(scope["headers"])
        length = names.get(b"content-length")
        if length is None and b"transfer-encoding" not in names:
            return receive
        if length is not None and not (length.isdigit() and int(length) <= self.settings.body_limit):
            raise _too_large(self.settings.body_limit)
        if length is not None and b"transfer-encoding" in names:  # a proxy may read it otherwise than we do
            raise ApiError(400, "invalid", "a request has a Content-Length or a Transfer-Encoding, not both")
        parts, size = [], 0
        try:
            async with asyncio.timeout(self.settings.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Gone
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > self.settings.body_limit:
                        raise _too_large(self.settings.body_limit)
                    if not message.get("more_body"):
                        break
        except TimeoutError:
            detail = f"the request was not whole after {self.settings.body_seconds:g} seconds"
            raise ApiError(408, "too-slow", detail, retry=True) from None
        body = [b"".join(parts)]

        async def replay() -> Message:
            if body:
                return {"type": "http.request", "body": body.pop(), "more_body": False}
            return await receive()

        return replay


def inside(prefix: str, path: str) -> str:
    """A path without the prefix: proxies may keep it or take it off.

    >>> inside("/study", "/study/join"), inside("/study", "/join"), inside("/study", "/study")
    ('/join', '/join', '/')
    """
    if prefix and (path == prefix or path.startswith(f"{prefix}/")):
        return path[len(prefix) :] or "/"
    return path


def _too_large(limit: int) -> ApiError:
    return ApiError(413, "too-large", f"a request may have {limit:,} bytes")


async def _answer(cause: ApiError, send: Send) -> None:
    body = json.dumps({name: value for name, value in cause.body().items() if name != "wait"}).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body)), **retry_after(cause)}
    if cause.status in (400, 408, 413):
        headers["connection"] = "close"  # the rest of the body is not read
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": cause.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


def _headers(settings: Settings, frames: str, sends: str) -> list[tuple[bytes, bytes]]:
    headers = {
        "content-security-policy": f"{POLICY}form-action {sends}; frame-ancestors {frames}",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), microphone=(), geolocation=(), interest-cohort=()",
    }
    if frames == "'none'":
        headers["x-frame-options"] = "DENY"
    if settings.secure:
        headers["strict-transport-security"] = "max-age=31536000"
    return [(name.encode(), value.encode()) for name, value in headers.items()]
