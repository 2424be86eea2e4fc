"""Behind a real nginx with https, configured as in the documentation: what test_proxy tries, and a visit by a browser."""

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from interfaces.web.live_server import make_tasks
from interfaces.web.nginx import Behind, studio_behind_nginx
from interfaces.web.page_actions import answer, shown
from interfaces.web.test_owner_pages import go
from plurivox.web.server_settings import Settings
from plurivox.web.store.collect.tasks_batches_quotas import NewTask
from plurivox.web.study.audio_validation import validate_sound_and_return_media_file
from plurivox.web.study.create_study import make_study
from studies import plain_study
from web.study.test_audio_validation import tone

OLGA = {"name": "olga", "password": "correct horse"}


def make_image_study(folder: Path) -> Path:
    """Create a study of image tasks, so that there are media files; return its folder."""
    settings = Settings(folder=folder / "s", database="")
    make_study(settings, plain_study(form="top-one", per_task=9), make_tasks(6, "image"))
    return settings.folder


@pytest.fixture(scope="module", params=["kept", "stripped"])
def behind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Behind]:
    """A studio behind nginx, which keeps or strips the path /study."""
    folder = tmp_path_factory.mktemp("nginx")
    with studio_behind_nginx(
        folder, make_image_study(folder), strips_path=request.param == "stripped", logins_per_minute=2
    ) as one:
        yield one


@pytest.fixture(scope="module")
def owner(behind: Behind) -> Iterator[httpx.Client]:
    """A client that has created the first owner and is signed in; its writes have the tokens they need."""
    with behind.client("127.0.0.9", Origin=behind.origin) as http:
        said = http.post("/api/owner/setup", json={**OLGA, "token": behind.setup_token})
        assert said.status_code == 200, said.text
        http.headers["X-Plurivox-Token"] = said.json()["csrf"]
        yield http


def codes(behind: Behind, address: str, n: int, name: str = "x", **headers: str) -> list[int]:
    """Send n logins with a wrong password from an address and return the status codes."""
    with behind.client(address, Origin=behind.origin, **headers) as http:
        return [http.post("/api/owner/login", json={"name": name, "password": "y"}).status_code for _ in range(n)]


def first_medium(http: httpx.Client, owner: httpx.Client) -> str:
    """Enter the study and return the path of the first task's image or sound."""
    entered = http.post("/api/enter", json={"invite": invite(owner).partition("=")[2]}).json()
    slots = http.get("/api/tasks", headers={"Authorization": f"Bearer {entered['token']}"}).json()["slots"]
    return str(slots[0]["task"]["media"])


def invite(owner: httpx.Client) -> str:
    said = owner.post("/api/owner/invites", json={"note": "", "uses": 5})
    assert said.status_code == 200, said.text
    return str(said.json()["address"])


def test_cookies_are_secure_and_https_is_required_from_then_on(behind: Behind, owner: httpx.Client) -> None:
    with behind.client("127.0.0.9", Origin=behind.origin) as http:
        said = http.post("/api/owner/login", json=OLGA)
    cookie = said.headers["set-cookie"]
    assert all(word in cookie for word in ("Secure", "HttpOnly", "SameSite=strict", "Path=/study;")), cookie
    assert said.headers["strict-transport-security"].startswith("max-age=")
    assert owner.get("/api/owner/session").json()["name"] == "olga"


def test_plain_http_is_redirected_to_https(behind: Behind) -> None:
    said = httpx.get(f"http://127.0.0.1:{behind.http_port}/study/join?x=1")
    assert said.status_code == 301 and said.headers["location"] == f"{behind.url}/join?x=1"


def test_links_redirects_and_the_origin_check_follow_the_public_address(behind: Behind, owner: httpx.Client) -> None:
    link = invite(owner)
    assert link.startswith(f"{behind.url}/join#invite=")
    with behind.client() as http:
        entered = http.post("/api/enter", json={"invite": link.partition("=")[2]}).json()
        assert entered["personal_link"].startswith(f"{behind.url}/join#link=")
        assert http.get("/").headers["location"] == "/study/owner"
        assert http.get("/join/?x=1").headers["location"] == "/study/join?x=1"
        assert http.get("/api/openapi.json").json()["servers"] == [{"url": "/study"}]
    internal = behind.origin.replace("https", "http")
    for origin in (internal, "https://evil.test", f"{behind.origin}0", "null"):
        refused = owner.post("/api/owner/invites", json={"note": "", "uses": 1}, headers={"Origin": origin})
        assert refused.status_code == 403, origin


def test_the_login_limit_counts_the_visitor_and_not_what_the_visitor_claims(
    behind: Behind, owner: httpx.Client
) -> None:
    before = len(owner.get("/api/owner/audit").json()["lines"])  # of other tests
    assert codes(behind, "127.0.0.4", 3) == [401, 401, 429]
    assert codes(behind, "127.0.0.5", 1) == [401]  # another visitor
    forged = [
        codes(behind, "127.0.0.4", 1, **{"X-Forwarded-For": f"203.0.113.{n}", "Forwarded": f"for=203.0.113.{n}"})[0]
        for n in range(3)
    ]
    assert forged == [429, 429, 429]
    lines = owner.get("/api/owner/audit").json()["lines"]
    lines = lines[: len(lines) - before]  # the newest first
    networks = {line["detail"]["network"] for line in lines if line["what"] == "sign-in refused"}
    assert networks == {"127.0.0.4", "127.0.0.5"}  # neither the proxy's address nor a forged one


def test_a_forged_protocol_does_not_change_what_the_studio_sends(behind: Behind) -> None:
    with behind.client(**{"X-Forwarded-Proto": "http", "X-Forwarded-Host": "evil.test", "Host": "localhost"}) as http:
        said = http.get("/owner")
        assert said.status_code == 200 and said.headers["strict-transport-security"]
        assert "evil.test" not in said.text and "evil.test" not in str(http.get("/").headers)


def test_bodies_over_256_kb_are_refused_and_smaller_ones_arrive(behind: Behind) -> None:
    """nginx refuses them: if the studio did so before it has read them, nginx would send 502, which clients send again."""
    limit = Settings().body_limit
    assert limit == 256 * 1024
    about = {"Content-Type": "application/json"}
    with behind.client() as http:
        for size in (limit + 1, 2_000_000):
            assert http.post("/api/enter", content=b" " * size, headers=about).status_code == 413
            chunks = (b" " * 1000 for _ in range(size // 1000 + 1))  # without a length
            assert http.post("/api/enter", content=chunks, headers=about).status_code == 413
        said = http.post("/api/enter", content=b" " * (limit - 2) + b"{}", headers=about)
        assert said.status_code in (403, 422) and said.headers["content-type"] == "application/json"


def test_images_scripts_and_policies_arrive_unchanged(behind: Behind, owner: httpx.Client) -> None:
    with behind.client() as http:
        image = http.get(first_medium(http, owner))
        assert image.headers["content-type"] == "image/png" and "immutable" in image.headers["cache-control"]
        assert "frame-ancestors" in http.get("/owner").headers["content-security-policy"]
        assert http.get("/static/work.js").status_code == 200


def test_an_owner_signs_in_and_a_worker_answers_in_a_browser(behind: Behind, owner: httpx.Client, context: Any) -> None:
    secure = {"ignore_https_errors": True}  # the certificate is self-signed
    page = context(**secure).new_page()
    page.goto(f"{behind.url}/owner")
    page.fill("#name", "olga")
    page.fill("#password", "wrong horse")
    page.click("button.main")
    page.wait_for_selector("[role=alert]:not(:empty)")
    page.fill("#password", OLGA["password"])
    page.click("button.main")
    page.wait_for_selector(".figures")
    go(page, "invites")
    page.click("text=Create link")
    link = page.wait_for_selector("input.link").input_value()
    cookies = page.context.cookies()
    assert [(one["secure"], one["httpOnly"], one["sameSite"], one["path"]) for one in cookies] == [
        (True, True, "Strict", "/study")
    ]
    worker = context(**secure).new_page()
    worker.goto(link)
    first = shown(worker)
    answer(worker, "1", "Enter")
    assert shown(worker) != first
    assert worker.evaluate("[...document.images].every((one) => one.complete && one.naturalWidth > 0)")
    assert not worker.context.cookies()
    go(page, "audit")
    text = page.inner_text("main")
    assert "wrong password, from 127.0.0.1" in text and "signed in, from 127.0.0.1" in text
    page.click("text=Sign out")
    page.wait_for_selector("#password")


@pytest.fixture(scope="module")
def sounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Behind]:
    """A studio with sounds; the documented timeouts are shortened to a second."""
    folder = tmp_path_factory.mktemp("sounds")
    tasks = [NewTask("a", medium=validate_sound_and_return_media_file(tone(), "a.wav"))]
    make_study(Settings(folder=folder / "s", database=""), plain_study(), tasks)
    with studio_behind_nginx(folder, folder / "s", timeout="1s") as one:
        yield one


def test_parts_of_a_sound_arrive_as_requested(sounds: Behind) -> None:
    with sounds.client(Origin=sounds.origin) as owner, sounds.client() as http:
        said = owner.post("/api/owner/setup", json={**OLGA, "token": sounds.setup_token})
        owner.headers["X-Plurivox-Token"] = said.json()["csrf"]
        path = first_medium(http, owner)
        whole = http.get(path)
        assert whole.status_code == 200 and whole.headers["accept-ranges"] == "bytes" and len(whole.content) > 1000
        n = len(whole.content)
        for asked, begin, end in (("10-19", 10, 20), ("500-", 500, n), ("-5", n - 5, n)):
            part = http.get(path, headers={"Range": f"bytes={asked}"})
            assert part.status_code == 206 and part.content == whole.content[begin:end]
            assert part.headers["content-range"] == f"bytes {begin}-{end - 1}/{n}"
        assert http.get(path, headers={"Range": f"bytes={n}-"}).status_code == 416


def test_slow_clients_are_disconnected(sounds: Behind) -> None:
    trusted = ssl.create_default_context(cafile=str(sounds.certificate))
    head = b"POST /study/api/enter HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for slow in (head, head + b"Content-Length: 100\r\n\r\n{"):
        with (
            socket.create_connection(("127.0.0.1", urlsplit(sounds.url).port or 0), timeout=40) as plain,
            trusted.wrap_socket(plain, server_hostname="localhost") as line,
        ):
            line.sendall(slow)
            said = line.recv(1000)  # an empty response, or 408; without nginx's timeout, the test's own
            assert said == b"" or b" 408 " in said.splitlines()[0]
    with sounds.client() as http:
        assert http.get("/health").status_code == 200
