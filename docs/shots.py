"""Take screenshots of the demo study in a browser: `python -m docs.shots [FOLDER]`; writes docs/studio/*.png."""

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
from plurivox.web.server_settings import Settings
from plurivox.web.services import owner_sign_in
from plurivox.web.store.admin import invites
from plurivox.web.store.random_ids import encode_id
from plurivox.web.study.demo_study import demo_tasks, make_demo_study_with_simulated_answers

OUT = Path(__file__).parent / "studio"
COLOURS = 128  # enough for these pages, and keeps the files small
SIMILAR_DIGIT = dict(zip("0123456789", "6738965134", strict=True))
IMAGE_BYTES = (
    "async () => [...new Uint8Array(await (await fetch(document.querySelector('main.task img').src)).arrayBuffer())]"
)


@contextmanager
def demo() -> Iterator[tuple[str, str, str]]:
    """Context manager: serve the demo on a free port; yields its address, an invite link and the owner's setup link."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{sock.getsockname()[1]}"
        home = Path(folder) / "digits"
        make_demo_study_with_simulated_answers(home)
        app = create_app(Settings(folder=home, database="", base_url=base, snapshot_seconds=1))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.05)
        studio = app.state.studio
        row = studio.writer.submit(lambda c: invites.create_invite(c, "docs", "pilot", 10)).result()
        token = studio.writer.submit(
            lambda c: owner_sign_in.create_setup_token_unless_owner_exists(c, studio.keys)
        ).result()
        yield base, f"{base}/join#invite={studio.keys.sign('invite', encode_id(row.id))}", f"{base}/owner#setup={token}"
        server.should_exit = True
        thread.join(20)


def _output_folder() -> Path:
    return Path(sys.argv[1]) if len(sys.argv) > 1 else OUT


def save_screenshot(page: Page, name: str) -> None:
    """Write a screenshot of the page as NAME.png."""
    page.wait_for_timeout(450)
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    few = image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(_output_folder() / f"{name}.png", optimize=True)


def digit_on(page: Page) -> str:
    """Return the digit in the image of the current task."""
    digits = load_digits()
    digit_of = {task.medium.shown: str(digit) for task, digit in zip(demo_tasks(digits), digits.target, strict=False)}
    return digit_of[bytes(page.evaluate(IMAGE_BYTES))]


def take_worker_pages(page: Page, join: str) -> None:
    """Take screenshots of a worker's pages, from the invitation to completion."""
    press: Callable[..., Any] = lambda *keys: [page.keyboard.press(key) for key in keys]  # noqa: E731
    page.goto(join)
    page.wait_for_selector("text=Before you begin")
    save_screenshot(page, "consent")
    press("Space", "Enter")
    page.wait_for_selector("text=How it works")
    save_screenshot(page, "instructions")
    press("Enter")
    page.wait_for_selector("text=A short check")
    press("Tab", "Space", "ArrowDown")
    save_screenshot(page, "check")
    press("Enter")
    page.wait_for_selector("main.task")
    save_screenshot(page, "practice")
    for _ in range(3):
        old = page.wait_for_selector("main.task[data-seen]")
        page.wait_for_timeout(450)
        press("1", "Enter")
        old.wait_for_element_state("hidden")
    page.wait_for_selector("text=Practice is over")
    page.wait_for_timeout(1000)  # the page ignores keys at first
    press("Enter")
    page.wait_for_selector("main.task[data-seen]")
    page.wait_for_timeout(450)
    first = digit_on(page)
    second = SIMILAR_DIGIT[first]
    never = [f"Shift+Digit{digit}" for digit in "0123456789" if digit not in (first, second)]
    press(first, second, "7", "0", *never[:2])
    save_screenshot(page, "task")
    page.emulate_media(color_scheme="dark")
    save_screenshot(page, "task-dark")
    page.emulate_media(color_scheme="light")
    press("h", first, first, first, second, second, SIMILAR_DIGIT[second])
    save_screenshot(page, "histogram")
    page.set_viewport_size({"width": 390, "height": 844})
    save_screenshot(page, "histogram-phone")
    press("h", first, second, "7", "0")
    save_screenshot(page, "task-phone")
    page.set_viewport_size({"width": 1280, "height": 720})
    press("?")
    save_screenshot(page, "help")
    press("Escape", "Escape")
    while page.query_selector("main.task"):
        page.wait_for_timeout(450)
        press("2", "Enter")
        page.wait_for_timeout(150)
    page.wait_for_selector("textarea")
    save_screenshot(page, "debrief")
    page.click("text=Finish")
    page.wait_for_selector("text=All done")
    save_screenshot(page, "done")


def take_owner_pages(page: Page, base: str, setup: str) -> None:
    """Take screenshots of the owner's pages after the first soft labels are computed."""
    page.goto(setup)
    page.fill("#name", "ada")
    save_screenshot(page, "owner-setup")
    page.fill("#password", "a long password")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Soft labels of", timeout=90_000)
    save_screenshot(page, "owner-overview")
    for name in ("tasks", "workers", "times", "flagged", "invites", "audit"):
        page.goto(f"{base}/owner#/{name}")
        page.wait_for_selector(f"main[data-shows={name}]")
        save_screenshot(page, f"owner-{name}")
    page.goto(f"{base}/owner#/report")
    page.click("[data-question=truth] button")
    page.wait_for_selector("[data-question=truth] a", timeout=180_000)
    page.click("[data-question=people] button")
    page.wait_for_selector("[data-question=people] >> text=step", timeout=90_000)
    save_screenshot(page, "owner-report")
    page.goto(f"{base}/owner#/tasks")
    page.click("main[data-shows=tasks] table a >> nth=2")
    page.wait_for_selector("main[data-shows=task]")
    save_screenshot(page, "owner-task")


def main() -> None:
    """Take all screenshots."""
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if not chromium:
        sys.exit("Chromium is missing; run: apt-get install chromium-headless-shell")
    _output_folder().mkdir(exist_ok=True)
    with demo() as (base, join, setup), sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium)
        size: Any = {"width": 1280, "height": 720}
        take_worker_pages(browser.new_context(viewport=size).new_page(), join)
        take_owner_pages(browser.new_context(viewport={**size, "height": 900}).new_page(), base, setup)
        browser.close()


if __name__ == "__main__":
    main()
