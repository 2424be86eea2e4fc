"""`plurivox studio`: from a new study to its export, on the command line."""

import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import Result

import plurivox as pv
from interfaces.cli.cli_process import PYTHON, environment
from interfaces.web.server_kills import own_port
from plurivox.web.client.simulated_workers import run_async, simulate_workers
from plurivox.web.server.uvicorn_server import serve_in_thread
from plurivox.web.server_settings import Settings, warning_if_visitors_share_an_address
from plurivox.web.store.admin.invites import create_invite
from plurivox.web.study.config import read_study
from studies import PATIENCE

pytestmark = pytest.mark.long

Call = Callable[..., Result]
ITEMS = "task,text,stratum,practice\n" + "".join(
    f"t{i},text {i},{'easy' if i % 4 == 0 else 'hard'},{'yes' if i > 22 else ''}\n" for i in range(25)
)


@pytest.fixture
def items(tmp_path: Path) -> Path:
    path = tmp_path / "items.csv"
    path.write_text(ITEMS)
    return path


def answers(url: str) -> bool:
    """Return whether a server responds at this address."""
    try:
        return httpx.get(f"{url}/health", timeout=PATIENCE).status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture
def serving(tmp_path: Path, items: Path, call: Call) -> Iterator[tuple[str, str, "subprocess.Popen[str]"]]:
    """Create a study, run `plurivox studio serve`, and yield (address, setup token, process)."""
    words = ("--items", items, "--labels", "cat,dog,ship", "--per-task", 2, "--strata", "hard=4,easy=2", "--repeats", 1)
    assert call("studio", "new", tmp_path / "s", *words).exit_code == 0
    with own_port() as port:
        yield from start(tmp_path / "s", port)


def start(folder: Path, port: int) -> Iterator[tuple[str, str, "subprocess.Popen[str]"]]:
    command = [*PYTHON, "studio", "serve", str(folder), "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())
    said = ""
    assert process.stderr is not None
    while "setup=" not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    url = f"http://127.0.0.1:{port}"
    while not answers(url):
        assert process.poll() is None, "the server did not start"
        time.sleep(0.05)
    found = re.search(r"#setup=(\S+)", said)
    assert found is not None
    yield url, found[1], process
    if process.poll() is None:
        process.kill()
    process.communicate()


def test_a_study_is_created_served_answered_exported_elicited_and_aggregated(
    tmp_path: Path, call: Call, serving: tuple[str, str, "subprocess.Popen[str]"]
) -> None:
    url, token, process = serving
    with httpx.Client(base_url=url, headers={"Origin": url}, timeout=PATIENCE) as owner:
        body = {"token": token, "name": "olga", "password": "correct horse"}
        owner.headers["X-Plurivox-Token"] = owner.post("/api/owner/setup", json=body).json()["csrf"]
        address = owner.post("/api/owner/invites", json={"uses": 8}).json()["address"]
        assert address.startswith(f"{url}/join#invite=")
        clients = run_async(simulate_workers(url, address.split("=")[1], 4, patience=PATIENCE))
        assert sum(len(client.acknowledged) for client in clients) == 4 * (2 + 6 + 1)
        assert owner.get("/api/owner/progress").json()["workers"] == {"done": 4}
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode in (0, 130) and "all answers are saved" in out
    status = json.loads(call("studio", "status", tmp_path / "s", "--json").stdout)
    assert status["answers"] == 24 and status["repeats"] == 4 and status["practice"] == 8
    assert call("studio", "export", tmp_path / "s", "-o", tmp_path / "out").exit_code == 0
    data = pv.read(tmp_path / "out")
    assert data.answers is not None and len(data.answers) == 28
    votes = tmp_path / "votes.csv"
    assert call("elicit", "top-two", tmp_path / "out", "-o", votes).exit_code == 0
    assert call("aggregate", "vote-shares", votes, "-o", tmp_path / "soft.csv").exit_code == 0
    worker = str(data.answers.workers[0])
    erased = call("studio", "erase", tmp_path / "s", worker)
    assert erased.exit_code == 0 and "erased" in erased.stdout
    assert call("studio", "backup", tmp_path / "s", "-o", tmp_path / "copy").exit_code == 0
    assert call("studio", "restore", tmp_path / "copy", tmp_path / "back").exit_code == 0
    assert json.loads(call("studio", "status", tmp_path / "back", "--json").stdout)["answers"] == 18


def test_tasks_and_answers_can_be_imported_into_a_study(tmp_path: Path, call: Call, items: Path) -> None:
    assert call("studio", "new", tmp_path / "s", "--items", items, "--labels", "cat,dog").exit_code == 0
    (tmp_path / "more.txt").write_text("one\n\ntwo\n")
    assert json.loads(call("studio", "import", tmp_path / "s", tmp_path / "more.txt", "--json").stdout)["tasks"] == 25
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "answers.csv").write_text("task,worker,top,top_percent\nt0,ann,cat,70\nt1,ann,dog,\n")
    assert "2 answers" in call("studio", "import", tmp_path / "s", tmp_path / "given", "--answers").stdout
    assert (
        "already has answers of worker 'ann'"
        in call("studio", "import", tmp_path / "s", tmp_path / "given", "--answers").stderr
    )


def test_the_demo_study_is_partly_answered(tmp_path: Path, call: Call) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is missing; run: pip install 'plurivox[demo]'")
    assert call("studio", "demo", tmp_path / "demo", "--only-make").exit_code == 0
    status = json.loads(call("studio", "status", tmp_path / "demo", "--json").stdout)
    assert status["answers"] == 480 and status["wanted"] == 720


MISTAKES = {
    "studio serve NOWHERE": "has no study.toml; create a study first",
    "studio new S --items NOWHERE --labels a,b": "does not exist; give a folder of images",
    "studio new S --items EMPTY --labels a,b": "contains no images",
    "studio new S --items ITEMS --labels a": "labels must have at least 2",
    "studio new S --items ITEMS --labels a,a": "labels must be unique",
    "studio new S --items ITEMS --labels a,b --form top-tow": "there is no form 'top-tow'; did you mean 'top-two'",
    "studio new S --items ITEMS --labels a,b --strata hard": "is not valid; write the tasks",
    "studio new S --items ITEMS --labels a,b --batch 3 --repeats 9": "repeats = 9 is more than the 3 tasks",
    "studio new S --items ITEMS --labels a,b --database mysql://x": "is not a database address",
    "studio status MADE --database postgresql://nobody@127.0.0.1:1/x": "the database cannot be opened",
    "studio new MADE --items ITEMS --labels a,b": "already contains a study",
    "studio erase MADE ann": "there is no worker 'ann'",
    "studio export MADE -o MADE": "is not empty",
}


def test_errors_are_one_line_and_leave_no_files(tmp_path: Path, call: Call, items: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert call("studio", "new", tmp_path / "made", "--items", items, "--labels", "a,b").exit_code == 0
    places = {"ITEMS": items, "S": tmp_path / "s", "MADE": tmp_path / "made", "EMPTY": tmp_path / "empty"}
    places["NOWHERE"] = tmp_path / "nowhere"
    for line, told in MISTAKES.items():
        said = call(*(places.get(word, word) for word in line.split()))
        assert (said.exit_code, said.stdout) == (2, ""), (line, said.output)
        assert said.stderr.startswith("error: ") and said.stderr.count("\n") == 1 and told in said.stderr, said.stderr
    assert not (tmp_path / "s").exists() and list((tmp_path / "empty").iterdir()) == []


def test_the_error_without_the_web_extra_says_how_to_install_it(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "fastapi", None)
    said = call("studio", "status", "x")
    assert said.exit_code == 2 and "pip install 'plurivox[web]'" in said.stderr


def test_tasks_in_no_batch_are_counted(tmp_path: Path, items: Path, call: Call) -> None:
    (tmp_path / "batches.json").write_text('{"b0": ["t0", "t1"], "b1": ["t1", "t2"]}')
    words = ("--items", items, "--labels", "cat,dog", "--batches", tmp_path / "batches.json")
    said = call("studio", "new", tmp_path / "s", *words)
    assert said.exit_code == 0 and "20 of the 23 tasks are in no batch" in said.output


def test_an_invalid_study_is_not_created(tmp_path: Path, items: Path, call: Call) -> None:
    """`studio new` reports the error before it writes the study folder."""
    (tmp_path / "none.csv").write_text("task,text\n")
    (tmp_path / "batches.csv").write_text("batch,task\n1,t0\n1,nobody\n")
    for words, told in [
        (("--items", tmp_path / "none.csv"), "there are no tasks besides practice tasks"),
        (
            ("--items", items, "--strata", "hrad=4"),
            "study.toml has the stratum 'hrad', but no task is in it; tasks have the strata 'easy', 'hard'",
        ),
        (
            ("--items", items, "--batches", tmp_path / "batches.csv"),
            "contains tasks that the study does not have: 'nobody'",
        ),
        (("--items", items, "--batch", 0), "batch must be at least 1; it is 0"),
    ]:
        done = call("studio", "new", tmp_path / "s", "--labels", "a,b", *words)
        assert done.exit_code and told in done.stderr, done.output
        assert not (tmp_path / "s").exists()
    assert (
        "labels must have at least 2" in call("studio", "new", tmp_path / "s", "--items", items, "--labels", "a").stderr
    )


def test_an_edited_study_toml_is_applied_or_its_error_is_reported(tmp_path: Path, items: Path, call: Call) -> None:
    study = tmp_path / "s"
    assert call("studio", "new", study, "--items", items, "--labels", "cat,dog,ship", "--per-task", 2).exit_code == 0
    toml = (study / "study.toml").read_text()
    # text of the page for text tasks
    assert 'kind = "text"' in toml and "the text below" in read_study(study).task_page_phrases()["opening"]
    with serve_in_thread(Settings(folder=study, database="", is_leader=False)) as (url, app):
        studio = app.state.studio
        row = studio.writer.submit(lambda connection: create_invite(connection, "", "", 2)).result()
        run_async(simulate_workers(url, studio.keys.sign("invite", f"{row.id:x}"), 2, patience=PATIENCE))

    def edited(old: str, new: str) -> str:
        assert old in toml
        (study / "study.toml").write_text(toml.replace(old, new))
        return call("studio", "status", study).output

    assert "did you mean per_task?" in edited("per_task = 2", "per_tsk = 2")
    assert "per_task must be a whole number; it is 'two'" in edited("per_task = 2", "per_task = 'two'")
    assert "did you mean 'dawid-skene'?" in edited('aggregator = ""', 'aggregator = "dawid"')
    assert "no longer has the label 'cat'" in edited('"cat", "dog"', '"kitten", "dog"')
    assert "46 of 46 wanted" in edited('"cat", "dog"', '"cat", "dog", "fox"')
    assert "34 of 17" in edited("per_task = 2", "per_task = 1")  # more answers than now wanted; all are kept
    edited('"cat"', '"cat"')
    (study / "secret.key").unlink()
    assert "is missing, but the study has workers" in call("studio", "status", study).stderr


def test_a_port_in_use_is_an_error_before_the_setup_link_is_printed(tmp_path: Path, items: Path, call: Call) -> None:
    assert call("studio", "new", tmp_path / "s", "--items", items, "--labels", "a,b").exit_code == 0
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = call("studio", "serve", tmp_path / "s", "--port", taken.getsockname()[1])
    assert done.exit_code and "is in use" in done.stderr and "setup=" not in done.output


REACHABLE = "can reach the server at"
LOCAL_LINKS = "The links of the studio are for this machine only"


def test_a_server_that_sees_only_its_proxy_is_warned_about() -> None:
    assert "--behind-proxy 127.0.0.1" in warning_if_visitors_share_an_address("https://lab.example", "")
    assert not warning_if_visitors_share_an_address("https://lab.example", "127.0.0.1")
    assert not warning_if_visitors_share_an_address("http://127.0.0.1:8000", "")


@pytest.mark.parametrize(
    ("words", "warned", "links_are_local"),
    [
        ([], False, False),
        (["--host", "127.0.0.2"], False, False),
        (["--host", "::1"], False, False),
        (["--host", "localhost"], False, False),
        (["--host", "0.0.0.0"], True, True),
        (["--host", "::"], True, True),
        (["--host", "192.0.2.7"], True, False),
        (["--host", "lab.example"], True, False),
        (["--host", "0.0.0.0", "--base-url", "http://lab.example"], True, False),
        (["--host", "0.0.0.0", "--base-url", "http://127.0.0.1:8000", "--quiet"], True, True),
        (["--host", "0.0.0.0", "--base-url", "https://lab.example/study"], False, False),  # as in a container
        (["--base-url", "http://lab.example"], False, False),
    ],
)
def test_a_server_that_other_machines_reach_without_https_is_warned_about(
    tmp_path: Path,
    items: Path,
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    warned: bool,
    links_are_local: bool,
) -> None:
    from plurivox.web.server import uvicorn_server

    monkeypatch.setattr(uvicorn_server, "serve", lambda *_: None)
    monkeypatch.setattr(uvicorn_server, "raise_if_port_is_not_free", lambda *_: None)
    assert call("studio", "new", tmp_path / "s", "--items", items, "--labels", "cat,dog,ship").exit_code == 0
    done = call("studio", "serve", tmp_path / "s", *words)
    assert done.exit_code == 0, done.output
    assert (REACHABLE in done.stderr) == warned and (LOCAL_LINKS in done.stderr) == links_are_local
    if warned:
        assert done.stderr.startswith("warning: ") and "https" in done.stderr and "--host 127.0.0.1" in done.stderr
