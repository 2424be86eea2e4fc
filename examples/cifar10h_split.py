"""Write the split of CIFAR-10H that docs/training.md uses: `python -m examples.cifar10h_split split.csv`.

Of the images 0 to 9499, whose exact pixels are available, 30% of each label are test tasks and 50 per label dev tasks.
"""

import csv
import sys
from pathlib import Path

import numpy as np

import plurivox as pv

LABELS = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


def make_split() -> dict[int, str]:
    """Return {task: "train", "dev" or "test"}, stratified by label."""
    gold = pv.read("cifar10h").gold
    assert gold is not None
    label_of = {int(task): name for task, name in zip(gold.tasks.tolist(), gold.hard().tolist(), strict=True)}
    true = np.array([label_of[task] for task in range(9500)])
    rng, part = np.random.default_rng(7), np.full(len(true), "train", "<U5")
    for label in LABELS:
        tasks = rng.permutation(np.flatnonzero(true == label))
        n_test = round(0.3 * len(tasks))
        part[tasks[:n_test]], part[tasks[n_test : n_test + 50]] = "test", "dev"
    return dict(enumerate(part.tolist()))


if __name__ == "__main__":
    with Path(sys.argv[1]).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["task", "split"])
        writer.writerows(make_split().items())
