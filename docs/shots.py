"""Pictures of the studio's pages: `python -m docs.shots [FOLDER]` fills the demo by a browser and writes docs/studio/*.png."""

import io
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from PIL import Image
from playwright.sync_api import Page, sync_playwright
from sklearn.datasets import load_digits

from plurivox.web.server.app import create_app
from plurivox.web.services import owner_sign_in
from plurivox.web.settings import Settings
from plurivox.web.store.admin import invites
from plurivox.web.store.ids import encode_id
from plurivox.web.study.demo import demo_tasks, make_demo

OUT = Path(__file__).parent / "studio"
COLOURS = 128  # plain pages need no more, and files stay small
LIKE = dict(zip("0123456789", "6738965134", strict=True))  # what each digit is taken for
BYTES = (
    "async () => [...new Uint8Array(await (await fetch(document.querySelector('main.task img').src)).arrayBuffer())]"
)


@contextmanager
def demo() -> Iterator[tuple[str, str, str]]:
    """The demo on a free port: its address, an invitation, the owner's first link."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{sock.getsockname()[1]}"
        home = Path(folder) / "digits"
        make_demo(home)
        app = create_app(Settings(folder=home, database="", base_url=base, snapshot_seconds=1))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.05)
        studio = app.state.studio
        row = studio.writer.submit(lambda c: invites.make_invite(c, "docs", "pilot", 10)).result()
        token = studio.writer.submit(lambda c: owner_sign_in.offer_setup(c, studio.keys)).result()
        yield base, f"{base}/join#invite={studio.keys.sign('invite', encode_id(row.id))}", f"{base}/owner#setup={token}"
        server.should_exit = True
        thread.join(20)


def _folder() -> Path:
    return Path(sys.argv[1]) if len(sys.argv) > 1 else OUT


def keep(page: Page, name: str) -> None:
    """What the page shows, as a small file."""
    page.wait_for_timeout(450)
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    few = image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(_folder() / f"{name}.png", optimize=True)


def digit_on(page: Page) -> str:
    """The digit that the page asks about."""
    digits = load_digits()
    seen = {task.medium.shown: str(digit) for task, digit in zip(demo_tasks(digits), digits.target, strict=False)}
    return seen[bytes(page.evaluate(BYTES))]


def worker_pages(page: Page, join: str) -> None:
    """From the invitation to the end."""
    press: Callable[..., Any] = lambda *keys: [page.keyboard.press(key) for key in keys]  # noqa: E731
    page.goto(join)
    page.wait_for_selector("text=Before you begin")
    keep(page, "consent")
    press("Space", "Enter")
    page.wait_for_selector("text=How it works")
    keep(page, "instructions")
    press("Enter")
    page.wait_for_selector("text=A short check")
    press("Tab", "Space", "ArrowDown")
    keep(page, "check")
    press("Enter")
    page.wait_for_selector("main.task")
    keep(page, "practice")
    for _ in range(3):
        old = page.wait_for_selector("main.task[data-seen]")
        page.wait_for_timeout(450)
        press("1", "Enter")
        old.wait_for_element_state("hidden")
    page.wait_for_selector("main.task[data-seen]")
    page.wait_for_timeout(450)
    first = digit_on(page)
    second = LIKE[first]
    never = [f"Shift+Digit{digit}" for digit in "0123456789" if digit not in (first, second)]
    press(first, second, "7", "0", *never[:2])
    keep(page, "task")
    page.emulate_media(color_scheme="dark")
    keep(page, "task-dark")
    page.emulate_media(color_scheme="light")
    press("h", first, first, first, second, second, LIKE[second])
    keep(page, "histogram")
    page.set_viewport_size({"width": 390, "height": 844})
    keep(page, "histogram-phone")
    press("h", first, second, "7", "0")
    keep(page, "task-phone")
    page.set_viewport_size({"width": 1280, "height": 720})
    press("?")
    keep(page, "help")
    press("Escape", "Escape")
    while page.query_selector("main.task"):
        page.wait_for_timeout(450)
        press("2", "Enter")
        page.wait_for_timeout(150)
    page.wait_for_selector("textarea")
    keep(page, "debrief")
    page.click("text=Finish")
    page.wait_for_selector("text=All done")
    keep(page, "done")


def owner_pages(page: Page, base: str, setup: str) -> None:
    """Every page of an owner, once the first soft labels are there."""
    page.goto(setup)
    page.fill("#name", "ada")
    keep(page, "owner-setup")
    page.fill("#password", "a long password")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Soft labels of", timeout=90_000)
    keep(page, "owner-overview")
    for name in ("tasks", "workers", "times", "flagged", "invites", "audit"):
        page.goto(f"{base}/owner#/{name}")
        page.wait_for_selector(f"main[data-shows={name}]")
        keep(page, f"owner-{name}")
    page.goto(f"{base}/owner#/tasks")
    page.click("main[data-shows=tasks] table a >> nth=2")
    page.wait_for_selector("main[data-shows=task]")
    keep(page, "owner-task")


def main() -> None:
    _folder().mkdir(exist_ok=True)
    with demo() as (base, join, setup), sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"))
        size: Any = {"width": 1280, "height": 720}
        worker_pages(browser.new_context(viewport=size).new_page(), join)
        owner_pages(browser.new_context(viewport={**size, "height": 900}).new_page(), base, setup)
        browser.close()


if __name__ == "__main__":
    main()
