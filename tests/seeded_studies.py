"""The same draws in every run: each test of the studio has a generator of its own."""

from collections.abc import Iterator

import pytest

pytest.importorskip("fastapi", reason="the studio is missing; run: pip install 'plurivox[web]'")

from studies import seeded


@pytest.fixture(autouse=True, scope="module")
def seeded_module(request: pytest.FixtureRequest) -> Iterator[None]:
    """For the studios that a module shares."""
    with seeded(request.node.name):
        yield


@pytest.fixture(autouse=True)
def seeded_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """The same in every run of a test, whichever tests ran before it."""
    with seeded(request.node.nodeid):
        yield
