"""The owner's preview in a real browser: the whole study as people see it, and nothing of it is kept."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interfaces.web.live_server import LIMITS, Running, run, studio_of
from interfaces.web.page_actions import answer, key, saved, shown, until
from interfaces.web.test_accessibility import PHONE
from interfaces.web.test_owner_pages import go, sign_in
from plurivox.web.server_settings import Settings
from plurivox.web.store.collect.tasks_batches_quotas import NewTask
from plurivox.web.study.audio_validation import validate_sound_and_return_media_file
from plurivox.web.study.create_study import make_study
from plurivox.web.study.question_forms import FORMS
from studies import plain_study, running_multi_study
from web.services.test_preview import hash_of_each_table
from web.study.test_audio_validation import tone

WORKER_ROUTES = re.compile(r"/api/(enter|me|tasks|answers|draft|done)\b")
STORED = "[localStorage.length, sessionStorage.length]"
REDIRECT = {"code": "C1X7", "redirect": "https://app.prolific.com/submissions/complete", "failed": "NO-LUCK"}
WHOLE: dict[str, Any] = {"n": 3, "whole": True, "repeats": 1, "completion": REDIRECT}


def open_preview(page: Any, live: Any) -> None:
    """Sign in and open the preview from the overview."""
    sign_in(page, live)
    page.click("main a:text-is('Preview')")
    page.wait_for_selector("text=nothing is saved or counted")


# Collects the actions of timers of a second or more.
LATE_TIMERS = """const later = globalThis.setTimeout;
globalThis.lateTimers = [];
globalThis.setTimeout = (act, ms, ...rest) => (ms >= 1000 && lateTimers.push(String(act)), later(act, ms, ...rest));"""


def skip_to(page: Any, stage: str) -> None:
    """Go to a stage by its button in the bar of the preview."""
    page.click(f".previewbar [data-stage={stage}]")
    page.wait_for_selector(f".previewbar [data-stage={stage}][aria-current]")


def begin_after_practice(page: Any) -> None:
    """Go on to the tasks that count, if a page between says so."""
    page.wait_for_selector("main.read, .way:has-text('1 of 4')")
    if page.query_selector("main.read"):
        page.evaluate("passBy(1000)")
        page.click("button.main")


def rows(page: Any) -> list[list[str]]:
    """Return the owner's answers as the last page lists them: task, what was entered, what it becomes."""
    page.wait_for_selector("text=Your answers in this preview")
    cells = page.eval_on_selector_all(
        ".answers tbody tr", "all => all.map((row) => [...row.cells].map((one) => one.innerText))"
    )
    return [[" ".join(cell.split()) for cell in row] for row in cells]


def test_the_whole_study_by_keyboard_leaves_no_trace(studio: Any, context: Any) -> None:
    live, page, asked = studio(form="top-two", **WHOLE), context().new_page(), []
    page.on("request", lambda one: asked.append(one.url))
    page.add_init_script(LATE_TIMERS)
    open_preview(page, live)
    before = hash_of_each_table(live)
    page.wait_for_selector("text=Before you begin")
    key(page, "Space", "Enter")
    page.wait_for_selector("text=How it works")
    key(page, "Enter")
    page.wait_for_selector("text=A short check")
    page.focus("input[name=q0] >> nth=0")
    key(page, "Space", "Tab", "Space", "Enter")  # the first choice is wrong
    page.wait_for_selector("text=Say how sure you are.")
    page.focus("input[name=q0] >> nth=0")
    key(page, "ArrowDown", "Enter")
    assert shown(page).startswith("Practice")
    top, second, third = page.eval_on_selector_all(".tile .name", "all => all.slice(0, 3).map((one) => one.innerText)")
    answer(page, "1", "Enter")
    begin_after_practice(page)
    assert shown(page) == "1 of 4"
    key(page, "1", "2", "6", "0", "3", "u")  # the last key takes back the digit before
    assert page.inner_text("[aria-live=polite]") == f"{top} 60% · {second} 40%"
    answer(page, "Enter")
    assert shown(page) == "2 of 4"
    key(page, "u")  # back to the first task
    page.wait_for_selector("text=You are changing an earlier answer")
    answer(page, "Escape", "3", "Enter")
    assert shown(page) == "2 of 4"
    for _ in range(3):
        answer(page, "s", "Enter")
    page.wait_for_selector("text=Anything you want to tell us")
    key(page, "Tab", "a", "Tab", "Enter")
    page.wait_for_selector("text=All done")
    practice, first, *others = rows(page)
    assert "practice: does not count" in practice[0] and practice[1:] == [
        f"{top} 100%",
        f"{top} 90% 9 other labels: 1.1% each",
    ]
    assert first[1] == f"{third} 100%"  # the changed answer
    assert [one[1:] for one in others] == [["can't tell", "No label: “Can't tell” gives no vote"]] * 3
    assert sum("repeat" in row[0] for row in (first, *others)) == 1
    assert not re.search("location|requestSubmit", str(page.evaluate("lateTimers")))  # the page stays
    assert page.inner_text(".code") == "C1X7" and page.url == f"{live.base}/owner-preview"
    assert "https://app.prolific.com/submissions/complete?cc=C1X7" in page.inner_text(".where")
    assert "NO-LUCK" in page.inner_text("text=Completion code: NO-LUCK")
    assert hash_of_each_table(live) == before and page.evaluate(STORED) == [0, 0]
    assert not [url for url in asked if WORKER_ROUTES.search(url)]
    page.click("text=Close")
    page.wait_for_selector(".figures")


def test_the_whole_study_on_a_phone_by_touch(studio: Any, context: Any) -> None:
    live, page = studio(form="also-possible", **WHOLE), context(**PHONE).new_page()
    sign_in(page, live)
    go(page, "invites")
    page.tap("text=See what people see")
    page.wait_for_selector("text=Before you begin")
    before = hash_of_each_table(live)
    page.tap(".choice")
    page.tap("button:has-text('Take part')")
    page.tap("button:has-text('Continue')")
    page.tap("text=Say how sure I am")
    page.tap("text=Yes")
    page.tap("text=Check my answers")
    for count in ("Practice", "1 of 4", "2 of 4", "3 of 4", "4 of 4"):
        assert count in shown(page)
        box = page.locator(".previewed").bounding_box()
        assert (box["y"], box["height"]) == (0, 844), count  # the whole screen, as a worker has it: the bar is above
        page.tap(".tile:nth-child(2) .pick")
        old = page.query_selector("main.task")
        page.tap(".next")
        old.wait_for_element_state("hidden")
        if count == "Practice":
            begin_after_practice(page)
    page.tap("button:has-text('Finish')")
    assert len(rows(page)) == 5
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert hash_of_each_table(live) == before and page.evaluate(STORED) == [0, 0]


def test_the_bar_leaves_a_laptop_space_for_every_question(studio: Any, context: Any) -> None:
    live, page = studio(form="top-two", **WHOLE), context().new_page()
    open_preview(page, live)
    skip_to(page, "practice")
    shown(page)
    key(page, "1", "2", "7", "0", ".")
    bar, task = (page.locator(one).bounding_box() for one in (".previewbar", ".previewed"))
    assert bar["height"] <= 48 and task["y"] == bar["height"] and task["height"] + bar["height"] == 720
    assert page.locator(".asks li:visible").count() == 5
    hidden = "(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('.look'))"
    assert page.evaluate(hidden) <= 1


def test_every_form_is_previewed_as_an_arm(studio: Any, context: Any) -> None:
    live, page = studio(n=4, forms=list(FORMS)), context().new_page()
    open_preview(page, live)
    before = hash_of_each_table(live)
    for form in FORMS:
        old = page.query_selector(".previewed")
        page.select_option(".previewbar select", form)
        if form != FORMS[0]:
            old.wait_for_element_state("hidden")
        shown(page)
        assert page.input_value(".previewbar select") == form
        assert page.query_selector(".note.bad, .failed") is None
        bars = form in ("chips", "histogram")
        answer(page, *(["1", "."] if bars else ["1"]), "Enter")
        assert shown(page) == "2 of 4"
        skip_to(page, "done")
        [row] = rows(page)
        assert row[2] and "No label" not in row[2], form
    assert hash_of_each_table(live) == before


def test_a_real_worker_in_the_same_browser_goes_on_afterwards(studio: Any, context: Any) -> None:
    live, tabs = studio(n=4, form="top-two"), context()
    worker, owner = tabs.new_page(), tabs.new_page()
    worker.goto(live.join)
    answer(worker, "1", "Enter")
    saved(worker)
    shown(worker)
    key(worker, "2")  # an unfinished answer
    session = "[localStorage['plurivox.session'], ...Object.keys(localStorage).sort()]"
    kept = worker.evaluate(session)
    open_preview(owner, live)
    answer(owner, "3", "Enter")
    answer(owner, "3", "Enter")
    saved(owner)
    assert owner.evaluate(session) == kept
    worker.reload()
    assert shown(worker) == "2 of 4" and worker.query_selector(".tile:nth-child(2)[data-is=top]")
    answer(worker, "Enter")
    saved(worker)
    assert len(live.answers()) == 2


def test_stages_can_be_skipped_and_the_preview_restarted(studio: Any, context: Any) -> None:
    live, page = studio(form="top-two", **WHOLE), context().new_page()
    open_preview(page, live)
    skip_to(page, "tasks")
    assert shown(page) == "1 of 4"
    answer(page, "1", "Enter")
    saved(page)
    skip_to(page, "practice")
    assert shown(page).startswith("Practice")
    skip_to(page, "tasks")
    assert shown(page) == "1 of 4"  # a stage begins anew
    held: list[Any] = []
    page.route("**/api/owner/preview/answer*", lambda route: held.append(route))
    second = page.inner_text(".tile:nth-child(2) .name")
    key(page, "2", "Enter")
    until(page, lambda: held)
    skip_to(page, "debrief")  # while the answer is being checked
    skip_to(page, "done")
    held[0].continue_()
    [row] = rows(page)  # the same task was answered twice
    assert row[1] == f"{second} 100%"
    assert page.query_selector(".previewbar [data-stage=done][aria-current]")
    page.unroute("**/api/owner/preview/answer*")
    page.click("text=Restart")
    page.wait_for_selector("text=Before you begin")
    skip_to(page, "done")
    assert page.is_visible("text=You have not answered a task in this preview.")


def test_the_preview_ends_like_the_study_after_too_many_failed_checks(studio: Any, context: Any) -> None:
    live, page = studio(form="top-two", **WHOLE, exclude={"quiz_tries": 2}), context().new_page()
    open_preview(page, live)
    skip_to(page, "quiz")
    for _ in range(2):
        page.check("text=Skip the task")
        page.check("input[name=q1][value='1']")
        page.click("text=Check my answers")
    page.wait_for_selector("text=The study ends here")
    assert page.inner_text(".code") == "NO-LUCK"


def test_a_paused_or_closed_study_can_be_previewed(studio: Any, context: Any) -> None:
    live, page = studio(n=4, form="one-label", title="Later"), context().new_page()
    live.turn("closed")
    open_preview(page, live)
    answer(page, "1", "Enter")
    assert shown(page) == "2 of 4"


def test_strangers_are_asked_to_sign_in_and_an_expired_session_says_so(studio: Any, context: Any) -> None:
    live, page = studio(form="top-two", **WHOLE), context().new_page()
    page.goto(f"{live.base}/owner-preview")
    page.wait_for_selector("text=Please sign in")
    open_preview(page, live)
    skip_to(page, "tasks")
    shown(page)
    page.context.clear_cookies()
    key(page, "1", "Enter")
    page.wait_for_selector("text=Please sign in")


def test_sounds_are_played_in_the_preview(tmp_path: Path, context: Any) -> None:
    tasks = [NewTask(f"s{at}", medium=validate_sound_and_return_media_file(tone(0.2), f"s{at}")) for at in range(2)]
    study = plain_study(form="one-label", batch=2)
    with run(tmp_path / "s", lambda settings: make_study(settings, study, tasks)) as live:
        page = context().new_page()
        open_preview(page, live)
        shown(page)
        key(page, "1", "Enter")
        page.get_by_text("Please listen to the end first").wait_for()
        for _ in range(2):
            shown(page)
            key(page, "Space")
            page.wait_for_selector(".sounds [aria-valuenow='100']")
            page.get_by_role("button", name="Play").wait_for()
            answer(page, "2", "1", "Enter")
        assert len(rows(page)) == 2


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Running]]:
    studies = []
    for name in ("pets", "ships"):
        folder = tmp_path_factory.mktemp("two") / name
        studies.append(Settings(folder=folder, database="", is_leader=False, **LIMITS))
        studio_of(n=3, name=name, title=f"About {name}")(studies[-1])
    with running_multi_study(studies) as (url, app):
        yield {name: Running(f"{url}/{name}", one.state.studio) for name, one in app.studies.items()}


def test_each_of_several_studies_has_its_preview(two: dict[str, Running], context: Any) -> None:
    page = context().new_page()
    open_preview(page, two["pets"])
    shown(page)
    assert page.url == f"{two['pets'].base}/owner-preview" and "About pets" in page.inner_text(".head")
    assert page.evaluate("document.querySelector('.scene img').naturalWidth") > 0
    answer(page, "1", "Enter")
    saved(page)
    page.goto(f"{two['ships'].base}/owner-preview")
    page.wait_for_selector("text=Please sign in")
