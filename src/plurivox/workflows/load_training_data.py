"""Load training data from a data set (inputs, votes, labels, splits), split tasks, and prepare folders of runs.

Only reading images needs torch.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plurivox.core.array_types import Names
from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_names, positions
from plurivox.train.data import splits
from plurivox.train.data.training_data import TrainingData, read_training_data
from plurivox.workflows.training_inputs import InputChoice, Pictures, read_task_inputs
from plurivox.workflows.training_label_file import with_training_labels

if TYPE_CHECKING:
    from plurivox.core.soft_labels import SoftLabels
    from plurivox.io import Dataset  # needs polars, which an .npz of plain arrays does not

SETTINGS = "settings.json"
ENCODING = "encoding"  # the setting with the encoding of the inputs, as JSON text


def _has_votes_or_only_answers(data: "Dataset") -> bool:
    """Return whether a data set has votes or counts; also True if it has only answers, for which as_votes raises an error."""
    if data.has("votes") or data.has("counts"):
        return True
    return data.has("answers") and not (data.has("gold") or data.has("soft_labels"))


def load_training_data(
    data: "Dataset | str | Path",
    pictures: Pictures | None = None,
    part: str | None = None,
    note: Callable[[str], None] | None = None,
    choice: InputChoice | None = None,
    training_labels: Path | None = None,
    gold: Any = None,
    **how: Any,
) -> TrainingData:
    """Return the TrainingData of a data set: features (or else images, or texts), votes, gold labels, soft labels and splits.

    `data` is a data set, or the path or name of one, read with the options `how` of `io.read`, or an .npz of training
    data, which does not need polars. Without `pictures` no images are read, without `choice` no texts and no columns of
    numbers. `part` selects votes or counts if a data set has both. `note` is called with a message about the inputs used
    if the data set has several, and about images that are left out. The labels in the file `training_labels` become the soft
    labels, see `with_training_labels`. `gold` are gold labels, or their file, in place of those of the data.
    """
    if note is None:
        note = _ignore
    if isinstance(data, str | Path) and str(data).lower().endswith(".npz") and Path(data).is_file():
        packed = read_training_data(data)
        packed = packed if gold is None else replace(packed, gold=_given_gold(gold, packed.tasks, packed.name))
        return packed if training_labels is None else with_training_labels(packed, training_labels, note)
    from plurivox.io.dataset_reader import as_votes, read  # needs polars, as any Dataset does

    data = read(data, **how) if isinstance(data, str | Path) else data
    if choice is not None and data.items is None and data.path is not None and data.path.is_file():
        from plurivox.io.items_of_votes_file import items_of_votes_file

        if (items := items_of_votes_file(data.path, how)) is not None:
            data = data.without("items", items=items)

    votes = as_votes(data, part) if _has_votes_or_only_answers(data) else None
    inputs = read_task_inputs(data, pictures, choice, note)
    own = inputs.features
    own_gold = data.gold if own is None or own.gold is None else own.gold
    true_labels = own_gold if gold is None else _given_gold(gold, inputs.tasks, data.name)
    split = _splits_of_tasks_if_all_have_one(data, inputs.tasks) if own is None or own.split is None else own.split
    soft = None if training_labels is not None else data.soft_labels
    made = TrainingData(data.name, inputs.tasks, inputs.x, split, true_labels, votes, soft, inputs.encoding)
    return made if training_labels is None else with_training_labels(made, training_labels, note, data)


def _given_gold(gold: Any, tasks: Names, data_name: str) -> "SoftLabels | None":
    """Return the gold labels that the caller gave; raise InputError if no task with inputs has one."""
    from plurivox.io.soft_label_inputs import as_soft_labels  # needs polars, which an .npz of plain arrays does not

    known = as_soft_labels(gold)
    if known is not None and not (positions(known.tasks, tasks) >= 0).any():
        raise InputError(
            f"no task in common: the gold labels have the tasks {first_few(known.tasks)}, the inputs of {data_name} "
            f"{first_few(tasks)}; use the same task names in both"
        )
    return known


def _ignore(message: str) -> None:
    """Ignore a message for the user."""
    del message


def _splits_of_tasks_if_all_have_one(data: "Dataset", tasks: Names) -> Names | None:
    """Return (n_tasks,) the split (train, ...) of each task, from the data set; None if a task has no split."""
    out = np.full(len(tasks), "", object)
    for split, members in data.splits.items():
        out[positions(members, tasks) >= 0] = split
    return as_names(out.tolist()) if len(out) and all(out) else None


# ---- the split


def splits_from_file_or_data_else_random(
    training_data: TrainingData,
    split_file: str | Path | None = None,
    shares: splits.Shares = splits.DEFAULT_SHARES,
    seed: int = 0,
) -> dict[str, Names]:
    """Return {"train", "dev", "test": tasks}: from a file, else from the data, else at random (stratified by gold labels)."""
    if split_file is not None:
        split = splits.read_split(split_file)
        names = as_names([name for name, tasks in split.items() for _ in range(len(tasks))])
        tasks = np.concatenate(list(split.values()))
        there = positions(training_data.tasks, tasks) >= 0
        if not there.any():
            raise InputError(
                f"{split_file} contains no task of {training_data.name}; its tasks are {first_few(tasks)}, those of the "
                f"data are {first_few(training_data.tasks)}"
            )
        found = replace(
            training_data, tasks=tasks[there], x=training_data.inputs_of(tasks[there]), split=names[there]
        ).tasks_by_standard_split()
        if "train" not in found:
            raise InputError(f"{split_file} has the splits {first_few(split)}; rename them to train, dev and test")
    else:
        found = training_data.tasks_by_standard_split()
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


def chosen_tasks_of_file_or_split(training_data: TrainingData, file_or_split: str) -> Names:
    """Return the tasks in a CSV file with the column task, or those of a split of the data, given by its name."""
    names = training_data.tasks[:0] if training_data.split is None else training_data.split
    is_in_split = np.array([str(name) == file_or_split for name in names.tolist()], bool)
    if is_in_split.any():
        return training_data.tasks[is_in_split]
    if not Path(file_or_split).is_file():
        known = first_few(dict.fromkeys(names.tolist()), 6) or "none"
        raise InputError(
            f"{file_or_split} is neither a file nor a split of {training_data.name}; its splits are: {known}"
        )
    return splits.read_task_list(file_or_split)


# ---- the folder of a series of runs
#
#     settings.json   command, input, the tasks of train, dev and test, those left out, use of gold labels, encoding (here)
#     results.csv     the measures of all runs, and over how many tasks they are (`workflows.train_runs`)
#     run-000/        result.json (`train.parallel.multi_seed_runs`); weights, history and recorded logits
#                     (`train.trained_net`); a checkpoint while it is trained (`train.loop.training_run`)


@dataclass(frozen=True)
class RunFolder:
    """The folder of a series of training runs; it contains runs, is empty or does not exist yet."""

    path: Path

    @classmethod
    def from_empty_or_run_folder(cls, folder: "str | Path | RunFolder") -> "RunFolder":
        """Return the folder of training runs at this path; raise InputError if it contains files but no runs."""
        if isinstance(folder, RunFolder):
            return folder
        path = Path(folder)
        if path.is_file():
            raise InputError(f"{path} is a file; give a folder for the trained networks")
        holds_runs = (path / SETTINGS).is_file() or any(path.glob("run-*/*"))
        if path.is_dir() and any(path.iterdir()) and not holds_runs:
            raise InputError(f"{path} is not empty and contains no runs; choose another folder")
        return cls(path)

    def create_or_check_same_splits(self, splits: Mapping[str, Names], command: str, source: str) -> None:
        """Create the folder of training runs and write its settings; raise InputError if runs in it have other splits."""
        self.path.mkdir(exist_ok=True)
        path, tasks_of = self.path / SETTINGS, {name: tasks.tolist() for name, tasks in splits.items()}
        if path.is_file() and any(self.path.glob("run-*/*")):
            if json.loads(path.read_text(encoding="utf-8")).get("parts") != tasks_of:
                raise InputError(
                    f"the runs in {self.path} have other train, dev and test splits; choose another folder"
                )
            return
        with atomic_file(path) as temporary:
            settings = {"command": command, "input": source, "parts": tasks_of}
            temporary.write_text(json.dumps(settings), encoding="utf-8")

    def add_to_settings(self, **settings: Any) -> None:
        """Add settings to those that `create_or_check_same_splits` wrote; a setting of the same name is replaced."""
        path = self.path / SETTINGS
        saved = json.loads(path.read_text(encoding="utf-8"))
        with atomic_file(path) as temporary:
            temporary.write_text(json.dumps(saved | settings), encoding="utf-8")


def read_splits_of_run_folder(run_folder: Path) -> dict[str, Names]:
    """Return the train, dev and test tasks with which the nets in a run folder were trained; {} if not recorded."""
    path = run_folder / SETTINGS
    splits = json.loads(path.read_text(encoding="utf-8"))["parts"] if path.is_file() else {}
    return {name: as_names(tasks, "tasks") for name, tasks in splits.items() if tasks}


def read_tasks_trained_on(run_folder: Path) -> Names | None:
    """Return the tasks that the nets in a run folder were trained on; None if the folder does not say which were left out."""
    path = run_folder / SETTINGS
    settings = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if "left_out" not in settings:
        return None
    left_out = {task for tasks in settings["left_out"].values() for task in tasks}
    return as_names([task for task in settings["parts"]["train"] if task not in left_out], "tasks")


def read_setting_of_run_folder(run_folder: Path, name: str) -> Any:
    """Return a setting of the runs in a folder, or of the folder that contains it; None if it is not recorded."""
    for folder in (run_folder, run_folder.resolve().parent):
        path = folder / SETTINGS
        if path.is_file() and (found := json.loads(path.read_text(encoding="utf-8")).get(name)) is not None:
            return found
    return None


def inputs_of_trained_net(
    run_folder: Path, shape: tuple[int, ...], pictures: Pictures, features: str = ""
) -> tuple[Pictures, InputChoice]:
    """Return from where the inputs of other tasks are read for a net of a run folder, whose inputs have this shape.

    Texts and columns are encoded as in the training, images are used if the net takes images, and scaled to their size.
    """
    text, takes_images = read_setting_of_run_folder(run_folder, ENCODING), len(shape) == 3
    if takes_images and pictures.size is None and shape[1] == shape[2]:
        pictures = replace(pictures, size=shape[1])
    if text is None:
        return pictures, InputChoice(features, images_first=takes_images)
    from plurivox.train.data.input_encodings import encoding_from_json

    return pictures, InputChoice(features, encoding=encoding_from_json(text))
