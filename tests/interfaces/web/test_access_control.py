"""Every route requires its authentication, and no setting disables it."""

import re
from collections.abc import Iterator
from http.cookiejar import CookieJar
from typing import Any

import httpx
import pytest
from fastapi import Response
from fastapi.routing import APIRoute

from plurivox.web.api.route_dependencies import set_owner_session_cookie
from plurivox.web.server.middleware import SecurityMiddleware
from plurivox.web.server_settings import Settings
from studies import PATIENCE, Served, plain_study, served

FORGED = "f" * 43
UNSIGNED = {"/api/owner/setup", "/api/owner/login"}  # owners sign in with these, so they need no session
OPEN = {
    "/api/enter",
    "/api/preview",  # texts only, and only for platforms with a preview
    "/health",
    "/media/{media}",
    "/",
    "/join",
    "/join/",
    "/work",
    "/work/",
    "/owner",
    "/owner/",
    "/owner-preview",  # a page without data
    "/owner-preview/",
    "/api",
    "/api/",
    "/{name}/",
    "/static/{name:path}",
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("access") / "s", plain_study(per_task=9)) as one:
        one.sign_in()
        yield one


def routes(study: Served) -> Iterator[tuple[str, str]]:
    """Yield (method, path) of every route of the application."""
    seen, waiting = 0, list(study.app.routes)
    while waiting:
        route = waiting.pop()
        waiting += getattr(getattr(route, "original_router", None) or route, "routes", None) or []
        if isinstance(route, APIRoute):
            seen += 1
            yield from ((method, route.path) for method in route.methods)
    assert seen > 30, "too few routes were found"


def reached(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "2" + "a" * 15, path)


def call(
    study: Served, method: str, path: str, headers: dict[str, str] | None = None, cookie: str = ""
) -> httpx.Response:
    """Send a request with only these headers and this session cookie."""
    given = {**(headers or {}), **({"Cookie": f"plurivox_owner={cookie}"} if cookie else {})}
    kept, study.http.cookies.jar = study.http.cookies.jar, CookieJar()
    try:
        return study.http.request(method, reached(path), json=None if method == "GET" else {}, headers=given)
    finally:
        study.http.cookies.jar = kept


def owners(study: Served) -> list[tuple[str, str]]:
    found = [one for one in routes(study) if one[1].startswith("/api/owner") and one[1] not in UNSIGNED]
    assert len(found) > 15
    return found


def test_every_route_is_covered_by_these_tests(study: Served) -> None:
    known = {path for _, path in owners(study)} | {path for _, path in workers_routes(study)} | UNSIGNED | OPEN
    assert {path for _, path in routes(study)} - known == set()


def test_no_route_of_the_owner_answers_without_a_session(study: Served) -> None:
    person = study.enter()
    for method, path in owners(study):
        for headers, cookie in (
            ({}, ""),
            (person.headers, ""),
            ({}, FORGED),
            ({}, person.entered["token"]),
            (study.owner, ""),
        ):
            said = call(study, method, path, headers, cookie)
            assert said.status_code == 401 and said.json()["error"] == "unsigned", (method, path)


def test_owner_writes_need_the_studios_origin_and_the_csrf_token(study: Served) -> None:
    cookie, token = study.http.cookies["plurivox_owner"], study.owner["X-Plurivox-Token"]
    writes = [(method, path) for method, path in owners(study) if method != "GET"]
    assert len(writes) >= 4
    evil = (
        "https://evil.test",
        "null",
        study.url + ".evil.test",
        study.url.replace("http", "https"),
        study.url + "0",
    )
    for method, path in writes:
        for headers in (
            {}, {"Origin": study.url}, {"X-Plurivox-Token": token}, {"Origin": study.url, "X-Plurivox-Token": token[::-1]},
            {"Referer": study.url, "X-Plurivox-Token": token}, *({"Origin": one, "X-Plurivox-Token": token} for one in evil),
        ):  # fmt: skip
            assert call(study, method, path, headers, cookie).status_code == 403, (method, path, headers)
    for path in UNSIGNED:
        for one in evil:
            said = study.http.post(
                path, json={"token": "x", "name": "olga", "password": "correct horse"}, headers={"Origin": one}
            )
            assert said.status_code in (403, 422) and "set-cookie" not in said.headers, (path, one)
    assert study.http.get("/api/owner/session").json()["name"] == "olga"  # the rejected requests had no effect
    assert study.http.get("/api/owner/progress").json()["state"] == "open"


def workers_routes(study: Served) -> list[tuple[str, str]]:
    found = [
        one
        for one in routes(study)
        if one[1].startswith("/api/") and not one[1].startswith("/api/owner") and one[1] not in OPEN
    ]
    assert len(found) >= 6
    return found


def test_no_route_of_a_worker_answers_without_their_token(study: Served) -> None:
    person = study.enter()
    token, cookie = person.entered["token"], study.http.cookies["plurivox_owner"]
    link, invite = person.entered["personal_link"].split("link=")[1], study.invite()
    name, _, mac = token.rpartition(".")
    bad = [
        "x",
        FORGED,
        link,
        invite,
        cookie,
        token[:-1],
        name,
        f"{name}.{mac[::-1]}",
        f"2{'a' * 15}.x.{mac}",
    ]
    for method, path in workers_routes(study):
        for one in bad:
            for headers in ({"Authorization": f"Bearer {one}"}, {"Authorization": f"Basic {one}"}):
                assert call(study, method, path, headers).status_code == 401, (method, path, one)
        assert call(study, method, path, {}, cookie).status_code == 401  # an owner session gives no worker access
        assert call(study, method, f"{path}?token={token}").status_code == 401  # a token in the query string is ignored
        assert call(study, method, path, {"Cookie": f"token={token}; bearer={token}"}).status_code == 401


def test_a_worker_cannot_see_what_belongs_to_another(study: Served) -> None:
    ann, bob = study.enter(), study.enter()
    slot = ann.slots()[0]["slot"]
    assert ann.answer(slot, key="anns-key").status_code == 200
    mine = bob.slots()[0]["slot"]
    for body in ({"slot": slot}, {"slot": slot, "key": "anns-key"}, {"slot": mine, "replaces": "anns-key"}):
        said = bob.post("/api/answers", {"key": "k", "marks": [{"kind": "named", "label": "cat"}], **body})
        assert said.status_code == 404, body
    assert slot not in bob.get("/api/tasks?n=10").text + bob.get("/api/answers?n=100").text + bob.get("/api/me").text
    assert ann.entered["me"]["worker"] not in bob.get("/api/me").text
    assert [one["slot"]["slot"] for one in ann.get("/api/answers").json()["answers"]] == [slot]
    assert bob.get("/api/answers").json() == {"answers": []}


def test_no_setting_disables_authentication(study: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    switches = {name for name, about in Settings.model_fields.items() if about.annotation is bool}
    assert switches <= {"is_leader", "multi_study"}  # test here that a new boolean setting does not weaken access
    loud = re.compile("debug|bypass|insecure|unsafe|skip|disable|anonym|backdoor|master|dev_|test")
    assert not [name for name in Settings.model_fields if loud.search(name)]
    for name in ("DEBUG", "TESTING", "INSECURE", "NO_AUTH", "ADMIN", "SETUP_TOKEN", "PASSWORD", "SECRET"):
        monkeypatch.setenv(f"PLURIVOX_{name}", "1")
        monkeypatch.setenv(name, "1")
    with served(tmp_path / "s", is_leader=False, multi_study=True) as other:
        for headers in ({}, {"X-Forwarded-User": "olga", "X-Remote-User": "olga", "X-Original-URL": "/health"}):
            assert call(other, "GET", "/api/owner/progress?debug=1&admin=true", headers, "1").status_code == 401
        assert call(other, "POST", "/api/enter?debug=1").status_code == 422
        assert other.app.debug is False


def test_every_sign_in_makes_a_new_session_with_an_http_only_cookie(study: Served) -> None:
    body, origin = {"name": "olga", "password": "correct horse"}, {"Origin": study.url}
    # session fixation: the client already sends a cookie that an attacker chose
    with httpx.Client(base_url=study.url, cookies={"plurivox_owner": FORGED}, timeout=PATIENCE) as http:
        said = [http.post("/api/owner/login", json=body, headers=origin) for _ in range(2)]
    cookies = [one.headers["set-cookie"] for one in said]
    assert cookies[0] != cookies[1] and not any(FORGED in one for one in cookies)
    assert said[0].json()["csrf"] != said[1].json()["csrf"]
    for one in cookies:
        assert {"HttpOnly", "Path=/", "SameSite=strict"} <= set(one.split("; ")) and "Domain" not in one
    assert call(study, "GET", "/api/owner/session", {}, FORGED).status_code == 401


def test_over_https_the_cookie_is_secure_and_hsts_is_set() -> None:
    settings, reply = Settings(base_url="https://study.example.org"), Response()
    set_owner_session_cookie(reply, settings, "token")
    assert {"Secure", "HttpOnly", "SameSite=strict"} <= set(reply.headers["set-cookie"].split("; "))
    secured = dict(SecurityMiddleware(reply, settings, plain_study()).owner_headers)
    assert b"max-age" in secured[b"strict-transport-security"]
