"""A worker's pages in a real browser."""

import re
import time
from typing import Any

import pytest
from sqlalchemy import update

from interfaces.web.page_actions import (
    INPUT_DELAY_MS,
    UNASKED,
    answer,
    begin_after_practice,
    enter_study,
    fits,
    key,
    saved,
    shown,
    until,
)
from interfaces.web.recorded_answers import crowd_answers
from plurivox.web.store.schema import sittings
from studies import admitting

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}


def named(said: dict[str, Any]) -> list[tuple[str, str]]:
    return [(label, typed) for kind, label, typed in said["marks"] if kind == "named"]


def test_all_stages_by_keyboard(studio: Any, context: Any) -> None:
    live = studio(n=4, form="top-two", whole=True)
    page = context().new_page()
    enter_study(page, live.join)
    assert "#" not in page.url  # the invite is removed from the URL
    order = page.eval_on_selector_all(".tile .name", "all => all.map((one) => one.textContent)")
    assert "Practice" in shown(page) and "Imagine 100 crowdsourced workers" in page.inner_text(".opening")
    fits(page)
    answer(page, "1", "Enter")
    begin_after_practice(page)
    for keys in (["3", "Enter"], ["3", "5", "7", "0", "Enter"], ["s", "Enter"]):
        answer(page, *keys)
        fits(page)
    answer(page, "2", "4", "ArrowRight", "Shift+7", "Enter")
    page.wait_for_selector("textarea")
    key(page, "Tab", *"fine", "Tab", "Enter")
    page.wait_for_selector("text=All done")
    assert page.inner_text(".code") == "C1X7-PLURAL"
    said = live.answers()
    assert [named(one) for one in said] == [
        [(order[2], "100")],
        [(order[2], "70"), (order[4], "30")],
        [],
        [(order[1], "55"), (order[3], "45")],
    ]
    assert said[2]["abstain"] and [label for kind, label, _ in said[3]["marks"] if kind == "never"] == [order[6]]


def test_all_stages_by_mouse(studio: Any, context: Any) -> None:
    live = studio(n=2, whole=True)
    page = context().new_page()
    page.goto(live.join)
    page.check("input[name=agree]")
    page.click("button:has-text('Take part')")
    page.click("button.main:has-text('Continue')")
    page.wait_for_selector("fieldset.question")
    page.click("text=Check my answers")
    page.wait_for_selector("text=Please answer every question")
    page.click("text=Guess and say 100%")
    page.click("text=Yes")
    page.click("text=Check my answers")
    page.wait_for_selector("text=Not quite")
    page.click("text=Say how sure I am")
    page.click("text=Check my answers")
    for at in range(3):
        if at == 1:
            begin_after_practice(page)
        shown(page)
        old = page.query_selector("main.task")
        page.click(".tile:nth-child(2) .pick")
        page.click(".tile:nth-child(4) .pick")
        assert page.inner_text(".bar").strip() == "type a percent"  # no default split
        page.click("[aria-label='Top label: 5% more']")
        page.click("[aria-label='Top label: 5% more']")
        page.click(".tile:nth-child(5) .tick")
        page.click(".next")
        old.wait_for_element_state("hidden")
    page.fill("textarea", "nothing")
    page.click("text=Finish")
    page.wait_for_selector("text=All done")
    assert (
        all([typed for _, typed in named(one)] == ["60", "40"] for one in live.answers()) and len(live.answers()) == 2
    )


def test_the_whole_task_on_a_phone(studio: Any, context: Any) -> None:
    live = studio(n=2, form="top-two")
    page = context(**PHONE).new_page()
    page.goto(live.join)
    for _ in range(2):
        shown(page)
        fits(page)
        old = page.query_selector("main.task")
        page.tap(".tile:nth-child(1) .pick")
        page.tap(".tile:nth-child(6) .pick")
        box = page.locator(".split input").bounding_box()
        # the thumb of the slider is 26 px wide
        page.touchscreen.tap(box["x"] + 13 + (box["width"] - 26) * 0.8, box["y"] + box["height"] / 2)
        fits(page)
        small = page.eval_on_selector_all(
            "button",
            """all => all.filter((one) => one.checkVisibility() && (one.offsetHeight < 44 || one.offsetWidth < 44))
              .map((one) => one.className)""",
        )
        assert small == []
        page.tap(".next")
        old.wait_for_element_state("hidden")
    page.wait_for_selector("text=All done")
    assert [[typed for _, typed in named(one)] for one in live.answers()] == [["80", "20"]] * 2
    assert {event["by"] for event in live.answers()[0]["events"]} >= {"touch"}


def test_the_histogram_starts_empty_and_is_dragged(studio: Any, context: Any) -> None:
    live = studio(n=1, form="histogram")
    page = context().new_page()
    page.goto(live.join)
    shown(page)
    fits(page)
    assert page.inner_text(".said") == "100% still to place"
    row = page.locator(".barrow:nth-child(3) input").bounding_box()
    middle = row["y"] + row["height"] / 2
    page.mouse.move(row["x"] + 4, middle)
    page.mouse.down()
    page.mouse.move(row["x"] + row["width"] * 0.6, middle, steps=4)
    page.mouse.up()
    key(page, "5", "5", ".")  # 5% twice, then the rest
    page.wait_for_selector("text=All 100% placed")
    key(page, "Enter")
    page.wait_for_selector("text=All done")
    assert [typed for _, typed in named(live.answers()[0])] == ["60", "40"] and live.answers()[0]["mode"] == "histogram"


def test_h_opens_the_histogram_in_other_forms_too(studio: Any, context: Any) -> None:
    live = studio(n=3)
    page = context().new_page()
    page.goto(live.join)
    answer(page, "3", "h", "3", "3", "5", "6", ".", "Enter")
    saved(page)
    [said] = live.answers()
    assert said["form"] == "histogram" and [typed for _, typed in named(said)] == ["85", "10", "5"]
    shown(page)
    key(page, "u")  # go back to the histogram answer
    page.wait_for_selector("text=All 100% placed")


def test_undo_goes_back_and_changes_an_answer(studio: Any, context: Any) -> None:
    live = studio(n=3)
    page = context().new_page()
    page.goto(live.join)
    answer(page, "1", "Enter")
    shown(page)
    key(page, "2", "u", "u")  # undo the pick, then go to the previous task
    page.wait_for_selector(".tile[data-is=top]")
    order = page.eval_on_selector_all(".tile .name", "all => all.map((one) => one.textContent)")
    assert page.inner_text(".tile[data-is=top] .name") == order[0]
    answer(page, "Escape", "4", "Enter")
    answer(page, "5", "Enter")
    page.reload()  # after a reload the server provides earlier answers
    shown(page)
    key(page, "u")
    page.wait_for_selector(".tile[data-is=top]")
    answer(page, "Escape", "6", "Enter")
    answer(page, "7", "Enter")
    page.wait_for_selector("text=All done")
    assert [named(one)[0][0] for one in live.answers()] == [order[3], order[5], order[6]]


def test_after_a_reload_undo_goes_to_an_answer_that_was_not_sent_before(studio: Any, context: Any) -> None:
    live = studio(n=3)
    browser = context()
    page = browser.new_page()
    page.goto(live.join)
    answer(page, "1", "Enter")
    saved(page)
    browser.route("**/api/answers", lambda route: route.abort())
    answer(page, "2", "Enter")
    page.reload()
    shown(page)
    key(page, "u")
    page.wait_for_selector("text=The previous task could not be loaded")
    browser.unroute("**/api/answers")
    saved(page)
    key(page, "u")
    page.wait_for_selector(".tile[data-is=top]")
    names = page.eval_on_selector_all(".tile .name", "all => all.map((one) => one.textContent)")
    assert page.inner_text(".tile[data-is=top] .name") == names[1] and shown(page) == "2 of 3"


def test_a_reload_and_another_device_continue(studio: Any, context: Any) -> None:
    live = studio(n=3)
    page = context().new_page()
    page.goto(live.join)
    answer(page, "1", "Enter")
    shown(page)
    key(page, "3", "5", "7", "0")
    page.reload()
    page.wait_for_selector("text=2nd 30%")  # the unfinished answer is restored
    answer(page, "Enter")
    saved(page)
    key(page, "?")
    link = page.input_value("[aria-label='Your personal link']")
    there = context(**PHONE).new_page()
    there.goto(link)
    assert "3 of 3" in shown(there)
    answer(there, "2", "Enter")
    there.wait_for_selector("text=All done")
    assert [len(named(one)) for one in live.answers()] == [1, 2, 1]
    assert "resume" in [event["kind"] for event in live.answers()[1]["events"]]


def test_a_double_click_sends_one_answer(studio: Any, context: Any) -> None:
    live = studio(n=3)
    page = context().new_page()
    page.goto(live.join)
    shown(page)
    key(page, "1")
    page.dblclick(".next")
    assert "2 of 3" in shown(page)
    saved(page)
    assert len(live.answers()) == 1


def test_offline_answers_wait_and_are_sent_even_after_the_page_was_closed(studio: Any, context: Any) -> None:
    live = studio(n=6)
    one = context()
    page = one.new_page()
    page.goto(live.join)
    answer(page, "1", "Enter")
    shown(page)
    saved(page)
    one.set_offline(True)
    answer(page, "2", "Enter")
    answer(page, "3", "Enter")
    page.wait_for_selector("text=2 not sent yet")
    assert len(live.answers()) == 1
    page.close()
    one.set_offline(False)
    page = one.new_page()
    page.goto(live.base + "/work")
    saved(page)
    assert len(live.answers()) == 3 and "4 of 6" in shown(page)
    one.set_offline(True)
    for _ in range(3):  # all preloaded tasks; then the page waits
        answer(page, "1", "Enter")
    page.wait_for_selector("text=You are offline")
    one.set_offline(False)
    page.wait_for_selector("text=All done")  # shown only after every answer is acknowledged
    assert len(live.answers()) == 6 and len({said["slot_id"] for said in live.answers()}) == 6


def test_answers_stay_in_the_browser_while_the_server_is_unavailable(studio: Any, context: Any) -> None:
    live = studio(n=3)
    page = context().new_page()
    page.goto(live.join)
    shown(page)
    lost = {"status": 503, "json": {"error": "unavailable", "detail": "The database is away.", "retry": True}}
    page.route("**/api/**", lambda route: route.fulfill(**lost))
    answer(page, "1", "Enter")
    page.wait_for_selector("text=1 not sent yet")
    page.unroute("**/api/**")
    saved(page)
    assert len(live.answers()) == 1
    page.route("**/api/**", lambda route: route.fulfill(**lost))
    page.reload()
    page.wait_for_selector("text=The study cannot be opened at the moment.")
    assert "Your answers are kept in this browser" in page.inner_text("main")


def test_usable_after_three_requests_and_sixty_kilobytes(studio: Any, context: Any) -> None:
    live = studio(n=3)
    before = context()
    page = before.new_page()
    page.goto(live.join)
    shown(page)
    page = context(storage_state=before.storage_state()).new_page()  # the same worker with an empty cache
    asked: list[Any] = []
    page.on("response", lambda reply: asked.append(reply))
    page.goto(live.base + "/work")
    page.wait_for_selector("main.task")
    needed = [one for one in asked if not re.search(r"/media/|icon", one.url)]
    sizes = [one.request.sizes() for one in needed]
    weight = sum(one["responseBodySize"] + one["responseHeadersSize"] for one in sizes)
    assert len(needed) == 3 and 10_000 < weight <= 60_000, (len(needed), weight)


def test_recorded_answers_can_be_entered_by_keys(studio: Any, context: Any) -> None:
    _, labels, said = crowd_answers()
    some = [one for one in said if not one.looks_odd()][:: max(1, len(said) // 10)][:8]
    live = studio(n=len(some), labels=labels)
    page = context().new_page()
    page.goto(live.join)
    shown(page)
    order = page.eval_on_selector_all(".tile .name", "all => all.map((one) => one.textContent)")
    counts = [answer(page, *one.keys(order)) for one in some]
    page.wait_for_selector("text=All done")
    assert [named(one) for one in live.answers()] == [one.shares() for one in some]
    assert all(n == 2 for n, one in zip(counts, some, strict=True) if one.percent == 100 and not one.possible)


@pytest.mark.parametrize("kind", ["text", "pair"])
def test_text_tasks_with_many_labels_are_answered_by_typing(studio: Any, context: Any, kind: str) -> None:
    labels = [f"topic {at}" for at in range(30)] + ["sport"]
    live = studio(n=1, kind=kind, labels=labels, form="one-label")
    page = context().new_page()
    page.goto(live.join)
    shown(page)
    fits(page)
    assert len(page.query_selector_all(".scene section")) == {"text": 1, "pair": 2}[kind]
    key(page, *"spo", "1", "Enter")
    page.wait_for_selector("text=All done")
    assert named(live.answers()[0]) == [("sport", "")]


def test_times_are_recorded(studio: Any, context: Any) -> None:
    live = studio(n=3)
    page = context().new_page()
    began = time.monotonic()
    page.goto(live.join)
    answer(page, "3", "5", "7", "0", "Enter")  # 330 ms after the task was shown
    saved(page)
    took = 1000 * (time.monotonic() - began) + INPUT_DELAY_MS
    [said] = live.answers()
    assert INPUT_DELAY_MS <= said["first_input_ms"] <= said["submitted_ms"] < took and said["hidden_ms"] == 0
    assert [event["seq"] for event in said["events"]] == list(range(5))
    assert {event["by"] for event in said["events"]} == {"key"} and said["mode"] == "keyboard"
    assert sorted(event["ms"] for event in said["events"]) == [event["ms"] for event in said["events"]]


def test_hostile_labels_and_titles_are_shown_as_text(studio: Any, context: Any) -> None:
    labels = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "=1+1", "a" * 150]
    live = studio(n=1, labels=labels, title="<b>x</b>")
    page = context().new_page()
    page.on("dialog", lambda _: pytest.fail("a script ran"))
    page.goto(live.join)
    shown(page)
    fits(page)
    assert set(page.eval_on_selector_all(".tile .name", "all => all.map((one) => one.textContent)")) == set(labels)
    assert page.inner_text(".title") == "<b>x</b>"


@pytest.mark.slow
def test_worker_pages_are_accessible(studio: Any, context: Any, barriers: Any) -> None:
    live = studio(n=4, form="top-two", whole=True)
    page = context(bypass_csp=True).new_page()
    page.goto(live.join)
    page.wait_for_selector("text=Before you begin")
    assert barriers(page) == []
    key(page, "Space", "Enter")
    page.wait_for_selector("text=How it works")
    assert barriers(page) == []
    key(page, "Enter")
    page.wait_for_selector("text=A short check")
    assert barriers(page) == []
    key(page, "Tab", "Space", "ArrowDown", "Tab", "Space", "Enter")
    shown(page)
    key(page, "3", "5", "7", "0", "Shift+8")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert barriers(page) == []
    key(page, "h", "1", "2")
    assert barriers(page) == []


def test_platform_workers_resume_by_link_and_are_redirected_at_the_end(studio: Any, context: Any) -> None:
    live = studio(n=1, completion={"code": "C1", "redirect": "https://platform.test/done?cc=C1"}, **admitting("s1"))
    page = context().new_page()
    asked: list[Any] = []
    page.route("https://platform.test/**", lambda route: asked.append(route))
    way = f"{live.base}/join?PROLIFIC_PID=p1&STUDY_ID=s1&SESSION_ID=x1"
    page.goto(way)
    shown(page)
    key(page, "1")
    page.goto(way)  # the same link resumes the unfinished answer
    page.wait_for_selector(".tile[data-is=top]")
    answer(page, "Enter")
    page.wait_for_selector("text=All done")  # shown until the platform responds
    until(page, lambda: asked)
    asked[0].fulfill(body="<h1>Welcome home</h1>", content_type="text/html")
    page.wait_for_selector("text=Welcome home")
    assert page.url == "https://platform.test/done?cc=C1" and len(live.answers()) == 1


def test_a_paused_study_shows_a_page_and_keeps_answers(studio: Any, context: Any) -> None:
    live = studio(n=3)
    page = context().new_page()
    page.goto(live.join)
    shown(page)
    live.turn("paused")
    answer(page, "1", "Enter")
    saved(page)  # a task on screen can still be answered
    page.reload()
    page.wait_for_selector("text=Not open at the moment")
    live.turn("open")
    page.click("text=Try again")
    assert "2 of 3" in shown(page)
    assert len(live.answers()) == 1


def test_a_visit_without_a_link_shows_a_page(studio: Any, context: Any) -> None:
    live = studio(n=3)
    page = context().new_page()
    page.goto(f"{live.base}/work")
    page.wait_for_selector("text=Please open your invitation link")
    page.goto(f"{live.base}/join#invite=wrong.link")
    page.wait_for_selector("text=This link does not open the study")


def test_entering_again_after_a_lost_response_uses_the_invite_once(studio: Any, context: Any) -> None:
    live = studio(n=3)
    page = context().new_page()
    address = live.invite(uses=1)

    def lose(route: Any) -> None:
        route.fetch()  # the server admits the worker, but the response is lost
        route.abort()

    page.route("**/api/enter", lose)
    page.goto(address)
    page.wait_for_selector("text=Please wait a moment")
    page.unroute("**/api/enter")
    page.click("text=Try again")
    assert "1 of 3" in shown(page)


def test_a_worker_waits_until_a_lease_expires(studio: Any, context: Any) -> None:
    live = studio(n=2, per_task=1, batch=1, sittings=2)
    first, other, late = (context().new_page() for _ in range(3))
    for page in (first, late):
        page.add_init_script(UNASKED)  # disable polling, so that the test decides who asks first
    for page in (first, other):
        page.goto(live.join)
        shown(page)
    late.goto(live.join)
    late.wait_for_selector("text=Please wait a moment")
    assert re.search(r"may become available by \d", late.inner_text("[role=status]"))
    assert late.locator("button:has-text('Finish now')").count() == 0  # no answers yet, so nothing to finish
    fits(late)
    answer(first, "1", "Enter")
    first.wait_for_selector("button:has-text('Finish now')")
    live.studio.writer.submit(
        lambda c: c.execute(update(sittings).where(sittings.c.until > 0).values(until=1.0))
    ).result()
    late.click("button:has-text('Check now')")
    shown(late)  # the task whose lease expired
    first.click("button:has-text('Finish now')")
    first.wait_for_selector("text=All done")
    assert first.inner_text(".code") == "C1X7-PLURAL"
    answer(late, "1", "Enter")
    late.wait_for_selector("text=All done")
    full = context().new_page()
    full.goto(live.join)
    full.wait_for_selector("text=No task is left")
    assert full.locator(".code").count() == 0 and "no completion code" in full.inner_text("main")


def test_the_waiting_page_polls(studio: Any, context: Any) -> None:
    live = studio(n=1, per_task=1, batch=1)
    first = context().new_page()
    first.goto(live.join)
    shown(first)
    late = context().new_page()
    late.clock.install()
    late.goto(live.join)
    late.wait_for_selector("text=Please wait a moment")
    live.studio.writer.submit(
        lambda c: c.execute(update(sittings).where(sittings.c.until > 0).values(until=1.0))
    ).result()
    late.clock.run_for(40_000)
    late.wait_for_selector("main.task")
