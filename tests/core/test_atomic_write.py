"""Atomic writes of files and folders: complete or absent."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from plurivox.core.atomic_write import atomic_file, atomic_folder
from plurivox.core.errors import InputError


@pytest.mark.parametrize(
    ("stop", "seen"),
    [(KeyboardInterrupt, KeyboardInterrupt), (OSError(28, "No space left on device"), InputError), (ValueError,) * 2],
)
def test_an_error_while_writing_leaves_the_old_file_and_no_temporary_one(
    tmp_path: Path, stop: BaseException, seen: type[BaseException]
) -> None:
    (tmp_path / "out").write_text("old")
    with pytest.raises(seen), atomic_file(tmp_path / "out") as part:
        part.write_text("half of the n")
        raise stop
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("out", "old")]


def test_a_folder_is_renamed_only_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "set"
    with pytest.raises(KeyboardInterrupt), atomic_folder(target) as part:
        (part / "votes.csv").write_text("task")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
    with atomic_folder(target) as part:
        (part / "votes.csv").write_text("task")
    assert [file.name for file in target.iterdir()] == ["votes.csv"]


def test_a_folder_that_is_not_empty_is_replaced_only_on_request(tmp_path: Path) -> None:
    target = tmp_path / "set"
    target.mkdir()
    (target / "precious").write_text("mine")
    with pytest.raises(InputError, match="is not empty"), atomic_folder(target):
        pass
    with atomic_folder(target, replace=True) as part:
        (part / "new").write_text("n")
    assert [file.name for file in target.iterdir()] == ["new"] and len(list(tmp_path.iterdir())) == 1


def test_a_missing_parent_folder_raises_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist; make it first"), atomic_file(tmp_path / "no" / "out"):
        pass


@pytest.mark.parametrize("there", [True, False])
def test_symbolic_links_are_followed(tmp_path: Path, there: bool) -> None:
    (tmp_path / "far").mkdir()
    if there:
        (tmp_path / "far" / "real").write_text("old")
    (tmp_path / "link").symlink_to("far/real")
    with atomic_file(tmp_path / "link") as part:
        part.write_text("new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "far" / "real").read_text() == "new"
    assert len(list(tmp_path.rglob("*"))) == 3


def test_a_pipe_receives_the_finished_bytes(tmp_path: Path) -> None:
    pipe, heard = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    reader.start()
    with atomic_file(pipe) as part:
        part.write_bytes(b"whole")
    reader.join()
    assert heard == [b"whole"] and pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]


def test_writing_to_a_device_does_not_replace_it() -> None:
    with atomic_file("/dev/null") as part:
        part.write_bytes(b"gone")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1"])
def test_stdout_can_be_written_to_by_its_path(tmp_path: Path, name: str) -> None:
    code = f"""
from plurivox.core.atomic_write import atomic_file
print("before", flush=True)
with atomic_file({name!r}) as part:
    part.write_text("between\\n")
print("after")"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    with (tmp_path / "out").open("w") as file:  # a file opened by the shell is written into, not replaced
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert done.stdout == (tmp_path / "out").read_text() == "before\nbetween\nafter\n"


@pytest.mark.parametrize("name", ["set/", "link", "link/", "."])
def test_a_folder_is_replaced_by_relative_link_and_dot_paths(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "set"
    home.mkdir()
    (home / "old").write_text("o")
    (tmp_path / "link").symlink_to("set")
    monkeypatch.chdir(home if name == "." else tmp_path)
    with atomic_folder(name, replace=True) as part:
        (part / "sub").mkdir()
        (part / "sub" / "new").write_text("n")
    assert [file.name for file in home.iterdir()] == ["sub"] and (Path(name) / "sub" / "new").read_text() == "n"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["link", "set"] and (tmp_path / "link").is_symlink()


def test_the_working_directory_is_unchanged_after_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old").write_text("o")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="is not empty"), atomic_folder("."):
        pass
    with pytest.raises(KeyboardInterrupt), atomic_folder(".", replace=True) as part:
        (part / "old").write_text("new")
        raise KeyboardInterrupt
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("old", "o")]


def test_several_processes_can_replace_one_folder_concurrently(tmp_path: Path) -> None:
    code = f"""
import sys
from plurivox.core.atomic_write import atomic_folder
for turn in range(40):
    with atomic_folder({str(tmp_path / "set")!r}, replace=True) as part:
        for name in "ab":
            (part / name).write_text(f"{{sys.argv[1]}} {{turn}}")"""
    crowd = [
        subprocess.Popen([sys.executable, "-c", code, str(n)], stderr=subprocess.PIPE, text=True) for n in range(3)
    ]
    assert [one.communicate()[1] for one in crowd] == ["", "", ""]
    assert [file.name for file in tmp_path.iterdir()] == ["set"]
    last = {(tmp_path / "set" / name).read_text() for name in "ab"}
    assert len(last) == 1 and last.pop().endswith(" 39")


def test_errors_name_the_requested_path(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error, atomic_file(tmp_path / "out") as part:
        raise OSError(28, "No space left on device", str(part))
    assert str(error.value) == f"{tmp_path / 'out'} could not be written: No space left on device"
    with (
        pytest.raises(InputError) as error,
        atomic_folder(tmp_path / "set") as part,
        atomic_file(part / "v.csv") as inner,
    ):
        raise OSError(28, "No space left on device", str(inner))
    assert str(error.value) == f"{tmp_path / 'set' / 'v.csv'} could not be written: No space left on device"
    with pytest.raises(InputError, match="No such file or directory: '/no/source'"), atomic_file(tmp_path / "out"):
        Path("/no/source").read_bytes()
    with pytest.raises(InputError, match="is a folder; name a file in it"), atomic_file(tmp_path):
        pass


@pytest.mark.skipif(os.getuid() == 0, reason="nothing is forbidden to root")
def test_a_read_only_folder_raises_input_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with (
        pytest.raises(InputError, match=r"out could not be written: Permission denied$"),
        atomic_file(tmp_path / "out"),
    ):
        pass


def test_file_names_up_to_the_system_limit(tmp_path: Path) -> None:
    with atomic_file(tmp_path / ("n" * 255)) as part:
        part.write_text("n")
    with (
        pytest.raises(InputError, match="could not be written: File name too long"),
        atomic_file(tmp_path / ("n" * 256)),
    ):
        pass
