"""A worker's pages with several tabs, lost networks, restarted servers, disabled storage and missing pictures."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from interfaces.web.live_server import run, studio_of
from interfaces.web.page_actions import UNASKED, answer, key, saved, shown
from interfaces.web.server_kills import own_port
from plurivox.web.jobs.result_snapshot import SnapshotComputer
from plurivox.web.store.schema import answers, drafts, flags, workers

REFUSES = {
    "no store at all": "Object.defineProperty(globalThis, 'localStorage', { get() { throw new Error('denied'); } })",
    "storage full": "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }",
}


def order_of(page: Any) -> list[str]:
    return page.eval_on_selector_all(".tile .name", "all => all.map((one) => one.textContent)")


def tops(live: Any) -> list[str]:
    return [one["marks"][0][1] for one in live.answers()]


def every(live: Any) -> list[Any]:
    """Return all answers of the newest worker, including replaced ones."""
    newest = select(workers.c.id).order_by(workers.c.born.desc()).limit(1).scalar_subquery()
    wanted = select(answers).where(answers.c.worker_id == newest).order_by(answers.c.id)
    return live.studio.read_sync(lambda c: c.execute(wanted).all())


def test_two_tabs_are_synchronised_and_send_each_answer_once(studio: Any, context: Any) -> None:
    live = studio(n=4)
    both = context()
    one = both.new_page()
    one.goto(live.join)
    shown(one)
    order = order_of(one)
    two = both.new_page()
    two.goto(f"{live.base}/work")
    shown(two)
    key(two, "9")  # started in tab two, answered in tab one
    answer(one, "1", "Enter")
    two.wait_for_selector("text=answered in another tab")
    saved(one)
    two.wait_for_selector("text=2 of 4")
    # the next task is shown without the pick of the previous one
    assert two.query_selector(".tile[data-is=top]") is None
    answer(two, "2", "Enter")
    one.wait_for_selector("text=3 of 4")
    answer(one, "3", "Enter")
    two.wait_for_selector("text=4 of 4")
    answer(two, "4", "Enter")
    for page in (one, two):
        page.wait_for_selector("text=All done")
    assert tops(live) == order[:4] and len(every(live)) == 4


def test_two_tabs_that_answer_the_same_task_at_once_give_one_answer(studio: Any, context: Any) -> None:
    live = studio(n=4)
    both = context()
    one, two = both.new_page(), both.new_page()
    one.goto(live.join)
    shown(one)
    two.add_init_script("addEventListener('storage', (event) => event.stopImmediatePropagation(), true)")
    two.goto(f"{live.base}/work")  # gets no storage events, like another device
    shown(two)
    answer(one, "1", "Enter")
    saved(one)
    answer(two, "2", "Enter")
    saved(two)
    [said] = live.answers()
    assert said["marks"][0][1] == order_of(two)[1] and [row.replaces for row in every(live)] == [
        None,
        every(live)[0].id,
    ]


def test_back_over_several_tasks_changes_one_and_keeps_the_rest(studio: Any, context: Any) -> None:
    live = studio(n=5)
    page = context().new_page()
    page.goto(live.join)
    for place in "1234":
        answer(page, place, "Enter")
    shown(page)
    saved(page)
    order = order_of(page)
    page.reload()
    shown(page)
    for place, name in ((4, order[3]), (3, order[2]), (2, order[1])):
        key(page, "u")
        page.wait_for_selector(f".tile[data-is=top] >> text={name}")
        assert f"{place} of 5" in page.inner_text(".way") and "changing an earlier" in page.inner_text(".tag")
    answer(page, "Escape", "8", "Enter")  # correct the second answer
    for name in (order[2], order[3]):  # later answers are shown unchanged; Enter goes on
        page.wait_for_selector(f".tile[data-is=top] >> text={name}")
        answer(page, "Enter")
    shown(page)
    assert page.query_selector(".tile[data-is=top]") is None
    answer(page, "5", "Enter")
    page.wait_for_selector("text=All done")
    assert tops(live) == [order[0], order[7], order[2], order[3], order[4]]
    assert len(every(live)) == 6  # unchanged answers are not sent again


def test_workers_can_continue_while_answers_are_being_sent(studio: Any, context: Any) -> None:
    live = studio(n=9)
    page = context().new_page()
    page.goto(live.join)
    shown(page)
    loaded: list[str] = []
    page.on("request", lambda asked: "/media/" in asked.url and loaded.append(asked.url))
    held: list[Any] = []
    page.route("**/api/answers", lambda route: held.append(route))  # hold every request until the test continues it
    for place in "123":
        answer(page, place, "Enter")  # three tasks are preloaded
    page.wait_for_selector("text=Saving your answers")
    while held or len(live.answers()) < 3:
        if held:
            held.pop(0).continue_()
        page.wait_for_timeout(20)
    assert "4 of 9" in shown(page)
    page.unroute("**/api/answers")
    for place in "456":
        answer(page, place, "Enter")
    saved(page)
    assert len(live.answers()) == 6


def test_unsent_answers_are_sent_after_the_server_restarts(tmp_path: Path, context: Any) -> None:
    page = context().new_page()
    with own_port() as port:
        with run(tmp_path / "one", studio_of(n=5), port=port) as live:
            page.goto(live.join)
            answer(page, "1", "Enter")
            saved(page)
        answer(page, "2", "Enter")
        page.wait_for_selector("text=1 not sent yet")
        for place in "34":
            answer(page, place, "Enter")
        page.wait_for_selector("text=The server cannot be reached")  # all preloaded tasks are answered
        with run(tmp_path / "one", lambda _: None, port=port) as live:
            assert "5 of 5" in shown(page)
            saved(page)
            assert len(live.answers()) == 4 == len(every(live))


@pytest.mark.parametrize("how", REFUSES)
def test_answering_works_without_browser_storage_and_warns(studio: Any, context: Any, how: str) -> None:
    live = studio(n=4)
    page = context().new_page()
    page.add_init_script(REFUSES[how])
    page.goto(live.invite(uses=1))
    page.wait_for_selector("text=This browser does not store anything")
    answer(page, "1", "Enter")
    saved(page)
    answer(page, "2", "Enter")
    saved(page)
    page.reload()  # the URL identifies the worker, though the invite has no uses left
    assert "3 of 4" in shown(page)
    page.route("**/api/answers", lambda route: route.abort())
    answer(page, "3", "Enter")
    page.wait_for_selector("text=1 not saved: keep this page open")
    page.on("dialog", lambda dialog: dialog.dismiss())
    with page.expect_event("dialog") as asked:
        page.close(run_before_unload=True)  # the browser asks to confirm; the test declines
    page.wait_for_selector("text=1 not saved")
    assert asked.value.type == "beforeunload"
    page.unroute("**/api/answers")
    saved(page)
    assert len(live.answers()) == 3


def test_a_picture_that_does_not_load_is_shown_to_the_worker_and_flagged(studio: Any, context: Any) -> None:
    live = studio(n=4)
    page = context().new_page()
    page.route("**/media/**", lambda route: route.abort())
    page.goto(live.join)
    page.wait_for_selector("[role=alert] >> text=The picture did not load")
    answer(page, "s", "Enter")
    page.wait_for_selector("text=The picture did not load")
    page.unroute("**/media/**")
    page.click("text=Load it again")
    page.wait_for_selector(".scene img")
    answer(page, "1", "Enter")
    saved(page)
    kinds = [[event["kind"] for event in one["events"]] for one in live.answers()]
    assert live.answers()[0]["abstain"] and kinds[0][0] == "unseen"
    assert kinds[1][:2] == ["unseen", "seen"]
    SnapshotComputer(live.studio.engine).compute_and_publish_snapshot(live.studio.study)
    told = select(flags.c.flags).where(flags.c.answer_id.in_([one["id"] for one in live.answers()]))
    found = live.studio.read_sync(lambda c: c.execute(told.order_by(flags.c.answer_id)).scalars().all())
    assert sum("picture-not-seen" in one for one in found) == 1  # not the one that loaded on the second try


def drafted(live: Any) -> list[str]:
    return live.studio.read_sync(lambda c: c.execute(select(drafts.c.body)).scalars().all())


def test_an_unfinished_answer_continues_on_another_device(studio: Any, context: Any) -> None:
    live = studio(n=3, form="top-two", title="Elsewhere")  # a study of its own, without other drafts
    page = context().new_page()
    page.add_init_script(UNASKED)  # disables the timer that sends drafts
    asked: list[str] = []
    page.on("request", lambda one: asked.append(f"{one.method} {one.url.rpartition('/')[2]}"))
    page.goto(live.join)
    shown(page)
    key(page, "3", "5", "7", "0", "Shift+1")
    order = order_of(page)
    assert "PUT draft" not in asked  # keys alone send no draft
    with page.expect_response("**/api/draft"):
        page.evaluate("dispatchEvent(new Event('pagehide'))")  # as when the worker leaves the page
    key(page, "?")
    link = page.input_value("[aria-label='Your personal link']")
    there = context(viewport={"width": 390, "height": 844}).new_page()
    there.goto(link)
    there.wait_for_selector("text=2nd 30%")
    assert there.inner_text(".tile[data-is=never] .name") == order[0]
    assert len(live.answers()) == 0
    answer(there, "Enter")
    saved(there)
    [said] = live.answers()
    assert [one[:2] for one in said["marks"]] == [["named", order[2]], ["named", order[4]], ["never", order[0]]]
    assert [event["kind"] for event in said["events"]][:5] == ["pick", "pick", "percent", "percent", "never"]
    assert drafted(live) == [] and asked.count("PUT draft") == 1


def test_a_draft_is_sent_after_a_pause_and_deleted(studio: Any, context: Any) -> None:
    live = studio(n=3, form="top-two", title="A pause")  # a study of its own, without other drafts
    page = context().new_page()
    page.add_init_script("const later = setTimeout; globalThis.setTimeout = (act, ms) => later(act, ms / 20);")
    page.goto(live.join)
    shown(page)
    with page.expect_response("**/api/draft"):
        key(page, "3")
    assert json.loads(drafted(live)[-1])["core"]["top"] == 2
    with page.expect_response("**/api/draft"):
        key(page, "u")
    there = context(storage_state=page.context.storage_state()).new_page()
    there.goto(f"{live.base}/work")
    shown(there)
    assert there.query_selector(".tile[data-is=top]") is None
