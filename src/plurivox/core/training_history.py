"""Histories of trainings as CSV files: one row per epoch, columns epoch, loss and others."""

import csv
from collections.abc import Mapping
from pathlib import Path

from plurivox.core.atomic_write import atomic_file


def write_training_history_csv(path: Path, history: Mapping[str, tuple[float, ...]]) -> None:
    """Write the history of a training as CSV, one row per epoch."""
    with atomic_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(history)
        rows.writerows(zip(*history.values(), strict=True))


def read_training_history_csv(path: Path) -> dict[str, tuple[float, ...]]:
    """Return the columns of a CSV file of training history (epoch, loss, ...) by name."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    types = {"epoch": int}
    return {
        name: tuple(types.get(name, float)(cell) for cell in column)
        for name, column in zip(header, columns, strict=True)
    }
