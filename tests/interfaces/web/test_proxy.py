"""Behind a proxy: trusted headers, prefixes, https, limits per client."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from plurivox.web.api.route_dependencies import RateLimits
from plurivox.web.server_settings import Settings
from studies import PATIENCE, Served, served
from web.server.test_multi_study import made, serve_studies

HOME = "https://lab.example"
PROXY = "127.0.0.2"  # a second loopback address


@contextmanager
def proxy(study: Served, address: str = PROXY) -> Iterator[httpx.Client]:
    """Yield a client that connects from the proxy's address."""
    way = httpx.HTTPTransport(local_address=address)
    with httpx.Client(base_url=study.url, transport=way, timeout=PATIENCE) as http:
        yield http


def codes(http: httpx.Client, n: int, **headers: str) -> list[int]:
    """Send n logins with a wrong password and return the status codes."""
    said = [
        http.post("/api/owner/login", json={"name": "x", "password": "y"}, headers={"Origin": HOME, **headers})
        for _ in range(n)
    ]
    return [one.status_code for one in said]


def test_limits_count_the_client_address_from_the_trusted_proxy(tmp_path: Path, still: None) -> None:
    with served(tmp_path / "s", base_url=HOME, behind_proxy=PROXY, logins_per_minute=2) as study, proxy(study) as http:
        assert codes(http, 3, **{"X-Forwarded-For": "203.0.113.7"}) == [401, 401, 429]
        assert codes(http, 1, **{"X-Forwarded-For": "203.0.113.8"}) == [401]
        # clients can forge the addresses on the left; the proxy appends the last one
        assert codes(http, 2, **{"X-Forwarded-For": "198.51.100.1, 203.0.113.7"}) == [429, 429]


def test_forwarded_headers_of_other_addresses_are_ignored(tmp_path: Path, still: None) -> None:
    with served(tmp_path / "s", base_url=HOME, behind_proxy=PROXY, logins_per_minute=2) as study:
        forged = [codes(study.http, 1, **{"X-Forwarded-For": f"203.0.113.{n}"})[0] for n in range(4)]
        assert forged == [401, 401, 429, 429]
    with served(tmp_path / "t", logins_per_minute=2) as study:  # without a configured proxy
        about = {"Origin": study.url}
        assert [codes(study.http, 1, **about, **{"X-Forwarded-For": f"203.0.113.{n}"})[0] for n in range(3)][2] == 429


def test_https_makes_cookies_secure_and_links_and_origin_follow(tmp_path: Path) -> None:
    with served(tmp_path / "s", base_url=f"{HOME}:443/", behind_proxy=PROXY) as study, proxy(study) as http:
        said = sign_in(study, http, "/api/owner/setup")
        kept = said.headers["set-cookie"]
        assert "Secure" in kept and "HttpOnly" in kept and "Path=/;" in kept and "SameSite=strict" in kept
        assert said.headers["strict-transport-security"].startswith("max-age=")
        writing = {"X-Plurivox-Token": said.json()["csrf"], "Cookie": kept.partition(";")[0]}
        body = {"note": "", "uses": 1}
        for origin in (study.url, "http://lab.example", f"{HOME}.evil.test", f"{HOME}:8443"):
            assert http.post("/api/owner/invites", json=body, headers={**writing, "Origin": origin}).status_code == 403
        invite = http.post("/api/owner/invites", json=body, headers={**writing, "Origin": HOME}).json()["address"]
        assert invite.startswith(f"{HOME}/join#invite=")
        entered = http.post("/api/enter", json={"invite": invite.partition("=")[2]}).json()
        assert entered["personal_link"].startswith(f"{HOME}/join#link=")


def sign_in(study: Served, http: httpx.Client, path: str) -> httpx.Response:
    """Create the first owner through the proxy and return the response."""
    from plurivox.web.services import owner_sign_in

    token = study.studio.writer.submit(
        lambda c: owner_sign_in.create_setup_token_unless_owner_exists(c, study.studio.keys)
    ).result()
    body = {"token": token, "name": "olga", "password": "correct horse"}
    said = http.post(path, json=body, headers={"Origin": HOME})
    assert said.status_code == 200, said.text
    return said


@pytest.mark.parametrize("seen", ["", "/study"], ids=["stripped", "kept"])
def test_a_base_url_with_a_path_works_if_the_proxy_keeps_or_strips_the_path(tmp_path: Path, seen: str) -> None:
    with served(tmp_path / "s", base_url=f"{HOME}/study", behind_proxy=PROXY) as study, proxy(study) as http:
        said = sign_in(study, http, f"{seen}/api/owner/setup")
        assert "Path=/study;" in said.headers["set-cookie"]
        assert http.get(f"{seen}/").headers["location"] == "/study/owner"
        assert http.get(f"{seen}/join/?x=1").headers["location"] == "/study/join?x=1"
        for path in ("/join", "/owner", "/api", "/static/work.js", "/health"):
            assert http.get(f"{seen}{path}").status_code == 200, path
        assert "frame-ancestors 'none'" in http.get(f"{seen}/owner").headers["content-security-policy"]
        assert "cache-control" in http.get(f"{seen}/api/openapi.json").headers
        assert http.get(f"{seen}/api/openapi.json").json()["servers"] == [{"url": "/study"}]
        link = http.post(f"{seen}/api/enter", json={"invite": study.invite()}).json()["personal_link"]
        assert link.startswith(f"{HOME}/study/join#link=")
        assert http.get("/studyx/join").status_code == 404


@pytest.mark.parametrize("seen", ["", "/lab"], ids=["stripped", "kept"])
def test_several_studies_work_behind_a_proxy(tmp_path: Path, seen: str) -> None:
    studies = [made(tmp_path, name, behind_proxy=PROXY) for name in ("pets", "ships")]
    with serve_studies(studies, f"{HOME}/lab") as two, proxy(two[""]) as http:
        assert http.get(f"{seen}/").headers["location"] == "/lab/owner"
        assert http.get(f"{seen}/pets").headers["location"] == "/lab/pets/owner"
        said = sign_in(two["pets"], http, f"{seen}/pets/api/owner/setup")
        assert "Path=/lab/pets;" in said.headers["set-cookie"] and "Secure" in said.headers["set-cookie"]
        link = http.post(f"{seen}/ships/api/enter", json={"invite": two["ships"].invite()}).json()["personal_link"]
        assert link.startswith(f"{HOME}/lab/ships/join#link=")
        assert http.get(f"{seen}/owner").headers["strict-transport-security"]


@pytest.mark.parametrize(
    "address", ["lab.example", "ftp://lab.example", "https://", "https://lab.example/a b", "https://x/?q=1",
                "https://u:p@x", "https://lab.example/api", "https://lab.example/owner/x", "https://x:99999"]
)  # fmt: skip
def test_an_invalid_base_url_is_rejected(address: str) -> None:
    with pytest.raises(ValueError, match=r"is not a base URL|a page of the studio|[Pp]ort"):
        Settings(base_url=address)


def test_base_urls_are_normalised_as_in_browsers() -> None:
    said = {"https://Lab.Example:443/study/": f"{HOME}/study", "http://[::1]:80": "http://[::1]"}
    assert {given: Settings(base_url=given).base_url for given in said} == said


def test_the_login_limit_does_not_grow_with_processes() -> None:
    def passed(buckets: Any) -> int:
        return sum(not buckets.take_token_or_return_seconds_to_wait("one", time_now=0.0) for _ in range(100))

    about = {"logins_per_minute": 10, "enters_per_minute": 40}
    counts = {n: RateLimits.rate_limits_from_settings(Settings(processes=n, **about)) for n in (1, 4, 64)}
    assert [passed(one.logins.addresses) for one in counts.values()] == [10, 2, 1]  # at least one attempt per process
    assert [passed(one.enters) for one in counts.values()] == [40, 40, 40]
