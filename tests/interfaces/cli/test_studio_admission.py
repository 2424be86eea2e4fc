"""`plurivox studio new --prolific`, and the warning about studies of older versions that anyone can enter."""

import shutil
import signal
import subprocess
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from click.testing import Result

pytest.importorskip("fastapi", reason="the studio is missing; run: pip install 'plurivox[web]'")

from interfaces.cli.cli_process import PYTHON, environment
from interfaces.web.server_kills import own_port

OLD = Path(__file__).parents[2] / "fixtures" / "0.1.0" / "studies"


def serve_until_started(*studies: Path) -> str:
    """Run `plurivox studio serve` until it responds, then stop it; return what it printed."""
    with own_port() as port:
        command = [*PYTHON, "studio", "serve", *map(str, studies), "--port", str(port)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment())
        try:
            while not responds(f"http://127.0.0.1:{port}/health"):
                assert process.poll() is None, process.communicate()
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            return process.communicate(timeout=600)[1]
        finally:
            process.kill()
            process.wait()


def responds(url: str) -> bool:
    try:
        return httpx.get(url, timeout=600).status_code == 200
    except httpx.TransportError:
        return False


def copy_of(name: str, folder: Path) -> Path:
    shutil.copytree(OLD / name, folder / name)
    (folder / name / "secret.key").chmod(0o600)
    return folder / name


def test_a_study_of_version_0_1_0_that_anyone_can_enter_starts_with_a_warning(tmp_path: Path) -> None:
    plain, arms = copy_of("today", tmp_path), copy_of("today-arms", tmp_path)
    said = serve_until_started(plain, arms)
    for study, name in ((plain, "today"), (arms, "arms")):
        assert f"WARNING: anyone can enter the study {name} by a link of Prolific, with an invented ID too" in said
        assert f'add after line 23 of {study}/study.toml: prolific_studies = ["ID OF YOUR STUDY"]' in said
        assert f"change line 23 of {study}/study.toml to: platforms = []" in said
    lines = (plain / "study.toml").read_text().splitlines()
    lines.insert(23, 'prolific_studies = ["64study"]')
    (plain / "study.toml").write_text("\n".join(lines))
    lines = (arms / "study.toml").read_text().splitlines()
    lines[22] = "platforms = []"
    (arms / "study.toml").write_text("\n".join(lines))
    assert "WARNING" not in serve_until_started(plain, arms)


def test_the_advice_of_the_warning_works_without_a_line_about_platforms_and_with_several(tmp_path: Path) -> None:
    plain, arms = copy_of("today", tmp_path), copy_of("today-arms", tmp_path)
    lines = (plain / "study.toml").read_text().splitlines()
    (plain / "study.toml").write_text("\n".join([*lines[:22], *lines[23:]]))
    lines = (arms / "study.toml").read_text().splitlines()
    several = [*lines[:22], "platforms = [", '  "prolific",', "]", *lines[23:]]
    (arms / "study.toml").write_text("\n".join(several))
    said = serve_until_started(plain, arms)
    on = 'platforms = ["prolific"]\n    prolific_studies = ["ID OF YOUR STUDY"]'
    assert f"add at the top of {plain}/study.toml the two lines:\n    {on}" in said
    assert f"add at the top of {plain}/study.toml: platforms = []" in said
    assert f"add after line 25 of {arms}/study.toml: prolific_studies" in said
    assert f"change lines 23 to 25 of {arms}/study.toml to: platforms = []" in said
    added = on.replace("ID OF YOUR STUDY", "64study")
    (plain / "study.toml").write_text(f"{added}\n{(plain / 'study.toml').read_text()}")
    (arms / "study.toml").write_text("\n".join([*several[:22], "platforms = []", *several[25:]]))
    assert "WARNING" not in serve_until_started(plain, arms)


def test_new_studies_are_by_invitation_unless_ids_are_given(tmp_path: Path, call: Callable[..., Result]) -> None:
    (tmp_path / "t.txt").write_text("one\ntwo\n")
    new = ("--items", tmp_path / "t.txt", "--labels", "a,b")
    assert call("studio", "new", tmp_path / "closed", *new).exit_code == 0
    ids = ("--prolific", "64study", "--prolific", "65study", "--mturk", "3HIT")
    assert call("studio", "new", tmp_path / "open", *new, *ids).exit_code == 0
    closed, pinned = (tomllib.loads((tmp_path / one / "study.toml").read_text()) for one in ("closed", "open"))
    assert closed["platforms"] == [] and closed["prolific_studies"] == []
    assert pinned["platforms"] == ["prolific", "mturk"]
    assert pinned["prolific_studies"] == ["64study", "65study"] and pinned["mturk_hits"] == ["3HIT"]
    wrong = call("studio", "new", tmp_path / "wrong", *new, "--prolific", "{{%STUDY_ID%}}")
    assert wrong.exit_code != 0 and "prolific_studies" in wrong.output
