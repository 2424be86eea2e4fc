"""Draw the pictures of docs/charts.md: `python -m docs.gallery [CHART ...]` writes docs/charts/CHART.svg.

`python -m docs.gallery --inputs FOLDER` only writes the data that the pictures show. They are simulated, but for the digit
images of scikit-learn, so that the pictures may be published.
"""

import contextlib
import shlex
import sys
import tempfile
from pathlib import Path

import plurivox as pv
from plurivox.cli.main import main as command

OUT = Path(__file__).parent / "charts"
INPUTS = (  # what makes the data, beside `toy`, which plurivox has, and the digits of `make demo`
    "plurivox simulate soft-answers --n-labels 6 --n-tasks 400 --n-workers 40 --features 8 -o answers",
    "plurivox simulate hammer-spammer --n-workers 28 --n-tasks 300 --copiers 0.2 --tire 0.5 --times -o tired",
    "plurivox simulate hammer-spammer --n-workers 150 --n-tasks 500 --imbalance-votes --worker-tail 1 -o uneven",
    "plurivox elicit top-two answers -o votes",
    "plurivox train votes --epochs 15 --runs 3 --record after -o run",
)
DIGITS = "demo-output/digits --images demo-output/images"
PICTURES = {  # chart: what stands between `plurivox plot` and `-o FILE`
    "agreement": "agreement tired",
    "certainty": "certainty answers",
    "comparison": "comparison toy demo-output/digits tired uneven --methods vote-shares,wawa,dawid-skene,glad,log-pool",
    "confusion": "confusion toy",
    "curve": "curve demo-output/digits --methods vote-shares,wawa,log-pool",
    "hardest": f"hardest {DIGITS} --scores posterior-entropy --k 12",
    "label-shift": f"label-shift {DIGITS} --k 3",
    "labels": "labels demo-output/digits",
    "posterior": "posterior toy --which spread --k 4 --methods calibrated-shares,log-pool",
    "reliability": "reliability demo-output/digits",
    "task-votes": f"task-votes {DIGITS}",
    "training": "training run",
    "votes-per-task": "votes-per-task uneven",
    "worker-scores": "worker-scores toy",
    "workload": "workload uneven",
}


def picture_command(chart: str) -> str:
    """Return the command that draws the picture of a chart."""
    return f"plurivox plot {PICTURES[chart]} -o {chart}.svg"


def write_inputs(folder: Path) -> None:
    """Write all data that the pictures show into a folder."""
    write_digits(folder / "demo-output")
    for line in INPUTS:
        run(line, folder)


def write_digits(folder: Path) -> None:
    """Write the digit images and the votes on them, as `make demo` does."""
    from examples.digits_crowd import load_digit_images, simulate_readers, write_images  # needs scikit-learn

    truth, features = load_digit_images()
    write_images(features, folder / "images")
    pv.write(pv.Dataset("digits", votes=simulate_readers(truth, features).votes, gold=truth), folder / "digits")


def run(line: str, folder: Path) -> None:
    """Run a command of plurivox in a folder; raise SystemExit if it fails."""
    with contextlib.chdir(folder):
        code = command([*shlex.split(line)[1:], "--quiet"], standalone_mode=False)
    if code:
        raise SystemExit(f"failed: {line}")


def draw_pictures(charts: list[str]) -> None:
    """Draw the pictures of these charts, or of all, into docs/charts."""
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        for chart in charts or PICTURES:
            run(picture_command(chart), folder)
            (OUT / f"{chart}.svg").write_bytes((folder / f"{chart}.svg").read_bytes())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inputs"]:
        target = Path(sys.argv[2])
        target.mkdir(parents=True, exist_ok=True)
        write_inputs(target)
    else:
        draw_pictures(sys.argv[1:])
