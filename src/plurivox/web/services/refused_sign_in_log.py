"""Log of refused sign-ins: counted in memory and written to the audit log together, so that a flood stays small."""

import asyncio
import ipaddress
import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from plurivox.web.store.admin.audit_log import (
    RefusedSignIns,
    SignInOrigin,
    WhyRefused,
    append_refused_sign_ins,
)
from plurivox.web.store.database import current_unix_time
from plurivox.web.store.errors import StudyError

WRITE_SECONDS = 60.0  # refused sign-ins with one name, network and reason within this time are one line
LINES_PER_HOUR = 100  # after a burst of so many lines, as many per hour
MAX_PENDING = 1_000  # distinct lines in memory; further attempts are counted together
MAX_NAME_CHARS = 80
SEVERAL = SignInOrigin("", "")  # stands for several names and networks
log = logging.getLogger(__name__)
Key = tuple[SignInOrigin, WhyRefused]


def shortened_network(address: str) -> str:
    """Return the network of an address for the audit log: /24 of IPv4, /48 of IPv6, loopback whole, "" if it is not an address.

    >>> [shortened_network(one) for one in ("203.0.113.7", "2001:db8:1:2::/64", "127.0.0.1", "<b>")]
    ['203.0.113.0/24', '2001:db8:1::/48', '127.0.0.1', '']
    """
    try:
        ip = ipaddress.ip_address(address.partition("/")[0])
    except ValueError:
        return ""
    return str(ip) if ip.is_loopback else str(ipaddress.ip_network((ip, 24 if ip.version == 4 else 48), strict=False))


class RefusedSignInLog:
    """Counts refused sign-ins in memory and writes them to the audit log, after a minute, with a limit of lines per hour.

    `submit` queues a write to the database. All methods run in the event loop; counting takes the same time for every name.
    """

    def __init__(
        self,
        submit: Callable[[Callable[[Connection], None]], Future[None]],
        processes: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._submit, self._clock = submit, clock
        self._capacity = max(2.0, LINES_PER_HOUR / processes)
        self._lines_left, self._refilled_at = self._capacity, clock()
        self._pending: dict[Key, RefusedSignIns] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._writes: set[asyncio.Task[None]] = set()  # so that they are not garbage-collected

    def count(self, origin: SignInOrigin, why: WhyRefused) -> None:
        """Count a refused sign-in; it is written within a minute, without waiting for the database here."""
        typed = origin.name.encode("utf-8", "replace").decode()[:MAX_NAME_CHARS]
        now = current_unix_time()
        self._add(RefusedSignIns(replace(origin, name=typed), why, 1, now, now))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(WRITE_SECONDS, self._write_in_background)

    async def write_pending(self) -> None:
        """Write the counted sign-ins now, as far as the limit of lines allows; keep them if the database cannot be written."""
        self._refill_lines()
        lines = self._take_lines()
        if not lines:
            return
        write = asyncio.get_running_loop().create_task(self._write_or_keep(lines))
        self._writes.add(write)
        write.add_done_callback(self._writes.discard)
        await asyncio.shield(write)  # goes on if the request that waits for it is cancelled

    async def _write_or_keep(self, lines: list[RefusedSignIns]) -> None:
        """Append lines to the audit log; count them again for the next round if the database cannot be written."""
        try:
            await asyncio.wrap_future(self._submit(partial(append_refused_sign_ins, lines=lines)))
        except (StudyError, SQLAlchemyError) as cause:
            log.error("refused sign-ins could not be written to the audit log; the next round tries again: %s", cause)
            self._lines_left += len(lines)
            for line in lines:
                self._add(line)

    def _write_in_background(self) -> None:
        """Start a task that writes the counted sign-ins, and the timer of the next one if some are left."""
        self._timer = None

        async def write_and_set_timer() -> None:
            await self.write_pending()
            if self._pending and self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(WRITE_SECONDS, self._write_in_background)

        self._writing = asyncio.get_running_loop().create_task(write_and_set_timer())

    def stop_timer(self) -> None:
        """Stop the timer, when the server stops."""
        if self._timer is not None:
            self._timer.cancel()

    def _add(self, line: RefusedSignIns) -> None:
        """Add sign-ins to those of the same name, network and reason, or to those of several if there are too many."""
        key: Key = line.origin, line.why
        if key not in self._pending and len(self._pending) >= MAX_PENDING:
            key = SEVERAL, "several reasons"
            line = replace(line, origin=SEVERAL, why="several reasons", others=line.others or (1, 1))
        self._pending[key] = _sum_of_lines([self._pending[key], line]) if key in self._pending else line

    def _refill_lines(self) -> None:
        """Add the lines that may be written since the last call, up to the capacity."""
        now = self._clock()
        grown = self._lines_left + (now - self._refilled_at) * self._capacity / 3600
        self._lines_left, self._refilled_at = min(self._capacity, grown), now

    def _take_lines(self) -> list[RefusedSignIns]:
        """Remove and return the lines to write; if there are more than may be written, the rarest become one line."""
        allowed = int(self._lines_left)
        lines = sorted(self._pending.values(), key=lambda line: -line.times)
        if not lines or not allowed:
            return []
        if len(lines) > allowed:
            lines = [*lines[: allowed - 1], _sum_of_lines(lines[allowed - 1 :])]
        self._pending = {}
        self._lines_left -= len(lines)
        return sorted(lines, key=lambda line: line.last)


def _sum_of_lines(lines: list[RefusedSignIns]) -> RefusedSignIns:
    """Return one line for several; name, network and reason stay if all lines agree in them."""
    origins, reasons = {line.origin for line in lines}, {line.why for line in lines}
    is_one = len(origins) == 1 and SEVERAL not in origins
    names = max(len({line.origin.name for line in lines}), *(line.others[0] for line in lines if line.others), 1)
    networks = max(len({line.origin.network for line in lines}), *(line.others[1] for line in lines if line.others), 1)
    return RefusedSignIns(
        origin=next(iter(origins)) if is_one else SEVERAL,
        why=next(iter(reasons)) if len(reasons) == 1 else "several reasons",
        times=sum(line.times for line in lines),
        first=min(line.first for line in lines),
        last=max(line.last for line in lines),
        others=None if is_one else (names, networks),
    )
