"""Contents of tasks are found by the task's name as text, and those of a mapping are read only when they are needed."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from plurivox.io.task_contents_reader import read_task_contents


class ReadCounting(Mapping[int, bytes]):
    """A mapping from 1,000 tasks to their images that notes which ones are read."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def __getitem__(self, task: int) -> bytes:
        self.read.append(task)
        return bytes([task % 256])

    def __iter__(self) -> Iterator[int]:
        return iter(range(1000))

    def __len__(self) -> int:
        return 1000


def test_a_mapping_is_read_for_the_tasks_that_are_shown() -> None:
    images = ReadCounting()
    contents = read_task_contents(None, images=images, texts={3: "a text"})
    assert contents.image_of(7) == b"\x07" and contents.image_of("7") == b"\x07" and contents.image_of(5000) is None
    assert len(contents.images) == 1000 and contents and images.read == [7, 7]
    assert contents.text_of("3") == "a text" and contents.text_of("4") is None


def test_a_mapping_may_have_paths(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"image")
    contents = read_task_contents(None, images={"a": tmp_path / "a.png", "b": str(tmp_path / "missing.png")})
    assert contents.image_of("a") == b"image" and contents.image_of("b") is None
