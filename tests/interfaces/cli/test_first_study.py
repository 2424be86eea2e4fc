"""docs/first_study.md: its commands run as they stand there, and simulated people answer where it asks people."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from plurivox.web.client.simulated_workers import run_async, simulate_workers
from plurivox.web.server.uvicorn_server import serve_in_thread
from plurivox.web.settings import Settings
from plurivox.web.store.admin.invites import create_invite
from studies import seeded

PAGE = Path(__file__).parents[3] / "docs" / "first_study.md"


@pytest.fixture(autouse=True)
def same_draws() -> Iterator[None]:
    """What simulated people say follows from the addresses of images, which are ids: all of them are seeded."""
    with seeded("first study"):
        yield


def draw(folder: Path) -> None:
    """Thirty squares of some size and shade."""
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
        for seed in range(n):  # one after the other: who gets which tasks depends on no race
            run_async(simulate_workers(url, studio.keys.sign("invite", f"{row.id:x}"), 1, seed=seed, patience=600))


@pytest.mark.slow
@pytest.mark.training
def test_the_page_leads_from_images_to_a_net(
    call: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    draw(tmp_path / "photos")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.S) for line in block.splitlines()]
    assert len(lines) == 14, lines
    for line in lines:
        name, *words = line.split()
        assert name == "plurivox"
        if words[:2] == ["studio", "serve"]:
            answer(tmp_path / words[2], 9)
            continue
        done = call(*words)
        assert done.exit_code == 0, (line, done.output)
    assert (tmp_path / "soft.csv").read_text().count("\n") == 31
    assert "accuracy" in done.stdout  # evaluate comes last
