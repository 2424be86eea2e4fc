"""What people read where something is missing, closed or small: words, not codes."""

from pathlib import Path
from typing import Any

import pytest

from interfaces.web.page_actions import shown
from plurivox.web.study.question_forms import FIRST, THIRD, adapted_phrases
from studies import plain_study, served

PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
INSIDE = """(([inner, outer]) => {
  const [a, b] = [inner, outer].map((name) => document.querySelector(name).getBoundingClientRect());
  return a.top >= b.top - 1 && a.bottom <= b.bottom + 1 && a.left >= b.left - 1 && a.right <= b.right + 1;
})"""


def test_an_address_that_leads_nowhere_is_a_page_for_people_and_a_fault_for_programs(tmp_path: Path) -> None:
    with served(tmp_path / "one", base_url="http://127.0.0.1/studies/one") as study:
        page = study.http.get("/nosuch", headers={"Accept": "text/html,*/*"})
        assert page.status_code == 404 and "There is no such page" in page.text
        assert 'href="/studies/one/static/owner.css' in page.text
        assert study.http.get("/nosuch").json()["error"] == "not-possible"


def test_a_pattern_is_told_in_words(tmp_path: Path) -> None:
    with served(tmp_path / "one") as study:
        body = {"token": "x" * 32, "name": "ada lovelace", "password": "a long password"}
        said = study.http.post("/api/owner/setup", json=body, headers={"Origin": study.url})
        assert (
            said.status_code == 422 and said.json()["detail"] == "body.name: contains characters that are not allowed"
        )


def test_no_practice_step_where_no_task_is_for_practice(tmp_path: Path) -> None:
    with served(tmp_path / "one", plain_study(practice=3)) as study:
        assert "practice" not in study.enter().get("/api/me").json()["stages"]


@pytest.mark.parametrize("person", ["first", "third"])
@pytest.mark.parametrize("kind", ["text", "pair", "audio"])
def test_nobody_is_asked_about_an_image_that_is_none(kind: str, person: Any) -> None:
    phrases = plain_study(form="top-two", wording=person, kind=kind).phrases()
    assert not any("image" in words or "you see" in words for words in phrases.values())


def test_words_follow_when_form_wording_or_arms_change_later() -> None:
    """Earlier versions wrote the words of the day into study.toml; only what somebody else wrote stays."""
    third = adapted_phrases("top-two", "third", "text")
    study = plain_study(form="top-two", wording="third", kind="text", phrase=third | {"never": "Not which?"})
    assert study.phrases()["opening"] == third["opening"] and study.phrases()["never"] == "Not which?"
    first = study.model_copy(update={"wording": "first"})
    assert first.phrases()["opening"] == "What do you think?" and first.phrases()["top"] == FIRST["top"]
    arms = study.model_copy(update={"forms": ["top-two", "chips"]})
    told = {name: arms.in_arm(name).phrases() for name in ("top-two", "chips")}
    assert told["top-two"]["top"] == third["top"] and told["chips"]["opening"] == THIRD["opening"]
    assert {one["never"] for one in told.values()} == {"Not which?"}


def test_a_study_of_an_earlier_version_learns_what_its_tasks_are(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(phrase=adapted_phrases("top-two", "third", "text"))) as study:
        assert study.studio.study.kind == "text"
        assert "the text below" in study.enter().get("/api/me").json()["phrases"]["opening"]


def test_a_study_that_takes_nobody_says_so(studio: Any, context: Any) -> None:
    live = studio(n=2, title="For pauses")
    live.turn("paused")
    page = context().new_page()
    page.goto(live.join)
    page.get_by_role("heading", name="Not open at the moment").wait_for()


def test_a_link_that_is_cut_off_says_so(studio: Any, context: Any) -> None:
    page = context().new_page()
    page.goto(f"{studio(n=2).base}/join#invite=abc")
    page.get_by_role("heading", name="This link does not open the study").wait_for()
    page.get_by_text("This link is incomplete").wait_for()


@pytest.mark.parametrize("form", ["ranking", "chips", "top-two"])
def test_a_text_keeps_its_room_on_a_phone(studio: Any, context: Any, form: str) -> None:
    page = context(**PHONE).new_page()
    page.goto(studio(n=2, kind="text", form=form).join)
    shown(page)
    assert page.evaluate("document.querySelector('.scene').clientHeight") >= 70


def test_the_name_of_the_page_is_in_sight_on_a_phone(studio: Any, context: Any) -> None:
    page = context(**PHONE).new_page()
    live = studio(n=2, title="For owners")
    page.goto(live.setup)
    page.fill("#name", "ada lovelace")
    assert page.evaluate("!document.querySelector('#name').validity.valid")
    page.fill("#name", "ada")
    page.fill("#password", "a long password")
    page.keyboard.press("Enter")
    page.wait_for_selector(".figures")
    for name in ("audit", "pay"):
        page.goto(f"{live.base}/owner#/{name}")
        page.wait_for_selector(f"main[data-shows={name}]")
        assert page.evaluate(INSIDE, ["nav [aria-current]", "header.top"]), name


def test_the_help_names_keys_that_are_there(studio: Any, context: Any) -> None:
    page = context().new_page()
    page.goto(studio(n=2, form="top-two", labels=["yes", "no", "perhaps"]).join)
    shown(page)
    page.keyboard.press("?")
    keys = set(page.locator(".helpbox kbd").all_inner_texts())
    assert {"1", "2", "3"} <= keys and not keys & {"4", "5"}
