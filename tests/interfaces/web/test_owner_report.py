"""The owner's page Report in a real browser: ask for a report, see it being made, open it, download it."""

import gzip
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from interfaces.web.page_actions import saved, shown
from interfaces.web.test_owner_pages import go, sign_in
from plurivox.web.store.report import report_pages
from plurivox.web.store.report.report_pages import VotesRead

SPY = """<!doctype html><meta charset="utf-8"><title>Report</title><p id="told"></p><script>
const told = [];
for (const look of [() => document.cookie, () => localStorage.length, () => opener.document])
  try { told.push(String(look())); } catch (error) { told.push(error.name); }
document.querySelector("#told").textContent = told.join(" ");
fetch("/api/owner/session", { credentials: "include" }).then(() => told.push("fetched"), () => told.push("refused"))
  .finally(() => (document.querySelector("#told").textContent = told.join(" ")));
</script>"""


@pytest.fixture
def live(studio: Any, context: Any) -> Any:
    """A study with one answered task, whose server makes no reports by itself."""
    live = studio(n=2, form="one-label")
    page = context().new_page()
    page.goto(live.join)
    shown(page)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    saved(page)
    return live


def write(live: Any, job: Callable[..., Any], **named: Any) -> Any:
    return live.studio.writer.submit(partial(job, **named)).result()


def store_page(live: Any, maker: str, page: str, **votes: int) -> None:
    read = VotesRead(1e9, **{"answers": 1, "people": 1, "excluded": 0, "last_answer": 1, "recounted": 0, **votes})
    store = report_pages.store_report_page_or_raise_outdated
    write(live, store, maker=maker, question="truth", votes=read, page=gzip.compress(page.encode()))


def test_an_owner_sees_a_report_being_made_fail_and_succeed(live: Any, context: Any) -> None:
    page = context(accept_downloads=True).new_page()
    page.clock.install()
    sign_in(page, live)
    page.click("a.button:has-text('Report')")
    card = "[data-question=truth]"
    page.click(f"{card} button:has-text('Make report')")
    page.wait_for_selector(f"{card} >> text=Asked for by ada")
    assert page.evaluate("document.activeElement.dataset.question") == "truth"  # a keyboard goes on from there
    assert page.query_selector(f"{card} button") is None
    assert write(live, report_pages.take_waiting_report_job, maker="a") == "truth"
    write(live, report_pages.renew_report_job, maker="a", step=2, steps=8)
    page.clock.fast_forward(2000)  # the page reads again every two seconds
    page.wait_for_selector(f"{card} >> text=step 3 of 8")
    assert page.get_by_role("progressbar", name="Report: What is true").get_attribute("aria-valuenow") == "25"
    write(live, report_pages.fail_report_job, maker="a", failure="<b>No</b> memory. Buy some.")
    page.clock.fast_forward(2000)
    page.wait_for_selector(f"{card} .note.bad:has-text('<b>No</b> memory. Buy some.')")
    page.click(f"{card} button:has-text('Try again')")
    page.wait_for_selector(f"{card} .making")
    write(live, report_pages.take_waiting_report_job, maker="b")
    store_page(live, "b", "<title>Report</title>made", answers=2345, people=67, excluded=1)
    page.clock.fast_forward(2000)
    page.wait_for_selector(f"{card} >> text=2,345 answers of 67 people, without 1 person who is excluded")
    assert "The report is ready" in page.get_by_role("status").filter(has_text="ready").inner_text()
    assert page.query_selector(f"{card} button:has-text('Make anew')")
    with page.expect_download() as saving:
        page.click(f"{card} >> text=Download")
    assert saving.value.suggested_filename == "animals-report-truth.html"
    go(page, "audit")
    said = page.inner_text("main")
    assert "asked for the report on what is true" in said and "downloaded the report on what is true" in said


def test_a_page_cannot_reach_the_studio_although_its_owner_is_signed_in(live: Any, browser: Any) -> None:
    one = browser.new_context()  # not `context`: the refused request is what is tested
    page = one.new_page()
    sign_in(page, live)
    write(live, report_pages.ask_for_report, audit_actor="ada", question="truth")
    write(live, report_pages.take_waiting_report_job, maker="spy")
    store_page(live, "spy", SPY)
    go(page, "report")
    with one.expect_page() as opened:
        page.click("text=Open")
    report = opened.value
    report.wait_for_selector("text=refused")
    assert report.inner_text("#told").split()[:2] == ["SecurityError"] * 2
    assert report.evaluate("origin") == "null" and report.url.endswith("/api/owner/report/truth")
    one.close()


def test_without_answers_the_page_says_so(studio: Any, context: Any) -> None:
    page = context().new_page()
    sign_in(page, studio(n=3))
    go(page, "report")
    page.wait_for_selector(".obstacle:has-text('There are no answers yet')")
    assert page.locator("main button").evaluate_all("all => all.every((one) => one.disabled)")


@pytest.mark.slow
def test_the_report_of_the_demo_is_made_in_the_background_and_opened(owned: Any, context: Any) -> None:
    one = context()
    page = one.new_page()
    sign_in(page, owned)
    go(page, "report")
    page.click("[data-question=people] button")
    page.wait_for_selector("[data-question=people] >> text=Open")
    with one.expect_page() as opened:
        page.click("[data-question=people] >> text=Open")
    report = opened.value
    report.wait_for_selector("h1:has-text('Report on digits')")
    assert report.locator("main img").count() >= 5  # the pictures of the hardest tasks
    report.click("thead button >> nth=0")  # its own script runs
    assert report.locator("th[aria-sort]").count() >= 1
    assert "480 answers of 20 people" in report.inner_text("body")
