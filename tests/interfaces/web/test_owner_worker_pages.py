"""The owner's pages Excluded and Pay in a browser."""

from pathlib import Path
from typing import Any

from sqlalchemy import select

from interfaces.web.page_actions import fits
from plurivox.web.jobs.exclusion_rules import exclude_rule_breakers_and_return_count
from plurivox.web.jobs.payroll import Payroll
from plurivox.web.jobs.result_snapshot import SnapshotComputer
from plurivox.web.store.schema import slots
from studies import plain_study, served, text_tasks

PAY = {"per_hour": "8", "bonus_per_hour": "1", "currency": "USD", "base": "0.50"}
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
        page.get_by_role("button", name="Lift the exclusion").click()
        page.get_by_text("lifted just now").wait_for()
        assert {row.state for row in live.look(select(slots.c.state))} == {"done", "extra"}
