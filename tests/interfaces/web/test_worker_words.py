"""What workers read: whole questions, nothing pre-filled, true words about tries and practice, plain refusals."""

import io
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from sqlalchemy import func, select

from interfaces.web.live_server import ANIMALS, run
from interfaces.web.page_actions import answer, enter_study, key, resize, saved, shown, until_true
from plurivox.web.services.worker_completion import completion_of_outcome
from plurivox.web.store.collect.tasks_batches_quotas import NewTask
from plurivox.web.store.schema import slots
from plurivox.web.study.audio_validation import validate_sound_and_return_media_file
from plurivox.web.study.create_study import make_study
from plurivox.web.study.image_preparation import validate_image_and_make_displayed_version
from plurivox.web.study.question_forms import FORMS
from studies import plain_study
from web.study.test_audio_validation import tone

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SIZES = {"desktop": [(1280, 720), (1280, 800), (1366, 768)], "phone": [(390, 844), (360, 640)]}
CUT = """() => [...document.querySelectorAll(
    "#stage, .look, .opening, .asks, .asks li, .tile, .tile > button, .barrow, .rank, .name, .said > :not(.unseen)")]
  .filter((one) => one.clientHeight && one.checkVisibility() && !one.closest(".bar"))
  .filter((one) => one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1)
  .map((one) => `${one.id || one.className || one.tagName} ${one.scrollWidth}x${one.scrollHeight}`)"""
OUTSIDE = """(selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility())
  .filter((one) => { const { top, bottom, left, right } = one.getBoundingClientRect();
    return top < 0 || left < 0 || right > innerWidth + 1 || bottom > innerHeight + 1; })
  .map((one) => one.className || one.textContent)"""
STEPS: dict[str, list[list[str]]] = {  # keys after which other questions are asked
    "top-one": [["1"], ["7", "0"]],
    "top-two": [["1"], ["2"], ["7", "0"], ["."]],
    "also-possible": [["1"], ["2"], ["7", "0"], ["."]],
    "ranking": [["1", "2", "3"]],
}


def open_task(live: Any, context: Any, device: str = "desktop") -> Any:
    page = context(**(PHONE if device == "phone" else {})).new_page()
    page.goto(live.join)
    shown(page)
    return page


@pytest.mark.parametrize("device", SIZES)
@pytest.mark.parametrize(
    ("form", "wording", "kind"),
    [*((form, "third", "image") for form in FORMS), ("top-two", "first", "image"), ("top-two", "third", "pair")],
)
def test_questions_are_shown_whole(studio: Any, context: Any, form: str, wording: str, kind: str, device: str) -> None:
    page = open_task(studio(n=3, form=form, wording=wording, kind=kind), context, device)
    for keys in [[], *STEPS.get(form, [["1"]])]:
        key(page, *keys)
        for size in SIZES[device]:
            resize(page, *size)
            assert page.evaluate(CUT) == [], (size, keys)
            assert page.evaluate(OUTSIDE, ".opening, .asks li, .scene, .said, .deeds button") == [], (size, keys)
            assert page.locator(".asks li[aria-current]").count() == 1


def picture(width: int, height: int) -> bytes:
    out = io.BytesIO()
    Image.radial_gradient("L").resize((width, height)).save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize("size", [(400, 300), (640, 480), (300, 900)])
def test_a_large_picture_leaves_space_for_every_question(tmp_path: Path, context: Any, size: tuple[int, int]) -> None:
    medium = validate_image_and_make_displayed_version(picture(*size), "p", 160)
    tasks = [NewTask(f"t{at}", medium=medium, practice=at == 0) for at in range(3)]
    study = plain_study(form="top-two", batch=2, practice=1, labels=ANIMALS)
    with run(tmp_path / "s", lambda settings: make_study(settings, study, tasks)) as live:
        page = open_task(live, context)
        assert page.is_visible(".tag:has-text('Practice')")
        for keys in [[], *STEPS["top-two"]]:
            key(page, *keys)
            for window in [(1280, 720), (1366, 768), (1280, 800), (1920, 1080)]:
                resize(page, *window)
                assert page.evaluate(CUT) == [], (window, keys)
                assert page.evaluate(OUTSIDE, ".opening, .asks li, .scene img") == [], (window, keys)
                assert page.locator(".asks li:visible").count() == 5
                assert page.locator(".scene img").bounding_box()["height"] >= 120


def test_the_current_one_of_long_questions_is_scrolled_into_view(studio: Any, context: Any) -> None:
    phrases = dict.fromkeys(("opening", "top", "top_percent", "second", "second_percent", "never"), LONG)
    page = open_task(studio(n=2, form="top-two", phrase=phrases), context)
    hidden = """() => { const [box, now] = [".look", ".asks [aria-current]"].map((name) =>
      document.querySelector(name).getBoundingClientRect());
      return Math.max(0, box.top - now.top, now.bottom - box.bottom) * (now.height < box.height); }"""
    for keys in STEPS["top-two"]:
        key(page, *keys)
        assert page.evaluate(hidden) < 1, keys
    assert page.evaluate("document.querySelector('.look').scrollTop") > 0
    assert page.evaluate("document.querySelector('#stage').scrollTop") == 0


@pytest.mark.parametrize(
    ("form", "kind", "n"), [("top-one", "image", 3), ("top-two", "image", 5), ("top-two", "pair", 5)]
)
def test_every_question_is_reached_in_order_by_touch(studio: Any, context: Any, form: str, kind: str, n: int) -> None:
    page = open_task(studio(n=2, form=form, wording="third", kind=kind), context, "phone")
    resize(page, 360, 640)
    current = page.locator(".asks li[aria-current]")

    def number() -> str:
        assert current.count() == 1 and page.locator(".asks li:visible").count() == 1
        return str(current.get_attribute("data-of"))

    assert number() == f"1/{n}"
    page.tap(".tile:nth-child(1) .pick")
    assert number() == f"2/{n}"
    page.tap(".split button:first-child")  # 5% less
    assert number() == f"3/{n}"
    if form == "top-two":
        page.tap(".tile:nth-child(2) .pick")
        assert number() == "4/5" and "95%" in page.inner_text(".tiles")
        current.tap()
        assert number() == "5/5"
        current.tap()
        assert number() == "1/5"
    page.tap(".tile:nth-child(3) .tick")
    assert number() == f"{n}/{n}"


@pytest.mark.parametrize("form", ["top-two", "also-possible"])
def test_the_hint_how_to_go_on_is_above_the_buttons_of_a_small_phone(studio: Any, context: Any, form: str) -> None:
    no_pages = {"quiz": [], "texts": {"consent": "", "instructions": ""}}
    page = open_task(studio(n=2, form=form, wording="third", whole=True, **no_pages), context, "phone")
    resize(page, 360, 640)
    hint_and_buttons = """() => [".hint", ".deeds"].map((name) => document.querySelector(name).getBoundingClientRect())
      .map(({ top, bottom }) => [top, bottom])"""

    def hint(words: str) -> None:
        page.wait_for_selector(f".hint:has-text('{words}')")
        (top, bottom), (buttons, _) = page.evaluate(hint_and_buttons)
        assert 0 <= top < bottom <= buttons

    for place in (1, 2):
        page.tap(f".tile:nth-child({place}) .pick")
    page.tap(".next", force=True)
    hint("Use the slider")
    for _ in range(12):
        page.tap(".split button:first-child")  # 5% less
    hint("which you picked first")
    page.tap(".next")
    hint("Tap Next again to send it anyway")


@pytest.mark.parametrize(
    ("form", "whole"), [("chips", ".scene, .tiles"), ("ranking", ".tiles"), ("histogram", ".scene, .tiles")]
)
def test_few_labels_leave_the_rest_of_a_small_screen_to_the_task(
    studio: Any, context: Any, form: str, whole: str
) -> None:
    labels = ["entailment", "neutral", "contradiction"]
    page = open_task(studio(n=2, form=form, wording="third", kind="pair", labels=labels), context, "phone")
    lines = """all => all.filter((one) => one.checkVisibility()).map((one) => { const range = document.createRange();
      range.selectNodeContents(one); return range.getClientRects().length; })"""
    for size in SIZES["phone"]:
        resize(page, *size)
        cut = "all => all.filter((one) => one.scrollHeight > one.clientHeight + 4).map((one) => one.className)"
        assert page.eval_on_selector_all(whole, cut) == [], size
        assert page.eval_on_selector_all(".barrow .name, .tile .name", lines) == [1] * 3  # not broken within a word


def test_a_picture_that_did_not_load_can_be_loaded_again_on_a_small_phone(studio: Any, context: Any) -> None:
    page = context(**PHONE).new_page()
    page.set_viewport_size({"width": 360, "height": 640})
    page.route("**/media/**", lambda route: route.abort())
    page.goto(studio(n=2, form="top-two", wording="third").join)
    page.wait_for_selector(".lost")
    page.unroute("**/media/**")
    page.tap(".lost button", timeout=10_000)  # fails if a label lies over it
    page.wait_for_selector(".scene img")


def test_what_is_left_to_place_is_said_once(studio: Any, context: Any) -> None:
    page = open_task(studio(n=2, form="chips"), context)
    key(page, "Enter")
    assert page.inner_text(".said").count("still to place") == 1


def test_a_paused_study_says_so_before_consent(studio: Any, context: Any) -> None:
    live = studio(n=2, whole=True)
    page = context().new_page()
    page.goto(live.join)
    page.wait_for_selector("text=Before you begin")
    live.turn("paused")
    page.reload()
    page.wait_for_selector("text=Not open at the moment")
    said = page.inner_text("main")
    live.turn("open")
    assert "does not accept answers at the moment" in said and "voluntary" not in said


def test_a_closed_study_is_over_and_a_paused_one_may_go_on(studio: Any, context: Any) -> None:
    live, page = studio(n=2, whole=True, title="Closed"), context().new_page()
    page.goto(live.join)
    page.wait_for_selector("text=Before you begin")
    pages = {"paused": ("Not open at the moment", 1), "closed": ("This study is closed", 0)}
    for state, (title, n) in pages.items():
        live.turn(state)
        page.reload()
        page.get_by_role("heading", name=title).wait_for()
        assert page.get_by_role("button", name="Try again").count() == n
        assert "All answers you have given are saved" in page.inner_text("main")
        stranger = context().new_page()
        stranger.goto(live.join)
        stranger.wait_for_selector("main.read")
        stranger.get_by_role("heading", name=title).wait_for()
        assert stranger.get_by_role("button", name="Try again").count() == n
        assert "answers you have given" not in stranger.inner_text("main")
    live.turn("open")


def test_someone_turned_away_has_taken_no_steps(studio: Any, context: Any) -> None:
    texts = {"consent": "", "instructions": "", "debrief": "Bye"}
    live = studio(n=1, per_task=1, batch=1, form="one-label", texts=texts)
    answer(open_task(live, context), "1", "Enter")
    page = context().new_page()
    page.goto(live.join)
    page.get_by_role("heading", name="No task is left").wait_for()
    assert page.locator(".steps").count() == 0


def test_of_two_labels_one_is_sure_if_the_other_is_ruled_out(studio: Any, context: Any) -> None:
    live = studio(n=1, form="top-two", labels=["yes", "no"], wording="third")
    page = open_task(live, context)
    shown(page)
    assert page.locator(".asks li").count() == 5
    key(page, "1", "2")
    assert page.locator(".asks li").count() == 4  # both are picked: none can be ruled out
    key(page, "u", "Shift+2")
    assert page.locator(".asks li").count() == 5
    answer(page, "Enter")
    page.wait_for_selector("text=All done")
    (said,) = live.answers()
    assert [kind for kind, _, _ in said["marks"]] == ["named", "never"]


def test_two_labels_leave_nothing_to_tick_as_possible(studio: Any, context: Any) -> None:
    live = studio(
        n=2, form="also-possible", labels=["yes", "no"], texts={"consent": "", "debrief": ""}, wording="third"
    )
    page = context().new_page()
    page.goto(live.join)
    page.wait_for_selector("text=How it works")
    words = "definitely not|some would choose as well|Rule out|[Mm]ark|also chosen"
    page.click("summary")
    assert not re.search(words, page.inner_text("main"))
    key(page, "Enter")
    for keys in [[], ["1"], ["2"], ["7", "0"]]:
        shown(page)
        key(page, *keys)
        assert page.locator(".asks li").count() == 4 and page.locator(".tick:visible").count() == 0
        assert not re.search(words, page.inner_text("main"))
    key(page, "?")
    page.wait_for_selector("dialog[open]")
    assert not re.search(words, page.inner_text("dialog"))


def test_where_one_label_is_asked_none_is_the_first(studio: Any, context: Any) -> None:
    for wording in ("first", "third"):
        page = open_task(studio(n=2, form="top-one", wording=wording), context)
        key(page, "?")
        page.wait_for_selector("dialog[open]")
        label = page.get_attribute(".split input", "aria-label")
        assert "picked label" in label and "picked first" not in label + page.text_content(".helpbox")


def test_help_names_only_the_ways_of_this_device(studio: Any, context: Any) -> None:
    live = studio(n=2, form="top-two", whole=True)
    for device, touch in (("phone", "By touch"), ("desktop", "By touch or mouse")):
        page = context(**(PHONE if device == "phone" else {})).new_page()
        page.goto(live.join)
        page.check("input[name=agree]")
        page.click("button:has-text('Take part')")
        page.wait_for_selector("text=How it works")
        ways = page.locator(".ways > h2, .ways > details:not(.with-keys) > summary").all_text_contents()
        assert touch in ways
        one_at_a_time = "where the screen shows one at a time" in page.text_content(".ways")
        assert one_at_a_time == (device == "phone")


def test_listen_first_goes_away_when_the_sound_has_ended(tmp_path: Path, context: Any) -> None:
    tasks = [NewTask("s", medium=validate_sound_and_return_media_file(tone(0.2), "s"))]
    study = plain_study(form="one-label", batch=1)
    with run(tmp_path / "s", lambda settings: make_study(settings, study, tasks)) as live:
        page = open_task(live, context)
        key(page, "1", "Enter")
        assert page.inner_text(".hint") == "Please listen to the end first"
        key(page, "Space")
        page.wait_for_selector(".sounds [aria-valuenow='100']")
        until_true(page, "document.querySelector('.hint').textContent === ''")


LONG = "Look at the whole picture first, with its background. Then decide which label describes the main object. " * 3


@pytest.mark.parametrize("device", SIZES)
def test_very_long_questions_and_labels_scroll_and_next_stays_in_reach(studio: Any, context: Any, device: str) -> None:
    labels = [f"label {at} of a code book, whose name goes on and on for quite a while" for at in range(25)]
    page = open_task(studio(n=3, form="top-one", labels=labels, phrase={"top": LONG, "opening": LONG}), context, device)
    for size in SIZES[device]:
        resize(page, *size)
        cut = [one for one in page.evaluate(CUT) if not one.startswith(("stage", "look"))]  # these scroll
        assert cut == [], size
        assert page.evaluate(OUTSIDE, ".next") == [], size
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        assert page.evaluate(
            "[...document.querySelectorAll('.opening, [aria-current]')].every((one) => one.clientHeight >= 40)"
        )


def test_nothing_is_set_before_the_person_sets_it(studio: Any, context: Any) -> None:
    live = studio(n=2, form="top-one", wording="third")
    page = open_task(live, context)
    slider = page.locator(".split input")
    for keys in ([], ["3"]):  # a picked label has no percent yet
        key(page, *keys)
        assert slider.get_attribute("aria-valuetext") == "not set" and slider.get_attribute("data-unset") == ""
        assert "%" not in page.inner_text(".bar") + page.inner_text(".tiles")
    assert page.inner_text(".next").startswith("All 100, next") and "all 100 choose it" in page.inner_text(".said")
    answer(page, "Enter")
    saved(page)
    assert [typed for _, _, typed in live.answers()[0]["marks"]] == ["100"]
    shown(page)
    key(page, "3", "7", "0")
    assert slider.get_attribute("aria-valuetext") == "70 percent" and "70%" in page.inner_text(".bar")
    assert page.inner_text(".next").startswith("Next")


@pytest.mark.parametrize(("form", "all_placed"), [("histogram", "0%"), ("chips", "0")])
def test_bars_show_no_number_before_everything_is_placed(studio: Any, context: Any, form: str, all_placed: str) -> None:
    page = open_task(studio(n=2, form=form), context)
    texts = "all => all.map((one) => one.textContent)"
    assert set(page.eval_on_selector_all(".barrow output", texts)) == {"–"}
    says = "all => all.map((one) => one.getAttribute('aria-valuetext'))"
    assert set(page.eval_on_selector_all(".barrow input", says)) == {"not set"}
    key(page, "3")
    assert page.eval_on_selector_all(".barrow output", texts).count("–") == 9
    key(page, ".")
    assert page.eval_on_selector_all(".barrow output", texts).count(all_placed) == 9


def test_the_check_says_how_many_tries_are_left(studio: Any, context: Any) -> None:
    live = studio(n=2, whole=True, exclude={"quiz_tries": 3})
    page = context().new_page()
    page.goto(live.join)
    page.wait_for_selector("text=Before you begin")
    key(page, "Space", "Enter")
    page.wait_for_selector("text=How it works")
    key(page, "Enter")
    page.wait_for_selector(
        "text=You have 3 tries. In the last one, if an answer is wrong, the study ends here for you."
    )
    assert page.locator("input:checked").count() == 0
    page.check("text=Guess and say 100%")
    page.check("text=Yes")
    page.click("text=Check my answers")
    page.wait_for_selector("text=Please try again. You have 2 tries left.")
    page.reload()
    page.wait_for_selector("text=You have 2 tries.")
    page.check("text=Guess and say 100%")
    page.check("text=Yes")
    page.click("text=Check my answers")
    page.wait_for_selector("text=This is your last try: if an answer is wrong, the study ends here for you.")
    assert "You have one try left:" in page.inner_text("main")
    page.click("text=Check my answers")
    page.get_by_role("heading", name="The study ends here for you").wait_for()
    said = page.inner_text("main")
    assert said.count("ends here") == 1 and "Thank you for your time." in said
    assert page.locator(".steps").count() == 0  # no step is ticked that was not taken


def test_without_a_limit_the_check_can_be_tried_again(studio: Any, context: Any) -> None:
    page = context().new_page()
    page.goto(studio(n=2, whole=True).join)
    page.wait_for_selector("text=Before you begin")
    key(page, "Space", "Enter")
    page.wait_for_selector("text=You begin with practice tasks, whose answers do not count.")
    key(page, "Enter")
    page.wait_for_selector("text=If an answer is wrong, you can try again.")
    page.click("text=Read the instructions again")
    page.wait_for_selector("text=You will see one picture after another.")


def test_practice_ends_with_a_page_and_leases_nothing_before(studio: Any, context: Any) -> None:
    live = studio(n=2, whole=True, practice=2)
    page = context().new_page()
    enter_study(page, live.join)
    assert "Practice 1 of 2" in shown(page)
    answer(page, "1", "Enter")
    assert "Practice 2 of 2" in shown(page)
    answer(page, "1", "Enter")

    def n_leased() -> int:
        count = select(func.count()).select_from(slots).where(slots.c.kind != "practice")
        return int(live.studio.read_sync(lambda c: c.execute(count).scalar_one()))

    over = "text=From now on your answers count."
    page.wait_for_selector(over)
    key(page, "Enter")  # meant for the task before: ignored
    assert n_leased() == 0
    page.reload()  # the page is shown again
    page.wait_for_selector(over)
    assert n_leased() == 0
    page.evaluate("passBy(900)")
    key(page, "Enter")
    assert "1 of 2" in shown(page) and "Practice" not in page.inner_text("main") and n_leased() == 2
    page.reload()
    assert "1 of 2" in shown(page)


def test_phones_show_no_keys_until_one_is_pressed(studio: Any, context: Any) -> None:
    live = studio(n=2, form="top-two", whole=True)
    page = context(**PHONE).new_page()
    keys = "[...document.querySelectorAll('kbd, .with-keys')].filter((one) => one.checkVisibility()).length"
    page.goto(live.join)
    page.check("input[name=agree]")
    assert page.evaluate(keys) == 0
    page.tap("button:has-text('Take part')")
    page.wait_for_selector("text=How it works")
    assert page.evaluate(keys) == 0 and not re.search("keys|Enter|Shift", page.inner_text("main"))
    page.tap("button:has-text('Continue')")
    page.wait_for_selector("text=A short check")
    page.check("text=Say how sure I am")
    page.check("text=Yes")
    page.tap("button:has-text('Check my answers')")
    shown(page)
    page.tap(".tile:nth-child(1) .pick")
    page.tap(".tile:nth-child(2) .pick")
    page.tap(".next", force=True)
    assert page.evaluate(keys) == 0
    assert re.fullmatch(r"What percent would they assign to \w+\? Use the slider", page.inner_text(".hint"))
    page.tap(".help")
    assert page.evaluate(keys) == 0 and page.locator(".helpbox ol li").count() == 5  # all questions
    key(page, "Escape", "7", "0")
    page.tap(".help")
    assert page.evaluate(keys) > 0


def test_refusals_are_plain_sentences(studio: Any, context: Any) -> None:
    live = studio(n=3)
    page = context().new_page()
    page.goto(f"{live.base}/join#invite=%7B%22x%22")
    page.wait_for_selector("text=This link does not open the study")
    assert "This link is incomplete or was changed." in page.inner_text("main")
    lost = {"status": 502, "body": "<h1>Bad gateway</h1>"}
    page.route("**/api/enter", lambda route: route.fulfill(**lost))
    page.goto(live.join)
    page.reload()
    page.wait_for_selector("text=The server did not answer as expected.")
    assert not re.search(r"\b\d{3}\b|body\.|invalid", page.inner_text("main"))
    page.unroute("**/api/enter")
    page.reload()
    shown(page)
    why = {"error": "invalid", "detail": "this form has ticks for possible labels, not impossible ones", "retry": False}
    page.route("**/api/answers", lambda route: route.fulfill(status=422, json=why))
    answer(page, "1", "Enter")
    page.wait_for_selector("text=Your previous answer could not be stored; the task will be shown again.")
    page.unroute("**/api/answers")
    answer(page, "1", "Enter")
    saved(page)
    assert "could not be stored" not in page.inner_text("header")


def refuse(status: int, why: dict[str, Any], route: Any) -> None:
    route.fulfill(status=status, json=why)


def test_try_again_is_offered_only_where_it_can_help(studio: Any, context: Any) -> None:
    live = studio(n=2)
    page = context().new_page()
    no_ids = f"{live.base}/join?PROLIFIC_PID=&STUDY_ID=s&SESSION_ID=t"
    for address in (f"{live.base}/join#invite=abc", no_ids):
        page.goto(address)
        page.wait_for_selector("text=This link does not open the study")
        assert page.get_by_role("button", name="Try again").count() == 0
    cases = {
        "begun-elsewhere": (409, "You began in another browser", 0),
        "used-up": (403, "This link does not open the study", 0),
        "unavailable": (503, "The study cannot be opened at the moment. Please try again in a minute.", 1),
    }
    for error, (status, words, n) in cases.items():
        why = {"error": error, "detail": "the page keeps your answer", "retry": status == 503}
        page.route("**/api/enter", partial(refuse, status, why))
        page.goto("about:blank")
        page.goto(live.join)
        page.wait_for_selector(f"text={words}")
        assert page.get_by_role("button", name="Try again").count() == n
        assert "kept in this browser" not in page.inner_text("main")
        page.unroute("**/api/enter")


def test_the_last_page_speaks_of_a_code_only_as_it_is(studio: Any, context: Any) -> None:
    live = studio(n=1, batch=1, form="one-label", completion={"code": "DONE7", "full": "FULL7"})
    page = open_task(live, context)
    answer(page, "1", "Enter")
    page.wait_for_selector("text=Please copy your completion code before you close this page.")
    assert "You can close" not in page.inner_text("main")
    full = completion_of_outcome(plain_study(completion={"full": "FULL7"}), "full")
    assert "no completion code" not in full.text and "no task left" in full.text
    assert "no completion code" in completion_of_outcome(plain_study(), "full").text
