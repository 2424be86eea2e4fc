"""Images and texts of tasks as mappings by task name that read the database only when one is asked for."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from sqlalchemy import Connection, Engine, select

from plurivox.web.store.database import READ_OPTIONS
from plurivox.web.store.schema import media, tasks

T = TypeVar("T")
BLOCK_TASKS = 50  # read together


class TaskContentMapping(Mapping[str, T]):
    """A mapping from task names to the contents of these tasks, read in blocks of neighbours; the last block is kept."""

    def __init__(
        self, engine: Engine, task_names: Sequence[str], read: Callable[[Connection, Sequence[str]], dict[str, T]]
    ) -> None:
        self._engine, self._names, self._read = engine, task_names, read
        self._place = {name: place for place, name in enumerate(task_names)}
        self._block: dict[str, T] = {}

    def __getitem__(self, task_name: str) -> T:
        if task_name not in self._block:
            first = self._place[task_name] // BLOCK_TASKS * BLOCK_TASKS
            with self._engine.connect().execution_options(**READ_OPTIONS) as connection:
                self._block = self._read(connection, self._names[first : first + BLOCK_TASKS])
        return self._block[task_name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def images_and_texts_of_tasks(engine: Engine) -> tuple[TaskContentMapping[bytes], TaskContentMapping[str]]:
    """Return the images of tasks, as shown to workers, and their texts, without practice tasks."""
    with engine.connect().execution_options(**READ_OPTIONS) as connection:
        known = select(tasks.c.name, tasks.c.kind).where(tasks.c.practice == 0).order_by(tasks.c.name)
        kinds = [tuple(row) for row in connection.execute(known)]
    with_image = [name for name, kind in kinds if kind == "image"]
    with_text = [name for name, kind in kinds if kind in ("text", "pair")]
    return (
        TaskContentMapping(engine, with_image, _read_displayed_images),
        TaskContentMapping(engine, with_text, _read_texts),
    )


def _read_displayed_images(connection: Connection, task_names: Sequence[str]) -> dict[str, bytes]:
    """Return {task name: image file} as shown to workers, without metadata such as location."""
    query = select(tasks.c.name, media.c.shown, media.c.bytes).join(media, media.c.id == tasks.c.media_id)
    rows = connection.execute(query.where(tasks.c.name.in_(task_names)))
    return {row.name: bytes(row.bytes if row.shown is None else row.shown) for row in rows}


def _read_texts(connection: Connection, task_names: Sequence[str]) -> dict[str, str]:
    """Return {task name: text}; the texts of a pair are on lines of their own."""
    rows = connection.execute(select(tasks.c.name, tasks.c.text, tasks.c.text2).where(tasks.c.name.in_(task_names)))
    return {row.name: "\n".join(text for text in (row.text, row.text2) if text) for row in rows}
