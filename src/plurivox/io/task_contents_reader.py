"""Read the texts and images of tasks: from a data set, a table, a folder of image files or a mapping."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from plurivox.core.array_types import Names
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_names
from plurivox.core.task_contents import ImageSource, TaskContents
from plurivox.io.dataset import Dataset
from plurivox.io.formats.image_folder import is_image_file
from plurivox.io.tabular.column_conversion import to_names_or_error_if_missing
from plurivox.io.tabular.table_files import read_table

T = TypeVar("T")
TASK_COLUMNS = ("task", "idx")  # of a table of images or texts; the first that is there
TEXT_COLUMNS = ("text", "sentence", "premise", "text1", "token", "content")  # the first of these that holds texts
SECOND_TEXT_COLUMNS = ("hypothesis", "text2")  # the other text if a task is a pair of texts; on a line of its own


def read_task_contents(data: Dataset | None, images: Any = None, texts: Any = None) -> TaskContents:
    """Return the texts and images of tasks: those given, else those of the data set; empty if there are none.

    `images` is a table with the columns task (or idx) and image (encoded files), a folder of image files named after their
    tasks, or a mapping from tasks to bytes or paths; `texts` a table with task and text, or a mapping. A mapping is asked for a
    task only when its content is needed.
    """
    return TaskContents(
        texts=_texts_of_dataset(data) if texts is None else _texts_given(texts),
        images=_images_of_dataset(data) if images is None else _images_given(images),
    )


def read_task_images(data: Dataset, images: Path | None = None) -> tuple[Names, list[ImageSource]]:
    """Return (tasks, their images), from a table or folder of images, else from the data set; empty if it has none.

    Tasks have the type they have in the table. Paths in a table are relative to its folder, or else to the current one.
    """
    if images is not None and not images.is_dir():
        frame = read_table(images)
        return _tasks_and_images(frame, _first_column(frame, TASK_COLUMNS, images), images)
    if images is None and data.images is None:
        items = data.items
        if items is None or not {"task", "image"} <= set(items.columns):
            return as_names([]), []
        return _tasks_and_images(items, "task", data.path or Path())
    found = _images_of_dataset(data) if images is None else _images_given(images)
    return as_names(list(found), "tasks"), list(found.values())


def _tasks_and_images(frame: pl.DataFrame, task: str, path: Path) -> tuple[Names, list[ImageSource]]:
    """Return (tasks, images) of the rows of a table that have an image; `path` is its file, or the folder it is in."""
    _require_image_column(frame, path)
    kept, folder = frame.drop_nulls("image"), path if path.is_dir() else path.parent
    images = [_file_in_folder(folder, one) if isinstance(one, str) else one for one in kept["image"].to_list()]
    return to_names_or_error_if_missing(kept[task], path), images


def _file_in_folder(folder: Path, image_file: str) -> Path:
    """Return the path of an image file, relative to this folder if it is there."""
    return inside if (inside := folder / image_file).is_file() else Path(image_file)


class _ConvertedMapping(Mapping[str, T]):
    """A mapping by the names of tasks as text, whose values are converted when they are asked for."""

    def __init__(self, given: Mapping[Any, Any], convert: Callable[[Any], T]) -> None:
        self._given, self._convert = given, convert
        self._key_of = {str(key): key for key in given}

    def __getitem__(self, task: str) -> T:
        return self._convert(self._given[self._key_of[task]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._key_of)

    def __len__(self) -> int:
        return len(self._key_of)


def _images_given(images: Any) -> Mapping[str, ImageSource]:
    """Return {task: image} of a mapping, a table or a folder of image files."""
    if isinstance(images, Mapping):
        return _ConvertedMapping(images, lambda one: Path(one) if isinstance(one, str | Path) else bytes(one))
    path = Path(images)
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if is_image_file(file)]
        if not files:
            raise InputError(f"{path} contains no image files")
        return {file.stem: file for file in files}
    frame = read_table(path)
    task = _first_column(frame, TASK_COLUMNS, path)
    _require_image_column(frame, path)
    return _images_in(frame, task)


def _require_image_column(frame: pl.DataFrame, path: Path) -> None:
    """Raise InputError if a table has no column image."""
    if "image" not in frame.columns:
        raise InputError(
            f"{path} has no column image with encoded files; its columns are {first_few(frame.columns, 6)}"
        )


def _texts_given(texts: Any) -> Mapping[str, str]:
    """Return {task: text} of a mapping or a table."""
    if isinstance(texts, Mapping):
        return _ConvertedMapping(texts, str)
    frame = read_table(Path(texts))
    task = _first_column(frame, TASK_COLUMNS, texts)
    return _texts_in(frame, task, text_column(frame) or _first_column(frame, TEXT_COLUMNS, texts))


def _images_of_dataset(data: Dataset | None) -> dict[str, ImageSource]:
    """Return {task: image} of a data set, {} if it has none."""
    if data is None:
        return {}
    if data.images is not None:
        return {str(task): Path(path) for task, path in data.images.items()}
    items = data.items
    if items is None or "image" not in items.columns or "task" not in items.columns:
        return {}
    return _images_in(items, "task")


def _texts_of_dataset(data: Dataset | None) -> dict[str, str]:
    """Return {task: text} of the table `items` of a data set, {} if it has no texts."""
    items = None if data is None else data.items
    if items is None or "task" not in items.columns:
        return {}
    column = text_column(items)
    return {} if column is None else _texts_in(items, "task", column)


def _images_in(frame: pl.DataFrame, task: str) -> dict[str, ImageSource]:
    """Return {task: encoded image} of a table; a text in the column image is the path of a file."""
    rows = frame.select(task, "image").drop_nulls().iter_rows()
    return {str(name): Path(image) if isinstance(image, str) else image for name, image in rows}


def _texts_in(frame: pl.DataFrame, task: str, column: str) -> dict[str, str]:
    """Return {task: text} of two columns of a table, and of a third one if a task is a pair of texts."""
    second = [name for name in SECOND_TEXT_COLUMNS if name in frame.columns and name != column][:1]
    rows = frame.select(task, column, *second).drop_nulls([task, column]).iter_rows()
    return {str(name): "\n".join(str(text) for text in texts if text is not None) for name, *texts in rows}


def text_column(frame: pl.DataFrame) -> str | None:
    """Return the column of a table with the texts, not one with numbers of sentences; None if it has none."""
    return next((n for n in TEXT_COLUMNS if n in frame.columns and not frame.schema[n].is_numeric()), None)


def _first_column(frame: pl.DataFrame, names: tuple[str, ...], path: Any) -> str:
    """Return the first of these columns that the table has; InputError if it has none."""
    found = next((name for name in names if name in frame.columns), None)
    if found is None:
        raise InputError(f"{path} has no column {' or '.join(names)}; its columns are {first_few(frame.columns, 6)}")
    return found
