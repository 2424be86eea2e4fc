"""Two studies on one server in one browser are separate, for workers and owners."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import func, select

from interfaces.web.live_server import LIMITS, Running, studio_of
from interfaces.web.page_actions import answer, key, resize, saved, shown, until_true
from plurivox.web.server_settings import Settings
from plurivox.web.store.schema import answers
from studies import running_multi_study

KEYS = "Object.keys(localStorage)"
NAMES = ("pets", "ships")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Running]]:
    studies = []
    for name in NAMES:
        folder = tmp_path_factory.mktemp("two") / name
        studies.append(Settings(folder=folder, database="", is_leader=False, **LIMITS))
        studio_of(n=6, name=name, title=f"About {name}")(studies[-1])
    with running_multi_study(studies) as (url, studio):
        yield {name: Running(f"{url}/{name}", app.state.studio) for name, app in studio.studies.items()}


def n_answers(live: Running) -> int:
    return live.studio.read_sync(
        lambda connection: connection.execute(select(func.count()).select_from(answers)).scalar_one()
    )


def test_a_worker_can_answer_in_both_studies(two: dict[str, Running], context: Any) -> None:
    tabs, before = context(), {name: n_answers(live) for name, live in two.items()}
    pages = {name: tabs.new_page() for name in NAMES}
    for name, page in pages.items():
        page.goto(two[name].join)
        answer(page, "1", "Enter")
        saved(page)
        assert f"About {name}" in page.title() and page.url == f"{two[name].base}/join"
    for name, page in pages.items():  # data stored by the other study's tab must not interfere
        page.reload()
        answer(page, "2", "Enter")
        saved(page)
        assert f"About {name}" in page.title()
    assert {name: n_answers(live) - before[name] for name, live in two.items()} == {"pets": 2, "ships": 2}
    kept = pages["pets"].evaluate(KEYS)
    assert kept and all(sum(f"/{name}/" in one for name in NAMES) == 1 for one in kept), kept
    tokens = {
        name: page.evaluate(f"JSON.parse(localStorage['plurivox.session/{name}/']).token")
        for name, page in pages.items()
    }
    assert tokens["pets"] != tokens["ships"] and tabs.cookies() == []


def test_unsent_answers_are_sent_to_their_own_study_only(two: dict[str, Running], context: Any) -> None:
    tabs, before = context(), {name: n_answers(live) for name, live in two.items()}
    sent: list[str] = []
    tabs.on("request", lambda asked: asked.method == "POST" and sent.append(asked.url))
    pets, ships = tabs.new_page(), tabs.new_page()
    pets.goto(two["pets"].join)
    ships.goto(two["ships"].join)
    shown(ships)
    ships.route("**/api/answers", lambda route: route.abort())
    answer(ships, "1", "Enter")
    until_true(ships, f"{KEYS}.some((key) => key.startsWith('plurivox.outbox./ships/'))")
    pets.reload()
    answer(pets, "1", "Enter")
    saved(pets)
    ships.unroute("**/api/answers")
    ships.reload()
    shown(ships)
    saved(ships)
    until_true(ships, f"!{KEYS}.some((key) => key.startsWith('plurivox.outbox.'))")
    assert {name: n_answers(live) - before[name] for name, live in two.items()} == {"pets": 1, "ships": 1}
    assert {url.split("/")[3] for url in sent} == set(NAMES)


def sign_in(page: Any, live: Running) -> None:
    """Create the first owner with the setup token, or sign in if an owner exists."""
    first = live.setup
    page.goto(f"{live.base}/owner" if first.endswith("None") else first)
    page.wait_for_selector("#password" if first.endswith("None") else "#token")
    page.fill("#name", f"owner-of-{live.studio.study.name}")
    page.fill("#password", "a long password")
    page.keyboard.press("Enter")
    page.wait_for_selector(".figures")


def test_an_owner_sees_both_studies_and_visitors_none(two: dict[str, Running], context: Any, barriers: Any) -> None:
    tabs = context(bypass_csp=True)
    page, home = tabs.new_page(), two["pets"].base.rsplit("/", 1)[0]
    page.goto(home)
    page.wait_for_selector("text=not signed in to any study")
    page.fill("#study", "nobody")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=There is no study with this name")
    page.fill("#study", "pets")
    page.keyboard.press("Enter")
    page.wait_for_url("**/pets/owner")
    page.wait_for_selector("text=First time here?")
    for live in two.values():
        sign_in(page, live)
    assert {(one["name"], one["path"]) for one in tabs.cookies()} == {
        ("plurivox_owner_pets", "/pets"),
        ("plurivox_owner_ships", "/ships"),
    }
    page.click("text=All studies")
    page.wait_for_selector("main[data-shows=studies] tbody tr:nth-child(2)")
    rows = page.eval_on_selector_all("tbody tr", "all => all.map((one) => one.innerText)")
    assert [("About pets" in rows[0], "About ships" in rows[1])] == [(True, True)]
    assert all("Open" in row and f"{n_answers(live):,} of" in row for row, live in zip(rows, two.values(), strict=True))
    assert barriers(page) == []
    resize(page, 360, 640)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.click("text=About pets")
    page.wait_for_selector("text=owner-of-pets")
    page.wait_for_selector(".figures")
    page.click("text=Sign out")
    page.wait_for_selector("text=First time here?")
    page.goto(f"{home}/owner")
    page.wait_for_selector("text=About ships")
    assert "pets" not in page.inner_text("main")
    stranger = context().new_page()
    stranger.goto(f"{home}/owner")
    stranger.wait_for_selector("text=not signed in to any study")
    key(stranger, "Tab")
    assert not any(name in stranger.content() for name in NAMES)
