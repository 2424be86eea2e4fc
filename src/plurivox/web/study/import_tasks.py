"""Tasks from files, by the command line only: the server itself never opens a path or an address it was given."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plurivox import io
from plurivox.core.errors import InputError, first_few
from plurivox.io.tabular.file_names import TABLE_SUFFIXES
from plurivox.io.tabular.table_files import read_table
from plurivox.web.store.collect.tasks import MediaFile, NewTask
from plurivox.web.study.config import Study
from plurivox.web.study.task_audio import read_sound
from plurivox.web.study.task_images import read_picture

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
SOUNDS = (".wav", ".mp3", ".ogg", ".oga", ".opus", ".flac", ".m4a")
COLUMNS = ("task", "text", "text2", "image", "audio", "file", "stratum", "practice", "gold", "known")
YES = ("1", "true", "yes")


def read_tasks(source: Path, study: Study) -> Iterator[NewTask]:
    """The tasks of a folder of images, a data-set folder, a table, or a text file with one text a line."""
    if source.is_dir():
        known = (*IMAGES, *SOUNDS)
        images = sorted(file for file in source.rglob("*") if file.suffix.lower() in known and file.is_file())
        tables = [file for file in source.iterdir() if file.name.split(".")[0] == "items"]
        yield from _of_table(tables[0], study) if tables else _of_files(source, images, study)
    elif not source.is_file():
        raise InputError(f"{source} does not exist; name a folder of images, a data-set folder or a table")
    elif source.suffix.lower() == ".txt":
        texts = [line for line in _read(source).split("\n") if line.strip()]
        yield from (NewTask(f"{n:06d}", text=_text(text, source)) for n, text in enumerate(texts, start=1))
    else:
        yield from _of_table(source, study)


def _of_files(folder: Path, files: list[Path], study: Study) -> Iterator[NewTask]:
    if not files:
        known = f"no images ({', '.join(IMAGES)}), no sounds ({', '.join(SOUNDS)})"
        raise InputError(f"{folder} holds {known} and no table of items")
    for file in files:
        name = _name(str(file.relative_to(folder)))
        heard = file.suffix.lower() in SOUNDS
        yield NewTask(name, medium=_medium(_inside(folder, name).read_bytes(), name, study, heard))


def _medium(data: bytes, name: str, study: Study, heard: bool) -> MediaFile:
    """An image or a sound, as the bytes say; the name only says which of the two is looked for."""
    return read_sound(data, name) if heard else read_picture(data, name, study.image_pixels)


def _read(file: Path) -> str:
    """A text file, with or without a mark at its beginning; \\r\\n counts as a line's end too."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as cause:
        raise InputError(f"{file} is no text in UTF-8; save it as such") from cause


def _of_table(file: Path, study: Study) -> Iterator[NewTask]:
    """A row a task: `task`, then `text`, `text` and `text2`, `image` or `audio` (bytes), or `file` (beside the table)."""
    if not any(file.name.endswith(ending) for ending in TABLE_SUFFIXES):
        raise InputError(f"{file} is no table; known are {', '.join(TABLE_SUFFIXES)}, and .txt")
    frame = read_table(file)
    if "task" not in frame.columns or not {"text", "image", "audio", "file"} & set(frame.columns):
        raise InputError(
            f"{file} needs a column task and one of text (with text2: pairs), image, audio, file; it has "
            f"{first_few(frame.columns, 9)}; rename yours"
        )
    for row in frame.select([name for name in COLUMNS if name in frame.columns]).iter_rows(named=True):
        yield _of_row(row, file.parent, study)


def _of_row(row: Mapping[str, Any], folder: Path, study: Study) -> NewTask:
    name = _name("" if row["task"] is None else str(row["task"]))
    heard = row.get("audio") is not None or str(row.get("file") or "").lower().endswith(SOUNDS)
    data = row.get("image") if row.get("audio") is None else row["audio"]
    if isinstance(data, Mapping):  # as Hugging Face stores images and sounds
        data = data.get("bytes")
    if data is None and row.get("file"):
        data = _inside(folder, str(row["file"])).read_bytes()
    texts = [None if row.get(column) is None else _text(str(row[column]), name) for column in ("text", "text2")]
    if data is None and texts[0] is None:
        raise InputError(f"task {name!r} has neither a text nor an image nor a sound")
    return NewTask(
        name,
        text=texts[0],
        text2=texts[1],
        medium=None if data is None else _medium(bytes(data), name, study, heard),
        gold=_gold(row, name, study),
        stratum=str(row.get("stratum") or ""),
        practice=str(row.get("practice") or "").lower() in YES,
    )


def _gold(row: Mapping[str, Any], name: str, study: Study) -> str | None:
    """The known label of a task, in a column `gold` or `known`."""
    said = row.get("gold") if row.get("gold") is not None else row.get("known")
    if said is None or str(said) == "":
        return None
    if str(said) not in study.labels:
        raise InputError(f"task {name!r} is known to be {str(said)!r}, which is no label of the study")
    return str(said)


def _inside(folder: Path, name: str) -> Path:
    """A file of the folder, and of no other place."""
    home = folder.resolve()
    file = (home / name).resolve()
    if not file.is_relative_to(home) or not file.is_file():
        raise InputError(f"{name!r} is no file in {folder}; links that lead elsewhere are not followed")
    return file


def _name(name: str) -> str:
    if not name or len(name) > 500 or any(ord(letter) < 32 for letter in name) or not _is_unicode(name):
        raise InputError(f"{name[:40]!r} is no name for a task; names have 1 to 500 printable characters")
    return name


def _is_unicode(text: str) -> bool:
    """Whether it can be written in UTF-8; names of files need not be."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _text(text: str, where: object) -> str:
    if len(text) > 100_000 or "\x00" in text:
        raise InputError(f"a text of {where} is longer than 100,000 characters, or holds a null character")
    return text


def read_batches(file: Path) -> dict[str, list[str]]:
    """batch -> its tasks, from a table with columns batch and task."""
    frame = read_table(file)
    if missing := {"batch", "task"} - set(frame.columns):
        raise InputError(f"{file} lacks columns {sorted(missing)}; it has {first_few(frame.columns, 9)}")
    batches: dict[str, list[str]] = {}
    for batch, task in frame.select("batch", "task").iter_rows():
        batches.setdefault(str(batch), []).append(str(task))
    return batches


def read_answers(source: Path) -> Any:
    """The answers of a data set; None where it has none."""
    return io.read(source).answers
