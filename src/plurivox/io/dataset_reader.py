"""Read whatever is there: a file, a folder, a name on the shelf; or what a caller holds in memory."""

import warnings
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl

from plurivox.core.answers import Answers
from plurivox.core.base import DataType
from plurivox.core.errors import InputError, PlurivoxWarning, unknown_name
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import answer_frames, dataset_catalog, frames
from plurivox.io.dataset import Dataset
from plurivox.io.folder import read_folder
from plurivox.io.folder_check import holds_main_table
from plurivox.io.formats import Contents, image_folder, label_studio, peerannot, reader_of
from plurivox.io.soft_files import read_soft, soft_of
from plurivox.io.tabular.file_names import ENDINGS, stem_of, suffix_of
from plurivox.io.tabular.table_files import Columns, frame_of_records, read_table
from plurivox.io.tabular.text_files import read_json


def read(where: str | Path, **how: Any) -> Dataset:
    """The data set at a path or on the shelf.

    `where` is a table of votes, counts or answers; a Label Studio export; a saved noun (`.npz`); a folder in our form, in
    peerannot's, or with one folder of images a label; or the name of a data set under PLURIVOX_DATA. `how` are the options of
    `votes`: column names, `missing`, `repeats`, `labels`, `ordered`, `wide`.
    """
    path = Path(where).expanduser()
    if not path.exists():
        found = dataset_catalog.find(str(where))
        if found is None:
            raise _absent(str(where))
        path = found
    return _read_folder(path, how) if path.is_dir() else _read_file(path, how)


def dataset_of(given: Any) -> Dataset:
    """The data set given, or named by a path; Votes, Answers and a DataFrame of votes become one that holds them alone.

    >>> dataset_of({"task": ["a"], "worker": ["ann"], "label": ["cat"]})
    <Dataset the table: votes>
    """
    if isinstance(given, Dataset):
        return given
    if isinstance(given, str | Path):
        return read(given)
    if isinstance(given, Votes):
        return Dataset("the votes", votes=given)
    if isinstance(given, Answers):
        return Dataset("the answers", answers=given)
    return Dataset("the table", votes=frames.votes(given))


def crowd_of(given: Any, part: str | None = None, *, needs_names: str = "") -> Votes:
    """The votes, or the counts, to work on: those of the `part` named, else of the one that covers more tasks.

    `needs_names` is the name of a method that must know who voted, "" where none must: counts are then refused where
    votes are there too. Warns where counts are taken although nobody asked for them.
    """
    data = dataset_of(given)
    taken = data.crowd_part(part)
    crowd = data.crowd(taken)
    if taken == "votes" or (votes := data.votes) is None:
        return crowd
    if needs_names:
        raise InputError(
            f"{needs_names} must know who voted; the counts of {data.name} ({crowd.n_tasks:,} tasks) hold no names. "
            f"Its votes ({votes.n_tasks:,} tasks) do: --part votes"
        )
    if part is None:
        warnings.warn(
            f"{data.name}: counts cover {crowd.n_tasks:,} tasks, votes {votes.n_tasks:,}; "
            "counts are taken (--part votes for the others)",
            PlurivoxWarning,
            stacklevel=3,
        )
    return crowd


def is_ours(path: Path) -> bool:
    """A folder in our own form."""
    return holds_main_table(path) and not peerannot.recognises(path)


def read_labels(where: str | Path) -> SoftLabels | Dataset:
    """The soft or known labels in a file; a data set where the file names workers, counts people or is another program's."""
    path = Path(where)
    if suffix_of(path) not in ENDINGS:
        return read_soft(where)  # which says what endings it knows
    found = _opened(path, {})
    if isinstance(found, Dataset):
        return found
    unlabelled = "task" not in found.names and ".json" in suffix_of(path)
    if unlabelled or "worker" in found.names or stem_of(path) == "counts":
        return _of_table(found, path, {})
    return soft_of(read_table(path) if isinstance(found.source, Path) else found.source.to_native(), where)


def _read_folder(path: Path, how: dict[str, Any]) -> Dataset:
    reader = None if is_ours(path) else reader_of(path)
    return read_folder(path, **how) if reader is None else _foreign(reader, path, how)


def _read_file(path: Path, how: dict[str, Any]) -> Dataset:
    if suffix_of(path) == ".npz":
        return _of_noun(DataType.load(path), path)
    found = _opened(path, how)
    return found if isinstance(found, Dataset) else _of_table(found, path, how)


def _opened(path: Path, how: dict[str, Any]) -> Dataset | Columns:
    """The table in a file, or the data set where it is a JSON export of another program; the file is read once."""
    if suffix_of(path) == ".json":
        if peerannot.recognises(path):
            return _foreign(peerannot, path, how)
        records = read_json(path)
        if label_studio.is_export(records):
            return _foreign(label_studio, path, how, records=records)
        return Columns.of(frame_of_records(records, path), path.name)
    if suffix_of(path) == ".parquet":
        with suppress(InputError):  # read_table says what is wrong with it
            return Columns.of(path)
    return Columns.of(read_table(path), path.name)


def _of_table(table: Columns, path: Path, how: dict[str, Any]) -> Dataset:
    """The data set of a table of answers, of counts or of votes."""
    name = stem_of(path)
    if not how.get("wide") and table.hold_answers(how.get("label")):
        if "repeats" in how:
            raise InputError(
                f"{path.name} holds what people entered, and repeats are settled among votes: take further answers of a person "
                "to a task out first (plurivox clean --rules repeats-once)"
            )
        known = ("task", "worker", "label", "missing", "labels", "ordered")
        given = {key: how[key] for key in known if key in how}
        return Dataset(name, path=path, answers=answer_frames.answers(table, where=path.name, **given))
    if not how.get("wide") and _holds_counts(table, how, name):
        columns = {key: how[key] for key in ("task", "labels", "ordered") if key in how}
        return Dataset(name, path=path, counts=frames.counts(table, where=path.name, **columns))
    return Dataset(name, path=path, votes=frames.votes(table, where=path.name, **how))


def _foreign(reader: ModuleType, path: Path, how: dict[str, Any], **given: Any) -> Dataset:
    """A data set of another program, with our rules for abstentions and repeats laid over it."""
    given |= {"labels": how["labels"]} if "labels" in how and reader is not image_folder else {}
    if reader is label_studio:
        given |= {theirs: how[ours] for ours, theirs in (("label", "from_name"), ("task", "task_field")) if ours in how}
    found: Contents = reader.read(path, **given)
    frames.tell(found.notes)
    votes = found.votes
    if votes is not None:
        rules: dict[str, Any] = {key: how[key] for key in ("missing", "repeats", "ordered") if key in how}
        rules |= {"tasks": votes.tasks, "workers": votes.workers} | (
            {} if "missing" in how else {"labels": votes.labels}
        )
        worker = "worker" if votes.n_workers else None
        votes = frames.votes(votes.columns(), worker=worker, where=path.name, **rules)
    return Dataset(found.name, path=path, votes=votes, gold=found.gold, images=found.images, items=_items(found))


def _items(found: Contents) -> pl.DataFrame | None:
    """What was shown, with the split of each task where it is known."""
    if found.splits is None:
        return found.items
    splits = pl.DataFrame({"task": list(found.splits), "split": list(found.splits.values())})
    return splits if found.items is None else found.items.join(splits, on="task", how="left", maintain_order="left")


def _holds_counts(table: Columns, how: dict[str, Any], name: str) -> bool:
    """A file called counts with a task column and nothing but numbers beside it; elsewhere that may be a wide table too."""
    task = how.get("task", "task")
    others = [one for one in table.names if one != task]
    if task not in table or not others or {"worker", "label"} & set(others) or {"worker", "label"} & set(how):
        return False
    if not all(table[one].cast(pl.Float64, strict=False).null_count() == table[one].null_count() for one in others):
        return False
    if name != "counts":
        raise InputError(
            f"{table.where} has {task!r} and numbers beside it: call the file counts if they say how many people chose each "
            "label, or read it as a wide table (--wide) if every column is a worker"
        )
    return True


def _of_noun(noun: DataType, path: Path) -> Dataset:
    part = {Votes: "votes", Answers: "answers", SoftLabels: "soft_labels"}.get(type(noun))
    if part is None:
        raise InputError(f"{path} holds {type(noun).__name__}; a data set needs Votes, Answers or SoftLabels")
    parts: dict[str, Any] = {part: noun}
    return Dataset(stem_of(path), path=path, **parts)


def _absent(where: str) -> Exception:
    if "/" in where or suffix_of(where) in ENDINGS:
        return InputError(f"there is no file or folder {where}")
    return unknown_name("file, folder or data set", where, dataset_catalog.listed())
