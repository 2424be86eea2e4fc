"""The owner's pages in a real browser."""

from typing import Any

import pytest

from plurivox.web.store.report.background_alerts import set_or_delete_alert_of_job

PAGES = ["", "tasks", "workers", "times", "flagged", "excluded", "pay", "report", "invites", "audit"]


def sign_in(page: Any, live: Any) -> None:
    """Create the first owner with the setup token, or sign in if an owner exists."""
    first = live.setup
    page.goto(f"{live.base}/owner" if first.endswith("None") else first)
    page.fill("#name", "ada")
    page.fill("#password", "a long password")
    page.keyboard.press("Enter")
    page.wait_for_selector(".figures")


def go(page: Any, name: str) -> None:
    """Open an owner page by its link in the navigation."""
    page.click(f"nav a[data-key='{name}']")
    page.wait_for_selector(f"nav a[data-key='{name}'][aria-current]")
    page.wait_for_selector(f"main[data-shows='{name}']")


def test_setup_by_token_then_sign_in_by_password(studio: Any, context: Any) -> None:
    page = context().new_page()
    page.goto(studio(n=1).setup)  # a study without an owner
    page.fill("#name", "ada")
    page.fill("#password", "short")
    page.click("button.main")
    assert page.evaluate("!document.querySelector('#password').validity.valid")
    page.fill("#password", "a long password")
    page.click("button.main")
    page.wait_for_selector(".figures")
    assert "setup" not in page.url
    page.click("text=Sign out")
    page.wait_for_selector("text=First time here?")
    page.fill("#name", "ada")
    page.fill("#password", "a wrong password")
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=alert]:not([hidden])")
    page.fill("#password", "a long password")
    page.keyboard.press("Enter")
    page.wait_for_selector(".figures")


def test_every_owner_page_loads_without_an_error(owned: Any, context: Any) -> None:
    page = context().new_page()
    sign_in(page, owned)
    page.wait_for_selector("text=Soft labels of")  # computed in the background; the page refreshes itself
    for name in PAGES:
        go(page, name)
        assert page.query_selector(".note.bad") is None, name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    go(page, "tasks")
    page.click("main table a >> nth=0")
    page.wait_for_selector(".plot .interval", state="attached")  # only the page of one task shows intervals
    assert page.query_selector("main .card table tbody tr")


def test_workers_are_sorted_and_found_and_flags_lead_to_the_answer(owned: Any, context: Any) -> None:
    page = context().new_page()
    sign_in(page, owned)
    page.wait_for_selector("text=Soft labels of")
    go(page, "workers")
    page.click("th a:has-text('Answers')")
    page.wait_for_selector("th[aria-sort=descending]:has-text('Answers')")
    counts = [int(cell.inner_text()) for cell in page.query_selector_all("tbody tr td:nth-child(7)")]
    assert counts == sorted(counts, reverse=True) and len(counts) == 20
    name = page.inner_text("tbody tr td >> nth=0").split()[0]
    page.fill("#find", name)
    page.keyboard.press("Enter")
    page.wait_for_selector("tbody tr:only-child")
    go(page, "tasks")
    page.fill("#find", "digit-00")
    page.keyboard.press("Enter")
    page.wait_for_selector("tbody tr:nth-child(10):last-child")
    go(page, "flagged")
    page.click("main table a >> nth=0")
    page.wait_for_selector("tr.here .flags li")


def test_a_new_study_shows_the_next_step_and_a_failing_aggregator_an_alert(studio: Any, context: Any) -> None:
    live = studio(n=2, aggregator="dawid-skene")
    page = context().new_page()
    sign_in(page, live)
    assert page.query_selector("text=Create an invitation")
    for name in PAGES:
        go(page, name)
        assert page.query_selector(".note.bad") is None, name
    live.studio.writer.submit(
        lambda c: set_or_delete_alert_of_job(c, "aggregator", "The aggregator dawid-skene failed.")
    ).result()
    for name in PAGES:
        go(page, name)
        page.wait_for_selector(
            ".trouble:has-text('dawid-skene'):has-text('since just now'):has-text('another aggregator')"
        )
    live.studio.writer.submit(lambda c: set_or_delete_alert_of_job(c, "aggregator", "")).result()
    go(page, "")
    page.wait_for_selector("main:not(:has(.trouble))")


def test_an_owner_pauses_opens_and_closes_the_study(owned: Any, context: Any) -> None:
    page = context().new_page()
    sign_in(page, owned)
    page.click("button:has-text('Pause')")
    page.wait_for_selector(".state[data-is=paused]")
    page.click("button:has-text('Open')")
    page.wait_for_selector(".state[data-is=open]")
    page.on("dialog", lambda asked: asked.accept())
    page.click("button:has-text('Close')")
    page.wait_for_selector(".state[data-is=closed]")


def test_times_say_that_they_are_medians_and_of_what(owned: Any, context: Any) -> None:
    page = context().new_page()
    times: dict[str, Any] = {"active": 2.74, "first_input": 0.0051, "top_label": 9.96, "hidden": 41.6}
    times |= {"by_position": [], "stages": {}, "impossible": 2, "at": 1.0}
    page.route("**/api/owner/times", lambda route: route.fulfill(json=times))
    sign_in(page, owned)
    go(page, "times")
    figures = page.locator(".figure").all_inner_texts()
    assert [one.split("\n")[0] for one in figures] == ["2.7 s", "0 s", "10 s", "42 s"]
    assert all("median" in one for one in figures)
    said = page.inner_text("main")
    assert "more time claimed than the server saw" in said and "or more hidden than shown" in said
    assert "without hidden time, of practice and tasks from entering to leaving" in said


CHARTS = """all => all.map((chart) => {
  const words = (names) => [...chart.querySelectorAll(names)].map((one) => one.textContent);
  const svg = chart.querySelector("svg");
  const { width, height } = svg.viewBox.baseVal;
  const boxes = (names) => [...svg.querySelectorAll(names)].map((one) => one.getBBox());
  const leaving = boxes("text").filter((box) =>
    box.x < 0 || box.y < 0 || box.x + box.width > width || box.y + box.height > height).length;
  const ticks = boxes("text[text-anchor=middle]:not(.name)").sort((a, b) => a.y - b.y || a.x - b.x);
  const runsInto = (one, next) => one.y === next.y && one.x + one.width > next.x;
  const touching = ticks.filter((box, at) => at && runsInto(ticks[at - 1], box)).length;
  return { told: svg.getAttribute("aria-label"), head: words("thead th"), rows: words("tbody tr").length,
    drawn: words("svg .name, svg .unit, .legend span"), leaving, touching };
})"""  # read in one call: the page refreshes itself


@pytest.mark.parametrize("width", [1280, 390])
def test_charts_have_axis_names_and_a_table(owned: Any, context: Any, width: int) -> None:
    page = context(viewport={"width": width, "height": 844}).new_page()
    sign_in(page, owned)
    page.wait_for_selector("text=Soft labels of")
    charts = []
    for name in ("", "times"):
        go(page, name)
        charts += page.eval_on_selector_all("figure.chart:has(svg)", CHARTS)
    assert len(charts) >= 7
    for chart in charts:
        # an axis name, or a name in the legend, is also a column of the table
        assert chart["rows"] >= 1 and set(chart["head"]) & set(chart["drawn"]), chart
        # the aria-label contains values, not only the title
        assert any(char.isdigit() for char in chart["told"]), chart
        assert (chart["leaving"], chart["touching"]) == (0, 0), chart


def test_the_api_page_lists_routes_and_schemas(owned: Any, context: Any) -> None:
    page = context().new_page()
    page.goto(f"{owned.base}/api")
    page.wait_for_selector("text=POST /api/answers")
    page.wait_for_selector("summary:has-text('SubmitAnswer')")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "names"), [("light", ["", "tasks", "workers", "report", "invites"]), ("dark", ["", "report"])]
)
def test_owner_pages_are_accessible(owned: Any, context: Any, barriers: Any, scheme: str, names: list[str]) -> None:
    page = context(color_scheme=scheme, bypass_csp=True).new_page()
    sign_in(page, owned)
    for name in names:
        go(page, name)
        assert barriers(page) == [], name
    page.click("text=Sign out")
    page.wait_for_selector("text=First time here?")
    assert barriers(page) == []
