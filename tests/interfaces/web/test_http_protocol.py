"""HTTP: slow clients, floods, request smuggling, paths, methods, hosts, forwarded addresses, login attempts."""

import itertools
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select

from interfaces.cli.cli_process import environment
from plurivox.web.api.login_throttle import LoginThrottle
from plurivox.web.api.rate_limit import ip_or_ipv6_network
from plurivox.web.server import uvicorn_server
from plurivox.web.services import owner_sign_in
from plurivox.web.store.collect.tasks_batches_quotas import NewTask
from plurivox.web.store.schema import places
from plurivox.web.study.audio_validation import validate_sound_and_return_media_file
from studies import PATIENCE, Served, served, text_tasks
from web.study.test_audio_validation import tone

HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\n"


@contextmanager
def dialled(study: Served) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", int(study.url.rsplit(":", 1)[1]))) as line:
        line.settimeout(PATIENCE)
        yield line


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("wire") / "s") as study:
        yield study


def heard(line: socket.socket, until: bytes = b"\0") -> bytes:
    """Receive until the server closes the connection or the data end with `until` (/health ends with a brace)."""
    said = b""
    with suppress(ConnectionResetError):
        while not said.endswith(until) and (part := line.recv(65536)):
            said += part
    return said


def drip(line: socket.socket, stop: threading.Event) -> None:
    """Send one byte every 0.05 s until `stop` is set or the connection breaks."""
    try:
        while not stop.wait(0.05):
            line.sendall(b"x")
    except OSError:
        return


def test_slow_headers_are_limited_on_keep_alive_connections_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(tmp_path / "s") as study:
        for first in (HEALTH + b"\r\n", b""):
            monkeypatch.setattr(uvicorn_server, "HEADER_SECONDS", 60.0 if first else 0.5)
            with dialled(study) as line:
                if first:
                    line.sendall(first)
                    assert heard(line, until=b"}").startswith(b"HTTP/1.1 200")
                    monkeypatch.setattr(uvicorn_server, "HEADER_SECONDS", 0.5)
                with suppress(OSError):
                    line.sendall(b"GET /health HTTP/1.1\r\nHost: ")
                stop = threading.Event()
                thread = threading.Thread(target=drip, args=(line, stop))
                thread.start()
                assert heard(line) == b""  # closed by the server without a response
                stop.set()
                thread.join()
        while not pauses(study, 0.6):  # retry if the test itself was too slow
            pass


def pauses(study: Served, seconds: float) -> bool:
    """Assert that a client may pause between requests; return False if the first request was sent too late."""
    with dialled(study) as patient:
        with suppress(OSError):
            patient.sendall(HEALTH + b"\r\n")
        if not heard(patient, until=b"}"):
            return False
        for _ in range(2):
            time.sleep(seconds)
            patient.sendall(HEALTH + b"\r\n")
            assert heard(patient, until=b"}").startswith(b"HTTP/1.1 200")
        return True


def test_a_client_that_does_not_read_the_response_is_disconnected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uvicorn_server, "READ_SECONDS", 0.3)
    with served(
        tmp_path / "s", None, [NewTask("a", medium=validate_sound_and_return_media_file(tone(600), "a"))]
    ) as study:  # a response larger than the socket buffers
        media = study.enter().slots()[0]["task"]["media"].encode()
        with dialled(study) as line:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            asks = b"GET " + media + b" HTTP/1.1\r\nHost: x\r\n\r\n"
            stop, gone = threading.Event(), threading.Event()

            def ask() -> None:
                try:
                    while not stop.is_set():
                        line.sendall(asks)
                except OSError:
                    gone.set()

            thread = threading.Thread(target=ask, daemon=True)
            thread.start()
            assert gone.wait(PATIENCE)
            stop.set()
            thread.join()
        assert study.http.get("/health").status_code == 200


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(20_000)) + b"\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /api/enter HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /api/enter HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n{}{}",
        b"POST /api/enter HTTP/1.1\r\nHost: x\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"POST /api/enter HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/enter HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"POST /api/enter HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        b"GET /health HTTP/1.1\r\n\r\n",
        b"GET /he\x00alth HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\nX : smuggled\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
    ids=range(16),
)
def test_malformed_requests_are_rejected_and_the_connection_is_closed(standing: Served, request_: bytes) -> None:
    study = standing
    with dialled(study) as line:
        with suppress(OSError):
            line.sendall(request_ + HEALTH + b"\r\n")  # the server must not answer this second request
        said = heard(line)
        assert said[9:12] in (b"400", b"404", b"413", b"431", b""), said[:200]
        assert b"status" not in said, said[-200:]
        assert study.http.get("/health").status_code == 200


def test_the_cost_of_small_chunks_does_not_grow_quadratically(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:

        def cost(n: int) -> float:
            began, headers = time.process_time(), {"Content-Type": "application/json"}
            said = study.http.post("/api/enter", content=(b" " for _ in range(n)), headers=headers)
            assert said.status_code == 422
            return time.process_time() - began

        assert cost(10_000) < 50 * cost(1_000)  # 10 times the chunks: linear, not quadratic (100 times)


def test_other_methods_and_unusual_paths_get_an_error_response(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        for method in ("HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PATCH", "CONNECT", "BREW"):
            for path in ("/health", "/api/answers", "/owner", "/media/x", "/api/owner/state"):
                said = study.http.request(method, path)
                assert said.status_code in (404, 405), (method, path)
                assert "content-security-policy" in said.headers and "cookie" not in said.text.lower()
        for path in ("//", "//owner", "/%2e%2e/secret.key", "/static/%2e%2e/%2e%2e/app.py", "/static/..%2fkeys.py", "/%00",
                     "/static/%00", "/static//etc/passwd", "/owner/..%2f", "/api//owner/state", "/\\evil.test",
                     "/media/%F0%9F%92%A9", "/" + "a/" * 2000, "/%ff%fe",
                     "/static/js/../../keys.py", "/API/OWNER/session"):  # fmt: skip
            said = study.http.get(httpx.URL(study.url).copy_with(raw_path=path.encode()))
            assert said.status_code in (404, 422), (path, said.status_code)
            assert set(said.json()) == {"error", "detail", "retry"}


def test_links_and_redirects_ignore_the_host_header(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        study.sign_in()
        evil = {
            "Host": "evil.test",
            "X-Forwarded-Host": "evil.test",
            "Forwarded": "host=evil.test",
            "X-Original-URL": "/owner",
        }
        for path in ("/", "/owner", "/owner/", "/join/?PROLIFIC_PID=x", "/api/", "//evil.test/", "/join/..//evil.test"):
            said = study.http.get(httpx.URL(study.url).copy_with(raw_path=path.encode()), headers=evil)
            assert "evil" not in said.headers.get("location", ""), path
            assert not said.headers.get("location", "").startswith(("//", "http"))
        assert study.http.get("/join/?a=b", headers=evil).headers["location"] == "/join?a=b"
        entered = study.http.post("/api/enter", json={"invite": study.invite()}, headers=evil).json()
        made = study.http.post("/api/owner/invites", json={}, headers={**study.owner, **evil}).json()
        shown = study.http.get("/api/owner/invites", headers=evil).text
        assert "evil" not in entered["personal_link"] + made["address"] + shown
        assert entered["personal_link"].startswith(study.url)


def test_forwarded_addresses_are_trusted_from_the_configured_proxy_only(tmp_path: Path, still: None) -> None:
    login = {"name": "x", "password": "y"}
    for proxy, codes in (("", [401, 401, 429, 429]), ("127.0.0.1", [401] * 4)):
        with served(tmp_path / f"s{proxy}", logins_per_minute=2, behind_proxy=proxy) as study:
            said = [
                study.http.post("/api/owner/login", json=login | {"name": f"n{i}"},
                                headers={"Origin": study.url, "X-Forwarded-For": f"192.0.2.{i}"})
                for i in range(4)
            ]  # fmt: skip
            assert [one.status_code for one in said] == codes


def test_login_attempts_for_one_name_are_limited_across_addresses(tmp_path: Path, still: None) -> None:
    with served(tmp_path / "s", logins_per_minute=2, behind_proxy="127.0.0.1") as study:

        def guess(i: int, name: str = "olga") -> int:
            headers = {"Origin": study.url, "X-Forwarded-For": f"192.0.2.{i}"}
            return study.http.post(
                "/api/owner/login", json={"name": name, "password": "guess"}, headers=headers
            ).status_code

        # the limit per name is three times the limit per address
        assert [guess(i) for i in range(8)] == [401] * 6 + [429] * 2
        assert guess(9, "other") == 401


@pytest.mark.usefixtures("still")
def test_strangers_cannot_lock_an_owner_out(tmp_path: Path) -> None:
    with served(tmp_path / "s", logins_per_minute=3, behind_proxy="127.0.0.1") as study:

        def log_in(address: str, password: str = "guess", name: str = "olga") -> httpx.Response:
            headers = {"Origin": study.url, "X-Forwarded-For": address}
            return study.http.post("/api/owner/login", json={"name": name, "password": password}, headers=headers)

        study.sign_in()  # from 127.0.0.1, without X-Forwarded-For
        strangers = [log_in(f"192.0.2.{i}").status_code for i in range(12)]
        assert strangers == [401] * 9 + [429] * 3  # unknown addresses share one limit per name
        assert log_in("192.0.2.99", "correct horse").status_code == 429  # even with the right password
        for _ in range(5):
            assert log_in("127.0.0.1", "correct horse").status_code == 200  # the owner's known address
        wrong = [log_in("127.0.0.1").status_code for _ in range(4)]
        assert wrong == [401] * 3 + [429]  # a known address has a limit too
        assert [
            log_in(f"198.51.100.{i}", name="nobody").status_code for i in range(12)
        ] == strangers  # the same for unknown names, so responses do not reveal names
        hidden = study.look(select(places))
        assert len(hidden) == 1 and "127.0.0.1" not in str(hidden)


@pytest.mark.usefixtures("still")
def test_a_known_address_is_shared_by_servers_and_survives_a_restart(tmp_path: Path) -> None:
    with served(tmp_path / "s") as study:
        study.sign_in()
    about = {"logins_per_minute": 2, "behind_proxy": "127.0.0.1"}
    with served(tmp_path / "s", **about) as study:
        for i in range(8):
            headers = {"Origin": study.url, "X-Forwarded-For": f"192.0.2.{i}"}
            study.http.post("/api/owner/login", json={"name": "olga", "password": "guess"}, headers=headers)
        right = {"name": "olga", "password": "correct horse"}
        assert study.http.post("/api/owner/login", json=right, headers={"Origin": study.url}).status_code == 200


def test_the_wait_after_wrong_passwords_doubles() -> None:
    throttle, at, waits = LoginThrottle(600), 0.0, []
    for _ in range(1_100):
        while wait := throttle.count_login_or_return_seconds_to_wait(
            "olga", "192.0.2.1", known_address=False, time_now=at
        ):
            at += wait
        waits.append(at)
    gaps = [after - before for before, after in itertools.pairwise(waits)]
    assert gaps[:4] == [0.0] * 4 and gaps[4:9] == [1.0, 2.0, 4.0, 8.0, 16.0] and max(gaps) == 900.0
    other_address = throttle.count_login_or_return_seconds_to_wait(
        "olga", "192.0.2.2", known_address=False, time_now=at
    )
    assert other_address == 0.0

    def waits_of_six_attempts(time_now: float) -> list[float]:
        return [
            throttle.count_login_or_return_seconds_to_wait("olga", "192.0.2.1", known_address=False, time_now=time_now)
            for _ in range(6)
        ]

    assert waits_of_six_attempts(at + 4000.0) == [0.0] * 5 + [1.0]  # attempts of more than an hour ago are forgotten
    throttle.forget_login_attempts_after_success("olga", "192.0.2.1", known_address=False)
    assert waits_of_six_attempts(at + 4000.0) == [0.0] * 5 + [1.0]


def test_an_ipv6_network_counts_as_one_client() -> None:
    network = {ip_or_ipv6_network(f"2001:db8:1:2::{i:x}") for i in range(1, 50)}
    assert len(network) == 1 and ip_or_ipv6_network("2001:db8:1:3::1") not in network


def test_password_hashing_does_not_block_other_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go, there, most = threading.Event(), [0], [0]
    lock = threading.Lock()

    def slow(_: str, __: str) -> bool:
        with lock:
            there[0] += 1
            most[0] = max(there[0], most[0])
        go.wait(PATIENCE)
        with lock:
            there[0] -= 1
        return False

    monkeypatch.setattr(owner_sign_in, "verify_password", slow)
    with served(tmp_path / "s") as study:
        codes: list[int] = []

        def guess(i: int) -> None:
            body = {"name": f"n{i}", "password": "guess"}
            codes.append(
                httpx.post(
                    f"{study.url}/api/owner/login", json=body, headers={"Origin": study.url}, timeout=PATIENCE
                ).status_code
            )

        threads = [threading.Thread(target=guess, args=(i,)) for i in range(24)]
        for thread in threads:
            thread.start()
        while codes.count(429) < 6:  # two are hashed, sixteen are queued, six get 429
            time.sleep(0.01)
        assert study.http.get("/health").status_code == 200  # other requests are not delayed
        assert study.enter().get("/api/me").status_code == 200
        go.set()
        for thread in threads:
            thread.join()
        assert sorted(codes) == [401] * 18 + [429] * 6 and most[0] <= 2


def test_the_limit_of_open_files_is_raised() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    code = (
        "import resource; from plurivox.web.server.uvicorn_server import raise_open_file_limit; "
        f"resource.setrlimit(resource.RLIMIT_NOFILE, (256, {hard})); raise_open_file_limit(); "
        "print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True)
    assert int(said.stdout) == min(uvicorn_server.MAX_OPEN_FILES, hard) > uvicorn_server.MAX_CONNECTIONS


def test_a_hundred_idle_connections_do_not_block_others(tmp_path: Path) -> None:
    with served(tmp_path / "s", None, text_tasks(4)) as study:
        port = int(study.url.rsplit(":", 1)[1])
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
        try:
            person = study.enter()
            assert person.answer(person.slots()[0]["slot"]).status_code == 200
        finally:
            for line in idle:
                line.close()
