"""A new method needs one new file: it is then found in the source tree and in an installed wheel."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
# the first Python example of CONTRIBUTING.md; its first line is the path of its file
EXAMPLE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
NAME = EXAMPLE.partition("\n")[0].removeprefix("# ")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the source tree with the file of the new method."""
    tree = tmp_path_factory.mktemp("tree")
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree / name)
    (tree / NAME).write_text(EXAMPLE)
    return tree


@pytest.fixture(scope="module")
def installed(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build that tree as a wheel, install it into an empty folder, and return the folder."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(folder), str(tree)], check=True, capture_output=True)
    return folder


def run(place: Path, *args: str, **env: str) -> str:
    """Run Python with plurivox imported from `place`, and return what it prints."""
    command = [sys.executable, *args]
    environment = {**os.environ, "PYTHONPATH": str(place), **env}
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=place, env=environment).stdout


@pytest.mark.parametrize("form", ["tree", "installed"])
def test_one_file_adds_a_method_to_lists_help_completion_and_imports(
    form: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    place = request.getfixturevalue(form)
    place = place / "src" if form == "tree" else place
    assert str(place) in run(place, "-c", "import plurivox; print(plurivox.__file__)")
    assert "smoothed-shares" in run(place, "-m", "plurivox.cli", "methods", "aggregate")
    assert "--added" in run(place, "-m", "plurivox.cli", "aggregate", "smoothed-shares", "--help")
    complete = {"_PLURIVOX_COMPLETE": "bash_complete", "COMP_WORDS": "plurivox aggregate smoothed", "COMP_CWORD": "2"}
    assert "smoothed-shares" in run(place, "-m", "plurivox.cli", **complete)
    command = ("-m", "plurivox.cli", "aggregate", "smoothed-shares", "toy", "--added", "1")
    run(place, *command, "-o", str(tmp_path / "soft.csv"))
    assert (tmp_path / "soft.csv").read_text().startswith("task,label,confidence,estimates,p:label-0,")
    assert "some votes added" in run(
        place, "-c", "from plurivox.aggregate import SmoothedShares; print(SmoothedShares.__doc__)"
    )


def test_contract_tests_include_the_new_method(tree: Path) -> None:
    contracts = str(tree / "tests" / "contracts" / "test_every_aggregator.py")
    said = run(
        tree / "src",
        "-m",
        "pytest",
        "-q",
        "-k",
        "smoothed-shares",
        "-p",
        "no:cacheprovider",
        "-c",
        str(tree / "pyproject.toml"),
        contracts,
    )
    assert "passed" in said and "failed" not in said
