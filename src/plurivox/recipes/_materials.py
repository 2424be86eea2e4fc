"""What recipes train on: the features of a data set, and what is known of its tasks."""

import numpy as np

from plurivox.core.errors import InputError
from plurivox.core.names import Names, as_names, positions
from plurivox.io import Dataset
from plurivox.train.material import Material


def material_of(data: Dataset) -> Material:
    """The features of a data set with its votes, gold labels and splits."""
    features = data.features
    if features is None:
        raise InputError(f"{data.name} has no features to train on; it has {', '.join(data.parts())}")
    votes = data.crowd() if data.has("votes") or data.has("counts") else None
    gold = data.gold if features.gold is None else features.gold
    split = _split_of(data, features.tasks) if features.split is None else features.split
    x = features.x.astype(np.float32) if features.x.dtype.kind == "f" else features.x
    return Material(data.name, features.tasks, x, split, gold, votes, data.soft_labels)


def _split_of(data: Dataset, tasks: Names) -> Names | None:
    """(n_tasks,) the split of each task, where the data name one for all of them."""
    out = np.full(len(tasks), "", object)
    for split, members in data.splits.items():
        out[positions(members, tasks) >= 0] = split
    return as_names(out.tolist()) if len(out) and all(out) else None
