"""Rate limits: token buckets per client, and a bounded thread pool for slow work such as password hashing."""

import asyncio
import ipaddress
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from plurivox.web.api.http_errors import ApiError

MAX_NAMES = 50_000
T = TypeVar("T")


def ip_or_ipv6_network(host: str) -> str:
    """Return the key under which requests of a client are counted: its IPv4 address, or the /64 network of its IPv6 address.

    >>> ip_or_ipv6_network("2001:db8::1") == ip_or_ipv6_network("2001:db8::ffff")
    True
    >>> ip_or_ipv6_network("192.0.2.7"), ip_or_ipv6_network("::ffff:192.0.2.7")
    ('192.0.2.7', '192.0.2.7')
    >>> len(ip_or_ipv6_network("a proxy may pass on any text that a client sent" * 99))
    64
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host[:64]
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))


def ipv6_network_of_provider_or_none(client: str) -> str | None:
    """Return the /48 network of a client counted as an IPv6 network; None for other clients.

    >>> ipv6_network_of_provider_or_none(ip_or_ipv6_network("2001:db8:1:2::7")), ipv6_network_of_provider_or_none("192.0.2.7")
    ('2001:db8:1::/48', None)
    """
    try:
        return str(ipaddress.IPv6Network(client).supernet(new_prefix=48))
    except ValueError:  # an IPv4 address, or a text that is not an address
        return None


class BoundedPool:
    """Threads for slow work such as hashing a password: two at a time, with a short queue; a full queue raises 429."""

    def __init__(self, threads: int = 2, queue: int = 16) -> None:
        self._threads = ThreadPoolExecutor(threads, "plurivox-slow")
        self._capacity, self._pending = threads + queue, 0

    async def run_in_thread_unless_queue_is_full(self, work: Callable[..., T], *args: Any) -> T:
        """Return `work(*args)`, computed in a thread of the pool; raise ApiError 429 if the queue is full."""
        if self._pending >= self._capacity:
            raise ApiError(
                429,
                "too-many",
                "many people are signing in at the moment; please try again in a few seconds",
                retry=True,
                more={"wait": 5},
            )
        self._pending += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)
        finally:
            self._pending -= 1


class TokenBuckets:
    """Token buckets, one per client: `limit` requests of a client in one burst, and as many per `seconds` afterwards.

    >>> take = TokenBuckets(2).take_token_or_return_seconds_to_wait
    >>> [take("ann", time_now=0.0) for _ in range(3)], take("ann", time_now=30.0)
    ([0.0, 0.0, 30.0], 0.0)
    """

    def __init__(self, limit: float, seconds: float = 60.0) -> None:
        self.rate, self.capacity = limit / seconds, max(1.0, limit)
        self._buckets: dict[object, tuple[float, float]] = {}  # client: tokens left, time of the last request

    def take_token_or_return_seconds_to_wait(self, client: object, time_now: float | None = None) -> float:
        """Count a request of `client` and return 0; if its bucket is empty, return the seconds until a request is allowed."""
        time_now = time.monotonic() if time_now is None else time_now
        tokens, last = self._buckets.get(client, (self.capacity, time_now))
        tokens = min(self.capacity, tokens + (time_now - last) * self.rate)
        if tokens < 1:
            return (1 - tokens) / self.rate
        if len(self._buckets) >= MAX_NAMES:
            self._delete_buckets_of_idle_clients(time_now)
        self._buckets[client] = tokens - 1, time_now
        return 0.0

    def put_token_back(self, client: object) -> None:
        """Undo the last `take_token_or_return_seconds_to_wait` of `client`, so that the request does not count."""
        if client in self._buckets:
            tokens, last = self._buckets[client]
            self._buckets[client] = min(self.capacity, tokens + 1), last

    def _delete_buckets_of_idle_clients(self, time_now: float) -> None:
        """Delete the buckets of clients with no recent request, which are full; delete all if there are still too many."""
        full = [
            name
            for name, (tokens, last) in self._buckets.items()
            if tokens + (time_now - last) * self.rate >= self.capacity
        ]
        for name in full:
            del self._buckets[name]
        if len(self._buckets) >= MAX_NAMES:
            self._buckets.clear()
