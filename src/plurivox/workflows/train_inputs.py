"""Training data of a data set: features or images with what is known of its tasks; their split, and the folder that records it.

Nothing here needs torch, except reading images.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plurivox.core.atomic_write import atomic_file
from plurivox.core.encoding import as_names, positions
from plurivox.core.errors import InputError, first_few
from plurivox.core.types import Names
from plurivox.train.data import splits
from plurivox.train.data.training_data import TrainingData, read_training_data

if TYPE_CHECKING:
    from plurivox.io import Dataset  # needs polars, which an .npz of plain arrays does not

SETTINGS = "settings.json"


@dataclass(frozen=True)
class Pictures:
    """Where images come from, and how they are read."""

    table: Path | None = None  # columns task (or idx) and image, encoded
    size: int | None = None
    skip: bool = False  # leave out those that cannot be read


def _has_crowd(data: "Dataset") -> bool:
    """Whether a data set has votes or counts; also if it has only answers, whose error says what to do."""
    if data.has("votes") or data.has("counts"):
        return True
    return data.has("answers") and not (data.has("gold") or data.has("soft_labels"))


def training_data_of(
    data: "Dataset | str | Path",
    pictures: Pictures | None = None,
    part: str | None = None,
    note: Callable[[str], None] | None = None,
    **how: Any,
) -> TrainingData:
    """The features of a data set, or where there are none its images, with votes, gold labels and splits.

    `data` is a data set, the path or the name of one, which is read with the options `how` of `io.read`, or an .npz of packed
    inputs, which is read without any table. Without `pictures` features are required. `part` names the votes or the counts,
    where a data set has both. `note` is called with a line about images that are left out.
    """
    if isinstance(data, str | Path) and str(data).lower().endswith(".npz") and Path(data).is_file():
        return read_training_data(data)
    from plurivox.io.dataset_reader import as_votes, read  # needs polars, as any Dataset does

    data = read(data, **how) if isinstance(data, str | Path) else data

    votes = as_votes(data, part) if _has_crowd(data) else None
    features = data.features
    if features is None and pictures is None:
        raise InputError(f"{data.name} has no features to train on; it has {', '.join(data.parts())}")
    if features is None or (pictures is not None and pictures.table is not None):
        assert pictures is not None
        tasks, x = _images_of(data, pictures, note)
        return TrainingData(data.name, tasks, x, _split_of(data, tasks), data.gold, votes, data.soft_labels)
    gold = data.gold if features.gold is None else features.gold
    split = _split_of(data, features.tasks) if features.split is None else features.split
    return TrainingData(data.name, features.tasks, features.x, split, gold, votes, data.soft_labels)


def _images_of(data: "Dataset", pictures: Pictures, note: Callable[[str], None] | None) -> tuple[Names, Any]:
    """(tasks, pixels) of the images of a table, or else of the data set."""
    from plurivox.train.data.images import decode

    if pictures.table is not None:
        from plurivox.io.tabular.column_values import to_names
        from plurivox.io.tabular.table_files import read_table, require_columns

        frame = read_table(pictures.table)
        name = "task" if "task" in frame.columns else "idx"
        require_columns(frame, [name, "image"], pictures.table)
        tasks, images = to_names(frame[name], pictures.table), frame["image"].to_list()
    elif data.images is not None:
        tasks, images = as_names(list(data.images), "tasks"), list(data.images.values())
    elif (items := data.items) is not None and "image" in items.columns:
        shown = items.drop_nulls("image")
        tasks, images = as_names(shown["task"].to_list(), "tasks"), shown["image"].to_list()
    else:
        raise InputError(
            f"{data.name} has neither features nor images to train on; put features.npz (x, a row a task, and task) into "
            "its folder, or give --images FILE"
        )
    found = decode(images, tasks, size=pictures.size, damaged="skip" if pictures.skip else "error")
    if len(found.damaged) and note is not None:
        note(f"{len(found.damaged)} images cannot be read and are left out: {first_few(found.damaged)}")
    return found.tasks, found.x


def _split_of(data: "Dataset", tasks: Names) -> Names | None:
    """(n_tasks,) the split of each task, where the data name one for all of them."""
    out = np.full(len(tasks), "", object)
    for split, members in data.splits.items():
        out[positions(members, tasks) >= 0] = split
    return as_names(out.tolist()) if len(out) and all(out) else None


# ---- the split


def divide(
    training_data: TrainingData, file: str | Path | None = None, shares: splits.Shares = splits.USUAL, seed: int = 0
) -> dict[str, Names]:
    """train, dev and test by name: of a file, of the data themselves, or dealt out by lot, stratified where gold is known."""
    if file is not None:
        split = splits.read_split(file)
        names = as_names([name for name, tasks in split.items() for _ in range(len(tasks))])
        tasks = np.concatenate(list(split.values()))
        there = positions(training_data.tasks, tasks) >= 0
        if not there.any():
            raise InputError(
                f"{file} names no task of {training_data.name}; it has {first_few(tasks)}, not {first_few(training_data.tasks)}"
            )
        found = replace(training_data, tasks=tasks[there], x=training_data.on(tasks[there]), split=names[there]).parts()
        if "train" not in found:
            raise InputError(f"{file} has the splits {first_few(split)}; name them train, dev and test")
    else:
        found = training_data.parts()
    if not found:
        gold = training_data.gold
        whole = gold is not None and bool((positions(gold.tasks, training_data.tasks) >= 0).all())
        labels = gold.on(training_data.tasks).hard() if gold is not None and whole else None
        found = {
            name: tasks
            for name, tasks in splits.stratified(training_data.tasks, labels, shares, seed).items()
            if len(tasks)
        }
    if "train" not in found:
        raise InputError(f"no task of {training_data.name} is in the split train; the splits are {first_few(found)}")
    return found


# ---- the folder of a series of runs
#
#     settings.json   command, input and the tasks of train, dev and test (here)
#     results.csv     the measures of all runs (`workflows.train_runs`)
#     run-000/        result.json (`train.parallel.runs`); weights, history and what was recorded (`train.result`); a checkpoint
#                     while it is trained (`train.loop.net_fit`)


@dataclass(frozen=True)
class RunFolder:
    """The folder of a series of runs, known to hold runs or nothing; it need not be there yet."""

    path: Path

    @classmethod
    def of(cls, folder: "str | Path | RunFolder") -> "RunFolder":
        """The run folder at this path; an InputError where the folder has something in it, but no runs."""
        if isinstance(folder, RunFolder):
            return folder
        path = Path(folder)
        holds_runs = (path / SETTINGS).is_file() or any(path.glob("run-*/*"))
        if path.is_dir() and any(path.iterdir()) and not holds_runs:
            raise InputError(f"{path} is not empty and holds no runs; choose another folder")
        return cls(path)

    def open(self, splits: Mapping[str, Names], command: str, source: str) -> None:
        """Make the folder and write its settings; an InputError where its runs are of other splits."""
        self.path.mkdir(exist_ok=True)
        path, tasks_of = self.path / SETTINGS, {name: tasks.tolist() for name, tasks in splits.items()}
        if path.is_file() and any(self.path.glob("run-*/*")):
            if json.loads(path.read_text(encoding="utf-8")).get("parts") != tasks_of:
                raise InputError(
                    f"the runs in {self.path} are of another division into train, dev and test; choose another folder"
                )
            return
        with atomic_file(path) as temporary:
            settings = {"command": command, "input": source, "parts": tasks_of}
            temporary.write_text(json.dumps(settings), encoding="utf-8")


def read_splits(folder: Path) -> dict[str, Names]:
    """The tasks of train, dev and test when the nets of the folder were trained; empty where it has no settings."""
    path = folder / SETTINGS
    splits = json.loads(path.read_text(encoding="utf-8"))["parts"] if path.is_file() else {}
    return {name: as_names(tasks, "tasks") for name, tasks in splits.items() if tasks}
