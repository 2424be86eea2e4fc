"""Simulated crowds for the benchmarks: independent-confusion, seed 0, saved once per run."""

from pathlib import Path

from plurivox.simulate import IndependentConfusion

SIZES = {  # name: (tasks, workers, votes per task, labels)
    "small": (200, 30, 10, 10),
    "labelme-like": (10_000, 59, 3, 10),
    "cifar10h-like": (10_000, 2_500, 50, 10),
    "million": (1_000_000, 10_000, 5, 10),
}


def save_votes(folder: Path, name: str) -> Path:
    """Simulate a crowd unless its file exists; return the path of its votes, an .npz that numpy can open."""
    file = folder / f"{name}.npz"
    if not file.is_file():
        n_tasks, n_workers, feedback, n_labels = SIZES[name]
        crowd = IndependentConfusion(n_tasks=n_tasks, n_workers=n_workers, feedback=feedback, n_labels=n_labels).draw()
        crowd.votes.save(file)
    return file
