"""Writing is whole or absent."""

from pathlib import Path

import pytest

from plurivox.core.errors import InputError
from plurivox.core.files import whole_file, whole_folder


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError(28, "No space left on device"), ValueError])
def test_what_stops_halfway_leaves_the_old_file_and_nothing_else(tmp_path: Path, stop: BaseException) -> None:
    (tmp_path / "out").write_text("old")
    with pytest.raises(stop if isinstance(stop, type) else type(stop)), whole_file(tmp_path / "out") as part:
        part.write_text("half of the n")
        raise stop
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("out", "old")]


def test_a_folder_takes_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "set"
    with pytest.raises(KeyboardInterrupt), whole_folder(target) as part:
        (part / "votes.csv").write_text("task")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
    with whole_folder(target) as part:
        (part / "votes.csv").write_text("task")
    assert [file.name for file in target.iterdir()] == ["votes.csv"]


def test_a_folder_with_something_in_it_is_replaced_only_on_request(tmp_path: Path) -> None:
    target = tmp_path / "set"
    target.mkdir()
    (target / "precious").write_text("mine")
    with pytest.raises(InputError, match="is not empty"), whole_folder(target):
        pass
    with whole_folder(target, replace=True) as part:
        (part / "new").write_text("n")
    assert [file.name for file in target.iterdir()] == ["new"] and len(list(tmp_path.iterdir())) == 1


def test_a_missing_parent_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist; make it first"), whole_file(tmp_path / "no" / "out"):
        pass
