"""docs/charts.md: every chart has a picture that is up to date, and every command on the page can be run."""

import shlex
import sys
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest

import plurivox as pv
from plurivox import charts
from plurivox.cli.main import main

ROOT = Path(__file__).parent.parent
SVG = "{http://www.w3.org/2000/svg}"
LARGEST_FOLDER = 1_500_000  # bytes of all pictures


@pytest.fixture(autouse=True)
def docs_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])


def context_of(line: str) -> click.Context:
    """Return the context of a command line of plurivox; an unknown command or option raises an error."""
    words = shlex.split(line)
    command: click.Command | None = main
    context = click.Context(main, info_name=words.pop(0))
    while isinstance(command, click.Group):
        command = command.get_command(context, words[0])
        assert command is not None, line
        context = click.Context(command, info_name=words.pop(0), parent=context)
    assert command is not None
    return command.make_context(context.info_name, words, parent=context.parent)


@pytest.mark.parametrize("name", charts.methods)
def test_every_chart_has_a_picture_with_its_title_and_a_caption(name: str) -> None:
    from docs.gallery import OUT

    root = ElementTree.parse(OUT / f"{name}.svg").getroot()
    lag = f"docs/charts/{name}.svg is out of date; run: python -m docs.gallery {name}"
    assert root.findtext(f"{SVG}title") == charts.methods.summary(name).rstrip("."), lag
    assert len(root.findtext(f"{SVG}desc") or "") > 20 and len(list(root.iter(f"{SVG}text"))) > 5
    assert "#ffffff" in next(root.iter(f"{SVG}path")).get("style", ""), "the page behind the picture is white"


def test_there_are_no_other_pictures_and_the_folder_is_small() -> None:
    from docs.gallery import OUT, PICTURES

    assert {path.name for path in OUT.iterdir()} == {f"{name}.svg" for name in charts.methods}
    assert set(PICTURES) == set(charts.methods)
    assert sum(path.stat().st_size for path in OUT.iterdir()) < LARGEST_FOLDER


@pytest.mark.parametrize("name", ["confusion", "posterior", "worker-scores"])
def test_captions_on_the_page_are_those_of_the_charts_today(name: str) -> None:
    from docs.charts_page import picture_caption
    from docs.gallery import PICTURES

    values = context_of(f"plurivox plot {PICTURES[name]} -o x.svg").params
    options = {one.name: values[one.name] for one in charts.methods[name].options()}
    assert PICTURES[name].split()[1] == "toy"
    assert pv.plot("toy", name, methods=values.get("methods"), **options).caption == picture_caption(name)


def test_every_command_on_the_page_exists_with_its_options() -> None:
    from docs.gallery import INPUTS, PICTURES, picture_command
    from docs.paper_figures import PAPERS, full_command

    lines = [*INPUTS, *map(picture_command, PICTURES)]
    lines += [full_command(command) for figures in PAPERS.values() for one in figures for command in one.commands]
    assert len(lines) > 40
    for line in lines:
        context_of(line)


def test_every_figure_of_a_paper_that_a_chart_names_is_in_the_table() -> None:
    page = (ROOT / "docs" / "charts.md").read_text()
    table = page[page.index("## Figures of the papers") :]
    named = {name for name in charts.methods if "(peerannot)" in charts.methods[name].figures}
    named |= {name for name in charts.methods if "Collins" in charts.methods[name].figures}
    assert named and all(f"plurivox plot {name} " in table for name in named)
