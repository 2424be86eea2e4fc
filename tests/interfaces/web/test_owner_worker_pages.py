"""The owner's pages Workers, Flagged, Excluded and Pay in a browser."""

import random
import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from interfaces.web.page_actions import fits, resize
from plurivox.web.jobs.exclusion_rules import exclude_rule_breakers_and_return_count
from plurivox.web.jobs.payroll import Payroll
from plurivox.web.jobs.result_snapshot import SnapshotComputer
from plurivox.web.store.schema import slots
from plurivox.web.study.answer_flags import STUDIO_FLAGS
from studies import plain_study, served, text_tasks

PAY = {"per_hour": "8", "bonus_per_hour": "1", "currency": "USD", "base": "0.50"}
WIDER = "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.scroll:has(td)'))"
RULES = {"rules": ["too-fast[seconds=2,share=0.5]"], "least_answers": 2}


def test_exclusions_and_pay_are_shown_and_an_exclusion_is_lifted(tmp_path: Path, context: Any, barriers: Any) -> None:
    study = plain_study(per_task=3, pay=PAY, exclude=RULES)
    with served(tmp_path / "s", study, text_tasks(4)) as live:
        for ms in (500.0, 30_000.0, 40_000.0):
            person = live.enter()
            for slot in person.slots():
                person.answer(slot["slot"], submitted_ms=ms)
        engine = live.studio.engine
        assert exclude_rule_breakers_and_return_count(engine, study) == 1
        SnapshotComputer(engine).compute_and_publish_snapshot(study)
        Payroll(engine).update_pay_lines_of_changed_workers(study)
        live.sign_in()
        page = context().new_page()
        page.on("dialog", lambda one: one.accept())
        page.goto(f"{live.url}/owner")
        page.fill("#name", "olga")
        page.fill("#password", "correct horse")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("link", name="Pay", exact=True).click()
        page.wait_for_selector("main[data-shows=pay]")
        assert page.locator("tbody tr").count() == 3 and "excluded by too-fast" in page.inner_text("table")
        assert barriers(page) == []
        page.get_by_role("link", name="Excluded").click()
        page.get_by_role("button", name="Lift the exclusion").wait_for()
        assert "100% of 4 answers took less than 2 seconds" in page.inner_text("table")
        assert barriers(page) == []
        fits(page)
        resize(page, 390, 844)
        assert page.locator("td").nth(2).bounding_box()["width"] >= 240
        assert page.locator("tbody tr").bounding_box()["height"] < 100
        assert page.evaluate(WIDER) > 0
        assert "local" in page.evaluate("getComputedStyle(document.querySelector('.scroll')).backgroundAttachment")
        page.get_by_role("button", name="Lift the exclusion").click()
        page.get_by_text("lifted just now").wait_for()
        assert {row.state for row in live.look(select(slots.c.state))} == {"done", "extra"}


def sign_in(page: Any, live: Any) -> None:
    """Sign the browser in as the owner."""
    page.goto(f"{live.url}/owner")
    page.fill("#name", "olga")
    page.fill("#password", "correct horse")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_selector(".figures")


def open_page(page: Any, name: str) -> None:
    """Open an owner page by its link in the navigation."""
    page.click(f"nav a[data-key='{name}']")
    page.wait_for_selector(f"main[data-shows='{name}']")


def crowd_of_twelve(live: Any) -> dict[str, str]:
    """Let eight careful workers, a spammer, two hasty and an inconsistent one answer everything; return {pseudonym: kind}."""
    kinds, labels, rng = {}, ("cat", "dog", "ship"), random.Random(1)
    for kind in [*["careful"] * 8, "spammer", "hasty", "hasty", "inconsistent"]:
        person, seen = live.enter(), set()
        kinds[person.entered["me"]["worker"]] = kind
        for slot in (slot for _ in range(2) for slot in person.slots(6)):
            number = int(slot["task"]["text"].split()[1])
            label = {"spammer": labels[(number + 1) % 3], "hasty": rng.choice(labels)}.get(kind, labels[number % 3])
            if kind == "inconsistent" and number in seen:
                label = labels[(number + 1) % 3]
            seen.add(number)
            marks = [{"kind": "named", "label": label}]
            person.answer(slot["slot"], marks=marks, submitted_ms=400.0 if kind == "hasty" else 4000.0)
    return kinds


@pytest.mark.parametrize("width", [1280, 390])
def test_an_owner_sees_whom_to_doubt_and_why(tmp_path: Path, context: Any, barriers: Any, width: int) -> None:
    study = plain_study(form="one-label", per_task=12, batch=9, repeats=3)
    with served(tmp_path / "s", study, text_tasks(9)) as live:
        kinds = crowd_of_twelve(live)
        SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(study)
        live.sign_in()
        page = context(viewport={"width": width, "height": 844}, bypass_csp=True).new_page()
        sign_in(page, live)
        assert "repeats are left out" in page.inner_text(".figures")
        open_page(page, "workers")
        rows = [row.split("\n") for row in page.locator("tbody tr td:first-child").all_inner_texts()]
        doubted = {row[0]: " ".join(row[1:]) for row in rows if len(row) > 1}
        # the doubtful come first, with the reason as words; no careful worker is among them
        assert [row[0] for row in rows][: len(doubted)] == [*doubted]
        assert {who for who, kind in kinds.items() if kind != "careful"} == {*doubted}
        for who, why in doubted.items():
            words = {"spammer": "low agreement", "hasty": "too fast", "inconsistent": "changes on repeats"}
            assert words[kinds[who]] in why
        marked = page.locator("tbody .doubt").all_inner_texts()
        assert all(re.match(r"⚠ (low|high) [\d.]+", text) for text in marked) and "⚠ high 100%" in marked
        # columns are explained by hovering, and by opening a text
        for column in ("Agreement with others", "Same label on repeats", "Too fast", "Median time", "Flagged"):
            head = page.locator("th", has_text=column)
            told = head.get_attribute("title")
            assert len(told) > 30
            assert page.locator(f"#{head.get_attribute('aria-describedby')}").text_content() == told
        page.locator("summary", has_text="What the columns mean").focus()
        page.keyboard.press("Enter")
        page.get_by_text("Doubtful below 0.5").wait_for()
        page.get_by_text("took less than 1 second (too_fast_seconds in study.toml). Doubtful above 30%.").wait_for()
        if width > 760:
            for summary in page.locator("td details summary").all():
                summary.click()
            assert page.evaluate(WIDER) <= 1  # nothing is pushed off the table
            for summary in page.locator("td details summary").all():
                summary.click()
        page.locator("td details summary").first.click()
        page.get_by_text("Answered in less than 1 second: 12").first.wait_for()
        assert barriers(page) == []
        page.locator("th a", has_text="Agreement with others").click()
        page.wait_for_selector("th[aria-sort=ascending]")
        agreement = page.locator("tbody tr td:nth-child(2)").all_inner_texts()
        values = [float(re.search(r"[\d.]+", text)[0]) for text in agreement]
        assert values == sorted(values) and kinds[page.inner_text("tbody td").split()[0]] in ("spammer", "hasty")


def test_flags_are_shown_as_sentences(tmp_path: Path, context: Any, barriers: Any) -> None:
    study = plain_study(form="one-label", per_task=12, batch=9, repeats=3)
    with served(tmp_path / "s", study, text_tasks(9)) as live:
        crowd_of_twelve(live)
        SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(study)
        live.sign_in()
        page = context(bypass_csp=True).new_page()
        sign_in(page, live)
        open_page(page, "flagged")
        told = page.inner_text("main")
        assert "Answered in less than 1 second" in told
        assert "Another label came first when the same task was shown again" in told
        assert not [name for name in STUDIO_FLAGS if name in told or name.replace("-", " ") in told.lower().split("\n")]
        assert barriers(page) == []
        page.click("main td a >> nth=0")
        page.wait_for_selector("tr.here .flags li")
        assert "Another label came first" in page.inner_text("tr.here")
