"""The dataset catalog: data sets by name."""

import re
from pathlib import Path

import pytest

import plurivox as pv
from plurivox.core.errors import InputError, UnknownName
from plurivox.io import dataset_catalog, read


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLURIVOX_DATA", str(tmp_path / "home"))
    return tmp_path / "home"


def test_the_toy_set_is_read_by_name_and_can_be_installed(home: Path) -> None:
    assert "toy" in dataset_catalog.list_dataset_names() and read("toy").crowd().n_tasks == 300
    assert dataset_catalog.install("toy") == home / "toy" and (home / "toy" / "votes.csv").is_file()
    found = dataset_catalog.info("toy")
    assert found.pop("description").startswith("Simulated, not real people")
    assert found | {"folder": "", "tables": [], "command": ""} == {
        "name": "toy", "folder": "", "parts": ["votes", "gold"], "tables": [], "tasks": 300, "workers": 30,
        "labels": [f"label-{k}" for k in range(4)], "votes": 1500, "gold": 300, "command": "",
    }  # fmt: skip


def test_the_toy_set_is_what_its_command_simulates() -> None:
    command = dataset_catalog.info("toy")["command"]
    method, options = re.fullmatch(r"plurivox simulate ([a-z-]+) (.*) -o toy", command).groups()  # type: ignore[union-attr]
    crowd = pv.simulate.methods.make(method, **dict(re.findall(r"--([a-z-]+) (\d+)", options))).draw()
    toy = read("toy")
    for made, saved in ((crowd.votes, toy.votes), (crowd.truth, toy.gold)):
        assert saved is not None
        for name, column in saved.columns().items():
            assert column.tolist() == made.columns()[name].tolist()


def test_a_user_file_or_folder_is_installed_by_name(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("task,worker,label\na,w,x\n")
    dataset_catalog.install("mine", tmp_path / "mine.csv")
    assert read("mine").votes.tasks.tolist() == ["a"] and "mine" in dataset_catalog.list_dataset_names()
    with pytest.raises(InputError, match="is not empty"):
        dataset_catalog.install("mine", tmp_path / "mine.csv")


def test_a_data_set_is_overwritten_only_with_replace(tmp_path: Path, home: Path) -> None:
    (tmp_path / "mine.csv").write_text("task,worker,label\na,w,x\n")
    dataset_catalog.install("toy")
    (home / "toy" / "README.md").write_text("came with it")
    dataset_catalog.install("toy", tmp_path / "mine.csv", replace=True)
    assert read("toy").crowd().n_tasks == 1
    (home / "toy" / "diary.txt").write_text("dear")
    with pytest.raises(InputError, match=r"it also contains 'diary.txt'"):
        dataset_catalog.install("toy", tmp_path / "mine.csv", replace=True)
    with pytest.raises(InputError, match="would overwrite the input"):
        dataset_catalog.install("toy", home / "toy", replace=True)


def test_only_readable_data_sets_are_listed(home: Path) -> None:
    for name in ("images/cat/1.png", "theirs/answers.json", "mine/counts.tsv.gz", "other/pixels.csv", ".old/votes.csv"):
        (home / name).parent.mkdir(parents=True)
        (home / name).touch()
    assert dataset_catalog.list_dataset_names() == ["images", "mine", "theirs", "toy"]
    with pytest.raises(InputError, match=r"other is not a data set; .* it contains 'pixels.csv'$"):
        dataset_catalog.info("other")


def test_a_failed_install_leaves_no_files(tmp_path: Path, home: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "x.txt").write_text("x")
    with pytest.raises(InputError, match="is not a data set"):
        dataset_catalog.install("bad", tmp_path / "bad")
    with pytest.raises(InputError, match=r"there is no file or folder .* to install"):
        dataset_catalog.install("gone", tmp_path / "gone")
    with pytest.raises(InputError, match="not a valid data set name"):
        dataset_catalog.install("../up", tmp_path / "bad")
    assert not home.exists()


def test_unknown_names_suggest_the_nearest() -> None:
    with pytest.raises(UnknownName, match="no file, folder or data set 'toi'; did you mean 'toy'"):
        read("toi")
    with pytest.raises(UnknownName, match="no bundled data set 'toi'"):
        dataset_catalog.install("toi")
    with pytest.raises(InputError, match=r"there is no file or folder a/b.csv"):
        read("a/b.csv")
