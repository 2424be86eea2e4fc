"""Keyboard and touch actions of a worker on the pages of the studio."""

import time
from collections.abc import Callable, Sequence
from typing import Any

INPUT_DELAY_MS = 330  # ms: the page ignores Enter for 300 ms after it shows a task
# Drops timers of 2 s or more, so that the page neither polls nor saves drafts by itself.
UNASKED = """const later = globalThis.setTimeout;
globalThis.setTimeout = (act, ms, ...rest) => (ms >= 2000 ? 0 : later(act, ms, ...rest));"""


def until_true(page: Any, condition: str, seconds: float = 120.0) -> None:
    """Wait until a JavaScript expression is true; the pages' policy forbids the eval that `wait_for_function` uses."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"not true within {seconds} s: {condition}"
        page.wait_for_timeout(20)


def key(page: Any, *keys: str) -> int:
    """Press keys one after the other; return their number."""
    for one in keys:
        page.keyboard.press(one.replace("Shift+", "Shift+Digit") if one[-1].isdigit() else one)
    return len(keys)


def shown(page: Any) -> str:
    """Wait until a task is shown and Enter is accepted; return the progress text, such as "2 of 4"."""
    page.wait_for_selector("main.task[data-seen]")
    page.evaluate(f"passBy({INPUT_DELAY_MS})")
    return page.inner_text(".way")


def answer(page: Any, *keys: str) -> int:
    """Answer the current task by keys and wait until the page leaves it; return the number of keys."""
    shown(page)
    old = page.query_selector("main.task")
    n = key(page, *keys)
    old.wait_for_element_state("hidden")
    return n


def enter_study(page: Any, join: str) -> None:
    """Go from the invite link to the first task by keyboard."""
    page.goto(join)
    page.wait_for_selector("text=Before you begin")
    key(page, "Space", "Enter")
    page.wait_for_selector("text=How it works")
    key(page, "Enter")
    page.wait_for_selector("text=A short check")
    key(page, "Tab", "Space", "ArrowDown")  # select the second choice of the first question
    key(page, "Tab", "Space", "Enter")
    page.wait_for_selector("main.task")


def begin_after_practice(page: Any) -> None:
    """Go from the page at the end of practice to the first task that counts."""
    page.wait_for_selector("text=From now on your answers count")
    page.evaluate("passBy(900)")  # the page ignores keys and clicks at first
    key(page, "Enter")


def resize(page: Any, width: int, height: int) -> None:
    """Resize the viewport and wait until the page has the new size."""
    page.set_viewport_size({"width": width, "height": height})
    until_true(page, f"innerWidth === {width} && innerHeight === {height}")


def fits(page: Any) -> None:
    """Assert that the page does not scroll."""
    width, height = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    size = page.viewport_size
    assert width <= size["width"] and height <= size["height"], (width, height)


def drag(page: Any, start: Sequence[float], end: Sequence[float]) -> None:
    """Drag by touch and pause before the release, because a fling would swallow the next tap."""
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
    """Wait until `what()` is true while browser events are processed."""
    while not what():
        page.wait_for_timeout(20)


def saved(page: Any) -> None:
    """Wait until the page shows that all answers are saved."""
    page.wait_for_selector(".saved[data-is=kept]")
