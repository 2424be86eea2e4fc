"""Behaviour that needs a separate process: imports, signals, pipes, shell completion, plugins."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from interfaces.cli.cli_process import PYTHON, environment, process

pytestmark = pytest.mark.long

HEAVY = ("numpy", "polars", "narwhals", "numba", "scipy", "rich", "pandas", "torch", "sklearn", "matplotlib")
LOADED = "import sys; from plurivox.cli.main import main; main({words}, standalone_mode=False); print(*sys.modules)"
# restore SIGINT: a shell starts background processes with SIGINT ignored, unlike a command run in a terminal
AWAKE = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); sys.argv[0] = 'plurivox'; "
AWAKE += "from plurivox.cli.main import main; main()"


def loaded(*words: str) -> set[str]:
    """Return the packages that a command line has imported."""
    code = LOADED.format(words=list(words))
    told = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in told.stdout.splitlines()[-1].split()}


@pytest.mark.parametrize(
    "words", [("--help",), ("aggregate", "--help"), ("methods",), ("datasets", "list"), ("completion", "bash")]
)
def test_help_and_lists_import_no_heavy_package(words: tuple[str, ...]) -> None:
    assert not loaded(*words) & set(HEAVY)


def test_exit_codes() -> None:
    assert process("--help").returncode == 0
    assert process("--version").stdout.startswith("plurivox ")
    bad = process("aggregat")
    assert (bad.returncode, bad.stdout, bad.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("n", [1, 3])
def test_threads_reach_polars_before_it_is_imported(n: int, votes_file: Path) -> None:
    words = [
        "aggregate",
        "vote-shares",
        str(votes_file),
        "-o",
        str(votes_file.with_name("out.csv")),
        "--threads",
        str(n),
    ]
    code = f"from plurivox.cli.main import main; main({words}, standalone_mode=False); "
    code += "import polars; print(polars.thread_pool_size())"
    run = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert run.stdout.split()[-1] == str(n)


def test_a_method_of_a_plugin_is_a_command(plugin: dict[str, str]) -> None:
    assert "Vote shares, slowly." in process("methods", "aggregate", env=plugin).stdout
    words = " ".join(process("aggregate", "sleepy", "--help", env=plugin).stdout.split())
    assert "--deep / --no-deep" in words and "--bed TEXT" in words and "default: none" in words
    assert "p = n / N" in words and "--gold" in words
    asked = plugin | {"_PLURIVOX_COMPLETE": "bash_complete", "COMP_WORDS": "plurivox aggregate sl", "COMP_CWORD": "2"}
    assert process(env=asked).stdout.strip() == "plain,sleepy"


@pytest.mark.slow
def test_a_broken_plugin_breaks_only_its_own_method(plugin: dict[str, str], tmp_path: Path) -> None:
    step = tmp_path / "elsewhere"
    (step / "sick.py").write_text("import no_such_package\n")
    points = step / "plugin-1.0.dist-info" / "entry_points.txt"
    points.write_text(points.read_text() + "sick = sick:Sick\ngone = nowhere.at.all:Gone\n")
    fault = "the plugin method sick cannot be loaded (ModuleNotFoundError: No module named 'no_such_"
    listed = process("methods", env=plugin)
    assert (
        listed.returncode == 0 and fault in listed.stdout and "the plugin method gone cannot be loaded" in listed.stdout
    )
    found = json.loads(process("methods", "aggregate", "--json", env=plugin).stdout)["methods"]["aggregate"]
    errors = {one["name"]: one.get("error") for one in found}
    assert fault in errors["sick"] and errors["gone"] and not errors["sleepy"] and not errors["vote-shares"]
    assert process("aggregate", "--help", env=plugin).returncode == 0
    used = process("aggregate", "sick", "toy", "-o", tmp_path / "o.csv", env=plugin)
    assert used.returncode == 2 and used.stderr.startswith(f"error: {fault}") and used.stderr.count("\n") == 1
    compared = process("compare", "toy", env=plugin)
    assert compared.returncode == 0 and f"note: {fault}" in compared.stderr


@pytest.mark.parametrize("word", ["SIGTERM", "SIGINT"])
def test_an_interrupt_at_any_moment_prints_no_traceback(votes_file: Path, word: str) -> None:
    """SIGINT and SIGTERM arrive while the command line is still importing its modules."""
    hook = "import builtins, os, signal, sys; real = builtins.__import__\n"
    hook += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    hook += "def slow(name, *rest):\n    if name == MOMENT: os.kill(os.getpid(), signal.{word})\n"
    hook += "    return real(name, *rest)\nbuiltins.__import__ = slow\n"
    hook += "from plurivox.cli.main import main; main(['describe', sys.argv[1]])"
    moments = ("numpy", "plurivox.evaluate") + (
        ("click", "plurivox.cli._click.command_base_classes") if word == "SIGINT" else ()
    )
    for moment in moments:
        code = hook.format(word=word).replace("MOMENT", repr(moment))
        run = subprocess.run(
            [sys.executable, "-c", code, str(votes_file)], env=environment(), capture_output=True, text=True
        )
        assert run.returncode == (143 if word == "SIGTERM" else 130), (moment, run.stderr)
        assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [(signal.SIGINT, 130, "error: interrupted; no partial file was left behind\n"), (signal.SIGTERM, 143, "")],
)
def test_an_interrupt_leaves_no_partial_file(
    plugin: dict[str, str], votes_file: Path, sent: signal.Signals, code: int, said: str
) -> None:
    out = votes_file.with_name("out.csv")
    out.write_text("before")
    bed = votes_file.with_name("bed")
    words = [
        "aggregate",
        "sleepy",
        str(votes_file),
        "-o",
        str(out),
        "--steps",
        "300",
        "--nap",
        "0.1",
        "--bed",
        str(bed),
    ]
    before = {*votes_file.parent.iterdir(), bed}
    with subprocess.Popen(
        [sys.executable, "-c", AWAKE, *words], env=plugin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        wait_for(bed, run)
        run.send_signal(sent)
        stdout, stderr = run.communicate(timeout=600)
    assert (run.returncode, stdout, stderr) == (code, "", said)
    assert out.read_text() == "before" and set(votes_file.parent.iterdir()) == before


def wait_for(file: Path, run: "subprocess.Popen[str]") -> None:
    """Wait until a process has written a file."""
    while not file.exists():
        assert run.poll() is None, f"the process ended before it wrote {file}"
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("words", ["methods --json", "--help", "aggregate --help"])
def test_a_closed_pipe_is_quiet(words: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run([*PYTHON, *words.split()], env=environment(), stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert run.stderr == ""


@pytest.mark.slow
def test_a_progress_bar_is_drawn_only_on_a_terminal(plugin: dict[str, str], votes_file: Path) -> None:
    words = ["aggregate", "sleepy", str(votes_file), "-o", str(votes_file.with_name("out.csv")), "--nap", "0.4"]
    assert "sleepy" not in process(*words, env=plugin).stderr
    main_end, terminal = pty.openpty()
    run = subprocess.run([*PYTHON, *words], env=plugin, stdout=subprocess.PIPE, stderr=terminal, text=True)
    os.close(terminal)
    drawn = ""
    with suppress(OSError):  # raised at the end: the process has closed its side of the terminal
        while part := os.read(main_end, 65536):
            drawn += part.decode()
    os.close(main_end)
    assert "sleepy" in drawn and "3/3" in drawn
    assert run.stdout.startswith("vote-shares: 3 tasks; wrote ")
