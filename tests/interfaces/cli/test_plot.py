"""`plurivox plot` run as a user would: files of three types, options, and what is said if something is missing."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import Result

from chart_inputs import small_image

Call = Callable[..., Result]
SVG = "{http://www.w3.org/2000/svg}"
MISTAKES = {
    "workloud VOTES -o OUT.svg": "there is no chart 'workloud'; did you mean 'workload'?",
    "workload VOTES": "missing option '-o' / '--out'",
    "workload VOTES -o OUT.jpg": "unsupported file type of",
    "workload VOTES -o OUT.svg --theme drak": "there is no theme 'drak'; did you mean 'dark'?",
    "workload VOTES -o OUT.svg --scores trace": "there is no option '--scores'",
    "reliability VOTES -o OUT.svg": "give true labels: gold= (--gold FILE)",
    "training VOTES -o OUT.svg": "the folder of a training: plurivox train ... -o RUN",
    "confusion VOTES -o OUT.svg --methods vote-shares": "estimates no confusion matrices; use dawid-skene",
    "confusion VOTES -o OUT.svg --only bob": "there is no worker 'bob'; did you mean 'bo'?",
    "posterior VOTES -o OUT.svg --k 0": "--k must be 1 to 30; got 0",
    "hardest VOTES -o OUT.svg --images OUT": "contains no image files",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_is_one_line_that_says_what_to_give(call: Call, votes_file: Path, tmp_path: Path, line: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    words = line.replace("VOTES", str(votes_file)).replace("OUT", str(folder)).split()
    said = call("plot", *words)
    assert said.exit_code == 2 and said.stdout == "", said.output
    assert said.stderr.startswith("error: ") and said.stderr.count("\n") == 1 and MISTAKES[line] in said.stderr
    assert not list(folder.iterdir()) and not list(tmp_path.glob("out.*"))


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_it_writes_three_types_of_files_and_prints_the_caption(
    call: Call, votes_file: Path, tmp_path: Path, ending: str, start: bytes
) -> None:
    out = tmp_path / f"chart.{ending}"
    said = call("plot", "workload", votes_file, "-o", out)
    assert said.exit_code == 0, said.output
    assert out.read_bytes().startswith(start)
    assert said.stdout.startswith("3 workers gave 6 votes") and f"wrote {out}" in said.stdout


def test_json_has_the_chart_with_its_options_and_the_caption(call: Call, votes_file: Path, tmp_path: Path) -> None:
    said = call("plot", "labels", votes_file, "-o", tmp_path / "a.svg", "--order", "given", "--json")
    found = json.loads(said.stdout)
    assert found["chart"] == "labels[order=given]" and found["caption"].startswith("6 votes for 2 labels")


def test_svg_shows_names_under_the_pointer_and_describes_itself(call: Call, votes_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.svg"
    assert call("plot", "confusion", votes_file, "-o", out, "--only", "ann").exit_code == 0
    root = ElementTree.parse(out).getroot()
    titles = [one.text or "" for one in root.iter(f"{SVG}title")]
    assert sum(one.startswith("ann: ") and " called " in one for one in titles) == 4
    assert root.get("role") == "img" and "as dawid-skene estimates them" in (root.findtext(f"{SVG}desc") or "")


def test_gold_labels_a_second_table_and_methods(call: Call, votes_file: Path, tmp_path: Path) -> None:
    gold, other = tmp_path / "gold.csv", tmp_path / "other.csv"
    gold.write_text("task,label\na,cat\nb,dog\n")
    other.write_text("task,cat,dog\na,0.9,0.1\nb,0.5,0.5\nc,0.2,0.8\n")
    said = call("plot", "reliability", votes_file, "-o", tmp_path / "a.svg", "--gold", gold, "--methods", "wawa")
    assert said.exit_code == 0 and "wawa" in said.stdout and "2 tasks with a gold label" in said.stdout
    said = call(
        "plot", "label-shift", votes_file, "-o", tmp_path / "b.svg", "--against", other, "--methods", "vote-shares"
    )
    assert said.exit_code == 0 and "vote-shares" in said.stdout and "other" in said.stdout, said.output


def test_images_and_texts_appear(call: Call, votes_file: Path, tmp_path: Path) -> None:
    texts, images, out = tmp_path / "texts.csv", tmp_path / "images", tmp_path / "a.svg"
    texts.write_text("task,text\na,a remarkable sentence\n")
    images.mkdir()
    (images / "b.png").write_bytes(small_image(3))
    said = call("plot", "hardest", votes_file, "-o", out, "--texts", texts, "--images", images)
    assert said.exit_code == 0, said.output
    assert "remarkable" in out.read_text() and "data:image/jpeg;base64" in out.read_text()


def test_the_theme_changes_the_page(call: Call, votes_file: Path, tmp_path: Path) -> None:
    pages = []
    for theme in ("light", "dark"):
        assert call("plot", "workload", votes_file, "-o", tmp_path / "a.svg", "--theme", theme).exit_code == 0
        pages.append((tmp_path / "a.svg").read_text())
    assert "#ffffff" in pages[0] and "#14181e" in pages[1] and "#14181e" not in pages[0]


def test_several_files_are_drawn_together(call: Call, votes_file: Path, tmp_path: Path) -> None:
    soft = [tmp_path / f"{name}.csv" for name in ("vote-shares", "wawa")]
    for path in soft:
        assert call("aggregate", path.stem, votes_file, "-o", path).exit_code == 0
    said = call("plot", "posterior", *soft, "-o", tmp_path / "a.svg")
    assert said.exit_code == 0 and "nats by vote-shares" in said.stdout and "nats by wawa" in said.stdout


def test_without_matplotlib_the_extra_is_named_and_help_still_works(
    call: Call, votes_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    said = call("plot", "workload", votes_file, "-o", tmp_path / "a.svg")
    assert said.exit_code == 2 and "pip install 'plurivox[plot]'" in said.stderr
    assert call("plot", "workload", "--help").exit_code == 0
