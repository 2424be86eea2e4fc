"""Time, memory and size of a report: 10,000 tasks x 5 votes with images, and 5 million votes; the fits alone for comparison."""

import tempfile
from pathlib import Path

from benchmarks.measurement import Measurement, run_code

CROWD = """
import io
import numpy as np
import plurivox as pv
from plurivox.core.votes import Votes
rng = np.random.default_rng(0)
task = np.repeat(np.arange({tasks}), 5)
worker = rng.integers({workers}, size=len(task))
truth, skill = rng.integers({labels}, size={tasks}), rng.beta(8, 2, {workers})
skill[: {workers} // 50] = 1 / {labels}
random_label = rng.integers({labels}, size=len(task))
votes = Votes.of(task, worker, np.where(rng.random(len(task)) < skill[worker], truth[task], random_label))
"""
IMAGES = """
from PIL import Image
def jpeg():
    buffer = io.BytesIO()
    Image.fromarray(rng.integers(0, 255, (40, 40, 3), dtype=np.uint8)).resize((320, 320)).save(buffer, "JPEG")
    return buffer.getvalue()
few = [jpeg() for _ in range(50)]
images = {str(i): few[i % 50] for i in range(len(truth))}
"""
FITS = """
for method in ("vote-shares", "wawa", "dawid-skene", "glad", "mace", "log-pool", "calibrated-shares"):
    pv.fit(votes, method)
"""
REPORT = "pv.report(votes{images}).write({path!r})"


def run() -> list[tuple[str, str, str]]:
    """Run the benchmark and return table rows (claim, measured value, limit)."""
    small = CROWD.format(tasks=10_000, workers=300, labels=6)
    large = CROWD.format(tasks=1_000_000, workers=20_000, labels=10)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "report.html")
        run_code(REPORT.format(images="", path=path), small)  # compiles everything
        fits = run_code(FITS, small)
        first = run_code(REPORT.format(images=", images=images", path=path), small + IMAGES)
        rows = [("report of 10,000 tasks x 5 votes, with images", measured(first, fits, path), "20 s, 3 MB")]
        fits = run_code(FITS, large)
        second = run_code(REPORT.format(images="", path=path), large)
        return [*rows, ("report of 5 million votes", measured(second, fits, path), "60 s")]


def measured(report: Measurement, fits: Measurement, path: str) -> str:
    """Return the time, the ratio to fitting the seven methods, the size of the page and the peak memory as text."""
    size = Path(path).stat().st_size / 1e6
    return (
        f"{report.seconds:.1f} s, {report.seconds / fits.seconds:.1f}x its seven fits alone ({fits.seconds:.1f} s); "
        f"{size:.1f} MB; peak memory {report.peak_mb / 1e3:.1f} GB"
    )
