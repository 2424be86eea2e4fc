"""Prolific and MTurk: entering, preview, frame, completion."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest
from sqlalchemy import select, update

from interfaces.web.page_actions import answer, fits, key, shown
from plurivox.core.errors import InputError
from plurivox.web.store.collect.leases import end_some_overdue_leases_and_return_count
from plurivox.web.store.schema import raw_ids, sittings, slots, tasks, workers
from plurivox.web.study.config import parse_study
from studies import PLAIN, admitting, plain_study, served, text_tasks

MTURK = {"name": "mturk", "pid": "A1WORKER", "study": "3HIT", "session": "3ASSIGN"}
SANDBOX = "https://workersandbox.mturk.com"
FRAME = """<!doctype html><title>platform</title><style>html,body,iframe {{ margin: 0; width: 100%; height: 100%; }}</style>
<iframe title="task" src="{src}"></iframe>"""
NO_STORE = """if (window !== top) for (const name of ["localStorage", "sessionStorage"])
  Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError"); } });"""

LOCAL = {"permissions": ["local-network-access"]}  # a frame on a public host may load the studio on localhost


def address(base: str, **changes: str) -> str:
    said = {"assignmentId": "3ASSIGN", "hitId": "3HIT", "workerId": "A1WORKER", "turkSubmitTo": SANDBOX} | changes
    return f"{base}/join?{urlencode(said)}"


def test_an_assignment_is_submitted_only_to_mturk_hosts(tmp_path: Path) -> None:
    study = plain_study(batch=1, **admitting(mturk="3HIT"), completion={"code": "C0DE"})
    with served(tmp_path / "s", study) as live:
        for bad in ("https://evil.test", "http://www.mturk.com", "https://www.mturk.com.evil.test", None, ""):
            said = live.http.post("/api/enter", json={"platform": MTURK | {"submit_to": bad}})
            assert said.status_code == 422, bad
        preview = {"session": "ASSIGNMENT_ID_NOT_AVAILABLE", "submit_to": SANDBOX}
        assert live.http.post("/api/enter", json={"platform": MTURK | preview}).status_code == 422
        person = live.enter(platform=MTURK | {"submit_to": SANDBOX})
        assert person.post("/api/done").status_code == 409
        person.answer(person.slots()[0]["slot"])
        submit = person.post("/api/done").json()["submit"]
        assert submit["action"] == f"{SANDBOX}/mturk/externalSubmit"
        assert submit["fields"] == {"assignmentId": "3ASSIGN", "worker": person.entered["me"]["worker"], "code": "C0DE"}
        prolific = live.http.post("/api/enter", json={"platform": {"pid": "p", "study": "s", "session": "x"}})
        assert prolific.status_code == 403  # the study does not list Prolific in `platforms`


def test_an_mturk_assignment_identifies_the_worker_without_storage(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(**admitting(mturk="3HIT"))) as live:
        way = {"platform": MTURK | {"submit_to": SANDBOX}}
        first = live.enter(**way, key="a" * 20)
        assert live.enter(**way, key="b" * 20).entered["me"]["worker"] == first.entered["me"]["worker"]
        accepted_again = {"platform": MTURK | {"submit_to": SANDBOX, "session": "3OTHER"}}
        # a new assignment id needs the worker's token
        assert live.http.post("/api/enter", json=accepted_again).status_code == 409
        assert live.http.post("/api/enter", json=accepted_again, headers=first.headers).status_code == 200
        assert live.look(select(raw_ids.c.session)) == [("3OTHER",)]
        live.enter(**accepted_again)


def test_frames_of_mturk_are_allowed_only_if_the_study_uses_mturk(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(platforms=["prolific", "mturk"])) as live:
        said = live.http.get("/join").headers
        assert f"form-action 'self' {SANDBOX} https://www.mturk.com" in said["content-security-policy"]
        assert f"frame-ancestors {SANDBOX} https://www.mturk.com" in said["content-security-policy"]
        assert "x-frame-options" not in said
        owners = live.http.get("/owner").headers
        assert "mturk" not in owners["content-security-policy"] and owners["x-frame-options"] == "DENY"
    with served(tmp_path / "t") as live:
        assert "mturk" not in live.http.get("/join").headers["content-security-policy"]
        assert live.http.get("/api/preview").status_code == 403
        assert live.http.post("/api/enter", json={"platform": MTURK | {"submit_to": SANDBOX}}).status_code == 403
    with pytest.raises(InputError, match="platforms"):
        parse_study({"name": "x", "labels": ["a", "b"], "platforms": ["elsewhere"]})


def test_slots_of_a_returned_prolific_submission_go_to_others(tmp_path: Path) -> None:
    with served(tmp_path / "s", plain_study(per_task=1, **admitting("st1")), text_tasks(4)) as live:
        gone = live.enter(platform={"pid": "p1", "study": "st1", "session": "se1"})
        gone.answer(gone.slots()[0]["slot"])
        assert live.look(select(raw_ids.c.platform, raw_ids.c.raw, raw_ids.c.study, raw_ids.c.session)) == [
            ("prolific", "p1", "st1", "se1")
        ]
        write = live.studio.writer.submit
        write(lambda c: c.execute(update(sittings).values(until=1.0))).result()
        assert write(end_some_overdue_leases_and_return_count).result() == 1
        assert sorted(row.given for row in live.look(select(tasks.c.given))) == [0, 0, 0, 1]
        assert len(live.enter(platform={"pid": "p2", "study": "st1", "session": "se2"}).slots()) == 3


def test_completion_codes_for_failed_and_for_full(tmp_path: Path) -> None:
    quiz = [{"question": "?", "choices": ["a", "b"], "right": 1}]
    completion = {"code": "OK", "redirect": "https://app.prolific.com/submissions/complete"}
    ends = {"completion": completion | {"failed": "NO", "full": "FULL"}, "texts": PLAIN | {"debrief": "Thanks"}}
    study = plain_study(batch=1, per_task=1, quiz=quiz, exclude={"quiz_tries": 2}, **ends)
    with served(tmp_path / "s", study, text_tasks(1)) as live:
        failed = live.enter()
        for stage in ("quiz", "done"):
            told = failed.post("/api/me/stage", {"stage": "quiz", "quiz": [0]}).json()
            assert told["me"]["stage"] == stage
        done = failed.post("/api/done").json()
        assert (done["how"], done["code"], done["redirect"][-6:]) == ("failed", "NO", "?cc=NO")
        one, late = live.enter(), live.enter()
        for person in (one, late):
            assert person.post("/api/me/stage", {"stage": "quiz", "quiz": [1]}).json()["me"]["stage"] == "tasks"
        one.answer(one.slots()[0]["slot"])
        # no debriefing for a worker without answers
        assert late.slots() == [] and late.get("/api/me").json()["stage"] == "done"
        assert late.post("/api/done").json() | {"text": ""} == {
            "code": "FULL", "redirect": "https://app.prolific.com/submissions/complete?cc=FULL", "how": "full",
            "text": "", "submit": None,
        }  # fmt: skip
        one.post("/api/me/stage", {"stage": "debrief"})
        assert one.post("/api/done").json()["redirect"].endswith("?cc=OK")


def in_frame(page: Any, src: str) -> Any:
    """Open the studio in a frame of a fake MTurk page; record forms sent to MTurk in `page.sent`."""
    page.sent = []

    def platform(route: Any) -> None:
        request = route.request
        if request.method == "POST":
            page.sent.append((request.url, parse_qs(request.post_data or "")))
            route.fulfill(body="<!doctype html><p>taken", content_type="text/html")
        else:
            route.fulfill(body=FRAME.format(src=src.replace("&", "&amp;")), content_type="text/html")

    page.route(f"{SANDBOX}/**", platform)
    page.goto(f"{SANDBOX}/projects")
    return page.frame_locator("iframe")


TEXTS = {"consent": "We ask about animals.", "instructions": "Look, then say.", "debrief": ""}


def test_a_preview_creates_no_worker_and_leases_no_slot(studio: Any, context: Any) -> None:
    live = studio(n=2, platforms=["mturk"], texts=TEXTS, title="Previews")  # a study of its own, without other workers
    frame = in_frame(
        context(**LOCAL).new_page(), address(live.base, assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE", workerId="")
    )
    frame.get_by_text("This is a preview").wait_for()
    assert "We ask about animals." in frame.locator("main").inner_text()
    assert "Look, then say." in frame.locator("main").inner_text()
    for table in (workers, sittings, slots):
        assert live.studio.read_sync(lambda c, t=table: c.execute(select(t)).all()) == []


@pytest.mark.parametrize("size", [(1280, 720), (360, 640)])
def test_all_stages_in_a_frame_of_another_origin_without_storage(studio: Any, context: Any, size: Any) -> None:
    live = studio(n=2, **admitting(mturk="3HIT"), texts=TEXTS)
    browser = context(viewport={"width": size[0], "height": size[1]}, **LOCAL)
    browser.add_init_script(NO_STORE)
    page = browser.new_page()
    who = f"A{size[0]}"
    frame = in_frame(page, address(live.base, workerId=who, assignmentId=f"3{who}"))
    frame.get_by_label("I have read this").check()
    frame.get_by_role("button", name="Take part").click()
    frame.get_by_role("button", name="Continue").click()
    frame.locator("main.task").wait_for()
    inside = page.frames[1]
    fits_frame = inside.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert fits_frame
    answer(inside_page(inside), "1", "Enter")
    frame.locator(".saved[data-is=kept]").wait_for()
    with page.expect_event("framenavigated"):  # wait for the reload: the old page shows "2 of 2" too
        # reload without storage: the assignment identifies the worker
        page.evaluate("document.querySelector('iframe').src += ''")
    frame.get_by_text("2 of 2").wait_for()
    inside = page.frames[1]
    shown(inside)  # the task is loaded before the network is cut
    browser.set_offline(True)
    answer(inside_page(inside), "1", "Enter")
    frame.get_by_role("heading", name="One moment").wait_for()
    assert page.sent == [] and len(live.answers()) == 1  # nothing is submitted before the answer is saved
    browser.set_offline(False)
    frame.get_by_text("taken").wait_for()
    assert len(live.answers()) == 2
    [(url, fields)] = page.sent
    assert url == f"{SANDBOX}/mturk/externalSubmit" and fields["assignmentId"] == [f"3{who}"]
    assert browser.cookies() == []


def inside_page(frame: Any) -> Any:
    """Focus a frame and give it a keyboard, so that page actions work on it."""
    frame.locator("body").evaluate("() => window.focus()")
    frame.keyboard = frame.page.keyboard
    frame.locator("main.task").focus()
    return frame


def test_a_full_study_shows_a_page_with_its_own_code(studio: Any, context: Any) -> None:
    live = studio(n=1, per_task=1, completion={"code": "OK", "full": "F-1"}, kind="text")
    for end, code in (("All done", "OK"), ("No task is left", "F-1")):
        page = context().new_page()
        page.goto(live.join)
        if code == "OK":
            answer(page, "1", "Enter")
        page.get_by_role("heading", name=end).wait_for()
        assert page.inner_text(".code") == code
        fits(page)
        key(page, "Tab")
