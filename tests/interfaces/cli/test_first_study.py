"""The commands of docs/first_study.md run as written; simulated workers answer the study that it serves."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from plurivox.web.client.simulated_workers import run_async, simulate_workers
from plurivox.web.server.uvicorn_server import serve_in_thread
from plurivox.web.server_settings import Settings
from plurivox.web.store.admin.invites import create_invite
from studies import seeded

PAGE = Path(__file__).parents[3] / "docs" / "first_study.md"


@pytest.fixture(autouse=True)
def same_draws() -> Iterator[None]:
    """Seed all ids, because answers of simulated workers depend on image addresses, which contain ids."""
    with seeded("first study"):
        yield


def draw(folder: Path) -> None:
    """Write thirty images of squares with different sizes and colours."""
    image = pytest.importorskip("PIL.Image")
    folder.mkdir()
    for i in range(30):
        picture = image.new("RGB", (24, 24), "white")
        picture.paste((8 * i, 90, 255 - 8 * i), (4, 4, 10 + i % 12, 10 + i % 12))
        picture.save(folder / f"{i:02d}.png")


def answer(study: Path, n: int) -> None:
    with serve_in_thread(Settings(folder=study, database="", is_leader=False)) as (url, app):
        studio = app.state.studio
        row = studio.writer.submit(lambda connection: create_invite(connection, "test", "", n)).result()
        for seed in range(n):  # one worker at a time, so that the assignment of tasks is reproducible
            run_async(simulate_workers(url, studio.keys.sign("invite", f"{row.id:x}"), 1, seed=seed, patience=600))


@pytest.mark.slow
@pytest.mark.training
def test_the_commands_of_the_page_run(
    call: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    draw(tmp_path / "photos")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.S) for line in block.splitlines()]
    assert len(lines) == 15, lines
    for line in lines:
        name, *words = line.split()
        assert name == "plurivox"
        if words[:2] == ["studio", "serve"]:
            answer(tmp_path / words[2], 9)
            continue
        done = call(*words)
        assert done.exit_code == 0, (line, done.output)
    assert all((tmp_path / name).read_text().count("\n") == 31 for name in ("truth.csv", "people.csv"))
    assert "accuracy" in done.stdout  # the last command is evaluate
