"""Read whatever is there: a file, a folder, or a name on the shelf."""

from pathlib import Path
from typing import Any

import polars as pl

from plurivox.core.answers import Answers
from plurivox.core.errors import InputError, unknown
from plurivox.core.labels import SoftLabels
from plurivox.core.noun import Noun
from plurivox.core.votes import Votes
from plurivox.io import entered, frames, shelf
from plurivox.io.coding import Columns
from plurivox.io.dataset import Dataset
from plurivox.io.folder import read_folder
from plurivox.io.formats import image_folder, label_studio, peerannot
from plurivox.io.tables import ENDINGS, read_table


def read(where: str | Path, **how: Any) -> Dataset:
    """The data set at a path or on the shelf.

    `where` is a table of votes, counts or answers; a Label Studio export; a saved noun (`.npz`); a folder in our form, in
    peerannot's, or with one folder of images a label; or the name of a data set under PLURIVOX_DATA. `how` are the options of
    `votes`: column names, `missing`, `repeats`, `labels`, `ordered`, `wide`.
    """
    path = Path(where).expanduser()
    if not path.exists():
        found = shelf.find(str(where))
        if found is None:
            raise _absent(str(where))
        path = found
    return _read_folder(path, how) if path.is_dir() else _read_file(path, how)


def is_ours(path: Path) -> bool:
    """A folder in our own form."""
    return (
        path.is_dir()
        and not peerannot.recognises(path)
        and any(file.name.split(".")[0] in ("votes", "answers", "counts", "gold") for file in path.iterdir())
    )


def _read_folder(path: Path, how: dict[str, Any]) -> Dataset:
    for form in (peerannot, image_folder):
        if not is_ours(path) and form.recognises(path):
            found = form.read(path)
            return Dataset(path.name, path=path, votes=found.votes, gold=found.gold, images=found.images)
    return read_folder(path, **how)


def _read_file(path: Path, how: dict[str, Any]) -> Dataset:
    name = path.name.split(".")[0]
    if path.suffix == ".npz":
        return _of_noun(Noun.load(path), name, path)
    if label_studio.recognises(path):
        found = label_studio.read(path)
        return Dataset(name, path=path, votes=found.votes, gold=found.gold)
    source = path if path.suffix == ".parquet" and _is_parquet(path) else read_table(path)
    table = Columns.of(source, path.name)
    if how.get("wide"):
        return Dataset(name, path=path, votes=frames.votes(table, where=path.name, **how))
    if entered.holds_answers(table.names):
        given = {key: how[key] for key in ("task", "worker", "labels") if key in how}
        return Dataset(name, path=path, answers=entered.answers(table, where=path.name, **given))
    if _holds_counts(table, how):
        columns = {key: how[key] for key in ("task", "labels", "ordered") if key in how}
        return Dataset(name, path=path, counts=frames.counts(table, where=path.name, **columns))
    return Dataset(name, path=path, votes=frames.votes(table, where=path.name, **how))


def _is_parquet(path: Path) -> bool:
    try:
        pl.scan_parquet(path).collect_schema()
    except (pl.exceptions.PolarsError, OSError):
        return False  # read_table says what is wrong with it
    return True


def _holds_counts(table: Columns, how: dict[str, Any]) -> bool:
    """A task column, and nothing but numbers beside it."""
    task = how.get("task", "task")
    others = [name for name in table.names if name != task]
    if task not in table or not others or {"worker", "label"} & set(others) or {"worker", "label"} & set(how):
        return False
    return all(table[name].cast(pl.Float64, strict=False).null_count() == table[name].null_count() for name in others)


def _of_noun(noun: Noun, name: str, path: Path) -> Dataset:
    part = {Votes: "votes", Answers: "answers", SoftLabels: "soft_labels"}.get(type(noun))
    if part is None:
        raise InputError(f"{path} holds {type(noun).__name__}; a data set needs Votes, Answers or SoftLabels")
    parts: dict[str, Any] = {part: noun}
    return Dataset(name, path=path, **parts)


def _absent(where: str) -> Exception:
    if "/" in where or any(where.endswith(ending) for ending in ENDINGS):
        return InputError(f"there is no file or folder {where}")
    return unknown("file, folder or data set", where, shelf.listed())
