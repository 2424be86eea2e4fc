"""Simulated crowds to measure on: independent confusion, seed 0, saved once a run."""

from pathlib import Path

from plurivox.simulate import IndependentConfusion

SIZES = {  # name: tasks, workers, votes per task, labels
    "small": (200, 30, 10, 10),
    "labelme-like": (10_000, 59, 3, 10),
    "cifar10h-like": (10_000, 2_500, 50, 10),
    "million": (1_000_000, 10_000, 5, 10),
}


def saved(folder: Path, name: str) -> Path:
    """The votes of a crowd as a file that numpy alone can open."""
    file = folder / f"{name}.npz"
    if not file.is_file():
        n_tasks, n_workers, feedback, n_labels = SIZES[name]
        crowd = IndependentConfusion(n_tasks=n_tasks, n_workers=n_workers, feedback=feedback, n_labels=n_labels).draw()
        crowd.votes.save(file)
    return file
