"""The audit log records sign-ins, sign-outs and refused sign-ins, and stays small in a flood."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import func, select, update

from interfaces.web.page_actions import resize
from interfaces.web.test_owner_pages import go
from interfaces.web.test_owner_pages import sign_in as sign_in_on_page
from interfaces.web.test_proxy import HOME, PROXY, proxy
from plurivox import web
from plurivox.web.api.routes.pages import STATIC
from plurivox.web.jobs.background_thread import BackgroundThread
from plurivox.web.store.admin import audit_log
from plurivox.web.store.schema import audit
from studies import Served, fresh_database, served

RIGHT, WRONG = "correct horse", "wrong horse"
UNKNOWN = audit_log.UNKNOWN_NAME


def log_in(study: Served, name: str, password: str, http: httpx.Client | None = None, **headers: str) -> httpx.Response:
    said = (http or study.http).post(
        "/api/owner/login", json={"name": name, "password": password}, headers={"Origin": study.url} | headers
    )
    if said.status_code == 200:
        study.owner = {"Origin": study.url, "X-Plurivox-Token": said.json()["csrf"]}
    return said


def lines(study: Served) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the audit log as the owner's page gets it, the oldest first, without times of day."""
    found = study.http.get("/api/owner/audit").json()["lines"][::-1]
    return [
        (one["who"], one["what"], {name: of for name, of in one["detail"].items() if name != "since"}) for one in found
    ]


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    return "" if request.param == "sqlite" else fresh_database(request.getfixturevalue("postgres"))


def test_sign_ins_sign_outs_and_refused_sign_ins_are_recorded(tmp_path: Path, database: str, still: None) -> None:
    about = {"base_url": HOME, "behind_proxy": PROXY, "logins_per_minute": 4, "database": database}
    with served(tmp_path / "s", **about) as study, proxy(study) as http:
        study.url, study.http = HOME, http
        http.headers["X-Forwarded-For"] = "203.0.113.7"
        study.sign_in()
        # httpx does not send Secure cookies over http: pass them by hand
        keep = {"Cookie": "; ".join(f"{one.name}={one.value}" for one in http.cookies.jar)}
        assert http.post("/api/owner/logout", headers=study.owner | keep).status_code == 204
        stranger = {"X-Forwarded-For": "2001:db8:77:1::9"}
        assert [log_in(study, "olga", WRONG).status_code for _ in range(3)] == [401] * 3
        assert [log_in(study, "root", WRONG, **stranger).status_code for _ in range(6)] == [401] * 4 + [429] * 2
        assert log_in(study, "olga", RIGHT).status_code == 200
        http.headers["Cookie"] = "; ".join(f"{one.name}={one.value}" for one in http.cookies.jar)
        known, new = {"network": "203.0.113.0/24", "known": True}, {"network": "203.0.113.0/24", "known": False}
        far = {"network": "2001:db8:77::/48", "known": False}
        assert lines(study) == [
            ("olga", "owner set up", {"network": "203.0.113.0/24"}),
            ("olga", "sign-in", new),
            ("olga", "sign-out", {"network": "203.0.113.0/24"}),
            ("olga", "sign-in refused", {"why": "wrong password", "times": 3} | known),
            (UNKNOWN, "sign-in refused", {"why": "unknown name", "times": 4} | far),
            (UNKNOWN, "sign-in refused", {"why": "too many attempts", "times": 2} | far),
            ("olga", "sign-in", known),
        ]
        assert "203.0.113.7" not in str(study.look(select(audit))) and WRONG not in str(study.look(select(audit)))


def test_unknown_names_and_wrong_passwords_get_the_same_response(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        study.sign_in()
        known, unknown = (log_in(study, name, WRONG) for name in ("olga", "nobody"))
        assert known.status_code == unknown.status_code == 401 and known.content == unknown.content
        ignore = {"date"}
        assert {k: v for k, v in known.headers.items() if k not in ignore} == {
            k: v for k, v in unknown.headers.items() if k not in ignore
        }


def test_a_wrong_setup_link_is_recorded(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        body = {"token": "guessed", "name": "eve", "password": "a long password"}
        assert study.http.post("/api/owner/setup", json=body, headers={"Origin": study.url}).status_code == 403
        study.sign_in()
        assert (UNKNOWN, "sign-in refused") in [line[:2] for line in lines(study)]


def test_a_name_that_no_owner_has_is_not_stored_since_it_may_be_a_password(tmp_path: Path) -> None:
    with served(tmp_path / "s", logins_per_minute=3) as study:
        study.sign_in()
        secret = "Tr0ub4dor"
        assert [log_in(study, secret, "olga").status_code for _ in range(3)] == [401, 401, 429]
        body = {"token": "guessed", "name": secret, "password": "a long password"}
        assert study.http.post("/api/owner/setup", json=body, headers={"Origin": study.url}).status_code == 429
        found = [(who, detail["why"], detail["times"]) for who, what, detail in lines(study) if "refused" in what]
        assert found == [(UNKNOWN, "unknown name", 2), (UNKNOWN, "too many attempts", 2)]
        assert secret not in str(study.look(select(audit)))


def test_setup_attempts_over_the_limit_and_those_at_a_busy_server_are_recorded(tmp_path: Path) -> None:
    body = {"token": "guessed", "name": "eve", "password": "a long password"}
    with served(tmp_path / "s", logins_per_minute=4) as study:

        def set_up() -> int:
            return study.http.post("/api/owner/setup", json=body, headers={"Origin": study.url}).status_code

        study.sign_in()
        hashing = study.app.state.limits.hashing
        hashing._pending += hashing._capacity  # as if many people were signing in
        assert [set_up(), log_in(study, "olga", RIGHT).status_code] == [429, 429]
        hashing._pending -= hashing._capacity
        assert {set_up() for _ in range(4)} == {403, 429}
        found = {(who, detail["why"]) for who, what, detail in lines(study) if what == "sign-in refused"}
        assert found == {
            (UNKNOWN, "busy server"),
            ("olga", "busy server"),
            (UNKNOWN, "wrong setup link"),
            (UNKNOWN, "too many attempts"),
        }


def test_a_flood_of_refused_sign_ins_adds_few_lines_and_hides_no_action(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        study.sign_in()
        codes = {log_in(study, f"name{i}", WRONG).status_code for i in range(400)}
        assert codes == {401}
        for _ in range(5):
            found = lines(study)  # writes what is counted
            codes |= {log_in(study, f"other{i}", WRONG).status_code for i in range(20)}
        n = study.look(select(func.count()).where(audit.c.what == "sign-in refused"))[0][0]
        assert n <= 101 and ("olga", "owner set up") in [line[:2] for line in found]
        refused = [line[2] for line in found if line[1] == "sign-in refused"]
        assert sum(one["times"] for one in refused) >= 400


def test_counted_attempts_are_written_when_the_server_stops(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        study.sign_in()
        log_in(study, "olga", WRONG)
        assert not study.look(select(audit).where(audit.c.what == "sign-in refused"))
    with served(tmp_path / "s") as study:
        assert len(study.look(select(audit).where(audit.c.what == "sign-in refused"))) == 1


def test_a_wrong_password_is_answered_while_the_database_cannot_be_written(tmp_path: Path) -> None:
    with served(tmp_path / "s", write_seconds=2) as study:
        study.sign_in()
        with closing(sqlite3.connect(tmp_path / "s" / "study.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")  # blocks writes, not reads
            assert [log_in(study, name, WRONG).status_code for name in ("olga", "nobody")] == [401, 401]
            assert log_in(study, "olga", RIGHT).status_code == 503
            assert study.http.get("/api/owner/audit").status_code == 200  # without the lines that cannot be written yet
            other.execute("ROLLBACK")
        refused = [line for line in lines(study) if line[1] == "sign-in refused"]
        assert {(who, detail["times"]) for who, _, detail in refused} == {("olga", 1), (UNKNOWN, 1)}


def test_lines_about_refused_sign_ins_are_deleted_after_90_days(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        study.sign_in()
        log_in(study, "olga", WRONG)
        assert len(lines(study)) == 3
        study.studio.writer.submit(lambda c: c.execute(update(audit).values(at=audit.c.at - 91 * 86400))).result()
        BackgroundThread(study.studio).run_jobs_and_turn_errors_into_alerts()  # of the leader
        assert [line[1] for line in lines(study)] == ["owner set up", "sign-in"]


def test_every_action_in_the_audit_log_has_a_sentence_on_its_page() -> None:
    found = {audit_log.SIGN_IN, audit_log.SIGN_OUT, audit_log.REFUSED}
    for file in Path(web.__file__).parent.rglob("*.py"):
        for call in re.findall(r"append_to_audit_log[(,]([^)]*)\)", file.read_text()):
            found |= set(re.findall(r'"([^"]+)"', call)) - {"rules"}  # "rules" is who
    assert {"state", "exclude", "platform study admitted", "owner set up", "export"} <= found
    script = (
        (STATIC / "js" / "owner_invites_audit.js").read_text().partition("const actions = {")[2].partition("\n};")[0]
    )
    assert found == {one.strip('"') for one in re.findall(r'^  ("[^"]+"|\w+): ', script, re.MULTILINE)}


def test_the_audit_page_says_in_plain_words_who_signed_in_and_who_was_refused(studio: Any, context: Any) -> None:
    live, page = studio(n=2), context().new_page()
    sign_in_on_page(page, live)
    evil = "<img src=x onerror=window.hit=1>"
    for name in ("ada", "ada", "ada", evil):
        httpx.post(f"{live.base}/api/owner/login", json={"name": name, "password": "x"}, headers={"Origin": live.base})
    go(page, "audit")
    text = page.inner_text("main")
    for sentence in (
        "became the first owner, from 127.0.0.1",
        "signed in, from 127.0.0.1 (a new address)",
        "wrong password, 3 times, from 127.0.0.1 (an address this owner has used)",
        "unknown name, from 127.0.0.1",
    ):
        assert sentence in text, text
    assert evil not in text and UNKNOWN in text and page.evaluate("window.hit") is None
    resize(page, 390, 844)
    inside = page.evaluate(
        "(() => { const one = document.querySelector('.log .card'); return one.scrollWidth <= one.clientWidth; })()"
    )
    assert inside, "the table is wider than a phone"
