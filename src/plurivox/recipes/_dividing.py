"""Tasks into train, dev and test, without torch."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from plurivox.core.errors import InputError, some
from plurivox.core.names import Names, as_names, positions
from plurivox.train import splits
from plurivox.train.material import Material


def divide(
    material: Material, file: str | Path | None = None, shares: splits.Shares = splits.USUAL, seed: int = 0
) -> dict[str, Names]:
    """train, dev and test by name: of a file, of the data themselves, or dealt out by lot, stratified where gold is known."""
    if file is not None:
        split = splits.read_split(file)
        names = as_names([name for name, part in split.items() for _ in range(len(part))])
        tasks = np.concatenate(list(split.values()))
        there = positions(material.tasks, tasks) >= 0
        if not there.any():
            raise InputError(
                f"{file} names no task of {material.name}; it has {some(tasks)}, not {some(material.tasks)}"
            )
        found = replace(material, tasks=tasks[there], x=material.on(tasks[there]), split=names[there]).parts()
        if "train" not in found:
            raise InputError(f"{file} has the splits {some(split)}; name them train, dev and test")
    else:
        found = material.parts()
    if not found:
        gold = material.gold
        whole = gold is not None and bool((positions(gold.tasks, material.tasks) >= 0).all())
        labels = gold.on(material.tasks).hard() if gold is not None and whole else None
        found = {
            name: part for name, part in splits.stratified(material.tasks, labels, shares, seed).items() if len(part)
        }
    if "train" not in found:
        raise InputError(f"no task of {material.name} is in the split train; the splits are {some(found)}")
    return found
