"""Views and input events recorded in a browser, compared with the export."""

import json
import time
import zipfile
from pathlib import Path
from typing import Any

from sqlalchemy import select

import plurivox as pv
from interfaces.web.live_server import run, studio_of
from interfaces.web.page_actions import answer, key, saved, shown, until
from interfaces.web.test_owner_pages import sign_in
from plurivox.web.store.schema import visits
from plurivox.web.study.export import export_study

HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def tables_of(live: Any, folder: Path) -> tuple[Any, list[dict[str, Any]], dict[int, list[dict[str, Any]]]]:
    """Export the study; return the answers, the views in order, and the events of each answer."""
    export_study(live.studio.engine, live.studio.study, folder)
    data = pv.read(folder)
    views = data.tables["views"]().to_dicts()
    events: dict[int, list[dict[str, Any]]] = {}
    for one in data.tables["events"]().to_dicts():
        events.setdefault(one["answer"], []).append(one)
    return data.answers, views, events


def test_the_time_of_a_page_is_without_hidden_time(tmp_path: Path, studio: Any, context: Any) -> None:
    live, page = studio(n=4, whole=True), context().new_page()
    page.goto(live.join)
    page.wait_for_selector("text=Before you begin")
    page.evaluate("passBy(2000)")
    page.evaluate(HIDE, True)
    page.evaluate("passBy(3_600_000)")
    page.evaluate(HIDE, False)
    key(page, "Space", "Enter")
    page.wait_for_selector("text=How it works")
    with live.studio.engine.connect() as connection:
        (ms,) = connection.execute(select(visits.c.ms).where(visits.c.stage == "consent")).scalars()
    assert 2000 <= ms < 3_600_000


def test_views_and_inputs_are_exported_as_they_happened(tmp_path: Path, context: Any) -> None:
    with run(tmp_path / "one", studio_of(n=3, repeats=1, form="top-two")) as live:
        page = context(has_touch=True).new_page()
        held: list[Any] = []
        page.route("**/media/**", lambda route: held.append(route))
        page.goto(live.join)
        page.wait_for_selector("main.task")
        order = page.eval_on_selector_all(".tile .name", "all => all.map((one) => one.textContent)")
        released = time.time()  # the picture is not loaded before this time
        until(page, lambda: held)
        page.unroute("**/media/**")  # continues the held requests
        page.wait_for_selector("main.task[data-seen]")
        key(page, "3", "5")
        page.evaluate(HIDE, True)  # as if the worker switched to another tab
        page.wait_for_timeout(700)
        page.evaluate(HIDE, False)
        answer(page, "7", "0", "Shift+1", "Enter")
        shown(page)
        old = page.query_selector("main.task")
        page.click(".tile:nth-child(2) .pick")
        page.click(".next")
        old.wait_for_element_state("hidden")
        shown(page)
        old = page.query_selector("main.task")
        page.tap(".tile:nth-child(4) .pick")
        page.tap(".next")
        old.wait_for_element_state("hidden")
        answer(page, "h", "1", "2", ".", "Enter")
        page.wait_for_selector("text=All done")
        finished = time.time()
        said, views, events = tables_of(live, tmp_path / "out")
    first, second, third, last = views
    assert [one["position"] for one in views] == [1, 2, 3, 4] == said.position.tolist()
    assert [one["mode"] for one in views] == ["keyboard", "mouse", "touch", "histogram"]
    assert all(json.loads(one["label_order"]) == order for one in views)
    repeat = said.repeat_of.tolist()
    [place] = [at for at, other in enumerate(repeat) if other >= 0]
    assert views[place]["task"] == views[repeat[place]]["task"] and views[place]["kind"] == "repeat"
    assert released <= first["shown_at"] <= second["shown_at"] <= third["shown_at"] <= last["shown_at"] <= finished
    for one, active in zip(views, said.seconds.tolist(), strict=True):
        assert 0 < one["first_input_ms"] <= one["submitted_ms"] < 1000 * (finished - released)
        claimed = (one["submitted_ms"] - one["hidden_ms"]) / 1000
        assert claimed - 0.3 < active <= claimed + 1e-6  # a busy server may see a little less than the page
    assert 650 <= first["hidden_ms"] < first["submitted_ms"] - 50 and second["hidden_ms"] == 0
    told = [[(e["kind"], e["label"], e["value"], e["by"]) for e in events[one["answer"]]] for one in views]
    assert told[0] == [
        ("pick", order[2], "top", "key"),
        ("pick", order[4], "second", "key"),
        ("hide", None, None, "other"),
        ("show", None, None, "other"),
        ("percent", order[2], "7", "key"),
        ("percent", order[2], "70", "key"),
        ("never", order[0], "on", "key"),
        ("submit", None, None, "key"),
    ]
    assert told[1] == [("pick", order[1], "top", "mouse"), ("submit", None, None, "mouse")]
    assert told[2] == [("pick", order[3], "top", "touch"), ("submit", None, None, "touch")]
    assert [one[:3] for one in told[3]] == [
        ("mode", None, "bars"),
        ("bar", order[0], "5"),
        ("bar", order[1], "5"),
        ("bar", order[1], "95"),
        ("submit", None, None),
    ]
    for one in views:
        mine = events[one["answer"]]
        assert [event["seq"] for event in mine] == list(range(len(mine)))
        assert [event["ms"] for event in mine] == sorted(event["ms"] for event in mine)
        assert next(event["ms"] for event in mine if event["by"] != "other") == one["first_input_ms"]
        assert mine[-1]["ms"] <= one["submitted_ms"]
    hide, show = (next(e["ms"] for e in events[first["answer"]] if e["kind"] == kind) for kind in ("hide", "show"))
    assert abs(show - hide - first["hidden_ms"]) < 650  # tolerance for a busy machine


def test_the_owner_downloads_what_was_answered(studio: Any, context: Any, tmp_path: Path) -> None:
    live = studio(n=2, form="top-two")
    page = context().new_page()
    page.goto(live.join)
    answer(page, "3", "Enter")
    saved(page)
    owner = context(accept_downloads=True).new_page()
    sign_in(owner, live)
    with owner.expect_download() as download:
        owner.click("text=Export")
    download.value.save_as(tmp_path / "export.zip")
    with zipfile.ZipFile(tmp_path / "export.zip") as files:
        files.extractall(tmp_path)
    [folder] = [path.parent for path in tmp_path.rglob("answers.*")]
    [typed] = pv.read(folder).answers.typed_texts_at_rank(0).tolist()
    assert typed == "100" and download.value.suggested_filename.endswith(".zip")
