"""Fixtures that seed the random generator of the studio, so that its tests are reproducible."""

from collections.abc import Iterator

import pytest

pytest.importorskip("fastapi", reason="the studio is missing; run: pip install 'plurivox[web]'")

from studies import seeded


@pytest.fixture(autouse=True, scope="module")
def seeded_module(request: pytest.FixtureRequest) -> Iterator[None]:
    """Seed the studios that all tests of a module share."""
    with seeded(request.node.name):
        yield


@pytest.fixture(autouse=True)
def seeded_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """Seed each test by its name, independent of the tests that ran before."""
    with seeded(request.node.nodeid):
        yield
