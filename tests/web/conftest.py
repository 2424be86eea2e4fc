"""One browser for all tests of the pages, and servers to look at."""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing; run: pip install playwright")
uvicorn = pytest.importorskip("uvicorn", reason="the web extra is missing; run: pip install 'plurivox[web]'")

from plurivox.web.bundle import join_script  # noqa: E402
from web.stub import Stub, stub_app  # noqa: E402

JS = Path(__file__).parent.parent.parent / "src" / "plurivox" / "web" / "static" / "js"


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    with playwright.sync_playwright() as play:
        one = play.chromium.launch(executable_path=chromium, args=["--disable-dev-shm-usage"])
        yield one
        one.close()


@pytest.fixture
def context(browser: Any) -> Iterator[Callable[..., Any]]:
    """Makes browser contexts; a mistake in a script fails the test."""
    made, faults = [], []

    def make(**options: Any) -> Any:
        one = browser.new_context(**{"viewport": {"width": 1280, "height": 720}, "reduced_motion": "reduce"} | options)
        one.set_default_timeout(8000)
        one.on("weberror", lambda fault: faults.append(str(fault.error)))
        one.on("console", lambda said: "Content Security Policy" in said.text and faults.append(said.text))
        made.append(one)
        return one

    yield make
    for one in made:
        one.close()
    assert not faults, faults


@pytest.fixture(scope="session")
def blank(browser: Any) -> Iterator[Callable[..., Any]]:
    """A page without a server that holds the names of a module: `page.evaluate("answer.begin(...)")`."""
    pages = []

    def load(module: str) -> Any:
        page = browser.new_page()
        pages.append(page)
        page.route("https://studio.test/", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
        page.goto("https://studio.test/")  # never leaves the browser; makes it a safe place, as locks ask for
        names = [line.split("(")[0].split("=")[0].split()[-1] for line in (JS / f"{module}.js").read_text().splitlines() if line.startswith("export ") and not line.startswith("export class")]
        classes = [line.split()[2] for line in (JS / f"{module}.js").read_text().splitlines() if line.startswith("export class")]
        script = join_script(JS / f"{module}.js") + f"\nglobalThis.{module} = {{ {', '.join(names + classes)} }};"
        page.add_script_tag(content=script, type="module")
        return page

    yield load
    for page in pages:
        page.close()


def serve(app: Any) -> tuple[str, Any]:
    """The app on a free port of this machine, in a thread."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="auto"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        assert thread.is_alive() and time.monotonic() < deadline, "the server did not start"
        time.sleep(0.01)

    def stop() -> None:
        server.should_exit = True
        thread.join(10)
        sock.close()

    return f"http://127.0.0.1:{sock.getsockname()[1]}", stop


@pytest.fixture
def stand_in() -> Iterator[Callable[..., tuple[str, Stub]]]:
    """A stand-in for the server: its address, and what it holds."""
    stops = []

    def start(**options: Any) -> tuple[str, Stub]:
        stub = Stub(**options)
        base, stop = serve(stub_app(stub))
        stops.append(stop)
        return base, stub

    yield start
    for stop in stops:
        stop()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, where npm has put it: `make install` does."""
    places = [os.environ.get("PLURIVOX_AXE", ""), JS.parents[4] / "node_modules" / "axe-core" / "axe.min.js"]
    for place in places:
        if place and Path(place).is_file():
            return Path(place).read_text(encoding="utf-8")
    from conftest import without

    without("axe-core", "run: npm install --no-save axe-core")
    raise AssertionError


class Running:
    """A studio that runs: where to enter, and what it has been told."""

    def __init__(self, base: str, stub: Stub) -> None:
        self.base, self.stub, self.join, self.code = base, stub, f"{base}/join#invite=abc", "C1X7-PLURAL"

    def fresh(self) -> str:
        """The address for somebody new."""
        self.stub.stage = self.stub.stages[0]
        self.stub.answers.clear()
        return self.join

    def answers(self) -> list[dict[str, Any]]:
        """The last word of each slot that is no practice, in the order of slots."""
        last = {one["slot"]: one for one in self.stub.answers.values() if one["slot"][0] == "t"}
        return [last[slot] for slot in sorted(last, key=lambda name: int(name[1:]))]


@pytest.fixture
def studio(stand_in: Callable[..., tuple[str, Stub]]) -> Callable[..., Running]:
    return lambda **options: Running(*stand_in(**options))


@pytest.fixture
def barriers(axe: str) -> Callable[[Any], list[str]]:
    """What axe-core finds serious or critical on a page."""

    def find(page: Any) -> list[str]:
        if not page.evaluate("typeof axe === 'object'"):
            page.evaluate(axe)
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
        return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found if one["impact"] in ("serious", "critical")]

    return find


class Owned:
    """A studio with answers in it, for its owner."""

    def __init__(self, base: str) -> None:
        self.base, self.setup = base, f"{base}/owner#setup=token"


@pytest.fixture(scope="module")
def owned() -> Iterator[Owned]:
    base, stop = serve(stub_app(Stub()))
    yield Owned(base)
    stop()
