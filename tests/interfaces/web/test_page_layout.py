"""The task page fits the screen for every form, screen size and number of labels."""

from typing import Any

import pytest

from interfaces.web.page_actions import answer, key, resize, saved, shown

SIZES = [(360, 640), (1280, 720)]
SCROLLS = """() => [...document.querySelectorAll("html, #stage, .task, .grid, .bars, .look, .asks, .said")]
  .filter((one) => one.clientHeight && (one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1))
  .map((one) => `${one.className || one.id || one.tagName} ${one.scrollWidth}x${one.scrollHeight}`)"""
OUTSIDE = """() => [...document.querySelectorAll(".scene, .scene img, .scene p, .bar, .deeds button")]
  .filter((one) => one.checkVisibility())
  .filter((one) => { const box = one.getBoundingClientRect();
    return box.height < 8 || box.top < 0 || box.left < 0 || box.right > innerWidth || box.bottom > innerHeight; })
  .map((one) => one.className || one.tagName)"""
SMALL = """() => [...document.querySelectorAll("button, input")]
  .filter((one) => one.checkVisibility() && (one.offsetHeight < 44 || one.offsetWidth < 44))
  .map((one) => `${one.className} ${one.offsetWidth}x${one.offsetHeight}`)"""
TELL = {
    "one-label": [["3"]],
    "top-two": [["3"], ["5", "7", "0"], ["."], ["Shift+1"], ["Enter"]],
    "also-possible": [["3"], ["5"], ["7", "0", "Shift+1"]],
    "histogram": [["3", "3"], ["5", "."]],
}


def must_fit(page: Any, form: str, width: int, height: int) -> None:
    """Assert that the page does not scroll; on a small phone the list of ten 44 px bars may scroll."""
    resize(page, width, height)
    scrolls = page.evaluate(SCROLLS)
    if page.query_selector(".task[data-bars]") and height < 700:
        scrolls = [one for one in scrolls if not one.startswith("bars ")]
    assert scrolls == [], (form, width)
    assert page.evaluate(OUTSIDE) == [], (form, width)
    assert page.evaluate(SMALL) == [], (form, width)


@pytest.mark.slow
@pytest.mark.parametrize(("form", "kind"), [*((form, "image") for form in TELL), ("also-possible", "pair")])
def test_ten_labels_fit_a_small_phone_and_a_laptop(studio: Any, context: Any, form: str, kind: str) -> None:
    live = studio(n=3, form=form, kind=kind)
    page = context().new_page()
    page.goto(live.join)
    shown(page)
    for keys in [[], *TELL[form]]:
        key(page, *keys)
        if page.query_selector("main.task"):
            for size in SIZES:
                must_fit(page, form, *size)
    if form in ("top-two", "also-possible"):
        shown(page)
        key(page, "h", "4")
        for size in SIZES:
            must_fit(page, form, *size)


STRANGE = [
    "oak",
    "oak tree",
    "Oakmoss",
    "\u05e2\u05d1\u05e8\u05d9\u05ea",
    "\U0001f600 smile",
    "\u00c9clair",
    "66",
    "1984",
    "9 lives",
]
STRANGE += ["a very long label of the kind that somebody copies from a code book " * 2 + "end"]
MANY = [*STRANGE, *(f"topic {at}" for at in range(200 - len(STRANGE)))]


def names(page: Any) -> list[str]:
    return page.eval_on_selector_all(".grid .tile .name", "all => all.map((one) => one.textContent)")


def test_two_hundred_labels_are_found_by_typing(studio: Any, context: Any) -> None:
    live = studio(n=8, form="also-possible", labels=MANY)
    page = context().new_page()
    page.goto(live.join)
    shown(page)
    for width, height in SIZES:
        resize(page, width, height)
        # only the list of labels may scroll
        scrolls = [one for one in page.evaluate(SCROLLS) if not one.startswith("grid ")]
        assert scrolls == [] and page.evaluate(OUTSIDE) == []
    assert "160 more" in page.inner_text(".more")
    key(page, *"oak")
    assert names(page)[0] == "oak" and set(names(page)) == {"oak", "oak tree", "Oakmoss"}
    key(page, "Enter")  # the exact match comes first
    assert page.inner_text(".tile[data-is=top] .name") == "oak"
    answer(page, "Enter")
    shown(page)
    key(page, *"zzz")
    assert "No label contains" in page.inner_text(".more")
    answer(page, "Escape", *"eclair", "Enter", "Enter")  # the search ignores accents
    answer(page, *"1984", "Enter", "Enter")  # a label that is a number
    answer(page, *"topic 14", "Enter", *"66", "Enter", "7", "0", "Enter")  # after both picks, digits are percents
    answer(page, *"9 l", "Enter", "Enter")
    shown(page)
    page.fill(".sought", "\u05e2\u05d1")  # Hebrew text, typed into the search field
    page.keyboard.press("Enter")
    assert page.evaluate("getComputedStyle(document.querySelector('.tile[data-is=top] .name')).direction") == "rtl"
    answer(page, "Enter")
    shown(page)
    page.fill(".sought", "\U0001f600")
    page.keyboard.press("Enter")
    answer(page, "Enter")
    shown(page)
    page.click(".sought")
    page.keyboard.type("code book", delay=5)  # the field keeps the focus, else a phone closes its keyboard
    assert page.evaluate("document.activeElement.className") == "sought"
    answer(page, "Enter", "Enter")
    page.wait_for_selector("text=All done")
    said = [[label for _, label, _ in one["marks"]] for one in live.answers()]
    assert said == [
        ["oak"], ["\u00c9clair"], ["1984"], ["topic 14", "66"], ["9 lives"], [MANY[3]], ["\U0001f600 smile"], [STRANGE[-1]],
    ]  # fmt: skip


def test_long_labels_stay_on_the_page(studio: Any, context: Any) -> None:
    labels = [f"{at} {'word ' * at}{'x' * 12 * at}" for at in range(10)]
    live = studio(n=1, form="top-two", labels=labels)
    page = context().new_page()
    page.goto(live.join)
    shown(page)
    key(page, "9", "0", "6", "0")
    for size in SIZES:
        resize(page, *size)
        outside = [one for one in page.evaluate(OUTSIDE) if size[0] > 760 or one != "bar"]  # a phone scrolls to the bar
        assert outside == [] and page.evaluate("document.documentElement.scrollWidth") <= size[0]


OVERLAP = """() => { const boxes = [...document.querySelectorAll(".barrow .name")].filter((one) => one.checkVisibility())
    .map((one) => one.getBoundingClientRect());
  return boxes.slice(1).some((box, at) => box.top < boxes[at].bottom - 1); }"""


@pytest.mark.parametrize("form", ["histogram", "chips", "top-two"])
def test_long_labels_beside_bars_do_not_overlap(studio: Any, context: Any, form: str) -> None:
    labels = [f"label {at} with a name that has quite a number of words" for at in range(10)]
    page = context().new_page()
    page.goto(studio(n=1, form=form, labels=labels).join)
    shown(page)
    key(page, *(["h"] if form == "top-two" else []), "1")
    for size in [*SIZES, (390, 844)]:
        resize(page, *size)
        assert page.locator(".barrow:visible").count() == 10
        assert not page.evaluate(OVERLAP), size
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


@pytest.mark.parametrize("form", ["top-two", "ranking"])
def test_long_labels_leave_a_small_phone_two_lines_of_text(studio: Any, context: Any, form: str) -> None:
    labels = [f"label {at} with a name that has quite a number of words, more than a line can hold" for at in range(4)]
    phone = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}
    page = context(**phone).new_page()
    page.goto(studio(n=1, form=form, kind="pair", labels=labels).join)
    shown(page)
    for place in (1, 2):
        page.tap(f".tile:nth-child({place}) .pick")
    lines = """() => { const range = document.createRange();
      range.selectNodeContents(document.querySelector(".scene p"));
      const end = document.querySelector(".scene section + section h3").getBoundingClientRect().top;
      return [...range.getClientRects()].filter((line) => line.width && line.bottom <= end + 1).length; }"""
    assert page.evaluate(lines) >= 2
    last = ".rankdeeds" if form == "ranking" else ".split"
    # the page scrolls to what the text and the labels leave no space for
    page.evaluate("document.querySelector('#stage').scrollTop = 1e6")
    bottom, buttons = (page.locator(one).bounding_box() for one in (last, ".deeds"))
    assert bottom["y"] + bottom["height"] <= buttons["y"]
    if form == "ranking":
        assert all(one.bounding_box()["height"] <= 48 for one in page.locator(".rank").all())


def test_at_200_percent_zoom_all_labels_and_the_button_are_reachable(studio: Any, context: Any) -> None:
    live = studio(n=3, form="top-two")
    page = context(viewport={"width": 640, "height": 360}, device_scale_factor=2).new_page()  # 1280x720 at 200%
    page.goto(live.join)
    shown(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 640
    for place in (1, 10):
        page.click(f".tile:nth-child({place}) .pick")  # the browser scrolls it into view
    assert page.locator(".next").bounding_box()["y"] < 330
    page.click("[aria-label='Top label: 5% more']")
    page.click(".next")
    saved(page)
    assert len(live.answers()) == 1
