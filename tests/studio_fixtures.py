"""Pytest fixtures of the studio: one browser per process, live servers, axe-core."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from interfaces.web.live_server import Running

VIOLATION = """addEventListener("securitypolicyviolation", (event) =>
  console.error(`Content Security Policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`))"""
CLOCK = """const now = performance.now.bind(performance);
let ahead = 0;
performance.now = () => now() + ahead;
globalThis.passBy = (ms) => { ahead += ms; }"""  # passBy(ms) advances the clock, so that tests need not wait
PATIENCE = 120_000  # ms until a wait fails; longer than any step takes on a busy machine
JS = Path(__file__).parents[1] / "src" / "plurivox" / "web" / "static" / "js"


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    """Chromium, started once per process."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing; run: pip install playwright")
    with playwright.sync_playwright() as play:
        one = play.chromium.launch(executable_path=chromium, args=["--disable-dev-shm-usage"])
        yield one
        one.close()


@pytest.fixture
def context(browser: Any) -> Iterator[Callable[..., Any]]:
    """Create browser contexts; a JavaScript error or a policy violation fails the test."""
    made, faults = [], []

    def make(**options: Any) -> Any:
        one = browser.new_context(**{"viewport": {"width": 1280, "height": 720}, "reduced_motion": "reduce"} | options)
        one.set_default_timeout(PATIENCE)
        one.on("weberror", lambda fault: faults.append(str(fault.error)))
        one.on("console", lambda said: "Content Security Policy" in said.text and faults.append(said.text))
        one.add_init_script(VIOLATION)
        one.add_init_script(CLOCK)
        made.append(one)
        return one

    yield make
    for one in made:
        one.close()
    assert not faults, faults


@pytest.fixture(scope="session")
def blank(browser: Any) -> Iterator[Callable[..., Any]]:
    """Return a page without a server that has imported JavaScript modules:
    `blank("answer", "answer_actions").evaluate("answer.applyAction(...)")`."""
    pages = []

    def serve(route: Any) -> None:
        path = JS / route.request.url.rsplit("/", 1)[-1]
        if path.suffix == ".js":
            route.fulfill(body=path.read_text(encoding="utf-8"), content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html>", content_type="text/html")

    def load(first: str, *more: str) -> Any:
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        pages.append(page)
        page.route("https://studio.test/**", serve)
        page.goto("https://studio.test/")  # answered by `serve`; Web Locks need a secure context (https)
        names = (first, *more)
        script = "".join(f'import * as {name} from "./{name}.js";\n' for name in names)
        script += f"globalThis.{first} = {{ {', '.join(f'...{name}' for name in names)} }};"
        page.add_script_tag(content=script, type="module")
        page.wait_for_function(f"globalThis.{first}")  # modules run asynchronously after the tag is added
        return page

    yield load
    for page in pages:
        page.close()


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock of rate limits, so that the number of allowed requests does not depend on their duration."""
    from plurivox.web.api import login_throttle, rate_limit

    for module in (rate_limit, login_throttle):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 0.0))


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., "Running"]]:
    """Start studios: `studio(n=3, form="histogram")`, see `studio_of`; equal options return the same studio."""
    from interfaces.web.live_server import run, studio_of

    with ExitStack() as stack:

        @cache
        def start(words: str) -> "Running":
            return stack.enter_context(run(tmp_path_factory.mktemp("studio") / "one", studio_of(**json.loads(words))))

        yield lambda **options: start(json.dumps(options, sort_keys=True))


@pytest.fixture(scope="module")
def owned(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Running"]:
    """Serve the demo study, which has answers."""
    from interfaces.web.live_server import run
    from plurivox.web.study.demo_study import make_demo_study_with_simulated_answers

    with run(
        tmp_path_factory.mktemp("owned") / "digits",
        lambda settings: make_demo_study_with_simulated_answers(settings.folder),
        is_leader=True,
    ) as running:
        yield running


@pytest.fixture(scope="session")
def axe() -> str:
    """Return the axe-core script that `make install` installs with npm."""
    places = [os.environ.get("PLURIVOX_AXE", ""), JS.parents[4] / ".venv/npm/node_modules/axe-core/axe.min.js"]
    for place in places:
        if place and Path(place).is_file():
            return Path(place).read_text(encoding="utf-8")
    from conftest import without

    without("axe-core", "run: npm install --no-save --prefix .venv/npm axe-core")
    raise AssertionError


@pytest.fixture
def barriers(axe: str) -> Callable[[Any], list[str]]:
    """Return a function that lists the serious and critical axe-core violations of a page."""

    def find(page: Any) -> list[str]:
        if not page.evaluate("typeof axe === 'object'"):
            page.evaluate(axe)
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
        return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found if one["impact"] in ("serious", "critical")]

    return find
