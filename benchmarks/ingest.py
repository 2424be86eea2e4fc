"""Time and memory to read 5 million votes from Parquet into `Votes`, relative to polars reading categoricals."""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measurement import Measurement, run_alternating, run_code

N_TASKS, N_WORKERS, N_LABELS, FEEDBACK = 1_000_000, 10_000, 10, 5


def make_file(path: Path) -> None:
    """Write a Parquet file: 1M tasks, 10k workers, 5 votes per task, text ids, rows in random order."""
    rng = np.random.default_rng(0)
    task = rng.permutation(np.repeat(np.arange(N_TASKS), FEEDBACK))
    frame = pl.DataFrame({"task": task, "worker": rng.integers(0, N_WORKERS, len(task))})
    frame = frame.with_columns(label=pl.Series(rng.integers(0, N_LABELS, len(task))))
    named = [pl.format(f"{name}-{{}}", pl.col(name).cast(pl.String).str.zfill(7)).alias(name) for name in frame.columns]
    frame.select(named).write_parquet(path)


def run() -> list[tuple[str, str, str]]:
    """Run the benchmark and return table rows (claim, measured value, limit)."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "votes.parquet"
        make_file(file)
        categories = f"pl.read_parquet({str(file)!r}).with_columns(pl.all().cast(pl.Categorical))"
        ours = f"votes(Path({str(file)!r}))"
        found: dict[str, Measurement] = run_alternating(
            {
                "polars": lambda: run_code(f"frame = {categories}", "import polars as pl"),
                "plurivox": lambda: run_code(
                    f"made = {ours}", "from pathlib import Path; from plurivox.io.votes_from_tables import votes"
                ),
            }
        )
    ours_, polars = found["plurivox"], found["polars"]
    seconds, memory = ours_.seconds / polars.seconds, ours_.peak_mb / polars.peak_mb
    return [
        (
            "5M votes from Parquet, time",
            f"{seconds:.2f}x polars ({ours_.seconds:.2f} s / {polars.seconds:.2f} s)",
            "2x",
        ),
        (
            "5M votes from Parquet, peak memory",
            f"{memory:.2f}x polars ({ours_.peak_mb:.0f} / {polars.peak_mb:.0f} MB)",
            "1.3x",
        ),
    ]
