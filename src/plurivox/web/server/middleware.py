"""ASGI middleware: limits of request bodies, timeouts, security headers, rate limits per address."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from plurivox.web.api.http_errors import ApiError, rate_limit_error, retry_after_header_if_retryable
from plurivox.web.api.rate_limit import TokenBuckets, ip_or_ipv6_network
from plurivox.web.server_settings import Settings
from plurivox.web.study.completion_pay_exclusion_config import MTURK_FRAMES
from plurivox.web.study.config import Study

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "media-src 'self'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'; "
)
log = logging.getLogger(__name__)
PER_ADDRESS = 20  # limit of an address, as a multiple of a worker's: many workers may share an address
INTERNAL_ERROR = "something failed on the server, and its log says what; please try again in a moment"


class ClientDisconnected(Exception):
    """The client disconnected before sending the whole body."""


class SecurityMiddleware:
    """Middleware around an ASGI application: strips the path prefix, limits requests, adds security headers."""

    def __init__(self, app: Asgi, settings: Settings, study: Study | None = None) -> None:
        self.app, self.settings, self.prefix = app, settings, settings.path_prefix
        self.buckets = TokenBuckets(settings.requests_per_minute * PER_ADDRESS)
        frames = " ".join(study.origins_allowed_to_frame_pages() if study else ()) or "'none'"
        form_targets = " ".join(["'self'", *(MTURK_FRAMES if study and "mturk" in study.platforms else ())])
        self.worker_headers = _security_headers(settings, frames, form_targets)
        self.owner_headers = _security_headers(settings, "'none'", "'self'")

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = strip_prefix(self.prefix, scope["path"])
        scope = {**scope, "path": self.prefix + path, "root_path": self.prefix}
        started = False

        async def send_with_security_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                own = [*message.get("headers", ())]  # of the route, such as a stricter policy
                names = {name.lower() for name, _ in own}
                ours = self._security_and_cache_headers(path)
                message["headers"] = [*own, *((name, value) for name, value in ours if name not in names)]
            await send(message)

        try:
            wait = self.buckets.take_token_or_return_seconds_to_wait(
                ip_or_ipv6_network(scope["client"][0]) if scope["client"] else ""
            )
            if wait:
                raise rate_limit_error(wait)
            await self.app(
                scope, await self._read_body_into_replaying_receive(scope, receive), send_with_security_headers
            )
        except ApiError as cause:
            if started:
                raise
            await _send_json_error_response(cause, send_with_security_headers)
        except ClientDisconnected:
            return
        except Exception:
            log.exception("a request failed")
            if started:
                raise
            await _send_json_error_response(ApiError(500, "internal", INTERNAL_ERROR), send_with_security_headers)

    def _security_and_cache_headers(self, path: str) -> list[tuple[bytes, bytes]]:
        """Return the security and cache headers of the response to a request for `path`."""
        headers = self.owner_headers if path.startswith(("/owner", "/api/owner")) else self.worker_headers
        return headers if path.startswith(("/media/", "/static/")) else [*headers, (b"cache-control", b"no-store")]

    async def _read_body_into_replaying_receive(self, scope: MutableMapping[str, Any], receive: Receive) -> Receive:
        """Read the request body and return an ASGI `receive` that replays it; raise ApiError if it is too large or too slow."""
        names = dict(scope["headers"])
        length = names.get(b"content-length")
        if length is None and b"transfer-encoding" not in names:
            return receive
        if length is not None and not (length.isdigit() and int(length) <= self.settings.body_limit):
            raise _body_too_large_error(self.settings.body_limit)
        if length is not None and b"transfer-encoding" in names:  # request smuggling: a proxy may use the other
            raise ApiError(400, "invalid", "a request must not have both Content-Length and Transfer-Encoding")
        parts, size = [], 0
        try:
            async with asyncio.timeout(self.settings.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ClientDisconnected
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > self.settings.body_limit:
                        raise _body_too_large_error(self.settings.body_limit)
                    if not message.get("more_body"):
                        break
        except TimeoutError:
            detail = f"the connection is slow: the data did not arrive within {self.settings.body_seconds:g} seconds; try again"
            raise ApiError(408, "too-slow", detail, retry=True) from None
        body = [b"".join(parts)]

        async def replay_body() -> Message:
            if body:
                return {"type": "http.request", "body": body.pop(), "more_body": False}
            return await receive()

        return replay_body


def strip_prefix(base_url_prefix: str, path: str) -> str:
    """Return a path without the prefix of the base URL, which proxies may keep or remove.

    >>> strip_prefix("/study", "/study/join"), strip_prefix("/study", "/join"), strip_prefix("/study", "/study")
    ('/join', '/join', '/')
    """
    if base_url_prefix and (path == base_url_prefix or path.startswith(f"{base_url_prefix}/")):
        return path[len(base_url_prefix) :] or "/"
    return path


def _body_too_large_error(max_bytes: int) -> ApiError:
    return ApiError(413, "too-large", f"this is too much to send at once: at most {max_bytes:,} bytes are accepted")


async def _send_json_error_response(cause: ApiError, send: Send) -> None:
    """Send the JSON error response of an ApiError to the client."""
    body = json.dumps({name: value for name, value in cause.error_response_body().items() if name != "wait"}).encode()
    headers = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        **retry_after_header_if_retryable(cause),
    }
    if cause.status in (400, 408, 413):
        headers["connection"] = "close"  # the rest of the body is not read
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": cause.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


def _security_headers(settings: Settings, frame_ancestors: str, form_targets: str) -> list[tuple[bytes, bytes]]:
    """Return the HTTP security headers; the arguments are origins for frame-ancestors and form-action of the policy."""
    headers = {
        "content-security-policy": f"{POLICY}form-action {form_targets}; frame-ancestors {frame_ancestors}",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), microphone=(), geolocation=(), interest-cohort=()",
    }
    if frame_ancestors == "'none'":
        headers["x-frame-options"] = "DENY"
    if settings.is_https:
        headers["strict-transport-security"] = "max-age=31536000"
    return [(name.encode(), value.encode()) for name, value in headers.items()]
