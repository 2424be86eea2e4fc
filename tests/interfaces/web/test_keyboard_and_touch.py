"""A worker's pages with keys only, with touch scrolling, in forced colours and on a bad network."""

from typing import Any

import pytest

from interfaces.web.page_actions import answer, drag, fits, key, saved, shown, until_true

PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
ASIDE = {"viewport": {"width": 640, "height": 360}}  # a phone in landscape, or a small screen at 200% zoom
INSIDE = """([inner, outer]) => {
  const [a, b] = [inner, outer].map((name) => document.querySelector(name).getBoundingClientRect());
  return a.top >= b.top - 1 && a.bottom <= b.bottom + 1 && a.left >= b.left - 1 && a.right <= b.right + 1; }"""


def enter(live: Any, context: Any, **options: Any) -> Any:
    page = context(**options).new_page()
    page.goto(live.join)
    shown(page)
    return page


def swipe(page: Any, selector: str, across: float, down: float) -> None:
    """Drag by touch from the middle of an element; a pause before the release prevents a fling."""
    box = page.locator(selector).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    drag(page, (x, y), (x + across, y + down))


# ---- keyboard only


def test_enter_presses_the_button_that_has_the_focus_and_sends_from_a_picked_label(studio: Any, context: Any) -> None:
    live = studio(n=2, form="top-two")
    page = enter(live, context)
    page.focus(".tile:nth-child(2) .tick")
    key(page, "Enter")
    page.wait_for_selector(".tile[data-is=never]:nth-child(2)")  # Enter pressed the tick and did not send the answer
    page.focus(".tile:nth-child(3) .pick")
    key(page, "Enter")
    page.wait_for_selector(".tile[data-is=top]:nth-child(3)")
    old = page.query_selector("main.task")
    key(page, "Enter")
    old.wait_for_element_state("hidden")
    saved(page)
    [said] = live.answers()
    assert [kind for kind, _, _ in said["marks"]] == ["named", "never"]


def test_enter_sends_the_answer_after_help_was_clicked(studio: Any, context: Any) -> None:
    live = studio(n=2, form="one-label")
    page = enter(live, context)
    page.click("button.help")
    page.wait_for_selector("dialog[open]")
    key(page, "Escape")
    page.wait_for_selector("main.task:focus", state="attached")
    page.click("button.help")
    page.click("dialog button:has-text('Close')")
    page.wait_for_selector("main.task:focus", state="attached")
    answer(page, "1", "Enter")
    shown(page)
    page.focus("button.help")
    key(page, "Enter")
    page.wait_for_selector("dialog[open]")
    key(page, "Escape")
    page.wait_for_selector("button.help:focus")  # opened by keyboard: the focus returns to the button


def test_screen_readers_announce_a_new_task(studio: Any, context: Any) -> None:
    page = enter(studio(n=3, form="histogram"), context)
    assert page.get_by_role("main", name="Task, 1 of 3").is_visible()
    assert page.locator(".barrow input").first.get_attribute("aria-valuetext") == "not set"
    answer(page, "1", ".", "Enter")
    page.get_by_role("main", name="Task, 2 of 3").wait_for()


# ---- touch


@pytest.mark.parametrize("form", ["histogram", "chips"])
def test_touch_scrolling_does_not_move_bars(studio: Any, context: Any, form: str) -> None:
    page = enter(studio(n=1, form=form), context, **PHONE)
    swipe(page, ".barrow:nth-child(5) input", 25, 1)
    until_true(page, "Number(document.querySelector('.barrow:nth-child(5) input').value) > 60")
    before = page.inner_text(".said")
    swipe(page, ".barrow:nth-child(4) input", 0, -110)
    until_true(page, "document.querySelector('.bars').scrollTop > 20")
    assert page.inner_text(".said") == before and page.input_value(".barrow:nth-child(4) input") == "0"


# ---- small screens


@pytest.mark.parametrize("form", ["top-two", "ranking", "histogram"])
@pytest.mark.parametrize("size", [PHONE, ASIDE], ids=["phone", "aside"])
def test_the_second_text_is_visible_on_a_phone(studio: Any, context: Any, form: str, size: Any) -> None:
    page = enter(studio(n=1, kind="pair", form=form, wording="first"), context, **size)
    fits(page)
    assert page.evaluate(INSIDE, [".scene section:last-child h3", ".scene"])
    assert page.evaluate(INSIDE, [".scene", ".look"]) and page.evaluate(INSIDE, [".look", "#stage"])


def test_unsent_answers_are_shown_beside_the_progress(studio: Any, context: Any) -> None:
    page = enter(studio(n=4), context, **PHONE)
    page.context.set_offline(True)
    answer(page, "1", "Enter")
    page.wait_for_selector(".saved:has-text('1 not sent yet')")
    way, told = (page.locator(one).bounding_box() for one in (".way", ".saved"))
    assert way["x"] + way["width"] <= told["x"] + 1 and page.evaluate(INSIDE, [".help", ".head"])
    page.context.set_offline(False)
    saved(page)


def test_choices_keep_their_size_with_long_questions(studio: Any, context: Any) -> None:
    quiz = [{"question": "Which?", "choices": ["Long words " * 9, "No"], "right": 1}]
    live = studio(n=1, quiz=quiz)
    page = context(**PHONE).new_page()
    page.goto(live.join)
    page.wait_for_selector("fieldset.question")
    boxes = page.eval_on_selector_all(".choice input", "all => all.map((one) => [one.offsetWidth, one.offsetHeight])")
    assert boxes == [[20, 20]] * 2


# ---- forced colours


@pytest.mark.parametrize("form", ["top-two", "chips", "ranking"])
def test_picked_labels_are_visible_in_forced_colours(studio: Any, context: Any, form: str) -> None:
    page = enter(studio(n=1, form=form), context, forced_colors="active")
    key(page, "3", "5")
    if form == "chips":  # the page draws the dots itself with system colours
        assert page.eval_on_selector(".barrow input", "one => getComputedStyle(one).forcedColorAdjust") == "none"
        return
    picked, other = {
        "top-two": (".tile:nth-child(3)", ".tile:nth-child(4)"),
        "ranking": (".rank[aria-pressed=true]", ".rank[aria-pressed=false]"),
    }[form]
    paper = "one => getComputedStyle(one).backgroundColor"
    assert page.eval_on_selector(picked, paper) != page.eval_on_selector(other, paper)
    ink = "one => [getComputedStyle(one).color, getComputedStyle(one).backgroundColor]"
    assert len(set(page.eval_on_selector(picked, ink))) == 2


# ---- a bad network


def test_the_final_comment_survives_a_lost_network(studio: Any, context: Any) -> None:
    live = studio(n=1, texts={"consent": "", "instructions": "", "debrief": "Thank you."})
    page = enter(live, context)
    answer(page, "1", "Enter")
    page.fill("textarea", "It was fine")
    page.context.set_offline(True)
    page.click("text=Finish")
    page.wait_for_selector(".note.failed:has-text('Nothing is lost')")
    assert page.input_value("textarea") == "It was fine"
    page.context.set_offline(False)
    page.click("text=Finish")
    page.wait_for_selector("text=All done")


def test_a_slow_page_shows_a_status(studio: Any, context: Any) -> None:
    live = studio(n=1)
    page = context().new_page()
    seen: list[bool] = []

    def late(route: Any) -> None:
        page.get_by_text("One moment").wait_for()
        seen.append(True)
        route.continue_()

    page.route("**/static/work.js*", late)
    page.goto(live.join, wait_until="commit")
    shown(page)
    assert seen == [True]
