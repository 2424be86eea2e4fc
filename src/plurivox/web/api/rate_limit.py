"""How often somebody may come: a bucket of requests that fills up again, for each name; and what is slow on purpose."""

import asyncio
import ipaddress
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from plurivox.web.api.http_errors import ApiError

MOST_NAMES = 50_000
T = TypeVar("T")


def network_of(host: str) -> str:
    """Whom an address stands for: with IPv6 one person has a whole network of them.

    >>> network_of("2001:db8::1") == network_of("2001:db8::ffff"), network_of("192.0.2.7"), network_of("::ffff:192.0.2.7")
    (True, '192.0.2.7', '192.0.2.7')
    >>> len(network_of("a proxy may hand on what a client has made up" * 99))
    64
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host[:64]
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))


class Slowly:
    """Runs what takes long on purpose, such as hashing a password: two at a time, beside everything else, few in line."""

    def __init__(self, at_once: int = 2, in_line: int = 16) -> None:
        self._threads = ThreadPoolExecutor(at_once, "plurivox-slow")
        self._most, self._there = at_once + in_line, 0

    async def run(self, work: Callable[..., T], *given: Any) -> T:
        if self._there >= self._most:
            raise ApiError(429, "too-many", "many are signing in just now; wait a moment", retry=True, more={"wait": 5})
        self._there += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *given)
        finally:
            self._there -= 1


class Buckets:
    """At most `per_minute` requests a minute of one name, in one go or spread.

    >>> buckets = Buckets(2)
    >>> [buckets.take("ann", at=0.0) for _ in range(3)], buckets.take("ann", at=30.0)
    ([0.0, 0.0, 30.0], 0.0)
    """

    def __init__(self, per_minute: float) -> None:
        self.rate, self.most = per_minute / 60, max(1.0, per_minute)
        self._held: dict[object, tuple[float, float]] = {}  # name: what is left, when that was

    def take(self, name: object, at: float | None = None) -> float:
        """0 where the request may pass, otherwise the seconds to wait."""
        time_now = time.monotonic() if at is None else at
        left, when = self._held.get(name, (self.most, time_now))
        left = min(self.most, left + (time_now - when) * self.rate)
        if left < 1:
            return (1 - left) / self.rate
        if len(self._held) >= MOST_NAMES:
            self._forget(time_now)
        self._held[name] = left - 1, time_now
        return 0.0

    def give_back(self, name: object) -> None:
        """What was taken last is not to count."""
        if name in self._held:
            left, when = self._held[name]
            self._held[name] = min(self.most, left + 1), when

    def _forget(self, time_now: float) -> None:
        """Let go of names whose bucket is full again; of all where that is not enough."""
        full = [name for name, (left, when) in self._held.items() if left + (time_now - when) * self.rate >= self.most]
        for name in full:
            del self._held[name]
        if len(self._held) >= MOST_NAMES:
            self._held.clear()
