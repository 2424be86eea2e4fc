"""Pages and messages for unknown addresses, closed studies and invalid input."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from interfaces.web.page_actions import shown
from plurivox.cli.main import main
from plurivox.web.study.question_forms import FIRST, THIRD, phrases_that_differ_for_task_kind
from studies import plain_study, served

PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
INSIDE = """(([inner, outer]) => {
  const [a, b] = [inner, outer].map((name) => document.querySelector(name).getBoundingClientRect());
  return a.top >= b.top - 1 && a.bottom <= b.bottom + 1 && a.left >= b.left - 1 && a.right <= b.right + 1;
})"""


def test_an_unknown_address_gives_a_page_to_browsers_and_json_to_programs(tmp_path: Path) -> None:
    with served(tmp_path / "one", base_url="http://127.0.0.1/studies/one") as study:
        page = study.http.get("/nosuch", headers={"Accept": "text/html,*/*"})
        assert page.status_code == 404 and "There is no such page" in page.text
        assert 'href="/studies/one/static/owner.css' in page.text
        assert study.http.get("/nosuch").json()["error"] == "not-possible"


def test_a_pattern_mismatch_is_explained_without_the_pattern(tmp_path: Path) -> None:
    with served(tmp_path / "one") as study:
        body = {"token": "x" * 32, "name": "ada lovelace", "password": "a long password"}
        said = study.http.post("/api/owner/setup", json=body, headers={"Origin": study.url})
        assert said.status_code == 422 and said.json()["detail"] == "name contains characters that are not allowed"


def test_a_study_without_practice_tasks_has_no_practice_stage(tmp_path: Path) -> None:
    with served(tmp_path / "one", plain_study(practice=3)) as study:
        assert "practice" not in study.enter().get("/api/me").json()["stages"]


@pytest.mark.parametrize("person", ["first", "third"])
@pytest.mark.parametrize("kind", ["text", "pair", "audio"])
def test_the_wording_names_the_kind_of_task(kind: str, person: Any) -> None:
    phrases = plain_study(form="top-two", wording=person, kind=kind).task_page_phrases()
    assert not any("image" in words or "you see" in words for words in phrases.values())


def test_the_wording_follows_later_changes_of_form_wording_and_arms() -> None:
    """Earlier versions wrote default phrases into study.toml; they are ignored, and phrases of the author are kept."""
    third = phrases_that_differ_for_task_kind("top-two", "third", "text")
    study = plain_study(form="top-two", wording="third", kind="text", phrase=third | {"never": "Not which?"})
    assert (
        study.task_page_phrases()["opening"] == third["opening"] and study.task_page_phrases()["never"] == "Not which?"
    )
    first = study.model_copy(update={"wording": "first"})
    assert (
        first.task_page_phrases()["opening"] == "What do you think?"
        and first.task_page_phrases()["top"] == FIRST["top"]
    )
    arms = study.model_copy(update={"forms": ["top-two", "chips"]})
    told = {name: arms.config_of_arm(name).task_page_phrases() for name in ("top-two", "chips")}
    assert told["top-two"]["top"] == third["top"] and told["chips"]["opening"] == THIRD["opening"]
    assert {one["never"] for one in told.values()} == {"Not which?"}


def test_a_study_of_an_earlier_version_gets_the_kind_of_its_tasks(tmp_path: Path) -> None:
    with served(
        tmp_path / "s", plain_study(phrase=phrases_that_differ_for_task_kind("top-two", "third", "text"))
    ) as study:
        assert study.studio.study.kind == "text"
        assert "the text below" in study.enter().get("/api/me").json()["phrases"]["opening"]


def test_a_closed_study_shows_a_page(studio: Any, context: Any) -> None:
    live = studio(n=2, title="For pauses")
    live.turn("paused")
    page = context().new_page()
    page.goto(live.join)
    page.get_by_role("heading", name="Not open at the moment").wait_for()


def test_the_preview_of_a_study_by_invitation_does_not_say_accept(studio: Any, context: Any) -> None:
    page = context().new_page()
    page.goto(f"{studio(n=2).base}/join?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=3HIT")
    page.get_by_text("This study is by invitation. Please use the link that you were sent.").wait_for()
    assert "accept" not in page.inner_text("main").lower()


@pytest.mark.parametrize(("flag", "given"), [("--prolific", "{{%STUDY_ID%}}"), ("--mturk", "${hitId}")])
def test_a_placeholder_instead_of_an_id_names_the_flag(tmp_path: Path, flag: str, given: str) -> None:
    (tmp_path / "texts.txt").write_text("one\ntwo\n")
    new = ["studio", "new", str(tmp_path / "s"), "--items", str(tmp_path / "texts.txt"), "--labels", "a,b", flag, given]
    said = CliRunner().invoke(main, new)
    words = said.output
    assert said.exit_code == 2 and not (tmp_path / "s").exists()
    assert f"{flag} {given}: this is not the ID of a" in words and "placeholder" in words and "looks like" in words


def test_an_incomplete_link_shows_an_error(studio: Any, context: Any) -> None:
    page = context().new_page()
    page.goto(f"{studio(n=2).base}/join#invite=abc")
    page.get_by_role("heading", name="This link does not open the study").wait_for()
    page.get_by_text("This link is incomplete").wait_for()


@pytest.mark.parametrize("form", ["ranking", "chips", "top-two"])
def test_a_text_keeps_its_height_on_a_phone(studio: Any, context: Any, form: str) -> None:
    page = context(**PHONE).new_page()
    page.goto(studio(n=2, kind="text", form=form).join)
    shown(page)
    assert page.evaluate("document.querySelector('.scene').clientHeight") >= 70


def test_the_current_page_is_visible_in_the_navigation_on_a_phone(studio: Any, context: Any) -> None:
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


def test_the_help_lists_only_keys_of_this_study(studio: Any, context: Any) -> None:
    page = context().new_page()
    page.goto(studio(n=2, form="top-two", labels=["yes", "no", "perhaps"]).join)
    shown(page)
    page.keyboard.press("?")
    keys = set(page.locator(".helpbox kbd").all_inner_texts())
    assert {"1", "2", "3"} <= keys and not keys & {"4", "5"}
