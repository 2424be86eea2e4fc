"""The log of refused sign-ins: one line for equal attempts, bounded growth, no loss while the database fails."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from plurivox.web.services import refused_sign_in_log
from plurivox.web.services.refused_sign_in_log import RefusedSignInLog, shortened_network
from plurivox.web.store.admin.audit_log import RefusedSignIns, SignInOrigin
from plurivox.web.store.errors import Unavailable


class Database:
    """Stands for the writer thread: keeps the lines it gets; fails while `is_broken`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lines: list[RefusedSignIns] = []
        self.is_broken = False
        self.time = 0.0
        monkeypatch.setattr(refused_sign_in_log, "append_refused_sign_ins", lambda _, lines: self.lines.extend(lines))

    def submit(self, job: Callable[[Any], None]) -> "Future[None]":
        future: Future[None] = Future()
        if self.is_broken:
            future.set_exception(Unavailable())
        else:
            future.set_result(job(None))
        return future


def run(job: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in another thread: in this one, the browser of other tests may have left an event loop running."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, job).result()


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Database:
    return Database(monkeypatch)


def test_equal_attempts_are_one_line_with_a_count(database: Database) -> None:
    async def attempts() -> None:
        refused = RefusedSignInLog(database.submit)
        for _ in range(3):
            refused.count(SignInOrigin("olga", "203.0.113.0/24"), "wrong password")
        refused.count(SignInOrigin("olga", "198.51.100.0/24"), "wrong password")
        refused.count(SignInOrigin("n" * 500 + "\ud800", "203.0.113.0/24"), "unknown name")
        await refused.write_pending()
        await refused.write_pending()

    run(attempts())
    lines = {(line.origin.name, line.origin.network, line.why): line.times for line in database.lines}
    assert lines == {
        ("olga", "203.0.113.0/24", "wrong password"): 3,
        ("olga", "198.51.100.0/24", "wrong password"): 1,
        ("n" * 80, "203.0.113.0/24", "unknown name"): 1,
    }


def test_a_flood_of_names_and_networks_writes_few_lines_and_loses_no_count(database: Database) -> None:
    """A day of 100,000 attempts, each with another name from another network: about 100 lines per hour."""

    async def flood() -> None:
        refused = RefusedSignInLog(database.submit, clock=lambda: database.time)
        for minute in range(24 * 60):
            database.time = 60.0 * minute
            for i in range(70):
                refused.count(SignInOrigin(f"name {minute} {i}", f"2001:db8:{i:x}::/48"), "unknown name")
            await refused.write_pending()
        database.time += 3600
        await refused.write_pending()

    run(flood())
    assert sum(line.times for line in database.lines) == 24 * 60 * 70
    assert len(database.lines) <= 100 + 25 * 100
    several = [line for line in database.lines if line.others]
    assert several and all(line.origin.name == "" for line in several)
    assert max(line.others[0] for line in several if line.others) >= 70


def test_the_most_frequent_attempts_keep_their_own_line(database: Database) -> None:
    async def flood() -> None:
        refused = RefusedSignInLog(database.submit, clock=lambda: database.time)
        for i in range(5000):  # more than are kept apart in memory
            refused.count(SignInOrigin("olga", "203.0.113.0/24"), "too many attempts")
            refused.count(SignInOrigin(f"x{i}", "198.51.100.0/24"), "unknown name")
        await refused.write_pending()

    run(flood())
    assert len(database.lines) == 100 and sum(line.times for line in database.lines) == 10_000
    assert ("olga", 5000) in [(line.origin.name, line.times) for line in database.lines]


def test_counts_wait_in_memory_while_the_database_cannot_be_written(database: Database) -> None:
    async def attempts() -> None:
        refused = RefusedSignInLog(database.submit)
        database.is_broken = True
        for _ in range(4):
            refused.count(SignInOrigin("olga", "203.0.113.0/24"), "wrong password")
            await refused.write_pending()
        database.is_broken = False
        await refused.write_pending()

    run(attempts())
    assert [line.times for line in database.lines] == [4]


def test_the_timer_writes_without_another_request(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refused_sign_in_log, "WRITE_SECONDS", 0.01)

    async def one_attempt() -> None:
        refused = RefusedSignInLog(database.submit)
        refused.count(SignInOrigin("olga", "203.0.113.0/24"), "wrong password")
        while not database.lines:
            await asyncio.sleep(0.01)

    run(asyncio.wait_for(one_attempt(), 20))


def test_addresses_are_shortened() -> None:
    said = {
        "203.0.113.7": "203.0.113.0/24",
        "2001:db8:1:2::/64": "2001:db8:1::/48",
        "::1": "::1",
        "": "",
        "unix:": "",
        "<script>": "",
    }
    assert {address: shortened_network(address) for address in said} == said


def test_lines_are_written_although_the_request_that_reads_them_is_cancelled(database: Database) -> None:
    async def attempts() -> None:
        queued: Future[None] = Future()  # a write that the writer thread has not begun
        jobs: list[Callable[[Any], None]] = []
        refused = RefusedSignInLog(lambda job: jobs.append(job) or queued)
        refused.count(SignInOrigin("olga", "203.0.113.0/24"), "wrong password")
        request = asyncio.create_task(refused.write_pending())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        request.cancel()
        await asyncio.wait([request])
        assert queued.set_running_or_notify_cancel()  # else the writer thread would leave it out
        queued.set_result(jobs[0](None))
        await asyncio.sleep(0)

    run(attempts())
    assert [line.times for line in database.lines] == [1]
