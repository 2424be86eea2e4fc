"""TaskContents: the texts and images of tasks, to show them beside their labels."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ImageSource = bytes | Path  # an encoded image file, or its path


@dataclass(frozen=True)
class TaskContents:
    """What was labelled: the text or the image of each task, by task name; a task may have neither.

    >>> contents = TaskContents(texts={"a": "a fine film"})
    >>> contents.text_of("a"), contents.text_of("b"), contents.image_of("a")
    ('a fine film', None, None)
    """

    texts: Mapping[str, str] = field(default_factory=dict)  # task -> text
    images: Mapping[str, ImageSource] = field(default_factory=dict)  # task -> encoded image, or path of its file

    def __bool__(self) -> bool:
        return bool(self.texts or self.images)

    def text_of(self, task: object) -> str | None:
        """Return the text of a task; None if it has none."""
        return self.texts.get(str(task))

    def image_of(self, task: object) -> bytes | None:
        """Return the encoded image of a task, read from its file if needed; None if it has none or the file is missing."""
        found = self.images.get(str(task))
        if isinstance(found, Path):
            return found.read_bytes() if found.is_file() else None
        return found

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the tasks that have a text or an image."""
        return iter(dict.fromkeys([*self.texts, *self.images]))
