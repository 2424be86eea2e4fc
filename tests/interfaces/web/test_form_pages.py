"""The task pages of ranking, chips, top-one and select-top-two in a browser: by keys, mouse and touch."""

from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any, ClassVar

import pytest

from interfaces.web.page_actions import answer, drag, fits, key, resize, saved, shown
from plurivox.core import registry
from plurivox.core.inputs_asked_by_form import Question
from plurivox.elicit import OneLabel

PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
FORMS = ("ranking", "chips", "top-one", "select-top-two")
MIDDLE = """one => { const { left, top, width, height } = one.getBoundingClientRect();
  return [left + width / 2, top + height / 2]; }"""


def enter(live: Any, context: Any, **options: Any) -> tuple[Any, list[str]]:
    """Open the first task; return the page and the labels in the order shown to this worker."""
    page = context(**options).new_page()
    page.goto(live.join)
    shown(page)
    fits(page)
    names = page.eval_on_selector_all(".tile .name", "all => all.map((one) => one.textContent)")
    return page, names or page.eval_on_selector_all(".barrow .name", "all => all.map((one) => one.textContent)")


def said(live: Any) -> list[tuple[str, str]]:
    [one] = live.answers()
    return [(label, typed) for kind, label, typed in one["marks"] if kind == "named"]


def small(page: Any) -> list[str]:
    """Return the classes of buttons smaller than 44 px, too small for touch."""
    return page.eval_on_selector_all(
        "button",
        """all => all.filter((one) => one.checkVisibility() && (one.offsetHeight < 44 || one.offsetWidth < 44))
          .map((one) => one.className)""",
    )


def middle(page: Any, selector: str) -> list[float]:
    return page.eval_on_selector(selector, MIDDLE)


KEYS = {
    "ranking": (["3", "5", "1", "ArrowLeft", "Enter"], [(2, ""), (0, ""), (4, "")]),
    "chips": (["3", "3", "5", "Shift+3", "7", ".", "Enter"], [(6, "90"), (2, "5"), (4, "5")]),
    "top-one": (["3", "7", "0", "Enter"], [(2, "70")]),
    "select-top-two": (["3", "5", "Enter"], [(2, ""), (4, "")]),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_can_be_answered_by_keyboard(studio: Any, context: Any, form: str) -> None:
    live = studio(n=1, form=form)
    page, names = enter(live, context)
    keys, wanted = KEYS[form]
    key(page, "Enter")  # an empty answer gives a hint and is not sent
    page.wait_for_selector(".hint:not(:empty)")
    key(page, *keys)
    page.wait_for_selector("text=All done")
    assert said(live) == [(names[place], typed) for place, typed in wanted]
    [one] = live.answers()
    assert one["form"] == ("histogram" if form == "chips" else form) and one["mode"] == "keyboard"


SHOWN = {  # selectors of the answer of KEYS and of a draft with the fourth label
    "ranking": (".ranks li:nth-child(3)", ".tile:nth-child(4)[data-is=top]"),
    "chips": ("text=All 20 chips placed", ".barrow:nth-child(4) output:text-is('1')"),
    "top-one": (".tile:nth-child(3) .says:text-is('✓ 70%')", ".tile:nth-child(4)[data-is=top]"),
    "select-top-two": (".tile:nth-child(5) .says:text-is('2nd')", ".tile:nth-child(4)[data-is=top]"),
}


@pytest.mark.parametrize("form", FORMS)
def test_drafts_and_earlier_answers_are_restored_after_a_reload(studio: Any, context: Any, form: str) -> None:
    live = studio(n=2, form=form)
    page, names = enter(live, context)
    keys, wanted = KEYS[form]
    answer(page, *keys)
    shown(page)
    key(page, "4")
    saved(page)
    page.reload()
    page.wait_for_selector(SHOWN[form][1])
    key(page, "u")  # nothing to undo after a reload, so u goes to the earlier answer
    page.wait_for_selector(SHOWN[form][0])
    answer(page, "Enter")
    page.wait_for_selector(SHOWN[form][1])
    saved(page)
    # viewing the earlier answer did not change it
    assert said(live) == [(names[place], typed) for place, typed in wanted]


def test_a_ranking_by_mouse_is_clicked_dragged_and_corrected(studio: Any, context: Any) -> None:
    live = studio(n=2, form="ranking")
    page, names = enter(live, context)
    for place in (2, 5, 9, 7):
        page.click(f".tile:nth-child({place}) .pick")
    page.click(".tile:nth-child(7) .pick")  # a second click removes the label
    assert page.eval_on_selector_all(".rank .name", "all => all.map((one) => one.textContent)") == [
        names[1],
        names[4],
        names[8],
    ]
    page.mouse.move(*middle(page, ".ranks li:nth-child(3) .rank"))
    page.mouse.down()
    page.mouse.move(*middle(page, ".ranks li:nth-child(1) .rank"), steps=5)
    page.mouse.up()
    page.wait_for_selector(f".ranks li:first-child .name:text-is('{names[8]}')")
    page.click(".ranks li:nth-child(3) .rank")
    page.click("text=‹ Earlier")
    page.wait_for_selector(f".ranks li:nth-child(2) .name:text-is('{names[4]}')")
    page.click("text=Take out")
    page.click(".next")
    saved(page)
    assert said(live) == [(names[8], ""), (names[1], "")]
    assert {event["kind"] for event in live.answers()[0]["events"]} >= {"pick", "move", "touch"}


def test_a_ranking_by_touch(studio: Any, context: Any) -> None:
    live = studio(n=1, form="ranking")
    page, names = enter(live, context, **PHONE)
    for place in (1, 2, 3):
        page.tap(f".tile:nth-child({place}) .pick")
    page.locator(".ranking").scroll_into_view_if_needed()
    drag(page, middle(page, ".ranks li:nth-child(1) .rank"), middle(page, ".ranks li:nth-child(3) .rank"))
    page.wait_for_selector(f".ranks li:nth-child(3) .name:text-is('{names[0]}')")
    page.tap("text=‹ Earlier")
    page.wait_for_selector(f".ranks li:nth-child(2) .name:text-is('{names[0]}')")
    assert small(page) == []
    page.tap(".next")
    page.wait_for_selector("text=All done")
    assert said(live) == [(names[1], ""), (names[0], ""), (names[2], "")]
    assert {event["by"] for event in live.answers()[0]["events"]} >= {"touch"}


def test_chips_by_mouse_are_dragged_and_counted(studio: Any, context: Any) -> None:
    live = studio(n=1, form="chips", chips=10)
    page, names = enter(live, context)
    assert page.inner_text(".said") == "10 of 10 chips still to place"
    row = page.locator(".barrow:nth-child(3) input").bounding_box()
    level = row["y"] + row["height"] / 2
    page.mouse.move(row["x"] + 4, level)
    page.mouse.down()
    page.mouse.move(row["x"] + row["width"] * 0.61, level, steps=4)
    page.mouse.up()
    page.wait_for_selector("text=4 of 10 chips still to place")
    page.click(".next", force=True)
    page.wait_for_selector(".hint:has-text('4 of 10 chips still to place')")  # the hint says what is missing
    for _ in range(5):
        page.click(f"[aria-label='{names[4]}: add a chip']")
    page.wait_for_selector(".hint:has-text('All 10 chips are placed')")
    page.click(f"[aria-label='{names[2]}: take away a chip']")
    page.click(f"[aria-label='{names[0]}: add a chip']")
    page.click(".next")
    page.wait_for_selector("text=All done")
    assert said(live) == [(names[2], "50"), (names[4], "40"), (names[0], "10")]


def test_chips_by_touch(studio: Any, context: Any) -> None:
    live = studio(n=1, form="chips")
    page, names = enter(live, context, **PHONE)
    row = page.locator(".barrow:nth-child(2) input").bounding_box()
    page.touchscreen.tap(row["x"] + row["width"] * 0.851, row["y"] + row["height"] / 2)
    page.wait_for_selector("text=3 of 20 chips still to place")
    for _ in range(3):
        page.tap(f"[aria-label='{names[0]}: add a chip']")
    assert small(page) == []
    page.tap(".next")
    page.wait_for_selector("text=All done")
    assert said(live) == [(names[1], "85"), (names[0], "15")]


@pytest.mark.parametrize("touch", [False, True])
def test_top_one_and_select_top_two_by_pointer(studio: Any, context: Any, touch: bool) -> None:
    options = PHONE if touch else {}
    live = studio(n=1, form="top-one")
    page, names = enter(live, context, **options)
    hit = page.tap if touch else page.click
    for place in (4, 2):  # the second pick replaces the first
        hit(f".tile:nth-child({place}) .pick")
    for _ in range(6):
        hit("[aria-label='Top label: 5% less']")
    hit(".next")
    page.wait_for_selector("text=All done")
    assert said(live) == [(names[1], "70")]
    live = studio(n=1, form="select-top-two")
    page, names = enter(live, context, **options)
    hit = page.tap if touch else page.click
    for place in (4, 2, 6):
        hit(f".tile:nth-child({place}) .pick")
    assert page.locator(".split").is_hidden() and page.locator(".bar").is_hidden()
    hit(".next")
    page.wait_for_selector("text=All done")
    assert said(live) == [(names[3], ""), (names[5], "")]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_task_pages_are_accessible(studio: Any, context: Any, barriers: Any, form: str) -> None:
    live = studio(n=1, form=form)
    page, _ = enter(live, context, bypass_csp=True)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert barriers(page) == []
    key(page, *KEYS[form][0][:-1])
    assert barriers(page) == []
    resize(page, 360, 640)
    assert barriers(page) == []
    key(page, "?")
    page.wait_for_selector("dialog[open]")
    assert barriers(page) == []


@dataclass(frozen=True)
class LabelAndNot(OneLabel):
    """One label, and labels that are ruled out."""

    asks: ClassVar[Question] = Question(labels=1, ticks="never")


def test_a_form_of_a_plugin_gets_a_task_page_from_its_declaration(
    studio: Any, context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = EntryPoint("label-and-not", f"{__name__}:LabelAndNot", "plurivox.elicit")
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == point.group else [])
    live = studio(n=1, form="label-and-not")
    page, names = enter(live, context)
    key(page, "?")
    page.wait_for_selector("text=Mark label 4: not chosen by anybody")
    key(page, "Escape", "3", "Shift+1", "Enter")
    page.wait_for_selector("text=All done")
    [one] = live.answers()
    assert (one["form"], one["marks"]) == ("label-and-not", [["named", names[2], ""], ["never", names[0], ""]])


def test_a_session_stored_by_an_earlier_version_is_refreshed(studio: Any, context: Any) -> None:
    live = studio(n=2, form="top-one")
    page, _ = enter(live, context)
    page.evaluate("""() => { const kept = JSON.parse(localStorage.getItem("plurivox.session"));
      delete kept.me.asks;
      localStorage.setItem("plurivox.session", JSON.stringify(kept)); }""")
    page.reload()
    answer(page, "3", "7", "0", "Enter")
    saved(page)
    assert [typed for _, typed in said(live)] == ["70"]
