"""Read tasks and answers from files, for the command line; the server never opens a path from a request."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plurivox import io
from plurivox.core.errors import InputError, first_few
from plurivox.io.tabular.read_csv_and_json import read_json, read_json_lines
from plurivox.io.tabular.table_file_names import TABLE_SUFFIXES, file_suffix
from plurivox.io.tabular.table_files import frame_from_records, read_table
from plurivox.web.store.collect.tasks_batches_quotas import MediaFile, NewTask
from plurivox.web.study.audio_validation import validate_sound_and_return_media_file
from plurivox.web.study.config import Study
from plurivox.web.study.image_preparation import validate_image_and_make_displayed_version

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
SOUNDS = (".wav", ".mp3", ".ogg", ".oga", ".opus", ".flac", ".m4a")
COLUMNS = ("task", "text", "text2", "image", "audio", "file", "stratum", "practice", "gold", "known")
PLAIN_COLUMNS = ("task", "text", "text2", "file", "stratum", "practice", "gold", "known")
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
RECORD = '{"task": "t1", "text": "..."}'
YES = ("1", "true", "yes")


def read_tasks(source: Path, study: Study) -> Iterator[NewTask]:
    """Yield the tasks of a folder of images or sounds, a data-set folder, a table, or a text file with one text per line."""
    if source.is_dir():
        known = (*IMAGES, *SOUNDS)
        images = sorted(file for file in source.rglob("*") if file.suffix.lower() in known and file.is_file())
        tables = [file for file in source.iterdir() if file.name.split(".")[0] == "items"]
        yield from _tasks_from_table(tables[0], study) if tables else _tasks_from_media_files(source, images, study)
    elif not source.is_file():
        raise InputError(f"{source} does not exist; give a folder of images or sounds, a data-set folder or a table")
    elif source.suffix.lower() == ".txt":
        texts = [line for line in _read_text_or_raise_if_not_utf8(source).split("\n") if line.strip()]
        yield from (
            NewTask(f"{n:06d}", text=_require_task_text_short_without_null(text, source))
            for n, text in enumerate(texts, start=1)
        )
    else:
        yield from _tasks_from_table(source, study)


def _tasks_from_media_files(folder: Path, files: list[Path], study: Study) -> Iterator[NewTask]:
    """Yield one task per image or sound file, named by its path in the folder."""
    if not files:
        known = f"no images ({', '.join(IMAGES)}), no sounds ({', '.join(SOUNDS)})"
        raise InputError(
            f"{folder} contains {known} and no table of items; put some there, or give another folder or table"
        )
    for file in files:
        name = _require_valid_task_name(str(file.relative_to(folder)))
        is_sound = file.suffix.lower() in SOUNDS
        yield NewTask(
            name,
            medium=_media_file_of_valid_image_or_sound(
                _resolve_existing_file_inside(folder, name).read_bytes(), name, study, is_sound
            ),
        )


def _media_file_of_valid_image_or_sound(data: bytes, name_for_message: str, study: Study, is_sound: bool) -> MediaFile:
    """Return the MediaFile of an image or a sound; raise InputError if its bytes are not of a supported format."""
    return (
        validate_sound_and_return_media_file(data, name_for_message)
        if is_sound
        else validate_image_and_make_displayed_version(data, name_for_message, study.image_pixels)
    )


def _read_text_or_raise_if_not_utf8(file: Path) -> str:
    """Return the content of a UTF-8 text file, without a byte order mark and with line ends \\n."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as cause:
        raise InputError(f"{file} is not UTF-8 text; save it in UTF-8") from cause


def _tasks_from_table(file: Path, study: Study) -> Iterator[NewTask]:
    """Yield one task per row of a table: column `task`, and `text` (and `text2`), `image`, `audio` or `file` (a path)."""
    if (suffix := file_suffix(file)) not in TABLE_SUFFIXES:
        raise InputError(f"{file}: unsupported file type; use {', '.join(TABLE_SUFFIXES)} or .txt")
    frame = _read_json_records(file) if suffix.removesuffix(".gz") in JSON_SUFFIXES else read_table(file)
    if not len(frame) and not len(frame.columns):
        raise InputError(f"{file} contains no tasks")
    if "task" not in frame.columns or not {"text", "image", "audio", "file"} & set(frame.columns):
        raise InputError(
            f"{file} needs a column task and one of text (with text2 for pairs), image, audio, file; it has "
            f"{first_few(frame.columns, 9)}; rename its columns"
        )
    for row in frame.select([name for name in COLUMNS if name in frame.columns]).iter_rows(named=True):
        yield _task_from_table_row(row, file.parent, study)


def _read_json_records(file: Path) -> Any:
    """Return the table in a JSON or JSON lines file of records; raise InputError that says what the file contains instead."""
    records = read_json(file) if file_suffix(file).removesuffix(".gz") == ".json" else read_json_lines(file)
    others = records if isinstance(records, list) else [records]
    if wrong := [one for one in others if not isinstance(one, dict) or one is records]:
        contents = f"an object with the keys {first_few(wrong[0])}" if wrong[0] is records else first_few(wrong)
        raise InputError(f"{file} must contain a list of records such as {RECORD}; it contains {contents}")
    return frame_from_records(records, file)


def _task_from_table_row(row: Mapping[str, Any], folder: Path, study: Study) -> NewTask:
    """Convert a row of a task table to a NewTask; its text or media file is checked."""
    if nested := [column for column in PLAIN_COLUMNS if isinstance(row.get(column), list | Mapping)]:
        raise InputError(
            f"the column {nested[0]} must contain text; in task {row['task']!r:.60} it has {row[nested[0]]!r:.60}"
        )
    name = _require_valid_task_name("" if row["task"] is None else str(row["task"]))
    data = row.get("image") if row.get("audio") is None else row["audio"]
    if isinstance(data, Mapping):  # as Hugging Face stores images and sounds
        data = data.get("path") if data.get("bytes") is None else data["bytes"]
    path = data if isinstance(data, str) else row.get("file") if data is None else None
    is_sound = row.get("audio") is not None or str(path or "").lower().endswith(SOUNDS)
    if path:
        data = _resolve_existing_file_inside(folder, str(path)).read_bytes()
    if data is not None and not isinstance(data, bytes | bytearray | memoryview):
        raise InputError(f"the image or sound of task {name!r} is {data!r:.60}; give the path of a file")
    texts = [
        None if row.get(column) is None else _require_task_text_short_without_null(str(row[column]), name)
        for column in ("text", "text2")
    ]
    if data is None and texts[0] is None:
        raise InputError(f"task {name!r} has no text, image or sound")
    return NewTask(
        name,
        text=texts[0],
        text2=texts[1],
        medium=None if data is None else _media_file_of_valid_image_or_sound(bytes(data), name, study, is_sound),
        gold=_gold_label_in_row_or_none(row, name, study),
        stratum=str(row.get("stratum") or ""),
        practice=str(row.get("practice") or "").lower() in YES,
    )


def _gold_label_in_row_or_none(row: Mapping[str, Any], task_name: str, study: Study) -> str | None:
    """Return the gold label of a task, from column `gold` or `known`; None if there is none."""
    label = row.get("gold") if row.get("gold") is not None else row.get("known")
    if label is None or str(label) == "":
        return None
    if str(label) not in study.labels:
        raise InputError(f"task {task_name!r} has the gold label {str(label)!r}, which is not a label of the study")
    return str(label)


def _resolve_existing_file_inside(folder: Path, name: str) -> Path:
    """Return the path of a file in `folder`; raise InputError if it does not exist or is outside the folder."""
    home = folder.resolve()
    file = (home / name).resolve()
    if not file.is_relative_to(home) or not file.is_file():
        raise InputError(f"{name!r} is not a file in {folder}; links to other folders are not followed")
    return file


def _require_valid_task_name(name: str) -> str:
    """Return a task name; raise InputError if it is empty, too long or not printable."""
    if not name or len(name) > 500 or any(ord(letter) < 32 for letter in name) or not _can_encode_utf8(name):
        raise InputError(f"{name[:40]!r} is not a valid task name; names have 1 to 500 printable characters")
    return name


def _can_encode_utf8(text: str) -> bool:
    """Return whether text can be encoded in UTF-8; file names may contain lone surrogates."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _require_task_text_short_without_null(text: str, source_for_message: object) -> str:
    """Return the text of a task; raise InputError if it is too long or contains a null character."""
    if len(text) > 100_000 or "\x00" in text:
        raise InputError(
            f"a text of {source_for_message} is longer than 100,000 characters or contains a null character"
        )
    return text


def read_answers_or_none(dataset_path: Path) -> Any:
    """Read a data set and return its answers; None if it contains none."""
    return io.read(dataset_path).answers
