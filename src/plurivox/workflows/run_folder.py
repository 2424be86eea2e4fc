"""The folder of a series of runs.

    settings.json   command, input and the tasks of train, dev and test (here)
    results.csv     the measures of all runs (`train.parallel.runs`)
    run-000/        result.json; weights, history and what was recorded (`train.result`); a checkpoint while it is trained

Nothing here needs torch.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from plurivox.core.atomic_write import whole_file
from plurivox.core.encoding import as_names
from plurivox.core.errors import InputError
from plurivox.core.types import Names

SETTINGS = "settings.json"


def refuse_foreign_folder(folder: Path) -> None:
    """Raise an InputError where a folder has something in it, but no runs: those of a series are resumed."""
    holds_runs = (folder / SETTINGS).is_file() or any(folder.glob("run-*/*"))
    if folder.is_dir() and any(folder.iterdir()) and not holds_runs:
        raise InputError(f"{folder} is not empty and holds no runs; choose another folder")


def open_run_folder(folder: Path, splits: Mapping[str, Names], command: str, source: str) -> None:
    """Make the folder and write its settings; an InputError where it is foreign or its runs are of other splits."""
    refuse_foreign_folder(folder)
    folder.mkdir(exist_ok=True)
    path, tasks_of = folder / SETTINGS, {name: tasks.tolist() for name, tasks in splits.items()}
    if path.is_file() and any(folder.glob("run-*/*")):
        if json.loads(path.read_text(encoding="utf-8")).get("parts") != tasks_of:
            raise InputError(
                f"the runs in {folder} are of another division into train, dev and test; choose another folder"
            )
        return
    with whole_file(path) as temporary:
        settings = {"command": command, "input": source, "parts": tasks_of}
        temporary.write_text(json.dumps(settings), encoding="utf-8")


def read_splits(folder: Path) -> dict[str, Names]:
    """The tasks of train, dev and test when the nets of the folder were trained; empty where it has no settings."""
    path = folder / SETTINGS
    splits = json.loads(path.read_text(encoding="utf-8"))["parts"] if path.is_file() else {}
    return {name: as_names(tasks, "tasks") for name, tasks in splits.items() if tasks}
