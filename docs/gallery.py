"""Draw the pictures of docs/charts.md: `python -m docs.gallery [CHART ...]` writes docs/charts/CHART.svg.

`python -m docs.gallery --inputs FOLDER` only writes the data that the pictures show. They are simulated, but for the digit
images of scikit-learn, so the pictures may be published.
"""

import contextlib
import shlex
import sys
import tempfile
from pathlib import Path

import numpy as np
from examples.demo import load_digit_images
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

import plurivox as pv
from plurivox.cli.main import main as command

OUT = Path(__file__).parent / "charts"
INPUTS = (  # what makes the data, beside `toy`, which plurivox has, and `digits`, which `write_digits` makes
    "plurivox simulate soft-answers --n-labels 6 --n-tasks 400 --n-workers 40 --features 8 -o answers",
    "plurivox simulate hammer-spammer --n-workers 28 --n-tasks 300 --copiers 0.2 --tire 0.5 --times -o tired",
    "plurivox simulate hammer-spammer --n-workers 150 --n-tasks 500 --imbalance-votes --worker-tail 1 -o uneven",
    "plurivox elicit top-two answers -o votes",
    "plurivox train votes --epochs 15 --runs 3 --record after -o run",
)
DIGITS = "digits --images digit-images"
PICTURES = {  # chart: what stands between `plurivox plot` and `-o FILE`
    "agreement": "agreement tired",
    "certainty": "certainty answers",
    "comparison": "comparison toy digits tired uneven --methods vote-shares,wawa,dawid-skene,glad,log-pool",
    "confusion": "confusion toy",
    "curve": "curve digits --methods vote-shares,wawa,log-pool",
    "hardest": f"hardest {DIGITS} --k 8",
    "label-shift": f"label-shift {DIGITS} --k 3",
    "labels": "labels digits",
    "posterior": "posterior toy --which spread --k 4 --methods calibrated-shares,log-pool",
    "reliability": "reliability digits",
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
    write_digits(folder)
    for line in INPUTS:
        run(line, folder)


def write_digits(folder: Path) -> None:
    """Write 1,797 digit images, and a data set with votes of simulated workers on each."""
    truth, features = load_digit_images()
    pv.write(pv.Dataset("digits", votes=simulated_votes(truth, features.x), gold=truth), folder / "digits")
    images = folder / "digit-images"
    images.mkdir()
    for task, pixels in zip(truth.tasks.tolist(), features.x, strict=True):
        grey = (255 - pixels.reshape(8, 8) / 16 * 255).astype(np.uint8)
        Image.fromarray(grey).resize((64, 64), Image.Resampling.BICUBIC).save(images / f"{task}.png")


def simulated_votes(truth: pv.SoftLabels, x: np.ndarray) -> pv.Votes:
    """Return seven votes per image of 40 workers, who confuse digits as a classifier does, some more than others.

    The last four workers answer at random.
    """
    rng = np.random.default_rng(0)
    prob = cross_val_predict(LogisticRegression(max_iter=200), x / 16, truth.hard().tolist(), method="predict_proba")
    worker = np.concatenate([rng.permutation(40)[:7] for _ in truth.tasks])
    flattened = np.exp(rng.normal(0.1, 0.35, 40)) + 1e6 * (np.arange(40) >= 36)  # the power 1 / x of the probabilities
    powers = np.repeat(prob, 7, axis=0) ** (1 / flattened[worker])[:, None]
    label = (rng.random(len(worker))[:, None] < np.cumsum(powers, 1) / powers.sum(1, keepdims=True)).argmax(1)
    names = [f"worker-{i:02d}" for i in worker.tolist()]
    return pv.votes(task=np.repeat(truth.tasks, 7).tolist(), worker=names, label=truth.labels[label].tolist())


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
