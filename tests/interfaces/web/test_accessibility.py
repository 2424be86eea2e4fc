"""The task page with screen readers, keyboard focus, touch and reduced motion."""

from typing import Any

from interfaces.web.page_actions import answer, drag, key, resize, saved, shown

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
RING = """() => {
  const one = document.activeElement;
  if (one === document.body || one.tabIndex < 0) return "elsewhere";
  const ring = getComputedStyle(one.closest(".choice") ?? one);
  const seen = ring.outlineStyle !== "none" && parseFloat(ring.outlineWidth) >= 2;
  return `${seen ? "seen" : "unseen"} ${one.tagName} ${one.className} ${one.getAttribute("aria-label") ?? one.textContent}`;
}"""


def tab_through(page: Any, n: int) -> list[str]:
    """Press Tab n times; return the focused elements, marked if the focus is not visible."""
    found = []
    for _ in range(n):
        page.keyboard.press("Tab")
        found.append(page.evaluate(RING))
    return found


def test_the_keyboard_focus_is_always_visible(studio: Any, context: Any) -> None:
    live = studio(n=4, form="top-two", whole=True)
    page = context().new_page()
    page.goto(live.join)
    page.wait_for_selector("text=Before you begin")
    page.check("input[name=agree]")
    stops = tab_through(page, 2)
    page.keyboard.press("Enter")
    page.wait_for_selector("text=How it works")
    stops += tab_through(page, 1)
    key(page, "Enter")
    page.wait_for_selector("text=A short check")
    stops += tab_through(page, 3)
    page.check("text=Say how sure I am")
    page.check("text=Yes")
    page.click("text=Check my answers")
    shown(page)
    key(page, "3", "5", "7", "0")
    stops += tab_through(page, 31)  # ten tiles with ticks, the split slider, the action buttons
    key(page, "?")
    stops += tab_through(page, 2)
    key(page, "Escape", "h")
    stops += tab_through(page, 6)
    assert [one for one in stops if one.startswith("unseen")] == []
    for name in ("definitely not", "Percent probability", "Top label: 5% more", "Help", "Rule out rest"):
        assert any(name in one for one in stops), name


def test_screen_readers_get_names_percents_and_errors(studio: Any, context: Any, barriers: Any) -> None:
    live = studio(n=4, form="top-two")
    page = context(bypass_csp=True).new_page()
    page.goto(live.join)
    shown(page)
    first, second = page.eval_on_selector_all(".tile .name", "all => all.slice(0, 2).map((one) => one.textContent)")
    assert page.get_by_role("progressbar", name="Progress").get_attribute("aria-valuenow") == "0"
    assert page.get_by_role("group", name="Labels").get_by_role("button", name=first, exact=True).count() == 1
    assert page.get_by_role("img", name="The picture to be labelled").is_visible()
    key(page, "Enter")
    assert page.get_by_role("alert").all_inner_texts() == ["Pick a label first"]
    key(page, "1", "2")
    assert page.inner_text("[aria-live=polite]") == f"{first} and {second}: no percents yet"
    key(page, "7", "0")
    assert page.inner_text("[aria-live=polite]") == f"{first} 70% · {second} 30%"
    top = page.get_by_role("button", name=f"{first} 1st 70%")
    assert top.get_attribute("aria-pressed") == "true"
    assert page.get_by_role("button", name=f"{second}: definitely not").count() == 0  # a picked label has no tick
    assert page.get_by_role("slider", name="Percent probability").get_attribute("aria-valuetext") == "70 percent"
    key(page, "?")
    assert page.get_by_role("dialog", name="Help").is_visible() and barriers(page) == []
    key(page, "Escape")
    resize(page, 1280, 420)  # a low window, in which the questions scroll
    page.wait_for_selector(".look[tabindex='0']")
    assert barriers(page) == []
    resize(page, 1280, 800)
    key(page, "s")
    assert page.inner_text("[aria-live=polite]") == "Can't tell"
    key(page, "h", "1", "1")
    assert page.inner_text("[aria-live=polite]") == f"{first} 10% · 90% still to place"
    bar = page.get_by_role("slider", name=first)
    bar.focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    assert bar.evaluate("(one) => one === document.activeElement")  # the focus stays on the bar
    resize(page, 360, 640)
    assert barriers(page) == []


def test_touch_drags_the_split_and_the_bars(studio: Any, context: Any) -> None:
    live = studio(n=4, form="top-two")
    page = context(**PHONE).new_page()
    page.goto(live.join)
    shown(page)
    page.tap(".tile:nth-child(1) .pick")
    page.tap(".tile:nth-child(6) .pick")
    box = page.locator(".split input").bounding_box()
    middle = box["y"] + box["height"] / 2
    at = lambda share: (box["x"] + 13 + (box["width"] - 26) * share, middle)  # noqa: E731
    drag(page, at(0.5), at(0.8))
    page.wait_for_selector("text=1st 80%")
    old = page.query_selector("main.task")
    page.tap(".next")
    old.wait_for_element_state("hidden")
    shown(page)
    page.tap(".deeds button:has-text('Bars')")
    page.wait_for_selector(".barrow")
    box = page.locator(".barrow:nth-child(2) input").bounding_box()
    middle = box["y"] + box["height"] / 2
    drag(page, at(0.0), at(1.0))
    page.wait_for_selector("text=All 100% placed")
    page.tap(".next")
    saved(page)
    split, bars = live.answers()[:2]
    assert [typed for _, _, typed in split["marks"]] == ["80", "20"]
    assert [typed for _, _, typed in bars["marks"]] == ["100"] and bars["mode"] == "histogram"
    for one in (split, bars):
        assert {event["by"] for event in one["events"]} == {"touch"}
    moves = [event["value"] for event in split["events"] if event["kind"] == "percent"]
    assert moves[-1] == "80" and len(moves) == len(set(moves))  # only changes of the value are recorded


def test_reduced_motion_is_respected(studio: Any, context: Any) -> None:
    live = studio(n=4, form="top-two")
    moving = """() => [...document.querySelectorAll("*")].filter((one) =>
      getComputedStyle(one).transitionDuration.split(", ").some((time) => parseFloat(time) > 0)).length"""
    counts = []
    for preference in ("reduce", "no-preference"):
        page = context(reduced_motion=preference).new_page()
        page.goto(live.join)
        shown(page)
        key(page, "3")
        counts.append(page.evaluate(moving))
    assert counts[0] == 0 < counts[1]
    answer(page, "Enter")


def test_every_page_of_the_owners_preview_is_accessible(studio: Any, context: Any, barriers: Any) -> None:
    from interfaces.web.test_owner_pages import sign_in

    live = studio(n=4, whole=True, forms=["top-two", "chips"])
    for options in ({"viewport": {"width": 1280, "height": 800}}, PHONE):  # the bar of the preview takes 60 pixels
        page = context(bypass_csp=True, **options).new_page()
        sign_in(page, live)
        page.goto(f"{live.base}/owner-preview")
        page.wait_for_selector(".previewbar")
        for stage in ("consent", "instructions", "quiz", "practice", "tasks", "debrief", "done"):
            page.click(f".previewbar [data-stage={stage}]")
            if stage in ("practice", "tasks"):
                shown(page)
                answer(page, "1", "Enter")
            page.wait_for_selector(".previewbar [aria-current]")
            assert barriers(page) == [], stage
            stops = tab_through(page, 12)
            assert [one for one in stops if one.startswith("unseen")] == [], stage
