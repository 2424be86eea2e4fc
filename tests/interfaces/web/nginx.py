"""Run nginx with https, with the configuration in docs/studio_server.md, in front of `plurivox studio serve`."""

import os
import re
import shutil
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from conftest import without
from interfaces.web.server_kills import environment, own_port
from studies import PATIENCE

DOCS = Path(__file__).parents[3] / "docs" / "studio_server.md"
STUDIO = [sys.executable, "-m", "plurivox.cli", "studio"]
# around the documented lines: a configuration that needs no root and writes into one folder
WHOLE = """{user}
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{documented}
}}
"""


@dataclass(frozen=True)
class Behind:
    """A studio behind nginx: its public address, the port of plain http, the setup token and the certificate."""

    url: str
    http_port: int
    setup_token: str
    certificate: Path

    def client(self, address: str = "127.0.0.3", **headers: str) -> httpx.Client:
        """Return a client that connects from a loopback address, which stands for the address of a visitor."""
        trusted = ssl.create_default_context(cafile=str(self.certificate))
        way = httpx.HTTPTransport(local_address=address, verify=trusted)
        return httpx.Client(base_url=self.url, transport=way, timeout=PATIENCE, headers=headers)

    @property
    def origin(self) -> str:
        """The public address without the path, as browsers send it in the header Origin."""
        return self.url.removesuffix("/study")


def find_program(name: str, how: str) -> str:
    """Return the path of a program, which may be outside the PATH of users; skip the test if it is missing."""
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if path is None:
        without(name, how)
    assert path is not None
    return path


def documented_configuration() -> str:
    """Return the nginx configuration in the documentation."""
    found = re.search(r"```nginx\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """Return a text with parts replaced; every part must be in it."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def make_certificate(folder: Path) -> Path:
    """Create a self-signed certificate for localhost; return its path, key.pem is beside it."""
    made = folder / "certificate.pem"
    words = [find_program("openssl", "run: apt-get install openssl"), "req", "-x509", "-nodes", "-days", "2"]
    words += ["-newkey", "rsa:2048", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    words += ["-keyout", str(folder / "key.pem"), "-out", str(made)]
    subprocess.run(words, check=True, capture_output=True)
    return made


@contextmanager
def running(command: Sequence[str], **options: Any) -> Iterator["subprocess.Popen[str]"]:
    """Run a process while the block runs."""
    process = subprocess.Popen(command, text=True, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60)


def responds(url: str, certificate: Path | None) -> bool:
    """Return whether a server responds at this address."""
    verify = ssl.create_default_context(cafile=str(certificate)) if certificate else True
    try:
        return httpx.get(f"{url}/health", verify=verify, timeout=PATIENCE).status_code == 200
    except httpx.TransportError:
        return False


def wait_for(url: str, process: "subprocess.Popen[str]", certificate: Path | None = None) -> None:
    """Wait until a server responds; fail if its process ends."""
    while not responds(url, certificate):
        assert process.poll() is None, "the process has ended"
        time.sleep(0.05)


@contextmanager
def studio_behind_nginx(
    folder: Path, study: Path, *, strips_path: bool = False, timeout: str = "10s", **limits: int
) -> Iterator[Behind]:
    """Serve a study by the command line behind nginx; `limits` are settings such as logins_per_minute."""
    nginx = find_program("nginx", "run: apt-get install nginx-light")
    certificate = make_certificate(folder)
    with ExitStack() as stack:
        port, secure, plain = (stack.enter_context(own_port()) for _ in range(3))
        url = f"https://localhost:{secure}/study"
        lines = replaced(
            documented_configuration(),
            ("listen 443 ssl", f"listen 127.0.0.1:{secure} ssl"),
            ("listen 80", f"listen 127.0.0.1:{plain}"),
            ("/etc/letsencrypt/live/lab.example/fullchain.pem", str(certificate)),
            ("/etc/letsencrypt/live/lab.example/privkey.pem", str(folder / "key.pem")),
            ("https://lab.example$", f"https://localhost:{secure}$"),
            ("lab.example", "localhost"),
            ("http://127.0.0.1:8000", f"http://127.0.0.1:{port}" + "/" * strips_path),
            ("timeout 10s", f"timeout {timeout}"),
        )
        user = "user root;" if os.geteuid() == 0 else ""  # the files of the test are readable by this user only
        (folder / "nginx.conf").write_text(WHOLE.format(user=user, folder=folder, documented=lines))
        command = [*STUDIO, "serve", str(study), "--port", str(port), "--base-url", url, "--behind-proxy", "127.0.0.1"]
        about = environment() | {f"PLURIVOX_{name.upper()}": str(value) for name, value in limits.items()}
        with (folder / "studio.log").open("w") as written:
            server = stack.enter_context(running(command, stderr=written, stdout=written, env=about))
        wait_for(f"http://127.0.0.1:{port}", server)
        proxy = stack.enter_context(
            running([nginx, "-c", str(folder / "nginx.conf"), "-p", str(folder)], stderr=subprocess.DEVNULL)
        )
        wait_for(url, proxy, certificate)
        token = re.search(r"#setup=(\S+)", (folder / "studio.log").read_text())
        yield Behind(url, plain, token[1] if token else "", certificate)
