"""Hands for a worker's pages: what a person at the keyboard or with a finger does."""

import time
from collections.abc import Callable, Sequence
from typing import Any

INPUT_DELAY_MS = 330  # ms: Enter is ignored for 300 after a task has come
UNASKED = """const later = globalThis.setTimeout;
globalThis.setTimeout = (act, ms, ...rest) => (ms >= 2000 ? 0 : later(act, ms, ...rest));"""  # nothing happens by itself


def until_true(page: Any, condition: str, seconds: float = 120.0) -> None:
    """Wait until an expression of JavaScript is true; our pages forbid the eval that `wait_for_function` repeats."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"it was never true: {condition}"
        page.wait_for_timeout(20)


def key(page: Any, *keys: str) -> int:
    """Press keys; how many they were."""
    for one in keys:
        page.keyboard.press(one.replace("Shift+", "Shift+Digit") if one[-1].isdigit() else one)
    return len(keys)


def shown(page: Any) -> str:
    """Wait until a task is on the page and may be answered; its place as the page tells it."""
    page.wait_for_selector("main.task[data-seen]")
    page.evaluate(f"passBy({INPUT_DELAY_MS})")
    return page.inner_text(".way")


def answer(page: Any, *keys: str) -> int:
    """Answer the task on the page by keys, and wait for the next one or the end."""
    shown(page)
    old = page.query_selector("main.task")
    n = key(page, *keys)
    old.wait_for_element_state("hidden")
    return n


def enter_study(page: Any, join: str) -> None:
    """From the invitation to the first task, by keyboard."""
    page.goto(join)
    page.wait_for_selector("text=Before you begin")
    key(page, "Space", "Enter")
    page.wait_for_selector("text=How it works")
    key(page, "Enter")
    page.wait_for_selector("text=A short check")
    key(page, "Tab", "Space", "ArrowDown")  # the second choice of the first question
    key(page, "Tab", "Space", "Enter")
    page.wait_for_selector("main.task")


def resize(page: Any, width: int, height: int) -> None:
    """Another size of the screen, once the page knows of it."""
    page.set_viewport_size({"width": width, "height": height})
    until_true(page, f"innerWidth === {width} && innerHeight === {height}")


def fits(page: Any) -> None:
    """Nothing is outside the screen."""
    width, height = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    size = page.viewport_size
    assert width <= size["width"] and height <= size["height"], (width, height)


def drag(page: Any, start: Sequence[float], end: Sequence[float]) -> None:
    """A finger goes down, moves, rests and is lifted: no fling, which would swallow the next tap."""
    hand = page.context.new_cdp_session(page)

    def touch(kind: str, *at: tuple[float, ...]) -> None:
        points = [{"x": x, "y": y} for x, y in at]
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", tuple(start))
    for part in (0.3, 0.6, *[1.0] * 6):
        page.wait_for_timeout(30)
        touch("touchMove", tuple(a + (b - a) * part for a, b in zip(start, end, strict=True)))
    touch("touchEnd")


def until(page: Any, what: Callable[[], Any]) -> None:
    """Wait for something that the browser tells us in its own time."""
    while not what():
        page.wait_for_timeout(20)


def saved(page: Any) -> None:
    """Wait until the page says that nothing waits any more."""
    page.wait_for_selector(".saved[data-is=kept]")
