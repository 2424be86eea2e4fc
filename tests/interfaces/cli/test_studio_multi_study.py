"""`plurivox studio serve` with several studies, run as a process."""

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from click.testing import Result

from interfaces.cli.cli_process import PYTHON, environment
from interfaces.cli.test_studio import answers
from interfaces.web.server_kills import own_port
from plurivox.web.client.simulated_workers import run_async, simulate_workers
from studies import PATIENCE, fresh_database

pytestmark = pytest.mark.slow

Call = Callable[..., Result]
NAMES = ("pets", "ships")


@contextmanager
def serving(*words: object) -> Iterator[tuple[str, dict[str, str]]]:
    """Serve the studies, yield (address, {study: setup token}), and stop the server with SIGINT at the end."""
    with own_port() as port:
        yield from start(port, *words)


def start(port: int, *words: object) -> Iterator[tuple[str, dict[str, str]]]:
    command = [*PYTHON, "studio", "serve", *map(str, words), "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())
    assert process.stderr is not None
    said = ""
    try:
        while said.count("setup=") < len(NAMES):
            line = process.stderr.readline()
            assert line, said
            said += line
        url = f"http://127.0.0.1:{port}"
        while not answers(url):
            assert process.poll() is None, "the server did not start"
            time.sleep(0.1)
        yield url, dict(re.findall(r"/([a-z]+)/owner#setup=(\S+)", said))
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE)
        assert "all answers are saved" in out
    finally:
        process.terminate()  # unlike kill, lets the server stop its worker processes
        process.communicate()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_two_processes_serve_two_studies_of_a_folder(
    tmp_path: Path, call: Call, kind: str, request: pytest.FixtureRequest
) -> None:
    url = fresh_database(request.getfixturevalue("postgres")) if kind == "postgresql" else ""
    (tmp_path / "items.txt").write_text("\n\n".join(f"text {n}" for n in range(8)))
    where = {name: ["--database", f"{url}&schema={name}"] if url else [] for name in NAMES}
    for name in NAMES:
        words = ("--items", tmp_path / "items.txt", "--labels", "cat,dog", "--per-task", 2, "--batch", 4)
        assert call("studio", "new", tmp_path / name, *words, *where[name]).exit_code == 0
    (tmp_path / "items.txt").unlink()
    with serving(tmp_path, "--processes", 2, *(["--database", url] if url else [])) as (home, tokens):
        assert set(tokens) == set(NAMES)
        with httpx.Client(base_url=f"{home}/pets", headers={"Origin": home}, timeout=PATIENCE) as owner:
            body = {"token": tokens["pets"], "name": "olga", "password": "correct horse"}
            owner.headers["X-Plurivox-Token"] = owner.post("/api/owner/setup", json=body).json()["csrf"]
            address = owner.post("/api/owner/invites", json={"uses": 3}).json()["address"]
            assert address.startswith(f"{home}/pets/join#invite=")
            clients = run_async(simulate_workers(f"{home}/pets", address.split("=")[1], 3))
            assert sum(len(client.acknowledged) for client in clients) == 12
        wrong = httpx.post(f"{home}/ships/api/owner/setup", json=body, headers={"Origin": home}, timeout=PATIENCE)
        assert wrong.status_code == 403
    found = {
        name: json.loads(call("studio", "status", tmp_path / name, *where[name], "--json").stdout) for name in NAMES
    }
    assert {name: one["answers"] for name, one in found.items()} == {"pets": 12, "ships": 0}


MISTAKES = {
    "studio serve A B --database c=postgresql://x/y": "--database names 'c', but the studies are 'a', 'b'",
    "studio serve A A": "have the same name, http://127.0.0.1:8000/a",
    "studio serve A B --base-url https://lab.example/a": "the address /a is reserved",
    "studio serve A B --base-url lab.example": "'lab.example' is not a base URL; write https://lab.example",
    "studio serve A --base-url https://lab.example/owner": "a page of the studio; choose another path",
    "studio serve A --database postgresql://x/y --database postgresql://x/z": "give one --database for one study",
    "studio serve A NOWHERE": "has no study.toml; create a study first",
}


def test_errors_are_one_line(tmp_path: Path, call: Call) -> None:
    (tmp_path / "items.txt").write_text("one\n\ntwo")
    for name in ("a", "b"):
        words = ("--items", tmp_path / "items.txt", "--labels", "cat,dog")
        assert call("studio", "new", tmp_path / name, *words).exit_code == 0
    places = {name.upper(): tmp_path / name for name in ("a", "b", "nowhere")}
    for line, told in MISTAKES.items():
        said = call(*(places.get(word, word) for word in line.split()))
        assert (said.exit_code, said.stdout) == (2, ""), (line, said.output)
        assert said.stderr.startswith("error: ") and said.stderr.count("\n") == 1 and told in said.stderr, said.stderr
